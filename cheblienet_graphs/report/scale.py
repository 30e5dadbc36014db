"""The factor from a graph's eigenvalues to the operator's, and the points where it is measured.

Builds record it, so it depends on no argument of theirs, and on large graphs looks at some points.
"""

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.neighbours.stencil import Stencils, reach
from cheblienet_graphs.report.diagnostics import effective_metrics, operator_scale
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.sparse import row_blocks, rows
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store.reader import MappedWeights
from cheblienet_graphs.typing import Indices

EDGES = 2**18
"""About so many stored entries are looked at, in less than a second; smaller graphs are whole.

Of graphs of a million the factor then was found 3e-4 off, and 4e-3 where points are random.
"""


def eigenvalue_scale(
    spec: GraphSpec,
    sampled: SampledManifold[Sampling],
    weights: MappedWeights,
    coordinates: npt.NDArray[np.float64],
    degree: npt.NDArray[np.float32],
) -> float | None:
    """The factor by which eigenvalues of Delta estimate those of the operator.

    Known without measuring for the combinatorial Laplacian of all but kernel weights. None
    where the metric can be measured nowhere, or no vertex has a neighbour.

    Args:
        spec: of the build.
        sampled: the level's points with the metric asked for.
        weights: W.
        coordinates: (V, d) of the vertices.
        degree: (V,) weighted degrees.
    """
    points = sampled.sampling
    nowhere = np.empty(0, np.int64)
    if spec.weights != "kernel" and spec.laplacian == "combinatorial":
        return operator_scale(spec, [], degree, points, nowhere)
    looked_at = _spread(probes(spec, sampled, weights), points, weights)
    metrics = effective_metrics(weights, coordinates, sampled, looked_at)
    return operator_scale(spec, metrics, degree, points, looked_at)


def _spread(free: Indices, sampling: Sampling, weights: MappedWeights) -> Indices:
    """Some of these points, one drawn from each of equally long stretches, from a fixed seed."""
    count = max(1, int(EDGES * sampling.num_points / weights.laplacian.nnz))
    if count >= len(free):
        return free
    ends = np.arange(count + 1) * len(free) // count
    drawn: Indices = free[np.random.default_rng(0).integers(ends[:-1], ends[1:])]
    return drawn


def probes(spec: GraphSpec, sampled: SampledManifold[Sampling], weights: MappedWeights) -> Indices:
    """Points where the effective metric is measured; none where all are at the mask's edge.

    Without a mask these are the sampling's own.

    Args:
        spec: of the build.
        sampled: the level's points with the metric asked for.
        weights: W.
    """
    points = sampled.sampling
    if not isinstance(points, MaskedSampling):
        # Which of one's own points are near the edge of a mask is not stored.
        return points.probes() if spec.mask is None else points.probes()[:0]
    if isinstance(points.full, Lattice):
        deepest = points.probes()
        if points.num_points == points.full.num_points:
            return deepest
        depth = int(points.depth[points.places[deepest[0]]])
        whole = SampledManifold(points.full, sampled.manifold, sampled.metric)
        return deepest if _longest_offset(spec, whole) < depth else deepest[:0]
    outside = np.delete(points.full.base_points, points.places, axis=0)
    if not len(outside):
        return points.probes()
    from scipy.spatial import KDTree  # slow to import, stencil builds do without

    distance, _ = KDTree(outside).query(points.base_points)
    return np.flatnonzero(distance > _longest_chord(points, weights))


def _longest_offset(spec: GraphSpec, sampled: SampledManifold[Lattice]) -> int:
    """The farthest that stencils reach along an axis, in pixels."""
    if spec.weights == "kernel":
        return max(reach(Stencils.of(sampled, spec.searched_neighbors).stencils))
    from cheblienet_graphs.weights.lattice import lattice_weights  # which needs scipy.linalg

    return max(reach(lattice_weights(spec, sampled).stencils))


def _longest_chord(points: MaskedSampling, weights: MappedWeights) -> float:
    """The largest Cartesian distance on the base between two vertices that an edge joins."""
    base, longest, laplacian = points.base_points, 0.0, weights.laplacian
    sides = np.array(points.extent) if points.periodic and points.extent else None
    for start, stop in row_blocks(laplacian.indptr):
        block = rows(laplacian, start, stop)
        row = np.repeat(np.arange(start, stop), np.diff(block.indptr)) % points.num_points
        steps = base[block.indices % points.num_points] - base[row]
        if sides is not None:
            steps -= np.round(steps / sides) * sides
        longest = max(longest, float(np.sqrt((steps**2).sum(axis=1)).max(initial=0)))
    return longest
