"""Checks of the graphs that were built, which a user must know of, at next to no cost.

No eigenproblem is solved, and no pass is made over a lattice; `inspect` knows more.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cheblienet_graphs.assembly.level_plan import LevelPlan
from cheblienet_graphs.errors import Remedy, Spell, Words
from cheblienet_graphs.gradients.fields import STEEP
from cheblienet_graphs.report.diagnostics import steepness
from cheblienet_graphs.report.findings import Finding, lines
from cheblienet_graphs.report.moments import MeasuredLevel, effective_metrics, some_points
from cheblienet_graphs.report.verdict import closeness, faults, levels_off
from cheblienet_graphs.search.connected import lattice_components
from cheblienet_graphs.search.stencil import reach
from cheblienet_graphs.spec import GraphSpec, words
from cheblienet_graphs.spec.fields import halvable

COUNTED_ENTRIES = 2**23
"""Stored entries of a masked lattice whose components are counted, which takes a pass over all."""
EDGES = 2**15
"""Edges whose second moments are looked at off lattices: those of points drawn at random."""
UNMEASURED = {"small lattice", "all at the edge"}
"""Kinds of findings on second moments that nowhere could be compared."""
HARMLESS = {"one component", "not counted"}
"""Kinds of findings that ask for nothing."""
LARGE_CELL = 10.0
"""Areas of given points, in units of their mean, from which their Voronoi cells cover a void."""

Advise = Callable[[], Words | None]


@dataclass(frozen=True)
class LevelCheck:
    """A level's second moments, components and isolated vertices, as a build knows them.

    Args:
        level: its number.
        moments_consistent: whether second moments are those of the metric; None where the lattice
            is so small that no pixel is far from its boundary.
        finding: that with causes and a remedy; `moments` is that in words.
        components: connected ones; None where counting would have taken long, then
        least_components: says how many there are at least.
        isolated: vertices without neighbors.
        steep: where gradients amplify noise too much; None where they do not, or there are none.
        largest_cell: of the Voronoi cells of given points, in units of their mean; None
            where areas are not such cells.
    """

    level: int
    moments_consistent: bool | None
    finding: Finding
    components: int | None
    least_components: int
    isolated: int
    largest_cell: float | None = None
    steep: Finding | None = None

    @property
    def moments(self) -> str:
        """The second moments in words, with a remedy."""
        return str(self.finding)

    def to_json(self, spell: Spell = str) -> dict[str, Any]:
        """All of it as JSON types, the finding as words; `spell` writes parameters."""
        fields = asdict(self)
        del fields["finding"], fields["steep"]
        steep = {} if self.steep is None else {"steep": self.steep.sentence(spell)}
        return fields | {"moments": self.finding.sentence(spell)} | steep


def check(plan: LevelPlan, graph: MeasuredLevel, advise: Advise) -> LevelCheck:
    """Look at a level that is written, and about to be published.

    Args:
        plan: of the level.
        graph: it.
        advise: gives the remedy for second moments that are not those of the metric.
    """
    consistent, moments = _moments(plan, graph, advise)
    lattice, facts = plan.domain.lattice is not None, graph.of_level
    if plan.domain.whole_lattice is not None:
        least, exact = lattice_components(plan.stencils)
    elif lattice and facts.nnz > COUNTED_ENTRIES:
        least, exact = 1, None
    else:
        least = exact = graph.components
    given_points = plan.spec.coordinates
    cells = given_points is not None and not given_points.given_areas
    return LevelCheck(
        plan.number,
        consistent,
        moments,
        exact,
        max(least, facts.isolated),
        facts.isolated,
        float(graph.area.max()) if cells else None,
        _steep(graph),
    )


def _steep(graph: MeasuredLevel) -> Finding | None:
    known = graph.of_level.gradients
    if known is None or known.largest <= STEEP:
        return None
    matrix = graph.stacked_gradients().scipy()
    return steepness(graph.spec, graph.level, matrix, graph.coordinates)


def sentences(spec: GraphSpec, checks: Sequence[LevelCheck], spell: Spell = str) -> list[str]:
    """A line for each thing to know, with the levels of which it holds.

    Args:
        spec: of the build.
        checks: of its levels.
        spell: writes parameters.
    """
    findings = [f for level in checks for f in (level.finding, *_others(spec, level))]
    return lines(findings, [level.level for level in checks], spell) + _one_level(spec)


def summary(spec: GraphSpec, checks: Sequence[LevelCheck], spell: Spell = str) -> list[str]:
    """A line on the fidelity of the weights, and one for each thing that may spoil the graph.

    Args:
        spec: of the build.
        checks: of its levels.
        spell: writes parameters.
    """
    every = [level.level for level in checks]
    others = [finding for level in checks for finding in _others(spec, level)]
    spoiling = lines((f for f in others if f.kind not in HARMLESS), every, spell)
    if realized := _realized(spec, [level.finding for level in checks]):
        return [realized.sentence(spell), *spoiling, *_one_level(spec)]
    moments = lines((level.finding for level in checks), every, spell)
    return [*moments, *spoiling, *_one_level(spec)]


def _one_level(spec: GraphSpec) -> list[str]:
    """Why a lattice has no further level, and what to do; nothing where it could have none."""
    size = spec.level_size(0)
    if spec.levels > 1 or not isinstance(size, tuple) or not spec.sampling_kind.regular:
        return []
    if (others := halvable(size)) is None:
        return []
    padded, cropped = others
    numbers = {"size": "x".join(map(str, size)), "padded": padded, "cropped": cropped}
    return [Finding("one level", numbers=numbers).sentence()]


def _realized(spec: GraphSpec, moments: Sequence[Finding]) -> Finding | None:
    """eps^2 over all levels, where kernel weights miss it on a lattice; matched ones do not."""
    measured = [finding for finding in moments if finding.kind not in UNMEASURED]
    missed = [cause.numbers for f in measured for cause in f.causes if cause.kind == "eps"]
    advised = [named for f in measured if f.advice for named in f.advice.remedies]
    exact = [named for named in advised if named.field == "weights"]
    if not exact or not missed or len(missed) < len(measured) or not spec.sampling_kind.regular:
        return None
    low, high = min(n["realized"].low for n in missed), max(n["realized"].high for n in missed)
    realized = words.Interval(low, high).written(2, "-")
    numbers = {"weights": spec.weights, "realized": realized, "asked": missed[0]["asked"]}
    return Finding("realized", (), numbers, (exact[-1],))


def _others(spec: GraphSpec, level: LevelCheck) -> Iterator[Finding]:
    """What is known besides second moments."""
    at = (level.level,)
    if level.isolated:
        yield Finding("isolated", at, {"count": level.isolated})
    if level.components is None and level.least_components > 1:
        yield Finding("at least", at, {"count": level.least_components})
    elif level.components is None:
        yield Finding("not counted", at)
    elif level.components > 1:
        yield Finding("components", at, {"count": level.components})
    else:
        yield Finding("one component", at)
    if level.steep is not None:
        yield level.steep
    if level.largest_cell is not None and level.largest_cell > LARGE_CELL:
        more = "" if spec.geometry.base.flat else " or a region"
        times = {"times": level.largest_cell, "more": more}
        if spec.geometry.oriented:
            yield Finding("large cells, xi", at, times, (Remedy("xi"),))
        else:
            yield Finding("large cells", at, times)


def _moments(plan: LevelPlan, graph: MeasuredLevel, advise: Advise) -> tuple[bool | None, Finding]:
    """Whether second moments are those of the metric, with causes and a remedy."""
    at = (plan.number,)
    spec, sampled = plan.spec, graph.sampled
    if plan.domain.whole_lattice is not None:
        stencils = plan.stencils
        if min(stencils.lattice.shape) <= 2 * max(reach(stencils.stencils)):
            return None, Finding("small lattice", at)
    free = graph.probes
    if not len(free):
        return None, Finding("all at the edge", at)
    looked_at = some_points(graph, free, EDGES)
    metrics = effective_metrics(graph, looked_at)
    some = ""
    if not spec.sampling_kind.regular and len(looked_at) < len(free):
        some = ", looking at some points"
    causes = faults(spec, sampled.metric, metrics)
    if not causes:
        close = {"close": closeness(spec, sampled.metric, metrics) + some}
        if wrong := levels_off(spec):
            wrong.append(Finding("close", numbers=close))
            return True, Finding("inconsistent", at, causes=tuple(wrong), advice=advise())
        return True, Finding("moments", at, close)
    return False, Finding("no moments", at, {"some": some}, (), tuple(causes), advise())
