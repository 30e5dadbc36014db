"""CSR matrices mapped from a store, checked before anything computes with them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from cheblienet_graphs.store.arrays import forget_pages, mapped_array
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.groups import group_attributes
from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.tensors import Csr

ENCODING = {"encoding-type": "csr_matrix", "encoding-version": "0.1.0"}
INDEX = ("int32", "int64")
"""Types of indices."""


@dataclass(frozen=True)
class CsrArrays:
    """indptr (rows + 1,), indices and data (nnz,), mapped copy-on-write; data float32."""

    shape: tuple[int, int]
    indptr: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    data: npt.NDArray[np.float32]

    def rows(self) -> npt.NDArray[np.int64]:
        """(nnz,) row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def is_transpose_of(self, other: "CsrArrays") -> bool:
        """Whether its entries are those of another matrix, with rows and columns exchanged."""
        # Stable: rows stay ascending within a column. Numpy takes twice the time.
        order = torch.argsort(torch.from_numpy(other.indices), stable=True).numpy()
        return (
            np.array_equal(self.rows(), other.indices[order])
            and np.array_equal(self.indices, other.rows()[order])
            and np.array_equal(self.data, other.data[order])
        )

    def tensors(self) -> Csr:
        """The same memory as tensors."""
        return Csr._make(map(torch.from_numpy, (self.indptr, self.indices, self.data)))


def read_csr(folder: Folder, shape: tuple[int, int]) -> CsrArrays:
    """Map a CSR matrix of an expected shape.

    Raises:
        StoreError: it is missing, of another shape or encoding, or its pointers or columns are not
            those of a CSR matrix (which would crash a product).
    """
    attributes, expected = group_attributes(folder), ENCODING | {"shape": list(shape)}
    if {key: attributes.get(key) for key in expected} != expected:
        raise StoreError(
            f"{folder} must have shape {list(shape)}, as a CSR matrix of encoding version 0.1.0. "
            f"Got {quoted(attributes)}."
        )
    indptr = mapped_array(folder / "indptr", (shape[0] + 1,), INDEX)
    indices = mapped_array(folder / "indices", (None,), (indptr.dtype.name,))
    data = mapped_array(folder / "data", indices.shape, ("float32",))
    fault = _fault(indptr, indices, shape[1])
    for array in (indptr, indices):
        forget_pages(array)
    if fault:
        raise StoreError(f"{folder} is not a valid CSR matrix: {fault}.")
    return CsrArrays(shape, indptr, indices, data)


def read_averages(folder: Folder, shape: tuple[int, int], *, gaps: bool = False) -> CsrArrays:
    """Map a CSR matrix whose rows are averages: weights from 0, with sum 1.

    Args:
        folder: of its node.
        shape: that it must have.
        gaps: whether rows may be empty.

    Raises:
        StoreError: as `read_csr`, or its rows are something else.
    """
    matrix = read_csr(folder, shape)
    filled = np.diff(matrix.indptr) > 0
    if not len(matrix.data) or not (filled.all() or gaps) or not (matrix.data >= 0).all():
        raise StoreError(f"{folder} must have weights from 0 in every row.")
    sums = np.add.reduceat(matrix.data, matrix.indptr[:-1][filled])
    for array in (matrix.indptr, matrix.data):
        forget_pages(array)
    if not np.allclose(sums, 1, atol=1e-5):
        raise StoreError(f"{folder} must have rows that sum to 1.")
    return matrix


def _fault(indptr: npt.NDArray[Any], indices: npt.NDArray[Any], columns: int) -> str | None:
    nnz = len(indices)
    if indptr[0] != 0 or indptr[-1] != nnz or (indptr[1:] < indptr[:-1]).any():
        return f"row pointers do not ascend from 0 to {nnz}"
    if nnz == 0:
        return None
    if indices.min() < 0 or indices.max() >= columns:
        return f"columns reach outside [0, {columns})"
    ascends = indices[1:] > indices[:-1]
    starts = indptr[1:-1]
    ascends[starts[(starts > 0) & (starts < nnz)] - 1] = True
    return None if ascends.all() else "columns do not ascend in every row"
