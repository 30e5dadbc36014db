"""The interfaces of engines that find neighbours, and of lengths."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy.typing as npt

from cheblienet_graphs.typing import Floats, Indices

Scratch = Callable[[tuple[int, ...], str], npt.NDArray[Any]]
"""(shape, dtype) -> a new array, possibly on disk."""


class Engine(Protocol):
    """Finds the neighbours of consecutive vertices; none is its own neighbour."""

    @property
    def total_degree(self) -> int:
        """Twice the number of edges."""

    @property
    def in_plane_degree(self) -> int:
        """The part of `total_degree` that stays within one orientation."""

    def degrees(self, start: int, stop: int) -> Indices:
        """(stop - start,) number of neighbours of each vertex."""

    def columns(self, start: int, stop: int) -> Indices:
        """Neighbours of the vertices start..stop, vertex after vertex, ascending in each."""


class Lengths(Protocol):
    """Lengths of edges, the same whichever engine found these."""

    def squared_distances(self, rows: Indices, columns: Indices) -> Floats:
        """d^2 of edges, 0 where row and column coincide, shape of `rows`."""
