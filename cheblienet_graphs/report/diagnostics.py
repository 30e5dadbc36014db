"""Measurements on a stored graph: components, symmetries, weights, and the metric it realises."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.sparse import ENTRIES, row_blocks, rows
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store.reader import MappedWeights
from cheblienet_graphs.typing import Floats, Indices

EDGES_AT_ONCE = 2**17
"""Edges whose second moments are in memory together."""


@dataclass(frozen=True)
class EffectiveMetric:
    """The metric that the weights at one orientation realise.

    A graph's second moments are those of R = diag(1, eps^-2, xi^2) where M = sum_j w_ij c c^T is a
    multiple m R^-1 at every vertex, m a_i R^-1 where vertices have different areas a_i.

    Args:
        orientation: index k of theta = -pi/2 + k pi/n_o; 0 where there are no orientations.
        eps_squared: M22 / M11, in space the mean of M22 and M33 over M11; None where no neighbour
            lies forward.
        xi_squared: M11 over the moment of rotation, of axes over the mean of both tilts; None where
            there are no orientations or none are linked.
        leakage: the largest |M_ab| / sqrt(M_aa M_bb) of two directions a, b; 0 is none.
        second_moment: m = tr(R M) / dim; D - W is m / 2 times the operator.
        deviation: the largest entry of |M R / m - I| at a single point, m of that point.
        squared_reach: sum_j w_ij c_a^4 / sum_j w_ij c_a^2, c in units of the metric, of the
            direction a in which that is largest. By the next term of its Taylor series an
            eigenvalue lambda is low by lambda squared_reach / 12 at most, relatively.
        turning_reach: the same of the directions of the fibre alone; 0 without orientations.
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


def components(laplacian: scipy.sparse.csr_array, *, entries: int = ENTRIES) -> int:
    """Connected components; an isolated vertex is one.

    Each set of vertices known to be connected is a tree whose root is its first vertex; the edges
    of each block of rows join trees.

    Args:
        laplacian: (V, V), whose stored entries are the edges; possibly over mapped files.
        entries: stored entries of a block.
    """
    parent = np.arange(laplacian.shape[0])
    for start, stop in row_blocks(laplacian.indptr, entries):
        block = rows(laplacian, start, stop)
        first = np.repeat(_roots(parent, np.arange(start, stop)), np.diff(block.indptr))
        second = _roots(parent, block.indices)
        joined = np.flatnonzero(first != second)
        if len(joined):
            _join(parent, first[joined], second[joined])
    return int((parent == np.arange(len(parent))).sum())


def _roots(parent: Indices, vertices: npt.NDArray[Any]) -> Indices:
    """The roots of vertices' trees; the vertices then point to them directly."""
    roots: Indices = parent[vertices]
    while not np.array_equal(further := parent[roots], roots):
        roots = further
    parent[vertices] = roots
    return roots


def _join(parent: Indices, first: Indices, second: Indices) -> None:
    """Join the trees that these edges connect: roots point to the first root among them."""
    from scipy.sparse.csgraph import connected_components  # slow to import, most builds do without

    roots, numbers = np.unique(np.stack([first, second]), return_inverse=True)
    place = tuple(numbers.reshape(2, -1))
    shape = (len(roots), len(roots))
    edges = scipy.sparse.coo_array((np.ones(len(first)), place), shape=shape)
    count, labels = connected_components(edges, directed=False)
    least = np.full(count, len(parent))
    np.minimum.at(least, labels, roots)
    parent[roots] = least[labels]


def equivariance_errors(
    rescaled: scipy.sparse.csr_array, sampling: Sampling, *, entries: int = ENTRIES
) -> dict[str, float]:
    """Max |P' L P - L| over the entries, for each symmetry P of the sampling, by its name.

    Args:
        rescaled: (V, V) L, possibly over mapped files.
        sampling: with its symmetries.
        entries: stored entries of a block of rows.
    """
    errors = {}
    for name, permutation in sampling.symmetries():
        inverse = np.empty(len(permutation), rescaled.indices.dtype)
        inverse[permutation] = np.arange(len(permutation), dtype=inverse.dtype)
        error = 0.0
        for start, stop in row_blocks(rescaled.indptr, entries):
            images = rescaled[permutation[start:stop]]
            parts = (images.data, inverse[images.indices], images.indptr)
            moved = scipy.sparse.csr_array(parts, shape=images.shape)
            moved.sort_indices()
            error = max(error, _largest_difference(moved, rows(rescaled, start, stop)))
        errors[name] = error
    return errors


def _largest_difference(a: scipy.sparse.csr_array, b: scipy.sparse.csr_array) -> float:
    """Max |A - B| of matrices whose columns ascend in each row."""
    if np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices):
        return float(abs(a.data - b.data).max(initial=0))
    return float(abs(a - b).max())


def weight_statistics(weights: MappedWeights, *, entries: int = ENTRIES) -> dict[str, float]:
    """The smallest, median and largest weight of the edges, exactly; none where there are none.

    Args:
        weights: W, symmetric: each edge counts once, which halves the memory.
        entries: stored entries of a block of rows.
    """
    laplacian = weights.laplacian
    known = np.empty((laplacian.nnz - laplacian.shape[0]) // 2)
    count = 0
    for start, stop in row_blocks(laplacian.indptr, entries):
        block = weights.rows(np.arange(start, stop))
        row = np.repeat(np.arange(start, stop), np.diff(block.indptr))
        once = block.data[block.indices > row]
        known[count : count + len(once)] = once
        count += len(once)
    statistics = {"min": known.min(), "max": known.max()}
    statistics["median"] = np.median(known, overwrite_input=True)
    return {name: float(statistics[name]) for name in ("min", "median", "max")}


def effective_metrics(
    weights: MappedWeights,
    points: npt.NDArray[np.float64],
    sampled: SampledManifold[Sampling],
    probes: Indices,
    *,
    entries: int = EDGES_AT_ONCE,
) -> list[EffectiveMetric]:
    """The metric realised at each orientation, that of the sum of M, in units of the points' area.

    Args:
        weights: W.
        points: (V, d) coordinates of the vertices, possibly a mapped file.
        sampled: the points with their metric R.
        probes: points where it is measured; without any there is nothing to tell.
        entries: edges whose moments are in memory together.
    """
    sampling = sampled.sampling
    if not len(probes):
        return []
    orientations = np.arange(sampling.orientations)
    area = _areas_at(sampling, probes)
    vertices = (orientations[:, None] * sampling.num_points + probes).ravel()
    indptr = weights.laplacian.indptr
    edges = int((indptr[vertices + 1] - indptr[vertices]).sum())
    second, fourth, largest = 0.0, 0.0, np.zeros(len(orientations))
    firsts = []
    for piece in np.array_split(vertices, max(1, -(-edges // entries))):
        first, moments, fourths = _moments(weights, points, sampled, piece)
        firsts.append(first)
        own = piece // sampling.num_points == orientations[:, None]
        second = second + np.einsum("kn,nab->kab", own, moments)
        fourth = fourth + own @ fourths
        np.maximum.at(largest, piece // sampling.num_points, deviations(moments))
    median_first = np.median(np.concatenate(firsts).reshape(len(orientations), -1), axis=1)
    return [
        replace(effective_metric(sampled, k, mean, fourths, float(most)), first_moment=float(first))
        for k, mean, fourths, most, first in zip(
            *(orientations.tolist(), second / area[:, None, None], fourth / area[:, None]),
            *(largest, median_first),
            strict=True,
        )
    ]


def _areas_at(sampling: Sampling, probes: Indices) -> Floats:
    """(n_o,) areas of the vertices of each orientation over some points, added up."""
    count = sampling.num_points
    starts = range(0, sampling.num_vertices, count)
    return np.array([sampling.areas(lo, lo + count)[probes].sum() for lo in starts])


def _moments(
    weights: MappedWeights,
    points: npt.NDArray[np.float64],
    sampled: SampledManifold[Sampling],
    vertices: Indices,
) -> tuple[Floats, Floats, Floats]:
    """First moments of some vertices, second ones, and sums of w c_a^4.

    Returns:
        (N,) as in `EffectiveMetric`, (N, dim, dim) sqrt(R) M sqrt(R), and (N, dim).
    """
    edges = weights.rows(vertices).tocoo()
    row, column = edges.coords
    starts, ends = points[vertices[row]], points[column]
    sampling = sampled.sampling
    if sampling.periodic and sampling.extent:
        d = len(sampling.extent)
        offsets = ends[:, :d] - starts[:, :d]
        ends[:, :d] -= np.round(offsets / sampling.extent) * sampling.extent
    first, second = edge_moments(sampled.manifold, sampled.metric, starts, ends)
    moments = np.zeros((len(vertices), *second.shape[1:]))
    fourths = np.zeros(moments.shape[:2])
    np.add.at(moments, row, edges.data[:, None, None] * second)
    np.add.at(fourths, row, edges.data[:, None] * second.diagonal(axis1=1, axis2=2) ** 2)
    drifts, degrees = np.zeros((len(vertices), first.shape[1])), np.zeros(len(vertices))
    np.add.at(drifts, row, edges.data[:, None] * first)
    np.add.at(degrees, row, edges.data)
    most = np.sqrt(degrees * moments.trace(axis1=1, axis2=2))
    drift = np.linalg.norm(drifts, axis=1)
    return np.divide(drift, most, out=np.zeros_like(most), where=most > 0), moments, fourths


def operator_scale(
    spec: GraphSpec,
    metrics: list[EffectiveMetric],
    degree: npt.NDArray[np.float32],
    sampling: Sampling,
    probes: Indices,
) -> float | None:
    """The factor by which eigenvalues of Delta estimate those of the operator.

    With m the mean second moment that is 2 / m for the combinatorial Laplacian, and 2 d / m, d the
    mean degree, for the normalized one, where degrees are equal. All but kernel weights have
    m = 2, in units of the mean area of all points. None where nothing was measured, or no
    vertex has a neighbour.

    Args:
        spec: of the build.
        metrics: as `effective_metrics` finds them.
        degree: (V,) weighted degrees.
        sampling: of the level.
        probes: points where the metrics were measured.
    """
    moment = 2.0 * (sampling.mean_area if isinstance(sampling, MaskedSampling) else 1.0)
    if spec.weights == "kernel":
        if not metrics:
            return None
        moment = float(np.mean([metric.second_moment for metric in metrics]))
    mass = 1.0
    if spec.laplacian == "normalized":
        if not metrics:
            return None
        orientations = np.arange(sampling.orientations)
        vertices = (orientations[:, None] * sampling.num_points + probes).ravel()
        area = math.fsum(_areas_at(sampling, probes))
        mass = float(degree[vertices].sum(dtype=np.float64) / area)
    return 2 * mass / moment if moment > 0 else None


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
) -> EffectiveMetric:
    """The metric that the moments of one orientation realise.

    Args:
        sampled: the points with their metric R.
        orientation: its index.
        mean: (dim, dim) sqrt(R) M sqrt(R), in units of area.
        fourth: (dim,) sum of w c_a^4 in the same units.
        largest_deviation: over single points.
    """
    spread = np.sqrt(np.outer(mean.diagonal(), mean.diagonal()))
    mixed = np.divide(abs(mean), spread, out=np.zeros_like(mean), where=spread > 0)
    np.fill_diagonal(mixed, 0)
    diagonal = mean.diagonal()
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
        deviation=largest_deviation,
        squared_reach=float(reach.max()),
        turning_reach=float(reach[base:].max(initial=0.0)),
    )
