"""Neighbors on a part of a sampling: the edges of the whole with both ends inside.

On a lattice they are the stencils' offsets, looked up in a map of what is inside.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.search.stencil import StencilEngine, at_sides
from cheblienet_graphs.sparse import RowBlock
from cheblienet_graphs.typing import Floats, Indices

INT32_LIMIT = 2**31 - 1
ENTRIES_AT_ONCE = 2**16
"""Entries that are looked up together: few enough to stay in a cache."""

OffsetValues = Sequence[Sequence[Floats]]
"""By orientation numbers of the offsets of its neighborhood: those that a vertex has everywhere,
then for each axis what is added to them at the sides across it, if anything."""


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
        """Steps in the wide map, what to add for the orientation, and which entry, ascending."""
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
            # Offsets that only vertices at a side have count for all, less those away from it.
            axes = [tuple(np.flatnonzero(column).tolist()) for column in around.at_sides.T]
            sides = [() if every else at for every, at in zip(around.everywhere, axes, strict=True)]
            pairs.update(zip(map(tuple, around.stencil.offsets.tolist()), sides, strict=True))
        return sum(times * self._pairs_apart(*pair) for pair, times in pairs.items())

    def _pairs_apart(self, offset: tuple[int, ...], sides: tuple[int, ...]) -> int:
        """How many pixels inside have one inside at this offset.

        Args:
            offset: along each axis.
            sides: the axes across whose sides alone pixels count; all count where there are none.
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
        count, parts = len(self.places), []
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
            (M,) entries of each row, and (nnz,) their columns and values, 0 of vertices themselves.
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
