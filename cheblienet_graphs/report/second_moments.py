"""Comparison of a graph's second moments with those of the metric asked for.

On lattices their equality is necessary for consistency with the metric's operator, and nearly
sufficient. On irregular points it is not sufficient: where first moments do not vanish, eigenvalues
come out too low. Where these do vanish, as with the weights of Voronoi cells, it is not necessary
at single points either, but on average over regions.
"""

import math

from cheblienet_graphs.errors import Remedy
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.report.diagnostics import EffectiveMetric
from cheblienet_graphs.report.findings import Finding
from cheblienet_graphs.spec import GraphSpec, fibres, words

CLOSE = 0.15
"""Second moments are those of the metric where they deviate by no more than this, relatively."""
EXACT = 1e-4
"""Relative deviation that storing weights in float32 may cause."""


def closeness(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> str:
    """'exact', or the deviation in words."""
    off = deviation_from(spec, metric, metrics)
    close = "exact" if off < EXACT else f"within {words.percent(off)}"
    if spec.weights == "selling" and spec.geometry.fibre.cyclic and spec.orientations > 1:
        close += " (fibre edges made for its first mode)"
    return f"{close} on average" if spec.weights == "voronoi" else close


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


def faults(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> list[Finding]:
    """The ways in which they are not those of the metric; empty where they are.

    Args:
        spec: of the build.
        metric: asked for on the level.
        metrics: realised by its weights, by orientation.
    """
    if deviation_from(spec, metric, metrics) <= CLOSE:
        return []
    wrong, fibre = [], {"fibres": fibres.words(spec)}
    if spec.geometry.oriented and not any(m.xi_squared for m in metrics):
        scaled_by = Remedy(fibres.scaled_by(spec))
        unlinked = Finding("unlinked", numbers=fibre, remedies=(scaled_by,))
        wrong.append(unlinked if spec.orientations > 1 else Finding("one orientation"))
    along = [m.eps_squared for m in metrics if m.eps_squared is not None]
    if len(along) < len(metrics):
        wrong.append(Finding("nothing forward", numbers=fibre))
    elif max(abs(value / metric.eps**2 - 1) for value in along) > CLOSE:
        realised = words.interval(min(along), max(along))
        wrong.append(Finding("eps", numbers={"realised": realised, "asked": metric.eps**2}))
    turning = [m.xi_squared / metric.xi**2 for m in metrics if m.xi_squared]
    if turning and max(abs(ratio - 1) for ratio in turning) > CLOSE:
        realised = words.interval(min(turning), max(turning))
        wrong.append(Finding("xi", numbers={"realised": realised}))
    return wrong or [_elsewhere(spec, metrics)]


def _elsewhere(spec: GraphSpec, metrics: list[EffectiveMetric]) -> Finding:
    """The fault where eps^2 and xi^2 are right."""
    if spec.sampling_kind.regular or spec.weights == "voronoi":
        share = max(m.leakage for m in metrics)
        return Finding("mixed", numbers={"share": words.percent(share)})
    share = max(m.deviation for m in metrics)
    return Finding("single points", numbers={"share": words.percent(share)})
