"""The Laplacian of points that are given as an array, without a store."""

from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs import limits
from cheblienet_graphs.errors import SpecError, Unquoted
from cheblienet_graphs.limits import choice
from cheblienet_graphs.samplings.points import Random
from cheblienet_graphs.search.choice import Choice, choose
from cheblienet_graphs.search.nearest import Shells
from cheblienet_graphs.search.neighbor_lists import SHELL, MutualNeighbors
from cheblienet_graphs.search.point_columns import placed_points
from cheblienet_graphs.search.point_lists import listed_pairs
from cheblienet_graphs.search.positions import PlacedPoints
from cheblienet_graphs.search.rule import too_few
from cheblienet_graphs.sparse import inverse_root, laplacian, with_diagonal
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.kernel import Kernel, vanishing

Edges = tuple[Indices, Indices, Floats]
"""Rows and columns of both directions of all edges, ascending, and their weights, or d^2."""


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

    For points that `GraphSpec` takes, too, it is the Delta that a build with these fields rescales
    and stores in float32.

    Args:
        points: (N, d) as of `nearest_neighbors`.
        neighbors: K in [1, 1024]; default the manifold's: 8 on r2 and s2, 16 on se2 and so3, 18 on
            r3, 32 on r3s2. Two points are joined if each is in the other's largest union of whole
            shells (points at equal distances) of at most K points.
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
        SpecError: an argument is out of range or does not apply; there is no edge; all edges join
            equal points; or all weights of a point's edges vanish.
        CheblienetError: KeOps does not work here.

    Example:
        >>> points = np.random.default_rng(0).uniform(size=(50, 2))
        >>> point_laplacian(points, manifold="r2").shape
        (50, 50)
    """
    given = {"eps": eps, "xi": xi, "period": period, "periodic": periodic, "units": units}
    placed = placed_points(points, manifold=manifold, **given)
    parameters = neighbors, kernel, bandwidth, None
    given = {field.name: value for field, value in zip(fields(Kernel), parameters, strict=True)}
    weighting = Kernel.parse(placed.manifold, Random, given)
    count = weighting.count
    kind = choice("laplacian", laplacian, limits.LAPLACIANS)
    edges = partial(_edges, placed, choose("random", engine, device))
    rows, columns, squared = edges(count)
    if not len(squared):
        _check_apart(placed)
        raise too_few(count, lambda more: len(edges(more)[2]) > 0)
    if not squared.any():
        raise SpecError("points", "such that neighbors are different", Unquoted("only equal ones"))
    weights = weighting.of_squared_lengths(squared, float(squared.mean()))
    degree = np.bincount(rows, weights, len(placed))[rows].astype(np.float32)
    if vanished := len(np.unique(rows[degree == 0])):
        raise SpecError("bandwidth", vanishing(vanished), weighting.bandwidth)
    return _matrix((rows, columns, weights), len(placed), normalized=kind == "normalized")


def _edges(points: PlacedPoints, chosen: Choice, count: int) -> Edges:
    """The pairs of points that list each other, by the nearest image of both lists."""
    # More copies than K + 1 at one place are in no whole shell, seen from there or from elsewhere.
    points, numbers, _ = points.thinned(count + 2)
    pairs = listed_pairs(points, chosen, Shells(count, SHELL))
    vertices = len(points)
    lists = np.sort(np.where(pairs.first, pairs.others, vertices), axis=1)
    degrees, columns = MutualNeighbors(lists, vertices).neighbors(0, vertices)
    rows = np.repeat(np.arange(vertices), degrees)
    return numbers[rows], numbers[columns], pairs.cloud.squared_distances(rows, columns)


def _check_apart(points: PlacedPoints) -> None:
    """Refuse points if fewer than two are at places with few enough copies for edges.

    Raises:
        SpecError: too many points coincide.
    """
    most = limits.NEIGHBORS.high + 1
    _, kept, places = points.thinned(most)
    numbers = np.bincount(places, minlength=len(kept))  # of the last copy, also the ones left out
    crowded = int((numbers + most - 1)[numbers > 1].sum())
    if crowded > len(points) - 2:
        found = Unquoted(
            f"{crowded:,} of {len(points):,} that coincide, more than {most:,} each time"
        )
        raise SpecError("points", "at different places", found, "Leave out copies.")


def _matrix(edges: Edges, vertices: int, *, normalized: bool) -> scipy.sparse.csr_array:
    """(V, V) the Laplacian of edges with these weights."""
    rows, columns, values = edges
    block, weights = with_diagonal(0, np.bincount(rows, minlength=vertices), columns, values)
    degree = block.sums(weights)
    root = inverse_root(degree) if normalized else np.ones(vertices)
    values = laplacian(block, weights, degree, root)
    return scipy.sparse.csr_array((values, block.columns, block.indptr), (vertices, vertices))
