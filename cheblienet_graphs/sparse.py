"""Sparse matrices in blocks of rows: the Laplacian, products, exact sums.

What takes the rows of a block returns the same bytes whatever the block: sums run over a row's
values in ascending order, so they depend neither on the order of the vertices nor on how the rows
were cut.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.typing import Floats, Indices

Product = Callable[[Floats], Floats]
"""A function x -> A x in a new array, for x of shape (V,) or (V, m)."""

CAST_AT_ONCE = 2**22
"""Matrices of up to this many stored entries are cast to float64 once, larger ones each time."""
CAST_TOGETHER = 2**17
"""Stored entries that are cast together."""
ENTRIES = 2**18
"""Stored entries of a block."""
UNIT = 1127
"""Exact sums are integers in units of 2^-1127, of which every double is a multiple."""
LOW = 26
ROUNDING = 1e-6
"""Rounding errors of sums of float32 numbers, in units of their terms."""


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

    The values are not negative, and zeros do not change them.
    """
    values.sort(axis=1)
    total = np.zeros(len(values))
    for column in values.T:
        total += column
    return total


def with_diagonal(
    start: int, degrees: Indices, columns: Indices, values: Floats
) -> tuple[RowBlock, Floats]:
    """The rows of neighbors, each vertex itself inserted in ascending order; and (nnz,) values.

    Args:
        start: the first vertex.
        degrees: (rows,) number of neighbors.
        columns: (sum of degrees,) neighbors, ascending in each row.
        values: (sum of degrees,) theirs; that of a vertex itself is 0.
    """
    vertices = np.arange(start, start + len(degrees))
    indptr = np.concatenate([[0], np.cumsum(degrees + 1)])
    before = np.concatenate([[0], np.cumsum(columns < np.repeat(vertices, degrees))])
    ends = np.concatenate([[0], np.cumsum(degrees)])
    diagonal = indptr[:-1] + before[ends[1:]] - before[ends[:-1]]
    merged = np.empty(indptr[-1], np.int64)
    is_neighbor = np.ones(len(merged), bool)
    is_neighbor[diagonal] = False
    merged[diagonal] = vertices
    merged[is_neighbor] = columns
    entries = np.zeros(len(merged))
    entries[is_neighbor] = values
    return RowBlock(start, start + len(degrees), indptr, merged), entries


def near(actual: npt.NDArray[Any], expected: npt.NDArray[Any], errors: Floats) -> bool:
    """True if numbers are equal up to an error of each."""
    return bool((abs(actual - expected) <= errors).all())


def inverse_root(mass: Floats) -> Floats:
    """N^-1/2, and 0 where N is 0, as for isolated vertices."""
    with np.errstate(divide="ignore"):
        return np.where(mass > 0, 1 / np.sqrt(mass), 0.0)


def laplacian(
    block: RowBlock, weights: Floats, degree: Floats, inverse_root_mass: Floats
) -> Floats:
    """Entries of Delta = N^-1/2 (D - W) N^-1/2; rows of isolated vertices are 0.

    Args:
        block: the rows.
        weights: (nnz,) edge weights, 0 on the diagonal.
        degree: (V,) D.
        inverse_root_mass: (V,) N^-1/2: of the degrees for the normalized Laplacian, so that it is
            I - D^-1/2 W D^-1/2, of the areas for the combinatorial one.
    """
    rows = block.rows
    # One product of both factors, so that the two directions of an edge agree to the last bit.
    values = -weights * (inverse_root_mass[rows] * inverse_root_mass[block.columns])
    own = slice(block.start, block.stop)
    values[rows == block.columns] = degree[own] * inverse_root_mass[own] ** 2
    return values


def rescaled(
    values: npt.NDArray[np.float32], diagonal: npt.NDArray[np.bool_], lambda_max: float
) -> Floats:
    """Entries of 2 Delta / lambda_max - I from entries of Delta.

    Args:
        values: (nnz,) entries of Delta.
        diagonal: (nnz,) which of them are on the diagonal.
        lambda_max: the scale.
    """
    scaled = values.astype(np.float64) * (2 / lambda_max)
    scaled[diagonal] -= 1
    return scaled


def row_blocks(indptr: npt.NDArray[Any], entries: int = ENTRIES) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of rows, start and stop, that cover a matrix.

    Args:
        indptr: (rows + 1,) its row pointers.
        entries: most stored entries of a range, unless a single row has more.
    """
    start = 0
    last = len(indptr) - 1
    while start < last:
        end = bisect_right(indptr, int(indptr[start]) + entries, lo=start + 1) - 1
        stop = min(max(end, start + 1), last)
        yield start, stop
        start = stop


def rows(matrix: scipy.sparse.csr_array, start: int, stop: int) -> scipy.sparse.csr_array:
    """(stop - start, columns) the rows start..stop, as views of the matrix's entries."""
    first, last = int(matrix.indptr[start]), int(matrix.indptr[stop])
    block = scipy.sparse.csr_array((stop - start, matrix.shape[1]), dtype=matrix.dtype)
    # Assigned, as the constructor copies views of less than half of an array.
    block.data = np.asarray(matrix.data[first:last])
    block.indices = np.asarray(matrix.indices[first:last])
    block.indptr = matrix.indptr[start : stop + 1] - matrix.indptr.dtype.type(first)
    return block


def null_shift(matrix: scipy.sparse.csr_array, root: Floats) -> Floats:
    """The shift of a diagonal after which a vector belongs to the eigenvalue -1 exactly.

    A Laplacian that is rescaled, 2 Delta / lambda_max - I, has it there: the root of the masses. In
    float32 its diagonal is rounded by up to 3e-8, which for Delta is a potential of that share of
    lambda_max; entries off the diagonal say what it must be.

    Args:
        matrix: (V, V), possibly over mapped files.
        root: (V,) the vector; where it is 0 nothing is added.
    """
    off = mapped_product(matrix)(root) + root
    return -np.divide(off, root, out=np.zeros_like(root), where=root > 0)


def mapped_product(matrix: scipy.sparse.csr_array, shift: Floats | None = None) -> Product:
    """The product with a matrix of float32 values, in float64.

    Row blocks are cast one at a time, so that memory holds no copy of a large matrix. scipy keeps
    the interpreter's lock during products: threads would gain nothing.

    Args:
        matrix: (V, V), possibly over mapped files.
        shift: (V,) what is added to its diagonal; nothing by default.

    Returns:
        x -> A x for float64 x of shape (V,) or (V, m). Without a shift the products are the same to
        the last bit however the matrix is cast.
    """
    if matrix.nnz <= CAST_AT_ONCE:
        whole = matrix.astype(np.float64)
        if shift is not None:
            whole = (whole + scipy.sparse.diags_array(shift)).tocsr()
        product: Product = whole.__matmul__
        return product
    pieces = list(row_blocks(matrix.indptr, CAST_TOGETHER))
    blocks = [(slice(*piece), rows(matrix, *piece)) for piece in pieces]

    def by_blocks(x: Floats) -> Floats:
        image = np.empty((matrix.shape[0], *x.shape[1:]))
        for piece, block in blocks:
            image[piece] = block @ x
        if shift is not None:
            image += shift.reshape(-1, *[1] * (x.ndim - 1)) * x
        return image

    return by_blocks


def exact_sum(values: Floats, times: npt.NDArray[np.int64] | None = None) -> int:
    """The sum in units of 2^-UNIT, without rounding.

    Args:
        values: finite.
        times: number of times that each value counts; default once.
    """
    if times is not None:
        return sum(int(n) * exact_sum(values[times == n]) for n in np.unique(times))
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    total = 0
    for power in np.unique(exponent):
        part = mantissa[exponent == power]
        # In two halves, so that no sum of fewer than 2^36 terms overflows.
        whole = (int((part >> LOW).sum()) << LOW) + int((part & (2**LOW - 1)).sum())
        total += whole << (int(power) - 53 + UNIT)
    return total


def rounded(total: int) -> float:
    """An exact sum as the nearest double, as math.fsum gives it."""
    value: float = total / 2**UNIT
    return value


def components(laplacian: scipy.sparse.csr_array) -> int:
    """Connected components; an isolated vertex is one.

    Args:
        laplacian: (V, V); its stored entries are the edges, both ways; possibly over mapped files.
    """
    from scipy.sparse.csgraph import connected_components  # slow to import, most builds do without

    ones = np.broadcast_to(1.0, laplacian.nnz)  # float64 values would be a copy
    entries = (ones, laplacian.indices, laplacian.indptr)
    edges = scipy.sparse.csr_array(entries, shape=laplacian.shape)
    # The strong ones are as many, and take no transpose.
    return int(connected_components(edges, connection="strong", return_labels=False))
