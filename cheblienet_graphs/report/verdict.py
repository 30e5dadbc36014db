"""The verdict: consistency of a graph with its metric, else causes and a remedy.

Second moments are compared with those of the metric asked for. On lattices their equality is
necessary for consistency with the metric's operator, and nearly sufficient. On irregular points it
is not sufficient: where first moments do not vanish, eigenvalues come out too low. Where these do
vanish, as with the weights of Voronoi cells, it is not necessary at single points either, but on
average over regions.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from cheblienet_graphs import limits
from cheblienet_graphs.errors import CheblienetError, Remedy, Words
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.report.comparison import LONGEST, Comparison
from cheblienet_graphs.report.findings import Finding
from cheblienet_graphs.report.moments import EffectiveMetric, MeasuredLevel, effective_metric
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.spec import GraphSpec, fibers, words
from cheblienet_graphs.weights.kernel import more

CLOSE = 0.15
"""Second moments are those of the metric where they deviate by no more than this, relatively."""
EXACT = 1e-4
"""Relative deviation that storing weights in float32 may cause."""
LARGE = 2**12
"""Pixels along each side of a lattice whose boundary does not matter."""
UNLIKE = 2.0
"""Given areas over cells are proportional within this factor, except at a tenth on either end."""
Consistency = Literal["consistent", "inconsistent", "not compared", "too coarse"]
CONSISTENCY: dict[str, Consistency] = {
    "consistent": "consistent",
    "inconsistent": "inconsistent",
    "not compared": "not compared",
    "not measured": "not compared",
    "coarse lattice": "too coarse",
    "coarse spectrum": "too coarse",
    "coarse fiber": "too coarse",
}
"""What each kind of verdict says of the level's graph and the operator of its metric.

"consistent": one component, second moments those of the metric, and the first eigenvalues those of
the operator; "not compared": consistent as far as known, but no eigenvalues were compared; "too
coarse": the length of the edges explains the errors, so a graph with finer points or more of the
fiber may not have them; else "inconsistent".
"""


def verdict(arrays: MeasuredLevel, components: int, comparison: Comparison) -> Finding:
    """Judge a level: a finding of one of the kinds of `CONSISTENCY`, with causes and a remedy.

    Given areas that are unlike the cells are no fault where eigenvalues were compared and agree.

    Args:
        arrays: of the level.
        components: number of connected components.
        comparison: of its first eigenvalues with the exact ones.
    """
    spec, sampled, metrics = arrays.spec, arrays.sampled, arrays.metrics
    if not metrics:
        return Finding("not measured")
    close = {"close": closeness(spec, sampled.metric, metrics)}
    error = {"error": words.percent(comparison.error or 0.0)}
    reach = max(m.squared_reach for m in metrics)
    fits = comparison.agree and comparison.too_coarse(reach)
    moments = faults(spec, sampled.metric, metrics)
    wrong = moments or levels_off(spec)
    areas = [] if comparison.unknown is None and fits else unlike_areas(arrays)
    apart = components > 1 and spec.mask is None  # what is inside a mask may be in pieces
    if moments and not apart and spec.mask is None and _consistent_inside(spec, sampled):
        periodic = sampled.sampling.periodic
        ends = "around the torus" if periodic else "from its middle to the boundary"
        return Finding("coarse lattice", numbers={"ends": ends})
    if not wrong and not areas and not apart:
        highest = float(comparison.exact.max(initial=0.0))
        if few_samples(spec, sampled.metric, highest) and not comparison.all_agree:
            return _coarse_fiber(spec, comparison, close)
        if comparison.unknown is not None:
            return Finding("not compared", numbers=close | {"why": comparison.unknown})
        if fits:
            return Finding("consistent", numbers=close | error | _compared(comparison))
        if comparison.too_coarse(reach) or spec.weighting.finite_volumes(spec):
            return _coarse_spectrum(spec, metrics, comparison, close | error)
    causes = [Finding("apart", numbers={"count": components})] if apart else []
    causes += wrong + areas
    if not apart and comparison.unknown is None and (not fits or (wrong and not moments)):
        count, most = comparison.count, comparison.error or 0.0
        if comparison.agree:
            count, most = len(comparison.errors) + 1, comparison.largest
        off = {"count": count, "error": words.percent(most)}
        causes.append(Finding("eigenvalues", numbers=off))
    if not moments:
        causes.append(Finding("close", numbers=close))
    advice: Words | None = None
    if areas and not moments:
        advice = Words("leave out the areas, which are then those of Voronoi cells")
    elif moments or not apart:
        # More neighbors mend second moments, and add to the errors at open sides.
        advice = remedy(spec)
    return Finding("inconsistent", causes=tuple(causes), advice=advice)


def _compared(comparison: Comparison) -> dict[str, int | str]:
    """Numbers of a comparison: which eigenvalues, those exact by construction, further ones."""
    exact, further = comparison.constructed, len(comparison.errors) + 1
    made = f" ({exact[0]} to {exact[1]} are exact by construction)" if exact else ""
    more = f", first {further} within {words.percent(comparison.largest)}"
    known = further > comparison.count and comparison.largest > (comparison.error or 0.0)
    return {"count": comparison.count, "made": made, "further": more if known else ""}


def _coarse_spectrum(
    spec: GraphSpec, metrics: list[EffectiveMetric], comparison: Comparison, numbers: dict[str, str]
) -> Finding:
    """That edges are too long for the first eigenvalues."""
    reach = max(m.squared_reach for m in metrics)
    shortest = float(comparison.exact[: comparison.count - 1].max())
    waves = 2 * math.pi / math.sqrt(shortest * reach)
    # Steps of a fiber are as long on a finer grid, unless xi is smaller there.
    turning = max(m.turning_reach for m in metrics) >= reach
    what = f"too few {fibers.words(spec)}" if turning else "too coarse"
    advice = _more_of_fiber(spec) if turning else None
    return Finding(
        "coarse spectrum", numbers={**numbers, "what": what, "waves": waves}, advice=advice
    )


def few_samples(spec: GraphSpec, metric: Metric, highest: float = 0.0) -> bool:
    """Whether a fiber carries too few functions.

    Of the first ones besides constants, two of an angle and five of an axis, eigenvalues are exact
    by construction, so that they say nothing: there has to be half of the second ones. There have
    to be all whose eigenvalues are among those compared.

    Args:
        spec: of the build.
        metric: asked for on the level.
        highest: of the eigenvalues compared, in the operator's units.
    """
    if not spec.geometry.oriented:
        return False
    count = spec.orientations
    known = spec.fiber.spectrum(max(LONGEST, count + 1))
    first = sum(value <= known[1] for value in known)
    second = sum(value == known[first] for value in known)
    return count < first + second / 2 or known[count] <= highest * metric.xi**2


def _coarse_fiber(spec: GraphSpec, comparison: Comparison, close: dict[str, str]) -> Finding:
    """That there are too few samples along the fiber."""
    numbers = close | {"fibers": fibers.words(spec), "count": str(spec.orientations), "off": ""}
    if comparison.unknown is None:
        number, most = len(comparison.errors) + 1, words.percent(comparison.largest)
        numbers["off"] = f", first {number} eigenvalues are up to {most} off"
    return Finding("coarse fiber", numbers=numbers, advice=_more_of_fiber(spec))


def levels_off(spec: GraphSpec) -> list[Finding]:
    """The fault of weights whose eigenvalues stay off however many points there are."""
    mended = spec.weighting.convergent(spec)  # on lattices moments are compared instead
    if spec.sampling_kind.regular or mended is None or mended.field == "laplacian":
        return []
    return [Finding("levels off", numbers={"weights": spec.weights})]


def unlike_areas(arrays: MeasuredLevel) -> list[Finding]:
    """The fault of areas that are not proportional to cells; none where most are.

    Cells at ends of a part of the sphere are large, and those of coincident points shared: a tenth
    of the points at either end does not count.

    Args:
        arrays: of the level.
    """
    try:
        ratios = arrays.areas_by_cells
    except CheblienetError:  # points are too close to have cells
        return []
    if ratios is None:
        return []
    low, high = (np.quantile(ratios, (0.1, 0.9)) / np.median(ratios)).tolist()
    if low >= 1 / UNLIKE and high <= UNLIKE:
        return []
    return [Finding("areas", numbers={"low": low, "high": high})]


def closeness(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> str:
    """'exact', or the deviation in words."""
    off = _deviation_from(spec, metric, metrics)
    close = "exact" if off < EXACT else f"within {words.percent(off)}"
    if spec.weighting.expected(spec, metric) != metric:
        close += " (fiber edges made for its first mode)"
    pointwise = spec.sampling_kind.regular or spec.weighting.pointwise(spec)
    return close if pointwise else f"{close} on average"


def _deviation_from(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> float:
    """Their relative deviation from those that the weights should have.

    Of the worst point, or of the mean by orientation where single points say nothing.
    """
    if spec.weighting.pointwise(spec):
        return max(m.deviation for m in metrics)
    expected = spec.weighting.expected(spec, metric)
    off = [_off([m.eps_squared for m in metrics], expected.eps**2)]
    if spec.geometry.oriented:
        off.append(_off([m.xi_squared for m in metrics], expected.xi**2))
    return max(*off, *(m.leakage for m in metrics))


def _off(values: Sequence[float | None], asked: float) -> float:
    """The largest relative deviation from what was asked for; without end where a value is none."""
    return max((math.inf if x is None else abs(x / asked - 1) for x in values), default=0.0)


def faults(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> list[Finding]:
    """The ways in which they are not those of the metric; empty where they are.

    Args:
        spec: of the build.
        metric: asked for on the level.
        metrics: realized by its weights, by orientation.
    """
    if _deviation_from(spec, metric, metrics) <= CLOSE:
        return []
    wrong, fiber = [], {"fibers": fibers.words(spec)}
    if spec.geometry.oriented and not any(m.xi_squared for m in metrics):
        scaled_by = Remedy(fibers.scaled_by(spec))
        unlinked = Finding("unlinked", numbers=fiber, remedies=(scaled_by,))
        wrong.append(unlinked if spec.orientations > 1 else Finding("one orientation"))
    along = [m.eps_squared for m in metrics if m.eps_squared is not None]
    if len(along) < len(metrics):
        wrong.append(Finding("nothing forward", numbers=fiber))
        along = []
    turning = [m.xi_squared / metric.xi**2 for m in metrics if m.xi_squared]
    for kind, values, asked in (("eps", along, metric.eps**2), ("xi", turning, 1.0)):
        if _off(values, asked) > CLOSE:
            realized = words.Interval(min(values), max(values))
            wrong.append(Finding(kind, numbers={"realized": realized, "asked": asked}))
    if wrong:
        return wrong
    pointwise = spec.weighting.pointwise(spec)
    share = words.percent(max(m.deviation if pointwise else m.leakage for m in metrics))
    return [Finding("single points" if pointwise else "mixed", numbers={"share": share})]


def remedy(spec: GraphSpec) -> Words | None:
    """Parameters that make a graph more like its metric's operator, or may; None without any.

    Args:
        spec: of the build.
    """
    if spec.geometry.oriented and spec.orientations == 1:
        return more(Remedy("orientations"))
    advice = spec.weighting.advice(spec)
    return _more_of_fiber(spec) if advice is None and spec.sampling_kind.regular else advice


def _more_of_fiber(spec: GraphSpec) -> Words | None:
    """Advice to take more orientations or axes; None where there are none, or no more."""
    most = limits.ORIENTATIONS.high if spec.axes is None else max(limits.AXES.values())
    if not spec.geometry.oriented or spec.orientations >= most:
        return None
    return more(Remedy("orientations" if spec.axes is None else "axes"))


def _consistent_inside(spec: GraphSpec, sampled: SampledManifold[Sampling]) -> bool:
    """Whether the middle of a larger lattice with such pixels would have the right moments."""
    if (lattice := sampled.sampling.whole_lattice) is None:
        return False
    large = replace(lattice, shape=(LARGE,) * len(lattice.shape), periodic=False)
    metric = sampled.metric.scaled(lattice.spacing / large.spacing)
    weights = spec.weighting.on_lattice(spec, SampledManifold(large, sampled.manifold, metric))
    metric, metrics = sampled.metric.scaled(lattice.spacing), []
    for k, (stencil, values) in enumerate(zip(weights.stencils, weights.values, strict=True)):
        own = np.full(len(stencil), k)
        starts, ends = lattice.edge_coordinates(own, stencil.orientation, stencil.offsets)
        _, second = edge_moments(sampled.manifold, metric, starts, ends)
        moments = np.einsum("j,jab->ab", values, second)
        # What else there is in a metric says nothing of a lattice's moments.
        metrics.append(effective_metric(sampled, k, moments, np.zeros(len(moments)), 0.0))
    return _deviation_from(spec, sampled.metric, metrics) <= CLOSE
