"""Whether a graph is true to its metric, in words, and what to do where it is not."""

import math
from dataclasses import replace

import numpy as np

from cheblienet_graphs import words
from cheblienet_graphs.diagnostics import EffectiveMetric, deviation, effective_metric
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.moments import edge_moments
from cheblienet_graphs.neighbours.stencil import Stencils
from cheblienet_graphs.samplings.levels import Sampling
from cheblienet_graphs.samplings.plane import PlaneLattice
from cheblienet_graphs.spec import LEAST_MATCHED_ON_SPHERE, SELLING_NEIGHBORS, GraphSpec

TRUE = 0.15
"""A graph is true to its metric where it deviates from it by no more than this, relatively."""
EXACT = 1e-4
"""What storing weights in float32 may take away from exactness."""
LARGER = (24, 32, 48, 64, 96, 128)
"""Numbers of neighbours that are tried for a suggestion."""


def verdict(
    spec: GraphSpec, sampling: Sampling, metric: Metric, metrics: list[EffectiveMetric]
) -> str:
    """One line: how close the realised metric is to the one asked for, and a remedy.

    Args:
        spec: of the build.
        sampling: of the level.
        metric: asked for on the level.
        metrics: what its weights realise, by orientation.
    """
    off = _deviation(spec, metric, metrics)
    if off <= TRUE:
        close = "exactly" if off < EXACT else f"within {_percent(off)}"
        fibre = ""
        if spec.weights == "selling" and spec.orientations > 1:
            fibre = " (fibre edges are weighted for the first orientation mode to be exact)"
        return f"true to its metric, {close}{fibre}"
    return f"{_realised(metric, metrics)}{_remedy(spec, sampling, metric)}"


def _deviation(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> float:
    """How far the realised metric is off, relatively: on lattices by orientation, else by point."""
    if spec.sampling != "lattice":
        return max(m.deviation for m in metrics)
    ratios = [math.inf if m.eps_squared is None else m.eps_squared / metric.eps**2 for m in metrics]
    if spec.orientations > 1:
        ratios += [
            math.inf if m.xi_squared is None else m.xi_squared / _expected_xi_squared(spec, metric)
            for m in metrics
        ]
    return max(*(abs(ratio - 1) for ratio in ratios), *(m.leakage for m in metrics))


def _expected_xi_squared(spec: GraphSpec, metric: Metric) -> float:
    """xi^2 as second moments see it: Selling's fibre edges make up for the length of a step."""
    if spec.weights != "selling":
        return metric.xi**2
    step = math.pi / spec.orientations
    return (metric.xi * math.sin(step) / step) ** 2


def _realised(metric: Metric, metrics: list[EffectiveMetric]) -> str:
    known = [m.eps_squared for m in metrics if m.eps_squared is not None]
    if len(known) < len(metrics):
        return "at some orientations no neighbour lies forward or sideways"
    said = f"realises eps^2 = {words.interval(min(known), max(known))}, asked {metric.eps**2:.4g}"
    turning = [m.xi_squared / metric.xi**2 for m in metrics if m.xi_squared]
    if turning and max(abs(ratio - 1) for ratio in turning) > TRUE:
        said += f", and {words.interval(min(turning), max(turning))} of the xi^2 asked for"
    if max(abs(value / metric.eps**2 - 1) for value in known) <= TRUE:
        worst = max(m.deviation for m in metrics)
        said += f"; single points are up to {_percent(worst)} off"
    return said


def _remedy(spec: GraphSpec, sampling: Sampling, metric: Metric) -> str:
    if isinstance(sampling, PlaneLattice):
        if spec.weights != "kernel":
            return ": its middle is within reach of the boundary"
        most = SELLING_NEIGHBORS[spec.manifold]
        use = f": use `weights='selling'` (K <= {most})"
        enough = _enough_neighbors(spec, sampling, metric)
        if enough is None:
            return f"{use} or `weights='matched'`"
        return f"{use}, `weights='matched'` or `neighbors={enough}`"
    if spec.weights == "kernel" and spec.geometry.base == "sphere":
        count = max(spec.neighbors, LEAST_MATCHED_ON_SPHERE)
        return f": use `weights='matched'` with `neighbors={count}`"
    return ": more neighbours may help"


def _enough_neighbors(spec: GraphSpec, lattice: PlaneLattice, metric: Metric) -> int | None:
    """The least K of those tried that is true to the metric; a larger one need not be."""
    for count in LARGER:
        if count > spec.neighbors:
            metrics = _with_neighbors(spec, lattice, metric, count)
            if _deviation(spec, metric, metrics) <= TRUE:
                return count
    return None


def _with_neighbors(
    spec: GraphSpec, lattice: PlaneLattice, metric: Metric, count: int
) -> list[EffectiveMetric]:
    """What kernel weights would realise with K = count, away from boundaries."""
    flat = replace(lattice, periodic=False)
    stencils = Stencils.of(flat, spec.geometry, metric, count).stencils
    mean = float(np.concatenate([s.squared_distance for s in stencils]).mean())
    kernel, relative_bandwidth = spec.kernel_and_bandwidth
    columns = len(spec.geometry.columns)
    found = []
    for k, s in enumerate(stencils):
        x, y = s.dx * lattice.spacing, s.dy * lattice.spacing
        ends = np.stack([x, y, lattice.theta[s.orientation]], axis=1)[:, :columns]
        starts = np.zeros_like(ends)
        starts[:, 2:] = lattice.theta[k]
        weights = kernel(array(s.squared_distance / (4 * relative_bandwidth * mean)))
        _, second = edge_moments(spec.geometry, metric, starts, ends)
        moments = np.einsum("j,jab->ab", weights, second)
        found.append(effective_metric(k, moments, deviation(moments[None]), metric))
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"
