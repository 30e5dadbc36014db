"""Maps between neighboring levels of a pyramid, as CSR matrices.

Points in no order belong to the nearest of the coarser ones.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.typing import Floats, Indices

TIE = 1e-9
"""Points whose distances differ by less than this, relatively, are equally near: the first one is
taken, so that maps do not depend on rounding."""


@dataclass(frozen=True)
class LevelMap:
    """A CSR matrix from the points of one level to those of another, rows summing to 1."""

    shape: tuple[int, int]
    indptr: Indices
    indices: Indices
    data: Floats


def averages(sources: Indices, areas: Floats) -> LevelMap:
    """Each target is the mean of its sources by area.

    Args:
        sources: (targets, m) points, ascending in each row, padded with -1 at the end.
        areas: (points,) of all sources.
    """
    known = sources >= 0
    weights = np.where(known, areas[sources], 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    return LevelMap((len(sources), len(areas)), indptr, sources[known], weights[known])


def copies(sources: Indices) -> LevelMap:
    """Each point takes the value of the coarser one that it belongs to.

    Args:
        sources: (coarser, m) the points that belong to each, each point once.
    """
    owners = np.empty(sources.size, np.int64)
    owners[sources] = np.arange(len(sources))[:, None]
    return _from_owners(owners, len(sources))


def _from_owners(owners: Indices, coarser: int) -> LevelMap:
    points = len(owners)
    return LevelMap((points, coarser), np.arange(points + 1), owners, np.ones(points))


@dataclass(frozen=True, eq=False)
class NearestMaps:
    """The maps between a level and the next coarser one.

    Args:
        fine: (N, d) Cartesian coordinates.
        coarse: (M, d) those of the coarser level.
        periods: sides of a periodic domain.
    """

    fine: Floats
    coarse: Floats
    periods: tuple[float, ...] | None = None

    @cached_property
    def owners(self) -> Indices:
        """(N,) the coarser point that each point belongs to."""
        return nearest(self.coarse, self.fine, self.periods)

    def pooling(self, areas: Floats) -> LevelMap:
        """Means by area over the points that belong to each coarser one.

        One to which none belongs takes the value of the point nearest to it.

        Args:
            areas: (N,) of the points.
        """
        points, coarser = len(self.fine), len(self.coarse)
        counts = np.bincount(self.owners, minlength=coarser)
        alone = np.flatnonzero(counts == 0)
        rows, columns = self.owners, np.arange(points)
        if len(alone):
            rows = np.concatenate([rows, alone])
            close = nearest(self.fine, self.coarse[alone], self.periods)
            columns = np.concatenate([columns, close])
            counts[alone] = 1
        order = np.argsort(rows, kind="stable")
        rows, columns = rows[order], columns[order]
        sums = np.bincount(rows, areas[columns], coarser)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return LevelMap((coarser, points), indptr, columns, areas[columns] / sums[rows])

    def unpooling(self) -> LevelMap:
        """Each point takes the value of the coarser one that it belongs to."""
        return _from_owners(self.owners, len(self.coarse))


def nearest(points: Floats, others: Floats, periods: tuple[float, ...] | None = None) -> Indices:
    """(N,) the nearest of the points to each of the others, the first of those equally near.

    Args:
        points: (M, d).
        others: (N, d).
        periods: sides of a periodic domain.
    """
    from scipy.spatial import KDTree  # slow to import, most builds do without

    if periods is not None:
        points, others = (_within(x, periods) for x in (points, others))
    tree = KDTree(points, boxsize=periods)
    found: Indices = np.zeros(len(others), np.int64)
    if len(points) == 1:
        return found
    distances, two = tree.query(others, k=2)
    found[:] = two[:, 0]
    reach = distances[:, 0] * (1 + TIE)
    tied = np.flatnonzero(distances[:, 1] <= reach)
    for place in tied.tolist():
        found[place] = min(tree.query_ball_point(others[place], reach[place]))
    return found


def _within(points: Floats, periods: tuple[float, ...]) -> Floats:
    """The points moved by whole periods into [0, period)."""
    moved: Floats = np.mod(points, periods)
    moved[moved >= periods] = 0.0
    return moved
