"""Checks of the graphs that were built, at next to no cost; `report.checks` puts them into words.

No eigenproblem is solved, and no pass is made over a lattice; `inspect` measures more.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cheblienet_graphs.assembly.level_plan import LevelPlan
from cheblienet_graphs.gradients.fields import STEEP
from cheblienet_graphs.measure.diagnostics import steepness
from cheblienet_graphs.measure.faults import by_design, deviation, faults, levels_off
from cheblienet_graphs.measure.finding import Finding
from cheblienet_graphs.measure.moments import MeasuredLevel, effective_metrics, some_points
from cheblienet_graphs.search.connected import lattice_components
from cheblienet_graphs.search.stencil import reach
from cheblienet_graphs.weights.weighting import Advice

COUNTED_ENTRIES = 2**23
"""Most stored entries of a masked lattice whose components are counted, which takes a pass."""
EDGES = 2**15
"""Number of edges off lattices, of points drawn at random, for measuring second moments."""

Advise = Callable[[], Advice | None]


@dataclass(frozen=True)
class LevelCheck:
    """Second moments, components and isolated vertices of a level, as a build knows them.

    Args:
        level: its number.
        moments_consistent: whether second moments agree with the metric; None where the lattice is
            so small that no pixel is far from its boundary.
        finding: the same with causes and advice.
        components: number of connected components; None where counting would have taken long.
        least_components: lower bound of that number.
        isolated: number of vertices without neighbors.
        largest_cell: area of the largest Voronoi cell of given points, in units of the mean; None
            where areas are not such cells.
        steep: the finding that gradients amplify noise too much; None where they do not, or there
            are none.
    """

    level: int
    moments_consistent: bool | None
    finding: Finding
    components: int | None
    least_components: int
    isolated: int
    largest_cell: float | None = None
    steep: Finding | None = None


def check(plan: LevelPlan, graph: MeasuredLevel, advise: Advise) -> LevelCheck:
    """Look at a level that is written, and about to be published.

    Args:
        plan: of the level.
        graph: its arrays.
        advise: gives advice for second moments that differ from the metric's.
    """
    lattice, facts = plan.domain.lattice is not None, graph.of_level
    if plan.domain.whole_lattice is not None:
        least, exact = lattice_components(plan.stencils)
    elif lattice and facts.nnz > COUNTED_ENTRIES:
        least, exact = 1, None
    else:
        least = exact = graph.components
    consistent, moments = _moments(plan, graph, advise, apart=least > 1 and plan.spec.mask is None)
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


def _moments(
    plan: LevelPlan, graph: MeasuredLevel, advise: Advise, *, apart: bool
) -> tuple[bool | None, Finding]:
    """Consistency of the second moments with the metric, and the finding on it."""
    at = (plan.number,)
    spec, metric = plan.spec, graph.sampled.metric
    if plan.domain.whole_lattice is not None:
        stencils = plan.stencils
        if min(stencils.lattice.shape) <= 2 * max(reach(stencils.stencils)):
            return None, Finding("small lattice", at)
    free = graph.probes
    if not len(free):
        return None, Finding("all at the edge", at)
    points = some_points(graph, free, EDGES)
    metrics = effective_metrics(graph, points)
    some: dict[str, float] = {}
    if not spec.sampling_kind.regular and len(points) < len(free):
        some = {"looked_at": len(points)}
    if causes := faults(spec, metric, metrics):
        kind = "kernel weights" if not apart and by_design(spec, causes) else "no moments"
        return False, Finding(kind, at, some, tuple(causes), advise())
    close = deviation(spec, metric, metrics) | some
    if wrong := levels_off(spec):
        if not apart and by_design(spec, wrong):
            return True, Finding("kernel weights", at, causes=tuple(wrong), advice=advise())
        wrong.append(Finding("close", numbers=close))
        return True, Finding("inconsistent", at, causes=tuple(wrong), advice=advise())
    return True, Finding("moments", at, close)
