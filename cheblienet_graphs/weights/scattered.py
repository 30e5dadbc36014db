"""Weights on samplings without a lattice, and the Laplacian of points that are given as an array.

Matched weights are one problem for all edges together. Given points need no store.
"""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from scipy.spatial import KDTree

from cheblienet_graphs import limits
from cheblienet_graphs.errors import Found, Remedy, SpecError, Words
from cheblienet_graphs.limits import choice, integer, number
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.manifolds.moments import edge_moments, rotation_angles
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.search.choice import Choice, choose
from cheblienet_graphs.search.lists import SHELL, MutualNeighbors
from cheblienet_graphs.search.nearest import Shells
from cheblienet_graphs.search.placed import PlacedPoints
from cheblienet_graphs.search.point_columns import placed_points
from cheblienet_graphs.search.point_lists import listed_pairs
from cheblienet_graphs.search.rule import Lengths, last_whole_shell, too_few
from cheblienet_graphs.sparse import inverse_root, laplacian
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.edges import KERNELS
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.edges import KernelWeights, ListedEdges, vanishing
from cheblienet_graphs.weights.matching import lifted, matched, matching_with_little_drift

STEPS = 8
"""Most base points around a vertex over which parallel neighbors are added to it."""
MOST_ADDED = 4 * STEPS
"""Most neighbors added to a vertex, on average: two orientations may tie, and each step counts at
both ends."""
Edges = tuple[Indices, Indices, Floats]
"""Rows and columns of both directions of all edges, ascending, and their weights, or d^2."""


def matched_edges(
    spec: GraphSpec, sampled: SampledManifold[Sampling], engine: MutualNeighbors, lengths: Lengths
) -> tuple[Edges, tuple[Indices, Indices], float]:
    """The weights, nearest to the kernel's, with M_i = 2 a_i R^-1 at every vertex of area a_i.

    D - W then approximates -(A1^2 + eps^2 A2^2 + xi^-2 A3^2) itself, as on lattices;
    nearest means least sum over edges of (w - w0)^2 / w0; with `drift` first moments are made
    small, too. The edges are those of the neighbor rule
    united with steps to the nearest base points that keep the orientation, since an anisotropic
    neighborhood may have none sideways. Takes memory in proportion to the edges.

    Args:
        spec: of the build.
        sampled: the level's points with their metric.
        engine: finds the K nearest neighbors.
        lengths: of edges.

    Returns:
        The edges with their weights; rows and columns of both directions of those left out because
        their weight came out 0; t of the kernel whose weights are nearest.

    Raises:
        SpecError: no weights on these edges realize the metric.
    """
    sampling, manifold = sampled.sampling, sampled.manifold
    vertices = sampling.num_vertices
    numbers, nearby = engine.neighbors(0, vertices)
    rows, columns = _united(
        (np.repeat(np.arange(vertices), numbers), nearby),
        _parallel_steps(sampling, manifold),
        vertices,
    )
    squared = lengths.squared_distances(rows, columns)
    kernel = KernelWeights.of_mean(spec, float(squared.mean()))
    keys = np.minimum(rows, columns) * vertices + np.maximum(rows, columns)
    unknown = np.unique(keys, return_inverse=True)[1].reshape(-1)  # edge of each direction
    prior = np.zeros(len(rows) // 2)
    prior[unknown] = kernel.of_squared_lengths(squared)
    prior = lifted(prior)
    points, areas = sampling.coordinates(), sampling.areas()
    components, moments = edge_moments(manifold, sampled.metric, points[rows], points[columns])
    dimension = manifold.base.dimension + (sampling.orientations > 1)
    pairs = [(a, b) for a in range(dimension) for b in range(a, dimension)]
    # In units of a vertex's area, so that all targets are 2 or 0.
    second = np.stack([moments[:, a, b] for a, b in pairs], axis=1) / areas[rows, None]
    targets = np.tile([2.0 * (a == b) for a, b in pairs], vertices)
    if spec.drift is None:
        matching = matched(second, rows, unknown, targets, prior, np.ones(len(prior)))
    else:
        first = components[:, :dimension] / areas[rows, None]
        squares = second[:, [a == b for a, b in pairs]].sum(axis=1)
        prior *= targets.sum() / (squares @ prior[unknown])
        drifting = first, second, targets, prior, rows, unknown
        matching = matching_with_little_drift(*drifting, spec.drift)
    if not matching.converged:
        xi = Words(", an ", Remedy("xi"), " nearer to what alpha = 1 gives, or ")
        remedy = Words("Use more ", Remedy("neighbors"), xi, Remedy("weights", "kernel"), ".")
        accepted = f"kernel here: no weights on these edges, K = {spec.neighbors}, match the metric"
        raise SpecError("weights", accepted, "matched", remedy)
    kept = matching.kept[unknown]
    edges = rows[kept], columns[kept], matching.values[unknown[kept]]
    return edges, (rows[~kept], columns[~kept]), kernel.bandwidth


def _united(
    first: tuple[Indices, Indices], second: tuple[Indices, Indices], vertices: int
) -> tuple[Indices, Indices]:
    """Rows and columns of all edges given, both directions of each, ascending."""
    rows = np.concatenate([first[0], second[0], second[1]])
    columns = np.concatenate([first[1], second[1], second[0]])
    return np.divmod(np.unique(rows * vertices + columns), vertices)


def _parallel_steps(sampling: Sampling, manifold: Manifold) -> tuple[Indices, Indices]:
    """From each vertex to the most nearly parallel orientations over the nearest base points.

    The nearest base points are those of whole shells, at most `STEPS`; of orientations that tie all
    are taken.
    """
    base, count = sampling.base_points, min(STEPS + 2, sampling.num_points)
    distance, near = KDTree(base).query(base, count)
    radii = [last_whole_shell(d[1:] ** 2, STEPS, SHELL) for d in distance]
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


def point_laplacian(
    points: npt.ArrayLike,
    neighbors: Any = None,
    *,
    manifold: str,
    eps: Any = None,
    xi: Any = None,
    period: str | None = None,
    periodic: Any = None,
    units: str | None = None,
    kernel: str = "gaussian",
    bandwidth: Any = 0.2,
    laplacian: str = "normalized",
    engine: str = "auto",
    device: str = "auto",
) -> scipy.sparse.csr_array:
    """The Laplacian of the graph on given points, by the neighbor rule and kernels of builds.

    Of points that `GraphSpec` takes, too, it is the Delta that a build of these fields rescales and
    stores in float32.

    Args:
        points: (N, d) as those of `nearest_neighbors`.
        neighbors: K in [1, 1024]; default the manifold's: 8 on r2 and s2, 16 on se2 and so3, 18 on
            r3, 32 on r3s2. Points are joined that are in each other's largest union of whole
            shells, at equal distances, with at most K members.
        manifold: "r2", "r3", "se2", "s2", "so3" or "r3s2".
        eps: anisotropy in [0.001, 1], default sqrt(0.1), as that of `nearest_neighbors`.
        xi: length of one radian of rotation, in [1e-6, 1e6], in the points' unit.
        period: of orientations, "pi" (default) or "2pi".
        periodic: on a flat base the period along each axis; default none.
        units: of angles, "degrees" (default) or "radians".
        kernel: "gaussian", "laplace", "cauchy" or "rectangular", of d^2 / (4 t).
        bandwidth: t over the mean of d^2 over all edges, in [0.01, 100].
        laplacian: "normalized", I - D^-1/2 W D^-1/2, or "combinatorial", D - W.
        engine: "auto", "pruned" or "keops".
        device: "auto", "cpu" or "cuda".

    Returns:
        (N, N) float64 CSR, symmetric, positive semidefinite, with each diagonal entry stored,
        columns ascending. The row of a point without edges is 0.

    Raises:
        SpecError: an argument is out of range, given where it does not apply, or there is no edge;
            all edges are between equal points, or all weights of a point's edges vanish.
        CheblienetError: KeOps does not work here.
    """
    given = {"eps": eps, "xi": xi, "period": period, "periodic": periodic, "units": units}
    placed = placed_points(points, manifold=manifold, **given)
    fewest = placed.manifold.default_neighbors if neighbors is None else neighbors
    count = integer("neighbors", fewest, *limits.NEIGHBORS)
    weighed = KERNELS[choice("kernel", kernel, limits.KERNELS)]
    width = number("bandwidth", bandwidth, *limits.BANDWIDTH)
    kind = choice("laplacian", laplacian, limits.LAPLACIANS)
    edges = partial(_edges, placed, choose("random", engine, device))
    rows, columns, squared = edges(count)
    if not len(squared):
        _check_apart(placed)
        raise too_few(count, lambda more: len(edges(more)[2]) > 0)
    if not squared.any():
        raise SpecError("points", "such that neighbors are different", Found("only equal ones"))
    weights = KernelWeights(weighed, width * float(squared.mean())).of_squared_lengths(squared)
    degree = np.bincount(rows, weights, len(placed))[rows].astype(np.float32)
    if vanished := len(np.unique(rows[degree == 0])):
        raise SpecError("bandwidth", vanishing(vanished), width)
    return _matrix((rows, columns, weights), len(placed), normalized=kind == "normalized")


def _edges(points: PlacedPoints, chosen: Choice, count: int) -> Edges:
    """The pairs of points that list each other, by the nearest image of both lists."""
    # More copies than K + 1 at one place are in no whole shell, seen from there or from elsewhere.
    points, numbers, _ = points.thinned(count + 2)
    pairs, vertices = listed_pairs(points, chosen, Shells(count, SHELL)), len(points)
    lists = np.sort(np.where(pairs.first, pairs.others, vertices), axis=1)
    degrees, columns = MutualNeighbors(lists, vertices).neighbors(0, vertices)
    rows = np.repeat(np.arange(vertices), degrees)
    return numbers[rows], numbers[columns], pairs.cloud.squared_distances(rows, columns)


def _check_apart(points: PlacedPoints) -> None:
    """Refuse points of which fewer than two are where so few coincide that there may be edges.

    Raises:
        SpecError: there are such points.
    """
    most = limits.NEIGHBORS.high + 1
    _, kept, places = points.thinned(most)
    numbers = np.bincount(places, minlength=len(kept))  # of the last copy, those left out, too
    crowded = int((numbers + most - 1)[numbers > 1].sum())
    if crowded > len(points) - 2:
        found = Found(f"{crowded:,} of {len(points):,} that coincide, more than {most:,} each time")
        raise SpecError("points", "at different places", found, "Leave out copies.")


def _matrix(edges: Edges, vertices: int, *, normalized: bool) -> scipy.sparse.csr_array:
    """(V, V) the Laplacian of edges with these weights."""
    block, weights = ListedEdges(edges, vertices).rows(0, vertices)
    degree = block.sums(weights)
    root = inverse_root(degree) if normalized else np.ones(vertices)
    values = laplacian(block, weights, degree, root)
    return scipy.sparse.csr_array((values, block.columns, block.indptr), (vertices, vertices))
