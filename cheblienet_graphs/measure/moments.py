"""The metric that the weights of a level realize, where it is measured, and its spectrum's scale.

Builds record the scale, so it depends on no argument of theirs, and on large graphs looks at some
points.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling, periods
from cheblienet_graphs.search.stencil import reach
from cheblienet_graphs.sparse import components, null_shift, row_blocks, rows
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    from cheblienet_graphs.spectrum.lanczos import Eigenvalues  # slow to import, builds do without

EDGES_AT_ONCE = 2**17
"""Number of edges to hold second moments of in memory at once."""
EDGES = 2**18
"""About so many stored entries are looked at, in less than a second; smaller graphs are whole.

Of graphs of a million the factor then was found 3e-4 off, and 4e-3 where points are random.
"""
ROUNDING = 1e-24
"""Moments that are smaller, in units of the largest, are squares of rounding errors."""


@dataclass(frozen=True)
class EffectiveMetric:
    """The metric that the weights at one orientation realize.

    A graph has the second moments of R = diag(1, eps^-2, xi^2) where M = sum_j w_ij c c^T is a
    multiple m R^-1 at every vertex, m a_i R^-1 where vertices have different areas a_i.

    Args:
        orientation: index k of the samples along the fiber; 0 where there are none.
        eps_squared: M22 / M11, in space the mean of M22 and M33 over M11; None where no neighbor
            lies forward.
        xi_squared: M11 over the moment of rotation, of axes over the mean of both tilts; None where
            there are no orientations or none are linked.
        leakage: the largest |M_ab| / sqrt(M_aa M_bb) of two directions a, b; 0 is none.
        second_moment: m = tr(R M) / dim; D - W is m / 2 times the operator.
        deviation: the largest entry of |M R / m - I| at a single point, m of that point.
        squared_reach: sum_j w_ij c_a^4 / sum_j w_ij c_a^2, c in units of the metric, of the
            direction a in which that is largest. By the next term of its Taylor series an
            eigenvalue lambda is low by lambda squared_reach / 12 at most, relatively.
        turning_reach: the same of the directions of the fiber alone; 0 without orientations.
        first_moment: |sum_j w_ij c| over sqrt(sum_j w_ij sum_j w_ij |c|^2), in [0, 1], c in units
            of the metric: the median over the points. On irregular points eigenvalues are low
            unless it is small, or becomes so as points are added.
    """

    orientation: int
    eps_squared: float | None
    xi_squared: float | None
    leakage: float
    second_moment: float
    deviation: float
    squared_reach: float
    turning_reach: float = 0.0
    first_moment: float = 0.0


@dataclass(frozen=True)
class MeasuredLevel(LevelFolder):
    """A level that is measured: what reports and figures ask of it is computed once.

    Args:
        points: where they are known already.
        stencils_reach: the farthest that stencils reach along an axis, in pixels, likewise.
    """

    points: Sampling | None = field(default=None, repr=False, compare=False)
    stencils_reach: int | None = field(default=None, repr=False, compare=False)

    spectrum: "Eigenvalues | None" = field(default=None, init=False, repr=False, compare=False)
    """The smallest eigenvalues that were computed; see `spectra.first_eigenvalues`."""

    @cached_property
    def sampling(self) -> Sampling:
        """The points."""
        return super().sampling if self.points is None else self.points

    @property
    def coarser(self) -> "MeasuredLevel":
        """The next level."""
        return MeasuredLevel(self.version, self.spec, self.levels, self.level + 1)

    @cached_property
    def probes(self) -> Indices:
        """Points where the effective metric is measured; empty where all are at the mask's edge.

        Without a mask these are the sampling's own.
        """
        domain = self.sampling
        deepest = self.sampling.probes()
        if domain.places is None:
            # Which of given points are near the edge of a mask is not stored.
            return deepest if self.spec.mask is None else deepest[:0]
        if domain.lattice is not None:
            if domain.num_points == domain.full.num_points:
                return deepest
            return deepest if self._reach < domain.depth_of(int(deepest[0])) else deepest[:0]
        if not len(domain.outside):
            return deepest
        from scipy.spatial import KDTree  # slow to import, stencil builds do without

        distance, _ = KDTree(domain.outside).query(domain.base_points)
        return np.flatnonzero(distance > _longest_chord(self))

    @property
    def _reach(self) -> int:
        """The farthest that stencils reach along an axis, in pixels."""
        if self.stencils_reach is not None:
            return self.stencils_reach
        whole = SampledManifold(self.sampling.full, self.spec.geometry, self.sampled.metric)
        lattice = cast("SampledManifold[Lattice]", whole)
        return max(reach(self.spec.weighting.on_lattice(self.spec, lattice).stencils))

    @cached_property
    def metrics(self) -> list[EffectiveMetric]:
        """The metrics realized at its `probes`, by orientation."""
        return effective_metrics(self, self.probes)

    @cached_property
    def scale(self) -> float | None:
        """`eigenvalue_scale`, measured where a version is older than its record; None as there."""
        recorded = self.of_level.eigenvalue_scale
        return eigenvalue_scale(self) if recorded is None else recorded

    @cached_property
    def shift(self) -> Floats:
        """(V,) `null_shift` by the roots of the masses."""
        return null_shift(self.laplacian, np.sqrt(self.mass, dtype=np.float64))

    @cached_property
    def components(self) -> int:
        """The number of connected components."""
        return components(self.laplacian)


def _vertices(sampling: Sampling, points: Indices) -> Indices:
    """(n_o, N) the vertices over some points."""
    return np.arange(sampling.orientations)[:, None] * sampling.num_points + points


def _areas(sampling: Sampling, points: Indices) -> Floats:
    """(n_o,) areas of the vertices of each orientation over some points, added up."""
    areas = sampling.base_areas[points]
    shares = sampling.fiber.shares(sampling.orientations)
    return np.array([(areas * share).sum() for share in shares])


def effective_metrics(level: MeasuredLevel, points: Indices) -> list[EffectiveMetric]:
    """The metric realized at each orientation, that of the sum of M, in units of the points' area.

    Args:
        level: its edges.
        points: where it is measured; without any the result is empty.
    """
    if not len(points):
        return []
    indptr, sampled = level.laplacian.indptr, level.sampled
    orientations, count = sampled.sampling.orientations, sampled.sampling.num_points
    area = _areas(sampled.sampling, points)
    vertices = _vertices(sampled.sampling, points).ravel()
    edges = int((indptr[vertices + 1] - indptr[vertices]).sum())
    second, fourth, largest, firsts = 0.0, 0.0, np.zeros(orientations), []
    for piece in np.array_split(vertices, max(1, -(-edges // EDGES_AT_ONCE))):
        first, moments, fourths = _moments(level, piece)
        firsts.append(first)
        own = piece // count == np.arange(orientations)[:, None]
        second = second + np.einsum("kn,nab->kab", own, moments)
        fourth = fourth + own @ fourths
        np.maximum.at(largest, piece // count, deviations(moments))
    drift = np.median(np.concatenate(firsts).reshape(orientations, -1), axis=1)
    each = zip(second / area[:, None, None], fourth / area[:, None], largest, drift, strict=True)
    return [effective_metric(sampled, k, *measured) for k, measured in enumerate(each)]


def _moments(level: MeasuredLevel, vertices: Indices) -> tuple[Floats, Floats, Floats]:
    """First moments of some vertices, second ones, and sums of w c_a^4.

    Returns:
        (N,) as in `EffectiveMetric`, (N, dim, dim) sqrt(R) M sqrt(R), and (N, dim).
    """
    edges, sampled = level.weights(vertices).tocoo(), level.sampled
    (row, column), weights = edges.coords, edges.data

    def summed(values: Floats) -> Floats:
        """The sum over the edges of each vertex, with their weights."""
        total = np.zeros((len(vertices), *values.shape[1:]))
        np.add.at(total, row, weights.reshape(-1, *[1] * (values.ndim - 1)) * values)
        return total

    starts, ends = level.coordinates[vertices[row]], level.coordinates[column]
    base = sampled.manifold.base.dimension
    ends[:, :base] -= periods(sampled.sampling, ends[:, :base] - starts[:, :base])
    first, second = edge_moments(sampled.manifold, sampled.metric, starts, ends)
    moments, fourths = summed(second), summed(second.diagonal(axis1=1, axis2=2) ** 2)
    most = np.sqrt(summed(np.ones(len(row))) * moments.trace(axis1=1, axis2=2))
    drift = np.linalg.norm(summed(first), axis=1)
    return np.divide(drift, most, out=np.zeros_like(most), where=most > 0), moments, fourths


def deviations(moments: Floats) -> Floats:
    """(N,) the largest entry of |M R / m - I| at each point, m of that point.

    Args:
        moments: (N, dim, dim) sqrt(R) M sqrt(R) of the points.
    """
    dimension = moments.shape[-1]
    trace = moments.trace(axis1=1, axis2=2)[:, None, None]
    shapes = np.divide(moments * dimension, trace, out=np.zeros_like(moments), where=trace > 0)
    largest: Floats = abs(shapes - np.eye(dimension)).max(axis=(1, 2))
    return largest


def effective_metric(
    sampled: SampledManifold[Sampling],
    orientation: int,
    mean: Floats,
    fourth: Floats,
    largest_deviation: float,
    first_moment: float = 0.0,
) -> EffectiveMetric:
    """The metric that the moments of one orientation realize.

    Args:
        sampled: the points with their metric R.
        orientation: its index.
        mean: (dim, dim) sqrt(R) M sqrt(R), in units of area.
        fourth: (dim,) sum of w c_a^4 in the same units.
        largest_deviation: over single points.
        first_moment: their median.
    """
    diagonal = mean.diagonal()
    diagonal = np.where(diagonal > ROUNDING * diagonal.max(), diagonal, 0.0)
    spread = np.sqrt(np.outer(diagonal, diagonal))
    mixed = np.divide(abs(mean), spread, out=np.zeros_like(mean), where=spread > 0)
    np.fill_diagonal(mixed, 0)
    reach = np.divide(fourth, diagonal, out=np.zeros_like(fourth), where=diagonal > 0)
    base, metric = sampled.manifold.base.dimension, sampled.metric
    forward, *across = diagonal[:base]
    turning = diagonal[base:]
    rotates = bool(turning.any())
    return EffectiveMetric(
        orientation=orientation,
        eps_squared=float(np.mean(across) / forward) * metric.eps**2 if forward > 0 else None,
        xi_squared=float(forward / np.mean(turning)) * metric.xi**2 if rotates else None,
        leakage=float(mixed.max()),
        second_moment=float(mean.trace()) / len(mean),
        deviation=float(largest_deviation),
        squared_reach=float(reach.max()),
        turning_reach=float(reach[base:].max(initial=0.0)),
        first_moment=float(first_moment),
    )


def eigenvalue_scale(level: MeasuredLevel) -> float | None:
    """The factor from eigenvalues of Delta to estimates of the operator's.

    With m the mean second moment that is 2 / m for the combinatorial Laplacian, and 2 d / m, d the
    mean degree, for the normalized one, where degrees are equal. All but kernel weights have
    m = 2, in units of the mean area of all points. None where the metric can be measured nowhere,
    or no vertex has a neighbor.

    Args:
        level: its edges.
    """
    sampling, mass, moment = level.sampling, 1.0, 0.0
    known = level.spec.weighting.moment
    normalized = level.spec.laplacian == "normalized"
    if known is not None:
        moment = known * sampling.mean_area
    if known is None or normalized:
        points = some_points(level, level.probes, EDGES)
        if not (metrics := effective_metrics(level, points)):
            return None
        if known is None:
            moment = float(np.mean([metric.second_moment for metric in metrics]))
        if normalized:
            degree = level.degree[_vertices(sampling, points).ravel()].sum(dtype=np.float64)
            mass = float(degree / math.fsum(_areas(sampling, points)))
    return 2 * mass / moment if moment > 0 else None


def some_points(level: MeasuredLevel, points: Indices, edges: int) -> Indices:
    """Some of these points, one drawn from each of equally long stretches, from a fixed seed."""
    entries = level.laplacian.nnz
    count = max(1, int(edges * level.sampled.sampling.num_points / entries))
    if count >= len(points):
        return points
    ends = np.arange(count + 1) * len(points) // count
    return points[np.random.default_rng(0).integers(ends[:-1], ends[1:])]


def _longest_chord(level: MeasuredLevel) -> float:
    """The largest Cartesian distance on the base between two vertices that an edge joins."""
    points = level.sampling
    laplacian = level.laplacian
    longest = 0.0
    base = points.base_points
    for start, stop in row_blocks(laplacian.indptr):
        row, column = rows(laplacian, start, stop).tocoo().coords
        steps = base[column % points.num_points] - base[(row + start) % points.num_points]
        steps -= periods(points, steps)
        longest = max(longest, float(np.sqrt((steps**2).sum(axis=1)).max(initial=0)))
    return longest
