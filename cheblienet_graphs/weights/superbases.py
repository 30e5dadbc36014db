"""Selling's stencils: the fewest neighbors of a Laplacian consistent with the metric.

With D the matrix of the operator along the base and an obtuse superbase of Z^d, vectors b_0, ...,
b_d with sum 0 and b_j^T D b_k <= 0, Selling's formula D = sum rho v v^T holds with rho =
-b_j^T D b_k >= 0 for each pair; v is orthogonal to the other vectors: in the plane b_i turned by 90
degrees, in space b_i x b_l. So weights rho / h^2 on the offsets +-v realize D exactly.
Source: Fehrenbach, Mirebeau, "Sparse non-negative stencils for anisotropic diffusion", J. Math.
Imaging Vision 49 (2014).

Axes over the same point of space are joined, too. With s the part of another axis m across n,
weights w on edges from n to m approximate the Laplacian on the projective plane where
sum w s s^T = 2 a I and sum w (n . m) s = 0, a the area of n's cell: then functions n^T S n, S any
matrix, have exactly the eigenvalue 6 where the trace of S is 0. As s is as long as the sine of the
angle, and not as the angle, wide edges count for what they do.
"""

import functools
import itertools
from bisect import bisect_left
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.manifolds.base import Fiber
from cheblienet_graphs.manifolds.manifold import Diffusion
from cheblienet_graphs.samplings.axes import Axes
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.matching import (
    Matching,
    System,
    nearest,
    realizing,
    sums_by_vertex,
)

OBTUSE = 1e-12
"""Products of a superbase's vectors up to this value count as 0."""

Vector = tuple[int, ...]
Terms = Sequence[tuple[float, Sequence[float]]]
"""The terms of the matrix D = sum_a f_a f_a^T / R_aa: 1 / R_aa and f_a."""
SAME_ANGLE = 1e-6
"""Angles this close, radians, are the same, so that symmetric pairs of axes belong together."""
FiberEdges: TypeAlias = list[tuple[int, float]]
"""Orientations that edges lead to, and their weights."""
TILT_TARGETS = (2.0, 2.0, 0.0, 0.0, 0.0)
"""Targets of the sums of `tilt_moments` over the edges of an axis, over its area."""


def selling(
    manifold: Manifold, metric: Metric, lattice: Lattice
) -> list[tuple[Indices, Indices, Floats]]:
    """The stencil of each orientation: offsets within it, and the next samples of its fiber.

    The weights realize the operator -sum_a A_a^2 / R_aa, lengths in pixels, times the area of a
    sample's cell in the fiber.

    Args:
        manifold: its base is flat.
        metric: R, lengths in pixels.
        lattice: infinite, for its fiber and the sides of its pixels.

    Returns:
        For each orientation (N,) orientations and (N, d) offsets of the neighbors, in the order of
        the lattice's shape, and (N,) weights.
    """
    fiber, count = lattice.fiber, lattice.orientations
    diffusions = [manifold.diffusion(sample, metric) for sample in fiber.samples(count)]
    return stencils_of(diffusions, edges_along(fiber, count, metric.xi), lattice)


def edges_along(fiber: Fiber, count: int, xi: float) -> list[FiberEdges]:
    """The edges along the fiber from each of so many samples; xi is the length of one radian."""
    if isinstance(fiber, Axes):
        return tilt_edges(fiber, xi)
    steps = fiber.steps(count, xi)
    return [[((k + step) % count, weight) for step, weight in steps] for k in range(count)]


def stencils_of(
    diffusions: Sequence[Diffusion], along_fiber: Sequence[FiberEdges], lattice: Lattice
) -> list[tuple[Indices, Indices, Floats]]:
    """The stencils of operators along the base, one for each orientation, and of edges to others.

    Args:
        diffusions: rates and directions, lengths in pixels; empty where nothing leads along the
            base.
        along_fiber: edges of each orientation to others.
        lattice: infinite.

    Returns:
        As `selling`.
    """
    stencils = []
    sides = lattice.sides[::-1]
    still = (0,) * len(lattice.shape)
    areas = lattice.fiber.shares(lattice.orientations)
    for k, (diffusion, others, area) in enumerate(zip(diffusions, along_fiber, areas, strict=True)):
        scaled = [
            (factor, tuple(part / side for part, side in zip(direction, sides, strict=True)))
            for factor, direction in diffusion
        ]
        within = base_offsets(scaled) if scaled else []
        edges = [(k, *offset[::-1], weight * area) for offset, weight in within]
        edges += [(other, *still, weight) for other, weight in others]
        columns = np.array(sorted(edges))
        whole = columns[:, :-1].astype(np.int64)
        stencils.append((whole[:, 0], whole[:, 1:], columns[:, -1]))
    return stencils


def base_offsets(terms: Terms) -> list[tuple[Vector, float]]:
    """Offsets v along x, y and so on, and weights, with sum of weight v v^T = 2 D.

    Both v and -v are listed.

    Args:
        terms: 1 / R_aa and f_a of D, along x, y and so on in units of the pixels' sides.
    """
    base = _obtuse(terms)
    offsets: list[tuple[Vector, float]] = []
    for pair in itertools.combinations(range(len(base)), 2):
        weight = -_product(terms, *(base[i] for i in pair))
        if weight > OBTUSE:
            v = _orthogonal([base[i] for i in range(len(base)) if i not in pair])
            offsets += [(v, weight), (tuple(-n for n in v), weight)]
    return offsets


def _orthogonal(others: Sequence[Vector]) -> Vector:
    """The vector orthogonal to one vector in the plane, or to two in space."""
    if len(others) == 1:
        x, y = others[0]
        return -y, x
    first, second = others
    return tuple(np.cross(first, second).tolist())


def _obtuse(terms: Terms) -> list[Vector]:
    """D + 1 vectors of Z^d with sum 0, of which no two are at an acute angle under D."""
    d = len(terms)
    base = [*np.eye(d, dtype=np.int64), np.full(d, -1)]
    while True:
        vectors: list[Vector] = [tuple(vector.tolist()) for vector in base]
        for i, j in itertools.combinations(range(d + 1), 2):
            if _product(terms, vectors[i], vectors[j]) > OBTUSE:
                turned = base[i]
                base = [vector + 2 // (d - 1) * turned for vector in base]
                base[i], base[j] = -turned, base[j] - 2 // (d - 1) * turned
                break
        else:
            return vectors


def _product(terms: Terms, b: Vector, c: Vector) -> float:
    """b^T D c, summed over the directions, which loses fewer digits than the matrix D would."""
    product = 0.0
    for factor, direction in terms:
        product += factor * (_dot(b, direction) * _dot(c, direction))
    return product


def _dot(b: Vector, direction: Sequence[float]) -> float:
    product = 0.0
    for n, part in zip(b, direction, strict=True):
        product += n * part
    return product


def tilt_moments(axes: Floats, others: Floats) -> tuple[Floats, Floats]:
    """Moments of edges of unit weight from axes to others, radians.

    Args:
        axes: (N, 3) unit vectors n.
        others: (N, 3) unit vectors m; -m is the same.

    Returns:
        (N, 3) s_1^2, s_2^2 and s_1 s_2, and (N, 2) (n . m) s, along two directions across n.
    """
    least = np.eye(3)[abs(axes).argmin(axis=1)]
    across = np.cross(axes, least)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    first = (across * others).sum(axis=1)
    second = (np.cross(axes, across) * others).sum(axis=1)
    along = (axes * others).sum(axis=1)
    squares = np.stack([first * first, second * second, first * second], axis=1)
    return squares, np.stack([along * first, along * second], axis=1)


def tilt_edges(axes: Axes, xi: float) -> list[FiberEdges]:
    """For each axis the axes that edges lead to, and the weights of these edges.

    They are the pairs of axes within the smallest angle at which there are weights that are not
    negative; of these the least in norm, which are unique and so have the symmetries of the set.

    Args:
        axes: a set of them.
        xi: length of one radian.
    """
    weights = _least(axes) / xi**2
    return [[(int(j), float(row[j])) for j in np.flatnonzero(row)] for row in weights]


@functools.cache
def _least(axes: Axes) -> Floats:
    """(n_o, n_o) weights per radian^2, symmetric, 0 where there is no edge."""
    pairs = _Pairs(axes)
    limits = np.sort(pairs.angles[pairs.angles > 0])
    limits = limits[np.diff(limits, append=np.inf) > SAME_ANGLE] + SAME_ANGLE / 2
    # A solution remains one with more pairs, so the smallest angle is found by halving.
    widest = range(len(limits) - 1)
    enough = bisect_left(widest, 1, key=lambda n: pairs.least(float(limits[n]))[0].converged)
    solution, weights = pairs.least(float(limits[enough]))
    if not solution.converged:
        raise ValueError("no weights between these axes approximate a Laplacian")
    weights.setflags(write=False)
    return weights


class _Pairs:
    """Pairs of axes; pairs that rotations of the cube map to one another have equal weights.

    Args:
        axes: a set of them.
    """

    def __init__(self, axes: Axes) -> None:
        self._areas, points, count = axes.areas, axes.points, len(axes)
        moved = np.stack([image for _, image in axes.rotations])
        # One axis of each orbit stands for all others.
        first = np.unique(moved.min(axis=0))
        start, end = (part.ravel() for part in np.meshgrid(first, np.arange(count), indexing="ij"))
        self._start, self._end = start[start != end], end[start != end]
        number = np.arange(count**2).reshape(count, count)
        number = np.minimum(number, number.T)
        orbit = number[moved[:, :, None], moved[:, None]].min(axis=0)
        keys, unknown, times = np.unique(orbit, return_inverse=True, return_counts=True)
        self._unknown, self._times = unknown.reshape(orbit.shape), times
        self.angles: Floats = axes.angles.ravel()[keys]
        squares, drift = tilt_moments(points[self._start], points[self._end])
        self._moments = np.concatenate([squares, drift], axis=1)
        self._rows, self._first = np.searchsorted(first, self._start), first

    def least(self, limit: float) -> tuple[Matching, Floats]:
        """The least weights of pairs within an angle, and these as a matrix (n_o, n_o).

        With p the squared sine of a pair's angle, sum p w is the same for all solutions. So the
        solution nearest to c p, in the norm of w, is the least one, whatever c is.
        """
        near = (self.angles > 0) & (self.angles <= limit)
        kept = near[self._unknown[self._start, self._end]]
        pairs = self._start[kept], self._end[kept]
        columns = (np.cumsum(near) - 1)[self._unknown[pairs]]
        shape = len(self._first), int(near.sum())
        constraints = sums_by_vertex(self._moments[kept], self._rows[kept], columns, shape)
        targets = np.outer(self._areas[self._first], TILT_TARGETS).ravel()
        prior = realizing(np.sin(self.angles[near]) ** 2, constraints, targets)
        system = System(constraints)
        nearby = nearest(system, targets, prior, prior * self._times[near])
        values = np.zeros(len(near))
        values[near] = np.where(nearby.kept, nearby.values, 0)
        return nearby, values[self._unknown]
