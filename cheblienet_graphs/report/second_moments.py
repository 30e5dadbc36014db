"""Comparison of a graph's second moments with those of the metric asked for.

On lattices their equality is necessary for consistency with the metric's operator, and nearly
sufficient. On irregular points it is not sufficient: where first moments do not vanish, eigenvalues
come out too low. Where these do vanish, as with the weights of Voronoi cells, it is not necessary
at single points either, but on average over regions.
"""

import math

from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.report.diagnostics import EffectiveMetric
from cheblienet_graphs.spec import GraphSpec, fibres, words

CLOSE = 0.15
"""Second moments are those of the metric where they deviate by no more than this, relatively."""
EXACT = 1e-4
"""Relative deviation that storing weights in float32 may cause."""


def closeness(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> str:
    """'exact', or the deviation in words."""
    off = deviation_from(spec, metric, metrics)
    said = "exact" if off < EXACT else f"within {words.percent(off)}"
    if spec.weights == "selling" and spec.geometry.fibre.cyclic and spec.orientations > 1:
        said += " (fibre edges made for its first mode)"
    if spec.weights == "voronoi":
        said += " on average"
    return said


def deviation_from(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> float:
    """Their relative deviation from the metric's.

    On lattices and with the weights of Voronoi cells of the mean by orientation, else of the worst
    point.
    """
    if not spec.sampling_kind.regular and spec.weights != "voronoi":
        return max(m.deviation for m in metrics)
    ratios = [math.inf if m.eps_squared is None else m.eps_squared / metric.eps**2 for m in metrics]
    if spec.geometry.oriented:
        ratios += [
            math.inf if m.xi_squared is None else m.xi_squared / _expected_xi_squared(spec, metric)
            for m in metrics
        ]
    return max(*(abs(ratio - 1) for ratio in ratios), *(m.leakage for m in metrics))


def _expected_xi_squared(spec: GraphSpec, metric: Metric) -> float:
    """xi^2 that second moments should give: Selling's fibre edges correct for the step's length.

    The moments of axes do so themselves.
    """
    if spec.weights != "selling" or not spec.geometry.fibre.cyclic:
        return metric.xi**2
    step = math.pi / spec.orientations
    return (metric.xi * math.sin(step) / step) ** 2


def faults(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> list[str]:
    """The ways in which they are not those of the metric; empty where they are.

    Args:
        spec: of the build.
        metric: asked for on the level.
        metrics: realised by its weights, by orientation.
    """
    if deviation_from(spec, metric, metrics) <= CLOSE:
        return []
    wrong = []
    if spec.geometry.oriented and not any(m.xi_squared for m in metrics):
        wrong.append(_unlinked(spec))
    along = [m.eps_squared for m in metrics if m.eps_squared is not None]
    if len(along) < len(metrics):
        wrong.append(f"at some {fibres.words(spec)} no neighbour lies forward")
    elif max(abs(value / metric.eps**2 - 1) for value in along) > CLOSE:
        realised = words.interval(min(along), max(along))
        wrong.append(f"realises eps^2 = {realised}, asked {metric.eps**2:.4g}")
    turning = [m.xi_squared / metric.xi**2 for m in metrics if m.xi_squared]
    if turning and max(abs(ratio - 1) for ratio in turning) > CLOSE:
        realised = words.interval(min(turning), max(turning))
        wrong.append(f"realises {realised} of the xi^2 asked for")
    return wrong or [_single_points(spec, metrics)]


def _unlinked(spec: GraphSpec) -> str:
    if spec.orientations == 1:
        return "has one orientation, so nothing turns"
    why = f"as no edge leads to another one (a smaller `{fibres.scaled_by(spec)}` does)"
    return f"{fibres.words(spec)} are not linked, {why}"


def _single_points(spec: GraphSpec, metrics: list[EffectiveMetric]) -> str:
    if spec.sampling_kind.regular or spec.weights == "voronoi":
        mixed = words.percent(max(m.leakage for m in metrics))
        return f"second moments mix directions by {mixed}"
    off = words.percent(max(m.deviation for m in metrics))
    return f"second moments of single points are up to {off} off"
