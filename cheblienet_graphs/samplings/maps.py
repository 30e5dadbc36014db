"""Maps between neighbouring levels of a pyramid, as CSR matrices."""

from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.typing import Floats, Indices


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
