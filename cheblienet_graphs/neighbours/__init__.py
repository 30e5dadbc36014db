"""Which vertices are neighbours: exact engines behind one interface, one result."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Engine(Protocol):
    """Neighbours of consecutive vertices, without the vertices themselves, and their distances."""

    def degrees(self, start: int, stop: int) -> Indices:
        """(stop - start,) number of neighbours of each vertex."""

    def columns(self, start: int, stop: int) -> Indices:
        """Neighbours of the vertices start..stop, vertex after vertex, ascending in each."""

    def squared_distances(self, rows: Indices, columns: Indices) -> Floats:
        """d^2 of edges, 0 where row and column coincide, shape of `rows`."""


def last_whole_shell(squared_distances: Floats, count: int, tolerance: float) -> float:
    """The radius^2 of the largest union of whole shells with at most `count` members.

    Distances that differ by no more than `tolerance`, relatively, belong to one shell: "K nearest"
    is ambiguous on a lattice, and taking part of a shell would break its symmetries.

    Args:
        squared_distances: (N,) d^2 to the other points, self left out; all of them, or at least
            the `count` + 1 nearest.
        count: K.
        tolerance: relative.

    Returns:
        r^2, or 0 where not even the nearest shell fits.
    """
    ascending = np.sort(np.append(squared_distances, np.inf))[: count + 1]
    ends = 1 + np.flatnonzero(ascending[1:] > ascending[:-1] * (1 + tolerance))
    return float(ascending[ends[-1] - 1]) if ends.size else 0.0
