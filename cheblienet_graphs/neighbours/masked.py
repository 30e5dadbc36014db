"""Neighbours on a part of a lattice: the stencils' offsets, looked up in a map of what is inside."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.neighbours.offsets import Stencil
from cheblienet_graphs.neighbours.stencil import reach
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.typing import Indices

ROWS_AT_ONCE = 2**13
"""Vertices whose neighbours are looked up together: they fit a core's cache."""
INT32_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class LookedUp:
    """The neighbours of some vertices of one orientation, each vertex itself among them.

    Args:
        start: the first vertex; others follow.
        orientation: of the vertices.
        columns: (vertices, N) neighbours, ascending where `inside`.
        inside: (vertices, N) whether there is one.
        which: the stencil's entries that the columns stand for, (N,) or (vertices, N): its places
            in the stencil, as long as that where it is the vertex itself.
    """

    start: int
    orientation: int
    columns: npt.NDArray[np.signedinteger]
    inside: npt.NDArray[np.bool_]
    which: Indices

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def diagonal(self) -> npt.NDArray[np.bool_]:
        """(vertices, N) whether a column is the vertex itself."""
        return np.broadcast_to(self.which == self.which.shape[-1] - 1, self.columns.shape)


class MaskedStencils:
    """The edges of a lattice with both ends inside a mask.

    Args:
        lattice: all of it.
        stencils: the neighbours of a vertex, by its orientation.
        places: (n_inside,) pixels inside, ascending.
    """

    def __init__(self, lattice: Lattice, stencils: Sequence[Stencil], places: Indices) -> None:
        self.lattice, self.stencils, self.places = lattice, stencils, places
        self._margin = reach(stencils)
        vertices = lattice.orientations * len(places)
        numbers = np.full(lattice.num_points, -1, np.int32 if vertices <= INT32_LIMIT else np.int64)
        numbers[places] = np.arange(len(places), dtype=numbers.dtype)
        around = [(most, most) for most in self._margin]
        whole = numbers.reshape(lattice.shape)
        if lattice.periodic:
            self._wide = np.pad(whole, around, mode="wrap")
        else:
            self._wide = np.pad(whole, around, constant_values=-1)
        self._tables = [self._table(k) for k in range(lattice.orientations)]

    def _table(self, k: int) -> tuple[Indices, Indices, Indices]:
        """Steps in the wide map, what to add for the orientation, and which entry, ascending."""
        stencil = self.stencils[k]
        orientation = np.append(stencil.orientation, k)
        offsets = np.concatenate([stencil.offsets, np.zeros((1, len(self._margin)), np.int64)])
        order = np.lexsort((*offsets.T[::-1], orientation))
        steps = np.zeros(len(order), np.int64)
        for side, offset in zip(self._wide.shape, offsets[order].T, strict=True):
            steps = steps * side + offset
        return steps, orientation[order] * len(self.places), order

    @property
    def total_degree(self) -> int:
        """Twice the number of edges, without visiting the vertices."""
        return sum(map(self._total_degree, self.stencils))

    @property
    def in_plane_degree(self) -> int:
        """The part of `total_degree` that stays within one orientation."""
        return sum(self._total_degree(s.within(k)) for k, s in enumerate(self.stencils))

    def edges_of(self, stencils: Sequence[Stencil]) -> int:
        """The number of edges inside that other stencils, not reaching farther, have."""
        return sum(map(self._total_degree, stencils)) // 2

    def _total_degree(self, stencil: Stencil) -> int:
        offsets, times = np.unique(stencil.offsets, axis=0, return_counts=True)
        pairs = zip(map(tuple, offsets.tolist()), times.tolist(), strict=True)
        return sum(count * self._pairs_apart(offset) for offset, count in pairs)

    def _pairs_apart(self, offset: tuple[int, ...]) -> int:
        """How many pixels inside have one inside at this offset."""
        if offset not in self._known:
            self._known[offset] = int((self._moved(offset) & self._moved((0,) * len(offset))).sum())
        return self._known[offset]

    @cached_property
    def _known(self) -> dict[tuple[int, ...], int]:
        return {}

    def _moved(self, offset: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """(shape) whether the pixel at this offset is inside."""
        pairs = zip(offset, self._margin, self.lattice.shape, strict=True)
        cut = tuple(slice(most + step, most + step + side) for step, most, side in pairs)
        inside: npt.NDArray[np.bool_] = self._wide[cut] >= 0
        return inside

    def looked_up(self, start: int, stop: int) -> Iterator[LookedUp]:
        """The neighbours of the vertices start..stop, some at a time."""
        count = len(self.places)
        for k in range(start // count, -(-stop // count)):
            first, last = max(start - k * count, 0), min(stop - k * count, count)
            for lo in range(first, last, ROWS_AT_ONCE):
                yield self._of(k, lo, min(lo + ROWS_AT_ONCE, last))

    def _of(self, k: int, lo: int, hi: int) -> LookedUp:
        """The neighbours of the vertices of one orientation over pixels inside lo..hi."""
        steps, shift, which = self._tables[k]
        _, places = self.lattice.decode(self.places[lo:hi])
        here = np.zeros(hi - lo, np.int64)
        for side, place, most in zip(self._wide.shape, places, self._margin, strict=True):
            here = here * side + place + most
        numbers = self._wide.ravel()[here[:, None] + steps]
        inside = numbers >= 0
        columns = numbers + shift.astype(numbers.dtype)
        if self.lattice.periodic and (near := self._near_seam(places)).any():
            # Across the seam columns do not ascend as offsets do.
            order = np.broadcast_to(np.arange(len(which)), columns.shape).copy()
            last = np.iinfo(columns.dtype).max
            order[near] = np.where(inside[near], columns[near], last).argsort(axis=1, kind="stable")
            columns, inside = (np.take_along_axis(x, order, axis=1) for x in (columns, inside))
            which = which[order]
        return LookedUp(k * len(self.places) + lo, k, columns, inside, which)

    def _near_seam(self, places: Sequence[Indices]) -> npt.NDArray[np.bool_]:
        """Whether a neighbour of a pixel may lie beyond a side."""
        near = np.zeros(len(places[0]), bool)
        for place, most, side in zip(places, self._margin, self.lattice.shape, strict=True):
            near |= (place < most) | (place >= side - most)
        return near
