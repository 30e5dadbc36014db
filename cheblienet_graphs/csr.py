"""Sparse matrices of three numpy arrays, which scipy and torch see without a copy."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    import scipy.sparse

INT32_LIMIT = 2**31 - 1


def index_type(shape: tuple[int, int], nnz: int) -> str:
    """Type of a matrix's indices and row pointers: int32 while everything fits."""
    return "int32" if max(*shape, nnz) <= INT32_LIMIT else "int64"


@dataclass(frozen=True, eq=False)
class Csr:
    """A matrix in compressed rows.

    Args:
        shape: numbers of rows and columns.
        indptr: (rows + 1,) row pointers.
        indices: (nnz,) columns, ascending in each row, of the type of the pointers.
        data: (nnz,) values.
    """

    shape: tuple[int, int]
    indptr: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    data: npt.NDArray[Any]

    @classmethod
    def means(
        cls, rows: Indices, columns: Indices, weights: Floats, shape: tuple[int, int]
    ) -> "Csr":
        """The mean of the columns of each row by weight.

        Args:
            rows: (entries,) ascending; each row has some.
            columns: (entries,) ascending in each row.
            weights: (entries,).
            shape: numbers of rows and columns.
        """
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
        return cls(shape, indptr, columns, weights / np.bincount(rows, weights, shape[0])[rows])

    @classmethod
    def empty(cls, shape: tuple[int, int]) -> "Csr":
        """The float32 matrix without entries."""
        none = np.zeros(0, np.int32)
        return cls(shape, np.zeros(shape[0] + 1, np.int32), none, none.astype(np.float32))

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return len(self.data)

    @property
    def rows(self) -> Indices:
        """(nnz,) row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def block(self, start: int, stop: int) -> "Csr":
        """The rows start..stop; entries are views of the matrix's."""
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        pointers = self.indptr[start : stop + 1] - self.indptr.dtype.type(first)
        return Csr(
            (stop - start, self.shape[1]), pointers, self.indices[first:last], self.data[first:last]
        )

    def fault(self) -> str | None:
        """The fault that would crash a product or make it wrong; None if the matrix is valid."""
        nnz = len(self.indices)
        columns = self.shape[1]
        pointers = self.indptr
        if pointers[0] != 0 or pointers[-1] != nnz or (pointers[1:] < pointers[:-1]).any():
            return f"row pointers do not ascend from 0 to {nnz}"
        if nnz == 0:
            return None
        if self.indices.min() < 0 or self.indices.max() >= columns:
            return f"columns reach outside [0, {columns})"
        ascends = self.indices[1:] > self.indices[:-1]
        starts = pointers[1:-1]
        ascends[starts[(starts > 0) & (starts < nnz)] - 1] = True
        return None if ascends.all() else "columns do not ascend in every row"

    def scipy(self) -> "scipy.sparse.csr_array":
        """The same arrays as a matrix of scipy, neither copied nor checked."""
        import scipy.sparse  # training does without

        matrix = scipy.sparse.csr_array(self.shape, dtype=self.data.dtype)
        # Assigned, as the constructor copies views of less than half of an array.
        matrix.data, matrix.indices, matrix.indptr = self.data, self.indices, self.indptr
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return matrix
