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
from cheblienet_graphs.neighbours.ellipses import Ellipses
from cheblienet_graphs.neighbours.rule import last_whole_shell, too_few
from cheblienet_graphs.samplings.lattice import PlaneLattice
from cheblienet_graphs.typing import Floats, Indices

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
            raise too_few(neighbors, lambda count: any(map(len, distances.stencils(count)[1])))
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
        self._lattice, self._reach = lattice, reach(stencils)
        keys = [self._keys(k, s.orientation, s.dy, s.dx) for k, s in enumerate(stencils)]
        every, order = np.unique(np.concatenate(keys), return_index=True)
        self._every, self._values = every, np.concatenate(values)[order]

    def at(self, rows: Indices, columns: Indices) -> Floats:
        """The numbers of edges, 0 where row and column coincide, shape of `rows`."""
        lattice = self._lattice
        k, y, x = lattice.decode(rows)
        other_k, other_y, other_x = lattice.decode(columns)
        dy, dx = other_y - y, other_x - x
        if lattice.periodic:
            dy, dx = nearest_image(dy, lattice.height), nearest_image(dx, lattice.width)
        place = np.searchsorted(self._every, self._keys(k, other_k, dy, dx))
        found: Floats = self._values[np.minimum(place, len(self._values) - 1)]
        found[rows == columns] = 0
        return found

    def _keys(self, k: Indices | int, orientation: Indices, dy: Indices, dx: Indices) -> Indices:
        """A number for each offset. A table of all of them would be large where few are used."""
        reach_y, reach_x = self._reach
        pair = k * self._lattice.orientations + orientation
        keys: Indices = (pair * (2 * reach_y + 1) + dy + reach_y) * (2 * reach_x + 1) + dx + reach_x
        return keys


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
        self._known: dict[int, Ellipses] = {}

    def stencils(self, neighbors: int) -> tuple[Floats, tuple[Stencil, ...]]:
        """r_k^2 by orientation, and the neighbours of a vertex: d^2 <= min(r_i^2, r_k^2)."""
        orientations = range(self._lattice.orientations)
        radii = np.array([self._radius(k, neighbors) for k in orientations])
        return radii, tuple(self._stencil(k, radii) for k in orientations)

    def _radius(self, k: int, neighbors: int) -> float:
        """r_k^2: the last whole shell that holds at most `neighbors` vertices.

        A disc of radius R holds every vertex nearer than R: it is large enough once K + 1 are.
        """
        radius = 2.0
        while True:
            orientation, dy, dx, squared = self.within(k, radius**2)
            others = squared[(orientation != k) | (dy != 0) | (dx != 0)]
            if (others <= radius**2).sum() > neighbors:
                return last_whole_shell(others, neighbors, TOLERANCE)
            radius *= 2

    def _stencil(self, k: int, radii: Floats) -> Stencil:
        orientation, dy, dx, squared = self.within(k, float(radii.max()))
        near = squared <= np.minimum(radii[k], radii)[orientation] * (1 + TOLERANCE)
        near &= (orientation != k) | (dy != 0) | (dx != 0)
        return Stencil(orientation, dy, dx, squared).only(near)

    def within(self, k: int, squared_radius: float) -> tuple[Indices, Indices, Indices, Floats]:
        """Orientation, dy, dx and d^2 of the vertices around (0, theta_k) within a radius.

        Ascending, itself included; a few may lie beyond.
        """
        orientation, dy, dx = self._ellipses(k).offsets(squared_radius)
        return orientation, dy, dx, self.at(k, orientation, dy, dx)

    def _ellipses(self, k: int) -> Ellipses:
        if k not in self._known:
            theta = self._lattice.theta
            self._known[k] = Ellipses.around(self._manifold, self._metric, theta, k)
        return self._known[k]

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
