"""What engines that find neighbours have in common."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy.typing as npt

from cheblienet_graphs.typing import Floats, Indices

Scratch = Callable[[tuple[int, ...], str], npt.NDArray[Any]]
"""Makes an array, of a shape and dtype, that may live on disk."""


class Engine(Protocol):
    """Neighbours of consecutive vertices, without the vertices themselves."""

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
    """The one function that measures edges, whichever engine found them."""

    def squared_distances(self, rows: Indices, columns: Indices) -> Floats:
        """d^2 of edges, 0 where row and column coincide, shape of `rows`."""
