"""What each kind of weights says of itself; `tests/test_pages.py` adds kinds of its own."""

from typing import Any

import pytest

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.weights import WEIGHTINGS

COMBINATORIAL = {"laplacian": "combinatorial"}


@pytest.mark.parametrize(
    ("manifold", "given", "mended"),
    [
        ("r2", {"size": 12}, None),
        ("se2", {"size": 12}, {"weights": "selling"}),
        ("se2", {"points": 100, "sampling": "random"}, {"size": None}),
        ("s2", {"nside": 4}, {"weights": "voronoi"}),
        ("so3", {"nside": 4}, {"weights": "matched"}),
        ("se2", {"size": 12, "weights": "selling"}, None),
        ("se2", {"size": 12, "weights": "selling", "laplacian": "normalized"}, COMBINATORIAL),
        ("se2", {"size": 12, "weights": "selling", "laplacian": "normalized", "eps": 1}, None),
        ("r2", {"size": 12, "weights": "matched", "laplacian": "normalized"}, None),
        ("s2", {"points": 100, "weights": "matched"}, {"weights": "voronoi"}),
        ("so3", {"points": 100, "weights": "matched"}, {"subdivisions": None}),
        ("so3", {"nside": 4, "weights": "matched"}, None),
        ("s2", {"nside": 4, "weights": "voronoi"}, None),
        ("s2", {"nside": 4, "weights": "voronoi", "laplacian": "normalized"}, COMBINATORIAL),
    ],
)
def test_what_makes_eigenvalues_converge(
    manifold: str, given: dict[str, Any], mended: dict[str, Any] | None
) -> None:
    spec = GraphSpec(manifold, **given)
    assert spec.weighting.convergent(spec) == mended


def test_words_of_matched_weights() -> None:
    lattice, sphere = (
        GraphSpec("r2", 12, weights="matched"),
        GraphSpec("s2", nside=4, drift=0.1, weights="matched"),
    )
    kernel = "at most K = 8 neighbors, gaussian kernel, bandwidth 0.2"
    united = f"{kernel}, united with Selling's stencils, weights matched to the metric"
    assert lattice.weighting.words(lattice) == united
    assert sphere.weighting.words(sphere) == (
        f"{kernel.replace('8', str(sphere.neighbors))}, weights matched to the metric, "
        "first moments within a slack of 0.1"
    )


def test_parameters_are_all_there_is_to_weights() -> None:
    for name, kind in WEIGHTINGS.items():
        assert kind.name == name
        size = {"nside": 4} if name == "voronoi" else {"size": 12}
        spec = GraphSpec("s2" if name == "voronoi" else "r2", weights=name, **size)
        again = GraphSpec(spec.manifold, weights=name, **size, **kept(spec))
        assert again.weighting == spec.weighting
        assert again == spec


def kept(spec: GraphSpec) -> dict[str, Any]:
    """The parameters of its weights, given."""
    known = vars(spec.weighting)
    return {field: value for field, value in known.items() if value is not None}
