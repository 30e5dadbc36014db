"""Maps between neighboring levels of a pyramid, as CSR matrices.

Points in no order belong to the nearest of the coarser ones.
"""

from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.csr import Csr
from cheblienet_graphs.typing import Floats, Indices

TIE = 1e-9
"""Relative difference of distances below which points are equally near: the first one is taken, so
that maps do not depend on rounding."""


@dataclass(frozen=True)
class Parents:
    """The points of the next coarser level that the points of a level belong to.

    Args:
        points: (links,) ascending.
        coarser: (links,) a point that each belongs to, ascending for each.
        shares: (links,) how much of it does, in any unit.
        shape: numbers of points and of coarser ones.
    """

    points: Indices
    coarser: Indices
    shares: Floats
    shape: tuple[int, int]

    @classmethod
    def of(cls, owners: Indices, coarser: int) -> "Parents":
        """Each point belongs to one of so many coarser ones alone, its owner, (points,)."""
        count = len(owners)
        return cls(np.arange(count), owners, np.ones(count), (count, coarser))

    def joined(self, points: Indices, coarser: Indices) -> "Parents":
        """Together with (N,) points that belong to (N,) others, too."""
        points, coarser = np.append(self.points, points), np.append(self.coarser, coarser)
        shares = np.append(self.shares, np.ones(len(points) - len(self.shares)))
        order = np.lexsort((coarser, points))
        return Parents(points[order], coarser[order], shares[order], self.shape)

    def pooling(self, areas: Floats) -> Csr:
        """Each coarser point is the mean of the points that belong to it by area, (points,)."""
        order = np.argsort(self.coarser, kind="stable")
        points = self.points[order]
        weights = areas[points] * self.shares[order]
        return Csr.means(self.coarser[order], points, weights, self.shape[::-1])

    def unpooling(self) -> Csr:
        """Each point is the mean of the coarser points that it belongs to, by its shares."""
        return Csr.means(self.points, self.coarser, self.shares, self.shape)


def nearest(points: Floats, others: Floats, periods: tuple[float, ...] | None = None) -> Indices:
    """(N,) the nearest of the points to each of the others, the first of equally near ones.

    Args:
        points: (M, d).
        others: (N, d).
        periods: sides of a periodic domain.
    """
    from scipy.spatial import KDTree  # slow to import, most builds do without

    if periods is not None:
        points, others = (within(x, periods) for x in (points, others))
    tree = KDTree(points, boxsize=periods)
    distances, two = tree.query(others, k=2)
    found: Indices = two[:, 0].astype(np.int64)
    reach = distances[:, 0] * (1 + TIE)
    tied = np.flatnonzero(distances[:, 1] <= reach)
    for place in tied.tolist():
        found[place] = min(tree.query_ball_point(others[place], reach[place]))
    return found


def within(points: Floats, periods: tuple[float, ...]) -> Floats:
    """The points moved by whole periods into [0, period)."""
    moved: Floats = np.mod(points, periods)
    moved[moved >= periods] = 0.0  # of tiny negative numbers
    return moved


def numbers_of(places: Indices, count: int) -> Indices:
    """(count,) number of each point among the points at some places, (N,); -1 elsewhere."""
    numbers = np.full(count, -1)
    numbers[places] = np.arange(len(places))
    return numbers
