"""Offsets of an infinite lattice, their distances, and the stencils of the neighbor rule.

A logarithm over a flat base is linear in the displacement, so vertices of one orientation that are
within a distance fill an ellipsoid for each candidate of the logarithm. Its sections along an axis
are intervals, so listing them takes time in proportion to sections and offsets, however elongated
the ellipsoid is.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.manifolds.moments import array, logarithms
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.search.rule import last_whole_shell
from cheblienet_graphs.typing import Floats, Indices

SHELL = 1e-7
"""Relative width of a shell of equal distances; rounding spreads one by 1e-15."""
SLACK = 1e-6
"""Relative enlargement of the ellipsoids; far larger than rounding errors."""


@dataclass(frozen=True)
class Stencil:
    """Neighbors of a vertex, ascending by orientation and offset.

    Args:
        orientation: (N,) of the neighbors.
        offsets: (N, d) whole pixels, in the order of the lattice's shape.
        squared_distance: (N,) d^2, lengths in pixels.
    """

    orientation: Indices
    offsets: Indices
    squared_distance: Floats

    def __len__(self) -> int:
        return len(self.orientation)

    def only(self, kept: npt.NDArray[np.bool_]) -> "Stencil":
        """The neighbors where `kept`, (len(self),), is true."""
        return Stencil(self.orientation[kept], self.offsets[kept], self.squared_distance[kept])


class OffsetDistances:
    """Squared distances on the infinite lattice, lengths in pixels.

    Args:
        sampled: a lattice on a manifold, lengths of its metric in widths of the domain.
    """

    def __init__(self, sampled: SampledManifold[Lattice]) -> None:
        self._lattice, self._manifold = sampled.sampling, sampled.manifold
        self._metric = sampled.metric.scaled(sampled.sampling.spacing)

    def stencils(self, neighbors: int) -> tuple[Floats, tuple[Stencil, ...]]:
        """r_k^2 by orientation, and the neighbors of a vertex: d^2 <= min(r_i^2, r_k^2)."""
        balls = []
        radius = 2.0
        for k in range(self._lattice.orientations):
            ball, radius = self._ball(k, neighbors, radius)
            balls.append(ball)
        radii = np.array([last_whole_shell(of.squared_distance, neighbors, SHELL) for of in balls])
        return radii, tuple(
            of.only(of.squared_distance <= np.minimum(r, radii)[of.orientation] * (1 + SHELL))
            for of, r in zip(balls, radii, strict=True)
        )

    def _ball(self, k: int, neighbors: int, radius: float) -> tuple[Stencil, float]:
        """The vertices around the origin, at orientation k, more than `neighbors` within R; R.

        A ball of radius R holds every vertex nearer than R.

        Args:
            k: the orientation.
            neighbors: K.
            radius: of the first ball that is tried.
        """
        while True:
            near = self.within(k, radius**2)
            others = near.only(_others(near, k))
            if (others.squared_distance <= radius**2).sum() > neighbors:
                return others, radius
            radius *= 2

    def within(self, k: int, squared_radius: float) -> Stencil:
        """The vertices around the origin, at orientation k, within a radius.

        The origin itself is included; a few may lie beyond the radius.
        """
        return self.stencil(k, *self._ellipsoids[k].offsets(squared_radius))

    def stencil(self, k: int, orientation: Indices, offsets: Indices) -> Stencil:
        """The stencil of orientation k with these (N,) orientations and (N, d) offsets."""
        return Stencil(orientation, offsets, self.at(k, orientation, offsets))

    @cached_property
    def _ellipsoids(self) -> "tuple[Ellipsoids, ...]":
        return Ellipsoids.around(self._lattice, self._manifold, self._metric)

    def at(self, k: int, orientation: Indices, offsets: Indices) -> Floats:
        """(N,) d^2 from the origin, at orientation k, to other offsets.

        d(g, h) = d(h, g) holds to rounding; evaluating each pair from the lower orientation makes
        it hold to the last bit.
        """
        forward = np.where(orientation < k, -1, 1)
        starts, ends = self._lattice.edge_coordinates(
            np.minimum(orientation, k), np.maximum(orientation, k), forward[:, None] * offsets
        )
        start, end = (self._manifold.elements(tuple(array(p.T))) for p in (starts, ends))
        squared: Floats = self._manifold.squared_distance(start, end, self._metric)
        return squared.view(np.ndarray)


def _others(stencil: Stencil, k: int) -> npt.NDArray[np.bool_]:
    """(N,) True where an offset is not that of the origin itself, at orientation k."""
    others: npt.NDArray[np.bool_] = (stencil.orientation != k) | stencil.offsets.any(axis=1)
    return others


@dataclass(frozen=True)
class Ellipsoids:
    """d^2 = o^T Q o + least for offsets o in pixels; one for each orientation and candidate.

    Written as a sum of squares, axis by axis: d^2 - least = sum_i p_i (o_i + sum_{j<i} u_ij o_j)^2.

    Args:
        orientation: (N,) of the vertices at the other end.
        pivots: (N, d) p.
        mixed: (N, d, d) u.
        least: (N,).
    """

    orientation: Indices
    pivots: Floats
    mixed: Floats
    least: Floats

    @classmethod
    def around(
        cls, lattice: Lattice, manifold: Manifold, metric: Metric
    ) -> "tuple[Ellipsoids, ...]":
        """The ellipsoids around a vertex of each orientation, for neighbors of every one.

        Args:
            lattice: with its fiber.
            manifold: its base is flat.
            metric: lengths in pixels.
        """
        n_o, d = lattice.orientations, len(lattice.shape)
        weights = np.array(manifold.weights(metric))
        units = np.concatenate([np.zeros((1, d), np.int64), np.eye(d, dtype=np.int64)])
        # For the origin and a step along each axis: (candidates, dim, pairs of orientations) each.
        still, *moved = (_candidates(lattice, manifold, unit) for unit in units)
        steps = np.stack([image[:, :d] for image in moved])  # (d, candidates, d, pairs)
        quadratic = np.einsum("icak,a,jcak->ckij", steps, weights[:d], steps)
        least = np.einsum("cak,a->ck", still[:, d:] ** 2, weights[d:]).reshape(-1, n_o, n_o)
        pivots, mixed = _sum_of_squares(quadratic.reshape(-1, d, d))
        pivots, mixed = pivots.reshape(-1, n_o, n_o, d), mixed.reshape(-1, n_o, n_o, d, d)
        orientation = np.tile(np.arange(n_o), len(still))
        return tuple(
            cls(
                orientation,
                pivots[:, k].reshape(-1, d),
                mixed[:, k].reshape(-1, d, d),
                least[:, k].ravel(),
            )
            for k in range(n_o)
        )

    def offsets(self, squared_radius: float) -> tuple[Indices, Indices]:
        """(N,) orientations and (N, d) offsets within a radius, ascending; a few lie beyond it."""
        left = squared_radius * (1 + SLACK) - self.least
        which = np.flatnonzero(left >= 0)
        left = left[which]
        chosen = np.empty((len(which), 0), np.int64)
        for axis in range(self.pivots.shape[1]):
            pivot = self.pivots[which, axis]
            center = -np.einsum("nj,nj->n", self.mixed[which, axis, :axis], chosen)
            half = np.sqrt(np.maximum(left, 0) / pivot)
            slack = SLACK * (1 + abs(center) + half)
            low = np.ceil(center - half - slack)
            high = np.floor(center + half + slack)
            row, place = _intervals(low.astype(np.int64), high.astype(np.int64))
            left = left[row] - pivot[row] * (place - center[row]) ** 2
            which, chosen = which[row], np.column_stack([chosen[row], place])
        return _listed_once(self.orientation[which], chosen)


def _candidates(lattice: Lattice, manifold: Manifold, offset: Indices) -> Floats:
    """(candidates, dim, n_o^2) logarithms from each orientation at the origin to each at (d,)."""
    own, others = np.divmod(np.arange(lattice.orientations**2), lattice.orientations)
    ends = lattice.edge_coordinates(own, others, np.tile(offset, (len(own), 1)))
    return logarithms(manifold, *ends)


def _sum_of_squares(quadratic: Floats) -> tuple[Floats, Floats]:
    """Pivots (N, d) and mixed coefficients (N, d, d) of forms (N, d, d), last axes eliminated."""
    size = quadratic.shape[-1]
    pivots = np.empty(quadratic.shape[:2])
    mixed = np.zeros(quadratic.shape)
    rest = quadratic
    for axis in reversed(range(size)):
        pivots[:, axis] = rest[:, axis, axis]
        mixed[:, axis, :axis] = rest[:, axis, :axis] / rest[:, axis, axis, None]
        across = rest[:, axis, :axis, None] * mixed[:, axis, None, :axis]
        rest = rest[:, :axis, :axis] - across
    return pivots, mixed


def _intervals(low: Indices, high: Indices) -> tuple[Indices, Indices]:
    """The integers in closed intervals: the interval's number, and the integer."""
    counts = np.maximum(high - low + 1, 0)
    which = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    return which, np.arange(len(which)) - (ends - counts)[which] + low[which]


def _listed_once(orientation: Indices, offsets: Indices) -> tuple[Indices, Indices]:
    """The neighbors, ascending, each once: several candidates may reach the same one."""
    most = abs(offsets).max(axis=0, initial=0)
    shape = (int(orientation.max(initial=0)) + 1, *(2 * most + 1).tolist())
    keys = np.unique(np.ravel_multi_index((orientation, *(offsets + most).T), shape))
    orientation, *columns = np.unravel_index(keys, shape)
    return orientation, np.stack(columns, axis=1) - most
