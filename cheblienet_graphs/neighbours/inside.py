"""Neighbours on a part of a sampling: the edges of the whole with both ends inside."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.neighbours.protocols import Engine, Lengths
from cheblienet_graphs.typing import Floats, Indices

ROWS_AT_ONCE = 2**16
"""Most vertices of the whole whose neighbours are in memory together."""


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
    """The neighbours inside of vertices inside.

    Args:
        whole: finds those of all vertices.
        inside: the vertices inside.
        vertices: how many these are.
    """

    whole: Engine
    inside: Inside
    vertices: int

    @property
    def total_degree(self) -> int:
        """Twice the number of edges."""
        return sum(len(rows) for rows, _ in self._edges(0, self.vertices))

    @property
    def in_plane_degree(self) -> int:
        """The part of `total_degree` that stays within one orientation."""
        count = len(self.inside.places)
        edges = self._edges(0, self.vertices)
        return sum(int((rows // count == columns // count).sum()) for rows, columns in edges)

    def degrees(self, start: int, stop: int) -> Indices:
        """(stop - start,) number of neighbours of each vertex."""
        degrees = np.zeros(stop - start, np.int64)
        for rows, _ in self._edges(start, stop):
            degrees += np.bincount(rows - start, minlength=stop - start)
        return degrees

    def columns(self, start: int, stop: int) -> Indices:
        """Neighbours of the vertices start..stop, vertex after vertex, ascending in each."""
        pieces = [columns for _, columns in self._edges(start, stop)]
        return np.concatenate(pieces) if pieces else np.empty(0, np.int64)

    def _edges(self, start: int, stop: int) -> Iterator[tuple[Indices, Indices]]:
        """Rows and columns of the edges of some vertices, a few vertices at a time."""
        while start < stop:
            vertices = self.inside.among_all(np.arange(start, min(stop, start + ROWS_AT_ONCE)))
            # Vertices may lie far apart among all, between which no work is done.
            few = int(np.searchsorted(vertices, vertices[0] + ROWS_AT_ONCE))
            first, last = int(vertices[0]), int(vertices[few - 1]) + 1
            degrees = self.whole.degrees(first, last)
            rows = np.repeat(np.arange(first, last), degrees)
            found = self.inside.edges(rows, self.whole.columns(first, last))
            yield found[:2]
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
