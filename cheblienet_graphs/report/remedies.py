"""Remedies for second moments that are not those of the metric."""

from dataclasses import replace

import numpy as np

from cheblienet_graphs import limits
from cheblienet_graphs.errors import Remedy
from cheblienet_graphs.limits import AXES
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.neighbours.stencil import Stencils
from cheblienet_graphs.report.diagnostics import (
    EffectiveMetric,
    deviations,
    effective_metric,
)
from cheblienet_graphs.report.findings import Finding
from cheblienet_graphs.report.second_moments import CLOSE, deviation_from
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.spec import GraphSpec

LARGER = (24, 32, 48, 64, 96, 128)
"""Numbers of neighbours that are tried for a suggestion."""


def remedy(
    spec: GraphSpec, sampled: SampledManifold[Sampling], *, try_larger: bool = True
) -> Finding | None:
    """Parameters that make a graph more like its metric's operator, or may; None without any.

    These are of `spec`'s manifold and sampling, differ from its own, and are a user's to choose: of
    points of one's own there are no more.

    Args:
        spec: of the build.
        sampled: the level's points with the metric asked for.
        try_larger: whether to search for a number of neighbours that is enough on a lattice.
    """
    manifold, kind = sampled.manifold, spec.sampling_kind
    matched, voronoi = Remedy("weights", "matched"), Remedy("weights", "voronoi")
    if manifold.oriented and spec.orientations == 1:
        return _advice("or more", Remedy("orientations", 4))
    if kind.regular and spec.weights != "kernel":
        # Their second moments are right, so what is left are lengths of edges.
        return more_of_fibre(spec)
    if kind.regular:
        enough = _enough_neighbors(spec, sampled) if try_larger else None
        either = (Remedy("weights", "selling"), matched)
        others = (*either, Remedy("neighbors", enough)) if enough else either
        least = {"least": manifold.selling_neighbors}
        return Finding("one of three" if enough else "either", (), least, others)
    if spec.weights == "voronoi":
        return _advice("larger", Remedy(kind.field)) if spec.coordinates is None else None
    if not manifold.oriented:
        return _advice("use", voronoi)
    if spec.weights == "kernel" and not manifold.base.flat:
        count = max(spec.searched_neighbors, manifold.least_matched_neighbors)
        return _advice("together", matched, Remedy("neighbors", count))
    most = min(limits.NEIGHBORS.high, spec.full_points(0) * spec.orientations - 1)
    return _advice("more", Remedy("neighbors")) if spec.searched_neighbors < most else None


def more_of_fibre(spec: GraphSpec) -> Finding | None:
    """Advice to take more orientations or axes; None where there are none, or no more."""
    most = limits.ORIENTATIONS.high if spec.axes is None else max(AXES.values())
    if not spec.geometry.oriented or spec.orientations >= most:
        return None
    return _advice("more", Remedy("orientations" if spec.axes is None else "axes"))


def _advice(kind: str, *remedies: Remedy) -> Finding:
    return Finding(kind, remedies=remedies)


def consistent_inside(spec: GraphSpec, sampled: SampledManifold[Sampling]) -> bool:
    """Whether the middle of a larger lattice with such pixels would have the right moments."""
    if not spec.sampling_kind.regular:
        return False
    if spec.weights != "kernel":
        return spec.orientations > 1 or not spec.geometry.oriented
    metrics = _with_neighbors(spec, sampled, spec.searched_neighbors)
    return deviation_from(spec, sampled.metric, metrics) <= CLOSE


def _enough_neighbors(spec: GraphSpec, sampled: SampledManifold[Sampling]) -> int | None:
    """The least K of those tried that has the right moments; a larger one need not have them."""
    if spec.weights != "kernel":
        return None
    for count in LARGER:
        if count > spec.searched_neighbors:
            metrics = _with_neighbors(spec, sampled, count)
            if deviation_from(spec, sampled.metric, metrics) <= CLOSE:
                return count
    return None


def _with_neighbors(
    spec: GraphSpec, sampled: SampledManifold[Sampling], count: int
) -> list[EffectiveMetric]:
    """The metrics that kernel weights would realise with K = count, away from boundaries."""
    lattice = sampled.sampling
    if isinstance(lattice, MaskedSampling):
        lattice = lattice.full
    if not isinstance(lattice, Lattice):
        raise TypeError("stencils exist on lattices only")
    infinite = SampledManifold(replace(lattice, periodic=False), sampled.manifold, sampled.metric)
    stencils = Stencils.of(infinite, count).stencils
    mean = float(np.concatenate([s.squared_distance for s in stencils]).mean())
    kernel, relative_bandwidth = spec.kernel_and_bandwidth
    metric = sampled.metric.scaled(lattice.spacing)
    metrics = []
    for k, s in enumerate(stencils):
        own = np.full(len(s), k)
        starts, ends = lattice.edge_coordinates(own, s.orientation, s.offsets)
        weights = kernel(array(s.squared_distance / (4 * relative_bandwidth * mean)))
        _, second = edge_moments(sampled.manifold, metric, starts, ends)
        moments = np.einsum("j,jab->ab", weights, second)
        fourth = np.einsum("j,ja->a", weights, second.diagonal(axis1=1, axis2=2) ** 2)
        most = float(deviations(moments[None])[0])
        metrics.append(effective_metric(infinite, k, moments, fourth, most))
    return metrics
