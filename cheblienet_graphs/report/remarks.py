"""Remarks on a graph, each made once for all levels that it applies to."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.said import Remark, said_once
from cheblienet_graphs.spec import GraphSpec, fibres

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

    def every(level: LevelReport) -> Iterator[Remark]:
        yield from _edges(spec, level)
        yield from _connections(spec, level)
        yield from _spectrum(level)

    return _said(levels, every)


def on_edges_and_spectrum(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[str]:
    """Those of the `remarks` that are not about connections."""
    return _said(levels, lambda level: [*_edges(spec, level), *_spectrum(level)])


def on_connections(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[str]:
    """Those of the `remarks` about isolated vertices and components; none where all is linked."""
    return _said(levels, lambda level: _connections(spec, level))


def verdicts(levels: Sequence[LevelReport]) -> list[str]:
    """A line for each kind of verdict; without levels where all share it."""
    every = [level.level for level in levels]
    if len({level.verdict for level in levels}) == 1:
        return [levels[0].verdict]
    return said_once(
        [Remark(level.level, level.verdict, whatever_numbers=True) for level in levels], every
    )


def _said(
    levels: Sequence[LevelReport], made: Callable[[LevelReport], Iterable[Remark]]
) -> list[str]:
    every = [level.level for level in levels]
    return said_once([remark for level in levels for remark in made(level)], every)


def _edges(spec: GraphSpec, level: LevelReport) -> Iterator[Remark]:
    """Their share within an orientation, their number, and what was left out."""
    target = spec.in_plane_fraction
    if target is not None and abs(level.in_plane_fraction - target) > FAR_FROM_TARGET:
        why = "the closest that any xi tried gives with these points and neighbours"
        if spec.mask is not None:
            why = "xi is solved for on the whole sampling, of which these are the edges inside"
        sentence = f"in-plane fraction {{}}, asked for {target:g}: {why}"
        yield Remark(level.level, sentence, f"{level.in_plane_fraction:.3f}")
    if spec.neighbors is not None and level.degree["max"] > spec.neighbors:
        sentence = (
            f"up to {{}} neighbours, more than K = {spec.neighbors}: those added so that the "
            "weights can match the metric"
        )
        yield Remark(level.level, sentence, f"{level.degree['max']:.0f}")
    if level.dropped_edges:
        sentence = "{} edges left out, as their matched weight is 0"
        yield Remark(level.level, sentence, f"{level.dropped_edges:,}")
    if level.sparsity < SPARSE_ENOUGH:
        percent = f"{level.sparsity:.2%}".replace("%", " %")
        yield Remark(level.level, "{} zeros, below the paper's rule of thumb", percent)


def _connections(spec: GraphSpec, level: LevelReport) -> Iterator[Remark]:
    if level.isolated:
        yield Remark(level.level, "vertices without neighbours: {}", f"{level.isolated:,}")
    if level.components > 1:
        remedy = "; more `neighbors` may link them" if spec.kernel else ""
        if spec.orientations > 1:
            smaller = f"a smaller `{fibres.scaled_by(spec)}` links {fibres.words(spec)}"
            remedy = f"; {smaller}, a larger one links points"
        if spec.mask is not None:
            remedy = "; what is inside the mask may be in as many pieces"
        sentence = f"falls into {{}} components, between which no signal passes{remedy}"
        yield Remark(level.level, sentence, f"{level.components:,}")


def _spectrum(level: LevelReport) -> Iterator[Remark]:
    if not level.eigenvalues_converged:
        yield Remark(level.level, "the eigenvalues are approximate, the solver gave up")
    if level.multiplicities_may_be_larger:
        sentence = (
            "eigenvalues from Lanczos recursions, one for each sector of the half turns and "
            "reflections: those that are multiple for other reasons may have more copies"
        )
        yield Remark(level.level, sentence)
