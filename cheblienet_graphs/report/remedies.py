"""What to do about second moments that are not those of the metric."""

from dataclasses import replace

import numpy as np

from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.neighbours.stencil import Stencils
from cheblienet_graphs.report.diagnostics import (
    EffectiveMetric,
    deviations,
    effective_metric,
)
from cheblienet_graphs.report.second_moments import TOLERANCE, deviation_from
from cheblienet_graphs.samplings.lattice import PlaneLattice
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.graph_spec import LEAST_MATCHED_ON_SPHERE, SELLING_NEIGHBORS

LARGER = (24, 32, 48, 64, 96, 128)
"""Numbers of neighbours that are tried for a suggestion."""


def remedy(spec: GraphSpec, sampling: Sampling, metric: Metric, *, try_larger: bool = True) -> str:
    """Parameters that give second moments like those of the metric, or may.

    Args:
        spec: of the build.
        sampling: of the level.
        metric: asked for on the level.
        try_larger: whether to find out how many neighbours would be enough on a lattice.
    """
    if spec.geometry.oriented and spec.orientations == 1:
        return "use `orientations=4` or more"
    if isinstance(sampling, PlaneLattice):
        use = f"use `weights='selling'` (K <= {SELLING_NEIGHBORS[spec.manifold]})"
        enough = _enough_neighbors(spec, sampling, metric) if try_larger else None
        if enough is None:
            return f"{use} or `weights='matched'`"
        return f"{use}, `weights='matched'` or `neighbors={enough}`"
    if spec.weights == "kernel" and spec.geometry.base == "sphere":
        count = max(spec.neighbors, LEAST_MATCHED_ON_SPHERE)
        return f"use `weights='matched'` with `neighbors={count}`"
    return "more `neighbors` may help"


def consistent_inside(spec: GraphSpec, sampling: Sampling, metric: Metric) -> bool:
    """Whether a larger lattice of the same pixels would have the right moments in its middle."""
    if not isinstance(sampling, PlaneLattice):
        return False
    if spec.weights != "kernel":
        return spec.orientations > 1 or not spec.geometry.oriented
    metrics = _with_neighbors(spec, sampling, metric, spec.neighbors)
    return deviation_from(spec, metric, metrics) <= TOLERANCE


def _enough_neighbors(spec: GraphSpec, lattice: PlaneLattice, metric: Metric) -> int | None:
    """The least K of those tried that has the right moments; a larger one need not have them."""
    if spec.weights != "kernel":
        return None
    for count in LARGER:
        if count > spec.neighbors:
            metrics = _with_neighbors(spec, lattice, metric, count)
            if deviation_from(spec, metric, metrics) <= TOLERANCE:
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
        fourth = np.einsum("j,ja->a", weights, second.diagonal(axis1=1, axis2=2) ** 2)
        most = float(deviations(moments[None])[0])
        found.append(effective_metric(k, moments, fourth, most, metric))
    return found
