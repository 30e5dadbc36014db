"""The rule by which vertices are neighbors; what finds edges, and what measures them.

The rule makes graphs symmetric and keeps the symmetries of their samplings: the radius r_a of
a vertex is that of the largest union of whole shells of equally distant vertices with at most K
members; an edge joins a and b where d(a, b) <= min(r_a, r_b). On lattices r_a is that of the
infinite lattice, so vertices at the boundary have fewer neighbors but no longer edges.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import NEIGHBORS
from cheblienet_graphs.typing import Floats, Indices

Scratch = Callable[[tuple[int, ...], str], npt.NDArray[Any]]
"""(shape, dtype) -> a new array, possibly on disk."""

Lengths = Callable[[Indices, Indices], Floats]
"""Rows (N,), columns (N,) of edges -> their d^2, the same whichever engine found them."""


def too_few(neighbors: int, has_edges: Callable[[int], bool]) -> SpecError:
    """The error where K gives no edges; it names the smallest K that does.

    Radii grow with K, so no edge is lost with a larger one: bisection finds the smallest K.

    Args:
        neighbors: K, for which there are no edges.
        has_edges: K -> whether there are edges.
    """
    without = neighbors
    enough = min(2 * neighbors, NEIGHBORS.high)
    while not has_edges(enough):
        if enough == NEIGHBORS.high:
            accepted = f"more than {enough} here, the most there may be, for there to be edges"
            remedy = "Use a larger `eps`, another `xi` or more `points`."
            return SpecError("neighbors", accepted, neighbors, remedy)
        without = enough
        enough = min(2 * enough, NEIGHBORS.high)
    enough = bisect_left(range(enough), 1, lo=without + 1, key=has_edges)
    accepted = f"at least {enough} here, where the nearest shell of equally distant vertices ends"
    return SpecError("neighbors", accepted, neighbors)


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
