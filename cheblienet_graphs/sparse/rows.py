"""Rows of large CSR matrices, block by block, in a memory that does not grow with them."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import scipy.sparse

ENTRIES = 2**18
"""Stored entries of a block."""


def row_blocks(indptr: npt.NDArray[Any], entries: int = ENTRIES) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of rows, start and stop, that cover a matrix.

    Args:
        indptr: (rows + 1,) its row pointers.
        entries: most stored entries of a range, unless a single row has more.
    """
    start, last = 0, len(indptr) - 1
    while start < last:
        end = bisect_right(indptr, int(indptr[start]) + entries, lo=start + 1) - 1
        stop = min(max(end, start + 1), last)
        yield start, stop
        start = stop


def rows(matrix: "scipy.sparse.csr_array", start: int, stop: int) -> "scipy.sparse.csr_array":
    """(stop - start, columns) the rows start..stop, as views of the matrix's entries."""
    import scipy.sparse  # slow to import, `clg ls` does without

    first, last = int(matrix.indptr[start]), int(matrix.indptr[stop])
    block = scipy.sparse.csr_array((stop - start, matrix.shape[1]), dtype=matrix.dtype)
    # Assigned, as the constructor copies views of less than half of an array.
    block.data = np.asarray(matrix.data[first:last])
    block.indices = np.asarray(matrix.indices[first:last])
    block.indptr = matrix.indptr[start : stop + 1] - matrix.indptr.dtype.type(first)
    return block
