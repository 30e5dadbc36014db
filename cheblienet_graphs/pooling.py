"""Maps between neighbouring levels of a pyramid, as CSR matrices."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.samplings.plane import PlaneLattice


@dataclass(frozen=True)
class LevelMap:
    """A CSR matrix from the vertices of one level to those of another, rows summing to 1."""

    shape: tuple[int, int]
    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int64]
    data: npt.NDArray[np.float64]


def pooling(fine: PlaneLattice) -> LevelMap:
    """Coarse x fine: the mean over each 2x2 block, orientation by orientation."""
    children = fine.children()
    return _level_map(children, fine.num_vertices)


def unpooling(fine: PlaneLattice) -> LevelMap:
    """Fine x coarse: each vertex takes the value of the block it lies in."""
    return _level_map(fine.parents()[:, None], fine.halved().num_vertices)


def _level_map(sources: npt.NDArray[np.int64], columns: int) -> LevelMap:
    rows, count = sources.shape
    return LevelMap(
        (rows, columns),
        np.arange(rows + 1) * count,
        sources.ravel(),
        np.full(rows * count, 1 / count),
    )
