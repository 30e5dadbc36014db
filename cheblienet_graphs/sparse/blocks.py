"""Consecutive rows of a sparse matrix, in memory."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.typing import Floats, Indices


@dataclass(frozen=True)
class RowBlock:
    """Consecutive rows of a matrix in CSR form, in memory.

    Args:
        start, stop: the rows.
        indptr: (stop - start + 1,) row pointers, counted from the block's first entry.
        columns: (nnz,) ascending in each row.
    """

    start: int
    stop: int
    indptr: Indices
    columns: Indices

    @cached_property
    def rows(self) -> Indices:
        """(nnz,) row of each entry."""
        return np.repeat(np.arange(self.start, self.stop), np.diff(self.indptr))

    def sums(self, values: Floats) -> Floats:
        """(rows,) sum of each row's values, the same to the last bit in any order."""
        degrees = np.diff(self.indptr)
        padded = np.zeros((len(degrees), int(degrees.max(initial=0))))
        padded[np.arange(padded.shape[1]) < degrees[:, None]] = values
        return ascending_sums(padded)


def ascending_sums(values: Floats) -> Floats:
    """(N,) sums of the rows of (N, M) values, which are sorted in place, from the least on.

    Zeros among the values, of which none is negative, do not change them.
    """
    values.sort(axis=1)
    total = np.zeros(len(values))
    for column in values.T:
        total += column
    return total


def with_diagonal(start: int, degrees: Indices, columns: Indices) -> RowBlock:
    """The rows of neighbours, each vertex itself inserted in ascending order.

    Args:
        start: the first vertex.
        degrees: (rows,) number of neighbours.
        columns: (sum of degrees,) neighbours, ascending in each row.
    """
    vertices = np.arange(start, start + len(degrees))
    indptr = np.concatenate([[0], np.cumsum(degrees + 1)])
    before = np.concatenate([[0], np.cumsum(columns < np.repeat(vertices, degrees))])
    ends = np.concatenate([[0], np.cumsum(degrees)])
    diagonal = indptr[:-1] + before[ends[1:]] - before[ends[:-1]]
    merged = np.empty(indptr[-1], np.int64)
    is_neighbour = np.ones(len(merged), bool)
    is_neighbour[diagonal] = False
    merged[diagonal] = vertices
    merged[is_neighbour] = columns
    return RowBlock(start, start + len(degrees), indptr, merged)
