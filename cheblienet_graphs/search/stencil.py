"""Neighbors on a lattice: one stencil per orientation gives the whole graph.

The metric is left-invariant, so the offsets of a vertex's neighbors depend on its orientation
only. Finding them takes n_o small tables of distances; the rest is index arithmetic.
"""

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.samplings.lattice import Lattice, Places, nearest_image
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.search.offsets import OffsetDistances, Stencil
from cheblienet_graphs.search.rule import too_few
from cheblienet_graphs.search.small_lattice import SmallLattice
from cheblienet_graphs.sparse import RowBlock
from cheblienet_graphs.typing import Floats, Indices

INT32_LIMIT = 2**31 - 1
ENTRIES_AT_ONCE = 2**16
"""Entries that are looked up together: few enough to stay in a cache."""

OffsetValues = Sequence[Sequence[Floats]]
"""Values of the offsets of a neighborhood by orientation: first the values that hold everywhere,
then for each axis the addends at the sides across it, if any."""


@dataclass(frozen=True)
class Neighborhood:
    """The neighbors of the vertices of one orientation.

    Args:
        stencil: all of them.
        everywhere: (N,) whether vertices have this neighbor wherever they are.
        at_sides: (d, N) whether vertices at the first and last place along an axis have it. Such
            offsets are 0 along that axis, so both ends of the edge are at the same side.
    """

    stencil: Stencil
    everywhere: npt.NDArray[np.bool_]
    at_sides: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, stencil: Stencil, along_sides: Sequence[Stencil] = ()) -> "Neighborhood":
        """The neighbors of a stencil, and the neighbors along the sides across each axis.

        Args:
            stencil: of all vertices.
            along_sides: for each axis, of vertices at its sides; empty where there are no others.
        """
        parts = [stencil, *along_sides]
        keys = np.concatenate([np.column_stack([s.orientation, s.offsets]) for s in parts])
        every, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        squared = np.concatenate([s.squared_distance for s in parts])[first]
        ends = np.cumsum([len(s) for s in parts])
        member = np.zeros((len(parts), len(every)), bool)
        for row, part in zip(member, np.split(which.ravel(), ends[:-1]), strict=True):
            row[part] = True
        return cls(Stencil(every[:, 0], every[:, 1:], squared), member[0], member[1:])

    def within(self, orientation: int) -> "Neighborhood":
        """The neighbors of one orientation."""
        kept = self.stencil.orientation == orientation
        return Neighborhood(self.stencil.only(kept), self.everywhere[kept], self.at_sides[:, kept])

    def present(self, places: Places, shape: Sequence[int]) -> npt.NDArray[np.bool_]:
        """(pixels, N) whether the vertices at these (pixels,) places have each neighbor."""
        has = np.broadcast_to(self.everywhere, (len(places[0]), len(self.everywhere)))
        for there, along in zip(at_sides(places, shape), self.at_sides, strict=False):
            has = has | (there[:, None] & along)
        return has

    def pairs(self, shape: Sequence[int]) -> int:
        """The number of entries on an open lattice of this shape."""
        steps = abs(self.stencil.offsets)
        total = np.maximum(shape - steps, 0).prod(axis=1)
        if self.everywhere.all():
            return int(total.sum())
        # All but the ones with both ends away from the sides in question.
        along = np.where(self.at_sides.T, 2, steps)
        away = np.maximum(shape - along, 0).prod(axis=1)
        return int((total - np.where(self.everywhere, 0, away)).sum())


def at_sides(places: Places, shape: Sequence[int]) -> list[npt.NDArray[np.bool_]]:
    """For each axis (pixels,) whether places are at its first or last one."""
    return [(place == 0) | (place == side - 1) for place, side in zip(places, shape, strict=True)]


def reach(stencils: Sequence[Stencil]) -> tuple[int, ...]:
    """Largest offset of all stencils along each axis, in the order of the shape."""
    every = np.concatenate([s.offsets for s in stencils])
    return tuple(abs(every).max(axis=0, initial=0).tolist())


class StencilEngine:
    """Neighbors by index arithmetic: a row is its own index plus constant offsets.

    Args:
        lattice: of the vertices.
        stencils: the neighbors of a vertex, by its orientation.
        along_sides: further stencils of vertices at the first and last place along an axis, by axis
            and orientation, for an open lattice; none by default.
        squared_radii: (n_o,) r^2 by orientation in squared widths of the domain, where they come
            from the neighbor rule.
    """

    def __init__(
        self,
        lattice: Lattice,
        stencils: Sequence[Stencil],
        along_sides: Sequence[Sequence[Stencil]] = (),
        squared_radii: Floats | None = None,
    ) -> None:
        self.lattice, self.stencils, self.along_sides = lattice, stencils, along_sides
        self.squared_radii = squared_radii

    @classmethod
    def of_rule(cls, sampled: SampledManifold[Lattice], neighbors: int) -> "StencilEngine":
        """The stencils of the neighbor rule with K = `neighbors`.

        Raises:
            SpecError: K is smaller than every first shell, so there would be no edge.
        """
        lattice = sampled.sampling
        distances = OffsetDistances(sampled)
        radii, stencils = distances.stencils(neighbors)
        if not any(map(len, stencils)):
            raise too_few(neighbors, lambda count: any(map(len, distances.stencils(count)[1])))
        if lattice.periodic:
            stencils = tuple(_wrapped(s, k, lattice) for k, s in enumerate(stencils))
        return cls(lattice, stencils, squared_radii=radii * lattice.spacing**2)

    @cached_property
    def neighborhoods(self) -> tuple[Neighborhood, ...]:
        """All neighbors, by orientation."""
        none = [()] * len(self.stencils)
        sides = zip(*self.along_sides, strict=True) if self.along_sides else none
        pairs = zip(self.stencils, sides, strict=True)
        return tuple(Neighborhood.of(stencil, steps) for stencil, steps in pairs)

    @cached_property
    def reach(self) -> tuple[int, ...]:
        """The largest offset along each axis."""
        return reach([around.stencil for around in self.neighborhoods])

    @property
    def squared_lengths(self) -> tuple[Floats, ...]:
        """By orientation d^2 to each neighbor of the stencils, in squared widths of the domain."""
        area = self.lattice.spacing**2
        return tuple(s.squared_distance * area for s in self.stencils)

    def squared_distances(self, rows: Indices, columns: Indices) -> Floats:
        """(N,) d^2 of edges.

        They are read by integer offsets: edges of equal offsets have equal lengths to the last bit,
        wherever they are, in both directions.
        """
        k, steps, other = self._steps(rows, columns)
        keys, squared = self._table
        lengths: Floats = squared[np.searchsorted(keys, self._keys(k, other, steps))]
        return lengths

    @cached_property
    def _table(self) -> tuple[Indices, Floats]:
        """Keys of all offsets, ascending, and d^2 to the neighbors there."""
        by_orientation = enumerate(self.stencils)
        keys = [self._keys(k, s.orientation, tuple(s.offsets.T)) for k, s in by_orientation]
        every, order = np.unique(np.concatenate(keys), return_index=True)
        return every, np.concatenate(self.squared_lengths)[order]

    def _steps(self, rows: Indices, columns: Indices) -> tuple[Indices, Places, Indices]:
        """Orientation of the rows, offsets to the columns, and orientation of these."""
        lattice = self.lattice
        k, places = lattice.decode(rows)
        other, others = lattice.decode(columns)
        steps = [there - here for here, there in zip(places, others, strict=True)]
        if lattice.periodic:
            steps = [nearest_image(s, n) for s, n in zip(steps, lattice.shape, strict=True)]
        return k, tuple(steps), other

    def _keys(self, k: Indices | int, other: Indices, steps: Places) -> Indices:
        """A key for each offset; offsets are looked up, as a table of all would be large."""
        keys: Indices = k * self.lattice.orientations + other
        for step, most in zip(steps, self.reach, strict=True):
            keys = keys * (2 * most + 1) + step + most
        return keys

    def on(self, lattice: Lattice) -> "StencilEngine":
        """The same stencils on a lattice of another size."""
        other = copy.copy(self)
        other.lattice = lattice
        for known in ("small", "_table"):
            other.__dict__.pop(known, None)
        return other

    @cached_property
    def small(self) -> SmallLattice:
        """The small lattice that stands for this one; rows depend on neighbors of neighbors."""
        return SmallLattice(self.lattice, (2 * most for most in self.reach))

    def rows_on_small(self, values: OffsetValues) -> tuple[RowBlock, Floats]:
        """All rows of the small lattice, and (nnz,) the values of their entries, by offset."""
        lattice = self.small.lattice
        stencils = MaskedStencils(self.on(lattice), np.arange(lattice.num_points))
        return stencils.rows(0, lattice.num_vertices, values)

    @property
    def total_degree(self) -> int:
        """Twice the number of edges, without visiting the vertices."""
        return sum(map(self._total_degree, self.neighborhoods))

    @property
    def in_plane_degree(self) -> int:
        """The part of `total_degree` that stays within one orientation."""
        return sum(self._total_degree(n.within(k)) for k, n in enumerate(self.neighborhoods))

    def neighbors(self, start: int, stop: int) -> tuple[Indices, Indices]:
        """The neighbors of the vertices start..stop, as `MutualNeighbors.neighbors` gives them."""
        none = [[np.zeros(len(n.stencil))] * (1 + len(n.at_sides)) for n in self.neighborhoods]
        every = MaskedStencils(self, np.arange(self.lattice.num_points))
        block, _ = every.rows(start, stop, none)
        others = block.rows != block.columns
        numbers = np.bincount(block.rows[others] - start, minlength=stop - start)
        return numbers, block.columns[others]

    def _total_degree(self, around: Neighborhood) -> int:
        lattice = self.lattice
        if lattice.periodic:
            return len(around.stencil) * lattice.num_points
        return around.pairs(lattice.shape)


def _wrapped(stencil: Stencil, k: int, lattice: Lattice) -> Stencil:
    """The stencil on the torus: the nearest image of each neighbor, without the vertex itself."""
    offsets = nearest_image(stencil.offsets, np.array(lattice.shape))
    nearest_first = np.argsort(stencil.squared_distance, kind="stable")
    classes = np.column_stack([stencil.orientation, offsets])[nearest_first]
    kept = np.unique(classes, axis=0, return_index=True)[1]
    itself = (classes[kept, 0] == k) & (classes[kept, 1:] == 0).all(axis=1)
    chosen = nearest_first[kept[~itself]]
    return Stencil(stencil.orientation[chosen], offsets[chosen], stencil.squared_distance[chosen])


class MaskedStencils:
    """The edges of a lattice with both ends inside a mask.

    Args:
        engine: all edges of the whole lattice.
        places: (n_inside,) pixels inside, ascending.

    Attributes:
        dtype: of numbers of vertices.
    """

    def __init__(self, engine: StencilEngine, places: Indices) -> None:
        self.lattice, self.places, self._margin = engine.lattice, places, engine.reach
        self.neighborhoods, lattice = engine.neighborhoods, engine.lattice
        vertices = lattice.orientations * len(places)
        self.dtype = np.dtype(np.int32 if vertices <= INT32_LIMIT else np.int64)
        numbers = np.full(lattice.num_points, -1, self.dtype)
        numbers[places] = np.arange(len(places), dtype=self.dtype)
        beyond: dict[str, Any] = {"mode": "wrap"} if lattice.periodic else {"constant_values": -1}
        around = [(most, most) for most in self._margin]
        self._wide = np.pad(numbers.reshape(lattice.shape), around, **beyond)
        self._strides = np.array(self._wide.strides) // self.dtype.itemsize
        self._coordinates = np.array(lattice.decode(places)[1])
        self._wide_places = self._strides @ (self._coordinates + np.array([self._margin]).T)
        sides = np.minimum(self._coordinates.T, np.array(lattice.shape) - 1 - self._coordinates.T)
        near_seam = lattice.periodic & (sides < self._margin)
        self._near_seam = np.asarray(near_seam.any(axis=1))
        self._tables = [self._table(k) for k in range(lattice.orientations)]

    def _table(self, k: int) -> tuple[Indices, Indices, Indices]:
        """Steps in the padded map, addends for orientations, and numbers of offsets."""
        stencil = self.neighborhoods[k].stencil
        orientation = np.append(stencil.orientation, k)
        offsets = np.concatenate([stencil.offsets, np.zeros((1, len(self._margin)), np.int64)])
        order = np.lexsort((*offsets.T[::-1], orientation))
        which = np.where(order < len(stencil), order, -1)
        shift = (orientation[order] * len(self.places)).astype(self.dtype)
        return offsets[order] @ self._strides, shift, which

    @cached_property
    def total_degree(self) -> int:
        """Twice the number of edges, without visiting the vertices."""
        pairs: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
        for around in self.neighborhoods:
            # Offsets that only vertices at a side have count for all, less the ones away from it.
            axes = [tuple(np.flatnonzero(column).tolist()) for column in around.at_sides.T]
            sides = [() if every else at for every, at in zip(around.everywhere, axes, strict=True)]
            pairs.update(zip(map(tuple, around.stencil.offsets.tolist()), sides, strict=True))
        return sum(times * self._pairs_apart(*pair) for pair, times in pairs.items())

    def _pairs_apart(self, offset: tuple[int, ...], sides: tuple[int, ...]) -> int:
        """The number of pixels inside that have one inside at this offset.

        Args:
            offset: along each axis.
            sides: axes; only pixels at the sides across them count, or all pixels where it is
                empty.
        """

        def moved(by: tuple[int, ...]) -> npt.NDArray[np.bool_]:
            parts = zip(by, self._margin, self.lattice.shape, strict=True)
            cut = tuple(slice(most + step, most + step + side) for step, most, side in parts)
            return self._wide[cut] >= 0

        both = moved((0,) * len(offset)) & moved(offset)
        away = tuple(slice(1, -1) if axis in sides else slice(None) for axis in range(both.ndim))
        return int(both.sum() - both[away].sum() * bool(sides))

    def pieces(self, start: int, stop: int) -> Iterator[tuple[int, Indices]]:
        """The vertices start..stop few at a time: an orientation, and numbers of pixels inside."""
        count = len(self.places)
        for k in range(start // count, -(-stop // count)):
            few = max(1, ENTRIES_AT_ONCE // len(self._tables[k][0]))
            last = min(stop - k * count, count)
            for first in range(max(start - k * count, 0), last, few):
                yield k, np.arange(first, min(first + few, last))

    def rows(self, start: int, stop: int, values: OffsetValues) -> tuple[RowBlock, Floats]:
        """The rows of the vertices start..stop, each itself among its neighbors.

        Args:
            start: the first vertex.
            stop: the last vertex + 1.
            values: of the offsets.

        Returns:
            The rows, and (nnz,) the values of their entries, 0 on the diagonal.
        """
        pieces = [self.look_up(k, numbers, values[k]) for k, numbers in self.pieces(start, stop)]
        counts, columns, entries = map(np.concatenate, zip(*pieces, strict=True))
        return RowBlock(start, stop, np.append(0, np.cumsum(counts)), columns), entries

    def counts(self, vertices: Indices) -> Indices:
        """(N,) entries of the rows of some vertices, ascending, each vertex itself among them."""
        count = len(self.places)
        parts = []
        for k in range(self.lattice.orientations):
            low, high = np.searchsorted(vertices, [k * count, (k + 1) * count])
            wide = self._wide_places[vertices[low:high] - k * count]
            parts.append((self._wide.take(wide[:, None] + self._tables[k][0]) >= 0).sum(axis=1))
        return np.concatenate(parts)

    def look_up(
        self, k: int, numbers: Indices, values: Sequence[Floats]
    ) -> tuple[Indices, Indices, Floats]:
        """The rows of some vertices of orientation k, each vertex itself among its neighbors.

        Args:
            k: the orientation.
            numbers: (M,) of pixels inside.
            values: of `OffsetValues`, for this orientation.

        Returns:
            (M,) numbers of entries of the rows, and (nnz,) their columns and values, 0 on the
            diagonal.
        """
        steps, shift, which = self._tables[k]
        around, shape = self.neighborhoods[k], self.lattice.shape
        places = tuple(self._coordinates[:, numbers])
        columns = self._wide.take(self._wide_places[numbers, None] + steps)
        inside = columns >= 0
        columns += shift
        everywhere, *along = (np.append(part, 0.0)[which] for part in values)
        weights = np.tile(everywhere, (len(numbers), 1))
        for there, more in zip(at_sides(places, shape), along, strict=False):
            weights += there[:, None] * more
        if along:
            there = around.present(places, shape)
            inside &= np.column_stack([there, np.ones(len(there), bool)])[:, which]
        near = self._near_seam[numbers]
        if near.any():  # across the seam columns do not ascend as offsets do
            order = np.broadcast_to(np.arange(len(which)), columns.shape).copy()
            outside = np.iinfo(columns.dtype).max
            order[near] = np.where(inside[near], columns[near], outside).argsort(axis=1)
            columns, inside, weights = (
                np.take_along_axis(x, order, axis=1) for x in (columns, inside, weights)
            )
        starts = np.arange(0, inside.size, len(which))
        degrees = np.add.reduceat(inside.ravel(), starts, dtype=np.int64)
        return degrees, columns[inside], weights[inside]
