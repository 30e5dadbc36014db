"""Neighbours on a lattice: one stencil per orientation gives the whole graph.

The metric is left-invariant, so the offsets of a vertex's neighbours depend on its orientation
only. Finding them takes n_o small tables of distances; the rest is index arithmetic.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.neighbours import Floats, Indices, last_whole_shell, too_few
from cheblienet_graphs.samplings.plane import PlaneLattice

TOLERANCE = 1e-7
"""Relative width of a shell of equal distances; rounding spreads one by 1e-15."""


@dataclass(frozen=True)
class Stencil:
    """Neighbours of a vertex, ascending by (orientation, dy, dx), arrays of one length."""

    orientation: Indices
    dy: Indices
    dx: Indices
    squared_distance: Floats

    def __len__(self) -> int:
        return len(self.dy)

    def within(self, orientation: int) -> "Stencil":
        """The neighbours of one orientation."""
        return self.only(self.orientation == orientation)

    def only(self, kept: npt.NDArray[np.bool_]) -> "Stencil":
        """The neighbours where `kept`, (len(self),), is true."""
        return Stencil(
            self.orientation[kept], self.dy[kept], self.dx[kept], self.squared_distance[kept]
        )


@dataclass(frozen=True)
class Stencils:
    """The neighbour rule on a plane lattice, and the lengths of its edges.

    Args:
        lattice: where.
        stencils: the neighbours of a vertex, by its orientation.
        squared_lengths: d^2 to each of them, in squared widths of the domain.
        squared_radii: (n_o,) r^2 by orientation, in the same unit.
    """

    lattice: PlaneLattice
    stencils: tuple[Stencil, ...]
    squared_lengths: tuple[Floats, ...]
    squared_radii: Floats

    @classmethod
    def of(
        cls, lattice: PlaneLattice, manifold: Manifold, metric: Metric, neighbors: int
    ) -> "Stencils":
        """Those of a metric, lengths in units of the lattice's width, and of K.

        Raises:
            SpecError: K is smaller than every first shell, so there would be no edge.
        """
        distances = OffsetDistances(lattice, manifold, metric.scaled(lattice.spacing))
        radii, stencils = distances.stencils(neighbors)
        if not any(map(len, stencils)):
            least = neighbors + 1
            while not any(map(len, distances.stencils(least)[1])):
                least += 1
            raise too_few(least, neighbors)
        if lattice.periodic:
            stencils = tuple(_wrapped(s, k, lattice) for k, s in enumerate(stencils))
        area = lattice.spacing**2
        return cls(
            lattice, stencils, tuple(s.squared_distance * area for s in stencils), radii * area
        )

    def on(self, lattice: PlaneLattice) -> "Stencils":
        """The same on a lattice of another size, with the lengths of this one."""
        return replace(self, lattice=lattice)

    def squared_distances(self, rows: Indices, columns: Indices) -> Floats:
        """d^2 of edges, 0 where row and column coincide, shape of `rows`."""
        return self._lengths.at(rows, columns)

    @cached_property
    def _lengths(self) -> "OffsetTable":
        return OffsetTable(self.lattice, self.stencils, self.squared_lengths)


class OffsetTable:
    """A number for each edge of a lattice, such as its length.

    It is read by integer offsets: edges of equal offsets have equal numbers to the last bit,
    wherever they are, in both directions.

    Args:
        lattice: where.
        stencils: the neighbours of a vertex, by its orientation.
        values: a number for each of them.
    """

    def __init__(
        self, lattice: PlaneLattice, stencils: Sequence[Stencil], values: Sequence[Floats]
    ) -> None:
        self._lattice, n_o = lattice, lattice.orientations
        self._reach_y, self._reach_x = reach_y, reach_x = reach(stencils)
        self._table = np.full((n_o, n_o, 2 * reach_y + 1, 2 * reach_x + 1), np.nan)
        self._table[np.arange(n_o), np.arange(n_o), reach_y, reach_x] = 0
        for k, (stencil, numbers) in enumerate(zip(stencils, values, strict=True)):
            place = (k, stencil.orientation, stencil.dy + reach_y, stencil.dx + reach_x)
            self._table[place] = numbers

    def at(self, rows: Indices, columns: Indices) -> Floats:
        """The numbers of edges, 0 where row and column coincide, shape of `rows`."""
        lattice = self._lattice
        k, y, x = lattice.decode(rows)
        other_k, other_y, other_x = lattice.decode(columns)
        dy, dx = other_y - y, other_x - x
        if lattice.periodic:
            dy, dx = nearest_image(dy, lattice.height), nearest_image(dx, lattice.width)
        found: Floats = self._table[k, other_k, dy + self._reach_y, dx + self._reach_x]
        return found


def reach(stencils: Sequence[Stencil]) -> tuple[int, int]:
    """Largest |dy| and |dx| of all stencils."""
    return (
        max(int(abs(s.dy).max(initial=0)) for s in stencils),
        max(int(abs(s.dx).max(initial=0)) for s in stencils),
    )


class StencilEngine:
    """Neighbours by index arithmetic: a row is its own index plus constant offsets.

    Args:
        lattice: where.
        stencils: the neighbours of a vertex, by its orientation.
    """

    def __init__(self, lattice: PlaneLattice, stencils: Sequence[Stencil]) -> None:
        self.lattice, self.stencils = lattice, stencils

    @property
    def total_degree(self) -> int:
        """Twice the number of edges, without visiting the vertices."""
        return sum(self._total_degree(stencil) for stencil in self.stencils)

    @property
    def in_plane_degree(self) -> int:
        """The part of `total_degree` that stays within one orientation."""
        return sum(self._total_degree(s.within(k)) for k, s in enumerate(self.stencils))

    def degrees(self, start: int, stop: int) -> Indices:
        """(stop - start,) number of neighbours of each vertex."""
        pieces = [self._degrees(k, lo, hi) for k, lo, hi in self._pieces(start, stop)]
        return np.concatenate(pieces) if pieces else np.empty(0, np.int64)

    def columns(self, start: int, stop: int) -> Indices:
        """Neighbours of the vertices start..stop, vertex after vertex, ascending in each."""
        pieces = [self._columns(k, lo, hi) for k, lo, hi in self._pieces(start, stop)]
        return np.concatenate(pieces) if pieces else np.empty(0, np.int64)

    def _pieces(self, start: int, stop: int) -> list[tuple[int, int, int]]:
        """(orientation, first pixel, last pixel + 1) of each orientation that a row block meets."""
        pixels = self.lattice.num_points
        return [
            (k, max(start - k * pixels, 0), min(stop - k * pixels, pixels))
            for k in range(start // pixels, -(-stop // pixels))
        ]

    def _targets(self, stencil: Stencil, lo: int, hi: int) -> tuple[Indices, Indices]:
        y, x = np.divmod(np.arange(lo, hi), self.lattice.width)
        return y[:, None] + stencil.dy, x[:, None] + stencil.dx

    def _inside(self, y: Indices, x: Indices) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        return (y >= 0) & (y < self.lattice.height) & (x >= 0) & (x < self.lattice.width)

    def _total_degree(self, stencil: Stencil) -> int:
        lattice = self.lattice
        if lattice.periodic:
            return len(stencil) * lattice.num_points
        rows = np.maximum(lattice.height - abs(stencil.dy), 0)
        return int((rows * np.maximum(lattice.width - abs(stencil.dx), 0)).sum())

    def _degrees(self, k: int, lo: int, hi: int) -> Indices:
        stencil = self.stencils[k]
        if self.lattice.periodic:
            return np.full(hi - lo, len(stencil))
        inside: Indices = self._inside(*self._targets(stencil, lo, hi)).sum(axis=1)
        return inside

    def _columns(self, k: int, lo: int, hi: int) -> Indices:
        lattice, stencil = self.lattice, self.stencils[k]
        y, x = self._targets(stencil, lo, hi)
        if lattice.periodic:
            wrapped = lattice.encode(stencil.orientation, y % lattice.height, x % lattice.width)
            return np.sort(wrapped, axis=1).ravel()
        return lattice.encode(stencil.orientation, y, x)[self._inside(y, x)]


class OffsetDistances:
    """Squared distances on the infinite lattice, lengths in pixels."""

    def __init__(self, lattice: PlaneLattice, manifold: Manifold, metric: Metric) -> None:
        self._lattice, self._manifold, self._metric = lattice, manifold, metric

    def stencils(self, neighbors: int) -> tuple[Floats, tuple[Stencil, ...]]:
        """r_k^2 by orientation, and the neighbours of a vertex: d^2 <= min(r_i^2, r_k^2)."""
        orientations = range(self._lattice.orientations)
        radii = np.array([self._radius(k, neighbors) for k in orientations])
        return radii, tuple(self._stencil(k, radii) for k in orientations)

    def _radius(self, k: int, neighbors: int) -> float:
        """r_k^2: the last whole shell that holds at most `neighbors` vertices.

        A base displacement of D pixels is a distance of at least D, so a box of half side B holds
        every vertex nearer than B: it is large enough once K + 1 of them are.
        """
        box = 2
        while True:
            others = np.delete(self.within(k, box).ravel(), _position_of_self(k, box))
            if (others <= box**2).sum() > neighbors:
                return last_whole_shell(others, neighbors, TOLERANCE)
            box *= 2

    def _stencil(self, k: int, radii: Floats) -> Stencil:
        box = int(np.sqrt(radii.max())) + 1
        squared = self.within(k, box)
        near = squared <= np.minimum(radii[k], radii)[:, None, None] * (1 + TOLERANCE)
        near.ravel()[_position_of_self(k, box)] = False
        orientation, dy, dx = np.nonzero(near)
        return Stencil(orientation, dy - box, dx - box, squared[near])

    def within(self, k: int, box: int) -> Floats:
        """d^2 from (0, theta_k) to (dx, dy, theta_j), shape (n_o, 2 box + 1, 2 box + 1)."""
        side = np.arange(-box, box + 1)
        others = np.arange(self._lattice.orientations)[:, None, None]
        return self.at(k, others, side[:, None], side)

    def at(self, k: int, orientation: Indices, dy: Indices, dx: Indices) -> Floats:
        """d^2 from (0, theta_k) to other offsets, shapes broadcast.

        d(g, h) = d(h, g) holds to rounding; evaluating each pair from the lower orientation makes
        it hold to the last bit.
        """
        theta = self._lattice.theta
        sign = np.where(orientation < k, -1.0, 1.0)
        start = array(theta[np.minimum(orientation, k)])
        end = array(theta[np.maximum(orientation, k)])
        origin = array(np.zeros(()))
        squared = self._manifold.squared_distance(
            (origin, origin, start), (array(sign * dx), array(sign * dy), end), self._metric
        )
        shape = np.broadcast_shapes(orientation.shape, dy.shape, dx.shape)
        return np.broadcast_to(squared, shape).view(np.ndarray)


def _position_of_self(k: int, box: int) -> int:
    side = 2 * box + 1
    return k * side**2 + box * side + box


def nearest_image(offset: Indices, period: int) -> Indices:
    """The representative of `offset` modulo `period` in [-(period // 2), (period - 1) // 2]."""
    return (offset + period // 2) % period - period // 2


def _wrapped(stencil: Stencil, k: int, lattice: PlaneLattice) -> Stencil:
    """The stencil on the torus: of a vertex's images the nearest, of the vertex itself none."""
    dy = nearest_image(stencil.dy, lattice.height)
    dx = nearest_image(stencil.dx, lattice.width)
    nearest_first = np.argsort(stencil.squared_distance, kind="stable")
    classes = np.stack([stencil.orientation, dy, dx], axis=1)[nearest_first]
    kept = np.unique(classes, axis=0, return_index=True)[1]
    itself = (classes[kept] == (k, 0, 0)).all(axis=1)
    chosen = nearest_first[kept[~itself]]
    return Stencil(
        stencil.orientation[chosen], dy[chosen], dx[chosen], stencil.squared_distance[chosen]
    )
