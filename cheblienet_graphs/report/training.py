"""What studies of training found about graphs like a given one."""

from collections.abc import Iterator

from cheblienet_graphs.spec import GraphSpec

NEIGHBORS_AN_ORIENTATION = 5
"""As many as K = 32 gives six orientations."""
WHERE = "docs/explanation/studies.md"


def on_training(spec: GraphSpec) -> Iterator[str]:
    """A sentence for each finding that applies to graphs of a specification."""
    if spec.manifold == "se2" and spec.weights == "kernel" and spec.neighbors is not None:
        wanted = NEIGHBORS_AN_ORIENTATION * spec.orientations
        if spec.neighbors < wanted:
            yield (
                f"training: K = {spec.neighbors} for {spec.orientations} orientations reads digits "
                f"at angles between the grid's worse than {NEIGHBORS_AN_ORIENTATION} neighbours an "
                f"orientation, `neighbors={wanted}`; upright ones as well ({WHERE})"
            )
    if spec.laplacian == "normalized" and spec.lambda_max == "exact":
        yield (
            "training on random shares of edges or vertices: build with `lambda_max=2`, as what is "
            f"left of a graph may have eigenvalues up to 2 ({WHERE})"
        )
