"""Remarks on a level of a graph, besides its verdict."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from cheblienet_graphs.errors import Remedy
from cheblienet_graphs.report.findings import Finding, Spell, lines
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.spec import GraphSpec, fibres
from cheblienet_graphs.spec.words import two_places

SPARSE_ENOUGH = 0.985
"""The paper's rule of thumb for the share of zeros."""
FAR_FROM_TARGET = 0.02
"""Difference from the in-plane fraction asked for above which a remark is made."""

Made = Callable[[GraphSpec, LevelReport], Iterable[Finding]]


def remarks(
    spec: GraphSpec, levels: Sequence[LevelReport], *made: Made, spell: Spell = str
) -> list[str]:
    """A line for each remark, with the levels that it applies to.

    Args:
        spec: of the build.
        levels: their reports.
        made: which remarks: `edges`, `connections`, `spectra`; default all.
        spell: writes parameters.
    """
    kinds = made or (edges, connections, spectra)
    every = [level.level for level in levels]
    every_one = (remark for level in levels for kind in kinds for remark in kind(spec, level))
    return lines(every_one, every, spell)


def verdicts(levels: Sequence[LevelReport], spell: Spell = str) -> list[str]:
    """A line for each kind of verdict; without levels where all share it."""
    if len({str(level.finding) for level in levels}) == 1:
        return [levels[0].finding.sentence(spell)]
    return lines([level.finding for level in levels], [level.level for level in levels], spell)


def edges(spec: GraphSpec, level: LevelReport) -> Iterator[Finding]:
    """Their share within an orientation, their number, and what was left out."""
    remark = partial(Finding, levels=(level.level,))
    asked = spec.in_plane_fraction
    if asked is not None and abs(level.in_plane_fraction - asked) > FAR_FROM_TARGET:
        kind = "in plane" if spec.mask is None else "in plane, mask"
        yield remark(kind, numbers={"share": level.in_plane_fraction, "asked": asked})
    if spec.neighbors is not None and level.degree["max"] > spec.neighbors:
        numbers = {"count": level.degree["max"], "most": spec.neighbors}
        yield remark("more neighbors", numbers=numbers)
    if level.dropped_edges:
        yield remark("dropped", numbers={"count": level.dropped_edges})
    if level.sparsity < SPARSE_ENOUGH:
        yield remark("dense", numbers={"zeros": two_places(level.sparsity)})


def connections(spec: GraphSpec, level: LevelReport) -> Iterator[Finding]:
    """Isolated vertices and components; nothing where all is linked."""
    remark = partial(Finding, levels=(level.level,))
    if level.isolated:
        yield remark("isolated", numbers={"count": level.isolated})
    if level.components > 1:
        numbers: dict[str, Any] = {"count": level.components}
        if spec.mask is not None:
            yield remark("components, mask", numbers=numbers)
        elif spec.orientations > 1:
            numbers |= {"fibres": fibres.words(spec)}
            smaller = Remedy(fibres.scaled_by(spec))
            yield remark("components, fibre", numbers=numbers, remedies=(smaller,))
        elif spec.kernel:
            yield remark("components, neighbors", numbers=numbers, remedies=(Remedy("neighbors"),))
        else:
            yield remark("components", numbers=numbers)


def spectra(_: GraphSpec, level: LevelReport) -> Iterator[Finding]:
    """Faults of the solver."""
    if not level.eigenvalues_converged:
        yield Finding("approximate", (level.level,))
    if level.multiplicities_may_be_larger:
        yield Finding("copies", (level.level,))
