"""Matched weights on samplings without a lattice: one problem for all edges together."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import KDTree

from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.manifolds.moments import edge_moments, rotation_angles
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.search.neighbor_lists import SHELL, MutualNeighbors
from cheblienet_graphs.search.rule import Lengths, last_whole_shell
from cheblienet_graphs.typing import Indices
from cheblienet_graphs.weights.matching import lifted, matched, matching_with_little_drift
from cheblienet_graphs.weights.weighting import ListedEdges

if TYPE_CHECKING:
    from cheblienet_graphs.weights.matched import Matched


def matched_edges(
    weights: "Matched",
    sampled: SampledManifold[Sampling],
    engine: MutualNeighbors,
    lengths: Lengths,
    steps: int,
) -> ListedEdges | None:
    """The weights, nearest to the kernel's, with M_i = 2 a_i R^-1 at every vertex of area a_i.

    D - W then approximates -(A1^2 + eps^2 A2^2 + xi^-2 A3^2) itself, as on lattices; nearest means
    least sum over edges of (w - w0)^2 / w0; with `drift` first moments are made small, too. The
    neighbor rule's edges are united with steps to the nearest base points that keep the
    orientation, since an anisotropic neighborhood may have none sideways. Takes memory in
    proportion to the edges.

    Args:
        weights: with the kernel and the slack of first moments.
        sampled: the level's points with their metric.
        engine: finds the K nearest neighbors.
        lengths: of edges.
        steps: most base points around a vertex over which parallel neighbors are added to it.

    Returns:
        The edges; None where no weights on these realize the metric.
    """
    sampling, manifold = sampled.sampling, sampled.manifold
    vertices = sampling.num_vertices
    numbers, nearby = engine.neighbors(0, vertices)
    rows, columns = _united(
        (np.repeat(np.arange(vertices), numbers), nearby),
        _parallel_steps(sampling, manifold, steps),
        vertices,
    )
    squared = lengths(rows, columns)
    mean = float(squared.mean())
    keys = np.minimum(rows, columns) * vertices + np.maximum(rows, columns)
    unknown = np.unique(keys, return_inverse=True)[1].reshape(-1)  # edge of each direction
    prior = np.zeros(len(rows) // 2)
    prior[unknown] = weights.of_squared_lengths(squared, mean)
    prior = lifted(prior)
    points, areas = sampling.coordinates(), sampling.areas()
    components, moments = edge_moments(manifold, sampled.metric, points[rows], points[columns])
    dimension = manifold.base.dimension + (sampling.orientations > 1)
    pairs = [(a, b) for a in range(dimension) for b in range(a, dimension)]
    # In units of a vertex's area, so that all targets are 2 or 0.
    second = np.stack([moments[:, a, b] for a, b in pairs], axis=1) / areas[rows, None]
    targets = np.tile([2.0 * (a == b) for a, b in pairs], vertices)
    if weights.drift is None:
        matching = matched(second, rows, unknown, targets, prior, np.ones(len(prior)))
    else:
        first = components[:, :dimension] / areas[rows, None]
        squares = second[:, [a == b for a, b in pairs]].sum(axis=1)
        prior *= targets.sum() / (squares @ prior[unknown])
        drifting = first, second, targets, prior, rows, unknown
        matching = matching_with_little_drift(*drifting, weights.drift)
    if not matching.converged:
        return None
    kept = matching.kept[unknown]
    edges = rows[kept], columns[kept], matching.values[unknown[kept]]
    return ListedEdges(*edges, (rows[~kept], columns[~kept]), weights.width(mean))


def _united(
    first: tuple[Indices, Indices], second: tuple[Indices, Indices], vertices: int
) -> tuple[Indices, Indices]:
    """Rows and columns of all edges given, both directions of each, ascending."""
    rows = np.concatenate([first[0], second[0], second[1]])
    columns = np.concatenate([first[1], second[1], second[0]])
    return np.divmod(np.unique(rows * vertices + columns), vertices)


def _parallel_steps(sampling: Sampling, manifold: Manifold, steps: int) -> tuple[Indices, Indices]:
    """From each vertex to the most nearly parallel orientations over the nearest base points.

    The nearest base points make whole shells, at most `steps`; of orientations that tie all are
    taken.
    """
    base, count = sampling.base_points, min(steps + 2, sampling.num_points)
    distance, near = KDTree(base).query(base, count)
    radii = [last_whole_shell(d[1:] ** 2, steps, SHELL) for d in distance]
    inside = distance**2 <= np.array(radii)[:, None] * (1 + SHELL)
    inside[:, 0] = False
    start, end = np.nonzero(inside)[0], near[inside]
    points, orientations = sampling.coordinates(), np.arange(sampling.orientations)
    rows, columns = [], []
    for k in orientations:
        row = k * sampling.num_points + start
        candidates = orientations[:, None] * sampling.num_points + end
        angle = np.stack([rotation_angles(manifold, points[row], points[c]) for c in candidates])
        parallel = angle <= angle.min(axis=0) + SHELL
        rows.append(np.broadcast_to(row, parallel.shape)[parallel])
        columns.append(candidates[parallel])
    return np.concatenate(rows), np.concatenate(columns)
