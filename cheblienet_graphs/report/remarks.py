"""Remarks on a graph, each made once for all levels that it applies to."""

from collections.abc import Sequence

from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.said import Remark, said_once
from cheblienet_graphs.spec import GraphSpec

SPARSE_ENOUGH = 0.985
"""The paper's rule of thumb for the share of zeros."""
FAR_FROM_TARGET = 0.02
"""Difference from the in-plane fraction asked for above which a remark is made."""


def remarks(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[str]:
    """A line for each remark, with the levels that it applies to.

    Args:
        spec: of the build.
        levels: their reports.
    """
    every = [remark for level in levels for remark in _remarks(spec, level)]
    return said_once(every, [level.level for level in levels])


def verdicts(levels: Sequence[LevelReport]) -> list[str]:
    """A line for each verdict; without levels where all share it."""
    every = [level.level for level in levels]
    if len({level.verdict for level in levels}) == 1:
        return [levels[0].verdict]
    made = [
        Remark(level.level, level.verdict, whatever_numbers=level.consistency == "inconsistent")
        for level in levels
    ]
    return said_once(made, every)


def _remarks(spec: GraphSpec, level: LevelReport) -> list[Remark]:
    made = []

    def remark(sentence: str, number: str = "") -> None:
        made.append(Remark(level.level, sentence, number))

    target = spec.in_plane_fraction
    if target is not None and abs(level.in_plane_fraction - target) > FAR_FROM_TARGET:
        why = "the closest that any xi tried gives with these points and neighbours"
        if spec.mask is not None:
            why = "xi is solved for on the whole sampling, of which these are the edges inside"
        remark(
            f"in-plane fraction {{}}, asked for {target:g}: {why}",
            f"{level.in_plane_fraction:.3f}",
        )
    if spec.neighbors is not None and level.degree["max"] > spec.neighbors:
        remark(
            f"up to {{}} neighbours, more than K = {spec.neighbors}: those added so that the "
            "weights can match the metric",
            f"{level.degree['max']:.0f}",
        )
    if level.dropped_edges:
        remark("{} edges left out, as their matched weight is 0", f"{level.dropped_edges:,}")
    if level.sparsity < SPARSE_ENOUGH:
        percent = f"{level.sparsity:.2%}".replace("%", " %")
        remark("{} zeros, below the paper's rule of thumb", percent)
    if level.isolated:
        remark("vertices without neighbours: {}", f"{level.isolated:,}")
    if level.components > 1:
        remedy = "more neighbours may link them"
        if spec.geometry.oriented:
            remedy = "a smaller alpha links orientations, a larger one links points"
        if spec.mask is not None:
            remedy = "what is inside the mask may be in as many pieces"
        remark(
            f"falls into {{}} components, between which no signal passes; {remedy}",
            f"{level.components:,}",
        )
    if not level.eigenvalues_converged:
        remark("the eigenvalues are approximate, the solver gave up")
    if level.multiplicities_may_be_larger:
        remark(
            "eigenvalues from Lanczos recursions, one for each sector of the half turns and "
            "reflections: those that are multiple for other reasons may have more copies"
        )
    return made
