"""The Laplacian of points that are given as an array, without a store."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs import limits
from cheblienet_graphs.search.choice import choose
from cheblienet_graphs.search.lists import SHELL
from cheblienet_graphs.search.nearest import Shells
from cheblienet_graphs.search.point_columns import placed_points
from cheblienet_graphs.search.point_lists import PointSearch
from cheblienet_graphs.search.rule import too_few
from cheblienet_graphs.sparse import inverse_root, laplacian, with_diagonal
from cheblienet_graphs.spec.edges import KERNELS
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.values import choice, integer, number
from cheblienet_graphs.weights.edges import KernelWeights

Edges = tuple[Indices, Indices, Floats]
"""Rows, columns and d^2 of both directions of all edges, ascending."""


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
        SpecError: an argument is out of range, given where it does not apply, or there is no edge.
        CheblienetError: KeOps does not work here.
    """
    given = {"eps": eps, "xi": xi, "period": period, "periodic": periodic, "units": units}
    placed = placed_points(points, manifold=manifold, **given)
    fewest = placed.manifold.default_neighbors if neighbors is None else neighbors
    count = integer("neighbors", fewest, *limits.NEIGHBORS)
    weighed = KERNELS[choice("kernel", kernel, limits.KERNELS)]
    width = number("bandwidth", bandwidth, *limits.BANDWIDTH)
    kind = choice("laplacian", laplacian, limits.LAPLACIANS)
    search = PointSearch(placed, choose("random", engine, device))
    edges = _edges(search, count)
    squared = edges[2]
    if not len(squared):
        raise too_few(count, lambda more: len(_edges(search, more)[2]) > 0)
    weights = KernelWeights(weighed, width * float(squared.mean())).of_squared_lengths(squared)
    return _matrix(edges, weights, len(placed), normalized=kind == "normalized")


def _edges(search: PointSearch, count: int) -> Edges:
    """The pairs of points that list each other, by the nearest image of both lists."""
    pairs, vertices = search.pairs(Shells(count, SHELL)), len(search.points)
    rows, columns, squared = pairs.chosen(pairs.first)
    order = np.lexsort((columns, rows))
    rows, columns, squared = rows[order], columns[order], squared[order]
    keys, opposite = rows * vertices + columns, columns * vertices + rows
    place = np.searchsorted(keys, opposite)
    place[place == len(keys)] = 0
    mutual = keys[place] == opposite if len(keys) else np.empty(0, bool)
    squared = np.minimum(squared, squared[place])
    return rows[mutual], columns[mutual], squared[mutual]


def _matrix(
    edges: Edges, weights: Floats, vertices: int, *, normalized: bool
) -> scipy.sparse.csr_array:
    rows, columns, _ = edges
    block = with_diagonal(0, np.bincount(rows, minlength=vertices), columns)
    entries = np.zeros(len(block.columns))
    entries[block.rows != block.columns] = weights
    degree = block.sums(entries)
    root = inverse_root(degree) if normalized else np.ones(vertices)
    values = laplacian(block, entries, degree, root)
    return scipy.sparse.csr_array((values, block.columns, block.indptr), (vertices, vertices))
