"""Faults of a level: second moments, areas and families of weights that miss the metric."""

import math
from collections.abc import Sequence

import numpy as np

from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.measure.comparison import LONGEST
from cheblienet_graphs.measure.finding import Finding
from cheblienet_graphs.measure.moments import EffectiveMetric, MeasuredLevel
from cheblienet_graphs.spec import GraphSpec

CLOSE = 0.15
"""Relative deviation up to which second moments agree with the metric."""
UNLIKE = 2.0
"""Given areas over cells are proportional within this factor, except at a tenth on either end."""
BROKEN = {"unlinked", "one orientation", "nothing forward"}
"""Kinds of faults where edges in a direction are missing."""
NOTHING = 1e-9
"""Second moment that rounding may leave of none."""


def few_samples(spec: GraphSpec, metric: Metric, highest: float = 0.0) -> bool:
    """True if a fiber carries too few functions.

    The first ones besides constants, two of an angle and five of an axis, have eigenvalues that are
    exact by construction and say nothing: half of the second ones are needed, too. All with
    eigenvalues among the compared ones are needed.

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


def levels_off(spec: GraphSpec) -> list[Finding]:
    """The fault of weights with eigenvalues that stay off however many points there are."""
    mended = spec.weighting.convergent(spec)  # on lattices moments are compared instead
    if spec.sampling_kind.regular or mended is None or "laplacian" in mended:
        return []
    return [Finding("levels off")]


def unlike_areas(arrays: MeasuredLevel) -> list[Finding]:
    """The fault of areas that are not proportional to cells; none where most are.

    Cells at ends of a part of the sphere are large, and coincident points share theirs: a tenth of
    the points at either end does not count.

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


def deviation(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> dict[str, float]:
    """The relative deviation of second moments, as a number of a finding.

    Args:
        spec: of the build.
        metric: asked for on the level.
        metrics: realized by its weights, by orientation.
    """
    return {"deviation": deviation_from(spec, metric, metrics)}


def deviation_from(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> float:
    """The relative deviation from the second moments that the weights should have.

    It is that of the worst point, or of the mean by orientation where single points say nothing.
    """
    if spec.weighting.pointwise(spec):
        return max(m.deviation for m in metrics)
    expected = spec.weighting.expected(spec, metric)
    off = [_off([m.eps_squared for m in metrics], expected.eps**2)]
    if spec.geometry.oriented:
        off.append(_off([m.xi_squared for m in metrics], expected.xi**2))
    return max(*off, *(m.leakage for m in metrics))


def _off(values: Sequence[float | None], asked: float) -> float:
    """The largest relative deviation from what was asked for; infinite where a value is None."""
    return max((math.inf if x is None else abs(x / asked - 1) for x in values), default=0.0)


def by_design(spec: GraphSpec, wrong: Sequence[Finding]) -> bool:
    """True if faults are those of weights that are not made for the metric, and nothing is broken.

    Args:
        spec: of the build.
        wrong: its faults; empty stands for eigenvalues alone.
    """
    if spec.weighting.for_the_metric:
        return False
    return all(
        finding.kind not in BROKEN and finding.numbers.get("low", 1.0) > NOTHING
        for finding in wrong
    )


def faults(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> list[Finding]:
    """The ways in which second moments differ from the metric's; empty where they agree.

    Args:
        spec: of the build.
        metric: asked for on the level.
        metrics: realized by its weights, by orientation.
    """
    if deviation_from(spec, metric, metrics) <= CLOSE:
        return []
    wrong = []
    if spec.geometry.oriented and not any(m.xi_squared for m in metrics):
        wrong.append(Finding("unlinked" if spec.orientations > 1 else "one orientation"))
    along = [m.eps_squared for m in metrics if m.eps_squared is not None]
    if len(along) < len(metrics):
        wrong.append(Finding("nothing forward"))
        along = []
    turning = [m.xi_squared / metric.xi**2 for m in metrics if m.xi_squared]
    for kind, values, asked in (("eps", along, metric.eps**2), ("xi", turning, 1.0)):
        if _off(values, asked) > CLOSE:
            numbers = {"low": min(values), "high": max(values), "asked": asked}
            wrong.append(Finding(kind, numbers=numbers))
    if wrong:
        return wrong
    pointwise = spec.weighting.pointwise(spec)
    share = max(m.deviation if pointwise else m.leakage for m in metrics)
    return [Finding("single points" if pointwise else "mixed", numbers={"share": share})]
