"""Comparison of a graph's second moments with those of the metric asked for, and what mends them.

On lattices their equality is necessary for consistency with the metric's operator, and nearly
sufficient. On irregular points it is not sufficient: where first moments do not vanish, eigenvalues
come out too low. Where these do vanish, as with the weights of Voronoi cells, it is not necessary
at single points either, but on average over regions.
"""

import math
from dataclasses import replace

import numpy as np

from cheblienet_graphs import limits
from cheblienet_graphs.errors import Remedy
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.report.findings import Finding
from cheblienet_graphs.report.moments import EffectiveMetric, deviations, effective_metric
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.search.stencil import Stencils
from cheblienet_graphs.spec import GraphSpec, fibers, words

CLOSE = 0.15
"""Second moments are those of the metric where they deviate by no more than this, relatively."""
EXACT = 1e-4
"""Relative deviation that storing weights in float32 may cause."""
LARGER = (24, 32, 48, 64, 96, 128)
"""Numbers of neighbors that are tried for a suggestion."""


def closeness(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> str:
    """'exact', or the deviation in words."""
    off = deviation_from(spec, metric, metrics)
    close = "exact" if off < EXACT else f"within {words.percent(off)}"
    if _shortened(spec):
        close += " (fiber edges made for its first mode)"
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


def _shortened(spec: GraphSpec) -> bool:
    """Whether fiber edges are made for the first mode, and moments do not count them so.

    Those of axes and of orientations modulo 2 pi do.
    """
    return spec.weights == "selling" and spec.period == "pi" and spec.orientations > 1


def _expected_xi_squared(spec: GraphSpec, metric: Metric) -> float:
    """xi^2 that second moments should give: Selling's fiber edges correct for the step's length."""
    if not _shortened(spec):
        return metric.xi**2
    angle = math.pi / spec.orientations
    return (metric.xi * math.sin(angle) / angle) ** 2


def faults(spec: GraphSpec, metric: Metric, metrics: list[EffectiveMetric]) -> list[Finding]:
    """The ways in which they are not those of the metric; empty where they are.

    Args:
        spec: of the build.
        metric: asked for on the level.
        metrics: realized by its weights, by orientation.
    """
    if deviation_from(spec, metric, metrics) <= CLOSE:
        return []
    wrong, fiber = [], {"fibers": fibers.words(spec)}
    if spec.geometry.oriented and not any(m.xi_squared for m in metrics):
        scaled_by = Remedy(fibers.scaled_by(spec))
        unlinked = Finding("unlinked", numbers=fiber, remedies=(scaled_by,))
        wrong.append(unlinked if spec.orientations > 1 else Finding("one orientation"))
    along = [m.eps_squared for m in metrics if m.eps_squared is not None]
    if len(along) < len(metrics):
        wrong.append(Finding("nothing forward", numbers=fiber))
    elif max(abs(value / metric.eps**2 - 1) for value in along) > CLOSE:
        realized = words.interval(min(along), max(along))
        wrong.append(Finding("eps", numbers={"realized": realized, "asked": metric.eps**2}))
    turning = [m.xi_squared / metric.xi**2 for m in metrics if m.xi_squared]
    if turning and max(abs(ratio - 1) for ratio in turning) > CLOSE:
        realized = words.interval(min(turning), max(turning))
        wrong.append(Finding("xi", numbers={"realized": realized}))
    if wrong:
        return wrong
    mixed = spec.sampling_kind.regular or spec.weights == "voronoi"
    share = max(m.leakage if mixed else m.deviation for m in metrics)
    kind = "mixed" if mixed else "single points"
    return [Finding(kind, numbers={"share": words.percent(share)})]


def remedy(
    spec: GraphSpec, sampled: SampledManifold[Sampling], *, try_larger: bool = True
) -> Finding | None:
    """Parameters that make a graph more like its metric's operator, or may; None without any.

    These are of `spec`'s manifold and sampling, differ from its own, and are a user's to choose: of
    given points there are no more.

    Args:
        spec: of the build.
        sampled: the level's points with the metric asked for.
        try_larger: whether to search for a number of neighbors that is enough on a lattice.
    """
    manifold, kind = spec.geometry, spec.sampling_kind
    matched = Remedy("weights", "matched")
    if manifold.oriented and spec.orientations == 1:
        return _advice("or more", Remedy("orientations", 4))
    if kind.regular and spec.weights != "kernel":
        # Their second moments are right, so what is left are lengths of edges.
        return more_of_fiber(spec)
    if kind.regular:
        larger = [count for count in LARGER if try_larger and count > spec.searched_neighbors]
        # The least K of those tried that has the right moments; a larger one need not have them.
        enough = next((count for count in larger if _right_inside(spec, sampled, count)), None)
        others = (Remedy("weights", "selling"), matched, Remedy("neighbors", enough))
        least = {"least": manifold.selling_neighbors}
        if enough is None:
            return Finding("either", (), least, others[:2])
        return Finding("one of three", (), least, others)
    if spec.weights == "voronoi":
        return _advice("larger", Remedy(kind.field)) if spec.coordinates is None else None
    if not manifold.oriented:
        return _advice("use", Remedy("weights", "voronoi"))
    if spec.weights == "kernel" and not manifold.base.flat:
        count = max(spec.searched_neighbors, manifold.least_matched_neighbors)
        return _advice("together", matched, Remedy("neighbors", count))
    most = min(limits.NEIGHBORS.high, spec.full_points(0) * spec.orientations - 1)
    return _advice("more", Remedy("neighbors")) if spec.searched_neighbors < most else None


def more_of_fiber(spec: GraphSpec) -> Finding | None:
    """Advice to take more orientations or axes; None where there are none, or no more."""
    most = limits.ORIENTATIONS.high if spec.axes is None else max(limits.AXES.values())
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
    return _right_inside(spec, sampled, spec.searched_neighbors)


def _right_inside(spec: GraphSpec, sampled: SampledManifold[Sampling], count: int) -> bool:
    """Whether kernel weights with K = count have the right moments away from boundaries."""
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
    return deviation_from(spec, sampled.metric, metrics) <= CLOSE
