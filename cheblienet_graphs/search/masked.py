"""Neighbors on a part of a sampling: the edges of the whole with both ends inside.

On a lattice they are the stencils' offsets, looked up in a map of what is inside.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.search.rule import Engine, Lengths
from cheblienet_graphs.search.stencil import StencilEngine, at_sides
from cheblienet_graphs.typing import Floats, Indices

INT32_LIMIT = 2**31 - 1
ROWS_AT_ONCE = 2**16
"""Most vertices of the whole whose neighbors are in memory together."""


@dataclass(frozen=True)
class Inside:
    """The vertices over some points of the base, numbered in the order of all vertices.

    Args:
        places: (n_inside,) these points among all, ascending.
        points: number of all points.
    """

    places: Indices
    points: int

    @cached_property
    def numbers(self) -> Indices:
        """(points,) number of each point among those inside, -1 outside."""
        numbers = np.full(self.points, -1)
        numbers[self.places] = np.arange(len(self.places))
        return numbers

    def among_all(self, vertices: Indices) -> Indices:
        """The numbers that vertices inside have among all vertices."""
        orientation, place = np.divmod(vertices, len(self.places))
        found: Indices = orientation * self.points + self.places[place]
        return found

    def edges(self, rows: Indices, columns: Indices) -> tuple[Indices, Indices, npt.NDArray[Any]]:
        """Edges between vertices of the whole, as those between vertices inside.

        Args:
            rows: (N,) one of their ends, numbered among all vertices.
            columns: (N,) the other one.

        Returns:
            (M,) rows and columns of the M edges with both ends inside, and (N,) which these are.
        """
        (k, row), (j, column) = (np.divmod(ends, self.points) for ends in (rows, columns))
        row, column = self.numbers[row], self.numbers[column]
        kept = (row >= 0) & (column >= 0)
        count = len(self.places)
        return (k * count + row)[kept], (j * count + column)[kept], kept


@dataclass(frozen=True)
class InsideEngine:
    """The neighbors inside of vertices inside.

    Args:
        whole: finds those of all vertices.
        inside: the vertices inside.
    """

    whole: Engine
    inside: Inside

    def degrees(self, start: int, stop: int) -> Indices:
        """(stop - start,) number of neighbors of each vertex."""
        degrees = np.zeros(stop - start, np.int64)
        for rows, _ in self._edges(start, stop):
            degrees += np.bincount(rows - start, minlength=stop - start)
        return degrees

    def columns(self, start: int, stop: int) -> Indices:
        """Neighbors of the vertices start..stop, vertex after vertex, ascending in each."""
        pieces = (columns for _, columns in self._edges(start, stop))
        return np.concatenate([np.empty(0, np.int64), *pieces])

    def _edges(self, start: int, stop: int) -> Iterator[tuple[Indices, Indices]]:
        """Rows and columns of the edges of some vertices, a few vertices at a time."""
        while start < stop:
            vertices = self.inside.among_all(np.arange(start, min(stop, start + ROWS_AT_ONCE)))
            # Vertices may lie far apart among all, between which no work is done.
            few = int(np.searchsorted(vertices, vertices[0] + ROWS_AT_ONCE))
            first, last = int(vertices[0]), int(vertices[few - 1]) + 1
            degrees = self.whole.degrees(first, last)
            rows = np.repeat(np.arange(first, last), degrees)
            kept = self.inside.edges(rows, self.whole.columns(first, last))
            yield kept[:2]
            start += few


@dataclass(frozen=True)
class InsideLengths:
    """Lengths of edges between vertices inside.

    Args:
        whole: those between all vertices.
        inside: the vertices inside.
    """

    whole: Lengths
    inside: Inside

    def squared_distances(self, rows: Indices, columns: Indices) -> Floats:
        """d^2 of edges, 0 where row and column coincide, shape of `rows`."""
        return self.whole.squared_distances(*map(self.inside.among_all, (rows, columns)))


@dataclass(frozen=True)
class LookedUp:
    """The neighbors of some vertices of one orientation, each vertex itself among them.

    Args:
        orientation: of the vertices.
        vertices: (M,) these.
        columns: (M, N) neighbors, ascending where `inside`.
        inside: (M, N) whether there is one.
        which: (N,) or (M, N) the places in the orientation's neighborhood that the columns stand
            for; -1 for the vertex itself.
    """

    orientation: int
    vertices: Indices
    columns: npt.NDArray[np.signedinteger[Any]]
    inside: npt.NDArray[np.bool_]
    which: Indices

    @property
    def diagonal(self) -> npt.NDArray[np.bool_]:
        """(M, N) whether a column is the vertex itself."""
        return np.broadcast_to(self.which < 0, self.columns.shape)


class MaskedStencils:
    """The edges of a lattice with both ends inside a mask.

    Args:
        engine: all edges of the whole lattice.
        places: (n_inside,) pixels inside, ascending.

    Attributes:
        dtype: of numbers of vertices.
    """

    def __init__(self, engine: StencilEngine, places: Indices) -> None:
        self.lattice, self.stencils, self.places = engine.lattice, engine.stencils, places
        self.neighborhoods, lattice = engine.neighborhoods, engine.lattice
        self._margin = engine.reach
        vertices = lattice.orientations * len(places)
        self.dtype = np.dtype(np.int32 if vertices <= INT32_LIMIT else np.int64)
        numbers = np.full(lattice.num_points, -1, self.dtype)
        numbers[places] = np.arange(len(places), dtype=self.dtype)
        around = [(most, most) for most in self._margin]
        whole = numbers.reshape(lattice.shape)
        if lattice.periodic:
            self._wide = np.pad(whole, around, mode="wrap")
        else:
            self._wide = np.pad(whole, around, constant_values=-1)
        self._tables = [self._table(k) for k in range(lattice.orientations)]

    def _table(self, k: int) -> tuple[Indices, Indices, Indices]:
        """Steps in the wide map, what to add for the orientation, and which entry, ascending."""
        stencil = self.neighborhoods[k].stencil
        orientation = np.append(stencil.orientation, k)
        offsets = np.concatenate([stencil.offsets, np.zeros((1, len(self._margin)), np.int64)])
        order = np.lexsort((*offsets.T[::-1], orientation))
        steps = np.zeros(len(order), np.int64)
        for side, offset in zip(self._wide.shape, offsets[order].T, strict=True):
            steps = steps * side + offset
        which = np.where(order < len(stencil), order, -1)
        return steps, orientation[order] * len(self.places), which

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
        every = 0, self.lattice.shape[0]
        here, there = (self._moved(*every, by) for by in ((0,) * len(offset), offset))
        both = here & there
        away = tuple(slice(1, -1) if axis in sides else slice(None) for axis in range(both.ndim))
        return int(both.sum() - both[away].sum() * bool(sides))

    def pieces(self, start: int, stop: int) -> Iterator["Piece"]:
        """The vertices start..stop, orientation by orientation."""
        count = len(self.places)
        for k in range(start // count, -(-stop // count)):
            yield Piece(self, k, max(start - k * count, 0), min(stop - k * count, count))

    def lines(self, k: int, first: int, last: int) -> npt.NDArray[np.bool_]:
        """(last - first, *others) whether all neighbors of pixels there are inside.

        None is at a corrected side, across which stencils of consistent weights always lead.

        Args:
            k: orientation.
            first: of the range along the first axis.
            last: its end.
        """
        complete = self._moved(first, last, (0,) * len(self._margin))
        for offset in np.unique(self.stencils[k].offsets, axis=0).tolist():
            complete &= self._moved(first, last, tuple(offset))
        return complete

    def _moved(self, first: int, last: int, offset: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Whether the pixel at this offset from those of some lines is inside.

        Args:
            first: of the range along the first axis.
            last: its end.
            offset: along each axis.
        """
        starts = [first, *[0] * (len(offset) - 1)]
        stops = [last, *self.lattice.shape[1:]]
        parts = zip(starts, stops, offset, self._margin, strict=True)
        cut = tuple(slice(most + step + lo, most + step + hi) for lo, hi, step, most in parts)
        inside: npt.NDArray[np.bool_] = self._wide[cut] >= 0
        return inside

    def around(self, k: int, first: int, last: int) -> npt.NDArray[np.bool_]:
        """As `lines`, for pixels all of whose neighbors have all theirs inside, too.

        Those within reach of the sides are left out.
        """
        most, shape = self._margin, self.lattice.shape
        surrounded = self.lines(k, first, last)
        low, high = max(first - most[0], 0), min(last + most[0], shape[0])
        stencil = self.stencils[k]
        for other in np.unique(stencil.orientation).tolist():
            theirs = np.pad(
                self.lines(other, low, high),
                [(low - first + most[0], last + most[0] - high), *((n, n) for n in most[1:])],
            )
            for offset in stencil.within(other).offsets.tolist():
                sides = (last - first, *shape[1:])
                cut = zip(offset, most, sides, strict=True)
                surrounded &= theirs[
                    tuple(slice(n + step, n + step + side) for step, n, side in cut)
                ]
        return surrounded

    def look_up(self, k: int, numbers: Indices, *, away: bool = False) -> LookedUp:
        """The neighbors of vertices of one orientation.

        Args:
            k: the orientation.
            numbers: (M,) of pixels inside.
            away: whether all are away from corrected sides: then what only these have is left out.
        """
        steps, shift, which = self._tables[k]
        around = self.neighborhoods[k]
        if away:
            kept = np.append(around.everywhere, True)[which]
            steps, shift, which = steps[kept], shift[kept], which[kept]
        _, places = self.lattice.decode(self.places[numbers])
        here = np.zeros(len(numbers), np.int64)
        for side, place, most in zip(self._wide.shape, places, self._margin, strict=True):
            here = here * side + place + most
        numbered = self._wide.ravel()[here[:, None] + steps]
        inside = numbered >= 0
        if not (away or around.everywhere.all()):
            there = around.present(places, self.lattice.shape)
            itself = np.ones((len(there), 1), bool)
            inside &= np.concatenate([there, itself], axis=1)[:, which]
        columns = numbered + shift.astype(numbered.dtype)
        if self.lattice.periodic and (near := ~self._far_from_seam(places)).any():
            # Across the seam columns do not ascend as offsets do.
            order = np.broadcast_to(np.arange(len(which)), columns.shape).copy()
            last = np.iinfo(columns.dtype).max
            order[near] = np.where(inside[near], columns[near], last).argsort(axis=1, kind="stable")
            columns, inside = (np.take_along_axis(x, order, axis=1) for x in (columns, inside))
            which = which[order]
        return LookedUp(k, k * len(self.places) + numbers, columns, inside, which)

    def at_sides(self, found: LookedUp) -> list[npt.NDArray[np.bool_]]:
        """For each axis (M,) whether vertices are at a side across it."""
        numbers = found.vertices - found.orientation * len(self.places)
        return at_sides(self.lattice.decode(self.places[numbers])[1], self.lattice.shape)

    def _far_from_seam(self, places: Sequence[Indices]) -> npt.NDArray[np.bool_]:
        """Whether no neighbor of a pixel is beyond a side."""
        far = np.ones(len(places[0]), bool)
        for place, most, side in zip(places, self._margin, self.lattice.shape, strict=True):
            far &= (place >= most) & (place < side - most)
        return far


@dataclass(frozen=True)
class Piece:
    """Consecutive vertices of one orientation.

    Args:
        stencils: their neighbors.
        orientation: of the vertices.
        start, stop: numbers of their pixels.
    """

    stencils: MaskedStencils
    orientation: int
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def first_vertex(self) -> int:
        """The first of the vertices."""
        return self.orientation * len(self.stencils.places) + self.start

    @cached_property
    def places(self) -> Indices:
        """(len(self),) pixels of the vertices."""
        return self.stencils.places[self.start : self.stop]

    @property
    def complete(self) -> npt.NDArray[np.bool_]:
        """(len(self),) whether no neighbor is outside."""
        return self._picked(self.stencils.lines)

    @property
    def surrounded(self) -> npt.NDArray[np.bool_]:
        """(len(self),) whether neighbors are complete, too; False within reach of the sides."""
        return self._picked(self.stencils.around)

    def _picked(
        self, flags: Callable[[int, int, int], npt.NDArray[np.bool_]]
    ) -> npt.NDArray[np.bool_]:
        """What is said of the lines of the vertices, for the vertices."""
        line = self.stencils.lattice.num_points // self.stencils.lattice.shape[0]
        first, last = int(self.places[0]) // line, int(self.places[-1]) // line + 1
        flagged: npt.NDArray[np.bool_] = flags(self.orientation, first, last).ravel()
        return flagged[self.places - first * line]

    def look_up(self, chosen: Indices, *, away: bool = False) -> LookedUp:
        """The neighbors of some, by their places among these vertices; `away` as there."""
        return self.stencils.look_up(self.orientation, self.start + chosen, away=away)
