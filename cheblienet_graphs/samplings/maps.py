"""Maps between neighboring levels of a pyramid, as CSR matrices.

Points in no order belong to the nearest of the coarser ones.
"""

import math
from dataclasses import dataclass

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

    @classmethod
    def means(
        cls, rows: Indices, columns: Indices, weights: Floats, shape: tuple[int, int]
    ) -> "LevelMap":
        """The mean of the columns of each row by weight.

        Args:
            rows: (entries,) ascending; each row has some.
            columns: (entries,) ascending in each row.
            weights: (entries,).
            shape: numbers of rows and columns.
        """
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
        return cls(shape, indptr, columns, weights / np.bincount(rows, weights, shape[0])[rows])


def blocks(shape: tuple[int, ...]) -> Indices:
    """(blocks, 2^d) the points of a grid of this shape in blocks of 2 a side."""
    d = len(shape)
    split = [part for side in shape for part in (side // 2, 2)]
    order = (*range(0, 2 * d, 2), *range(1, 2 * d, 2))
    return np.arange(math.prod(shape)).reshape(split).transpose(order).reshape(-1, 2**d)


def averages(sources: Indices, areas: Floats) -> LevelMap:
    """Each target is the mean of its sources by area.

    Args:
        sources: (targets, m) points, ascending in each row, padded with -1 at the end.
        areas: (points,) of all sources.
    """
    rows, place = np.nonzero(sources >= 0)
    columns = sources[rows, place]
    return LevelMap.means(rows, columns, areas[columns], (len(sources), len(areas)))


def copies(owners: Indices, coarser: int) -> LevelMap:
    """Each point takes the value of the one of so many coarser ones that it belongs to, (N,)."""
    count = len(owners)
    return LevelMap.means(np.arange(count), owners, np.ones(count), (count, coarser))


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
