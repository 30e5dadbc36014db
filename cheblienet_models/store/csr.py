"""CSR matrices mapped from a store, checked before anything computes with them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.files import Folder, forget_pages
from cheblienet_models.tensors import Csr

ENCODING = {"encoding-type": "csr_matrix", "encoding-version": "0.1.0"}


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

    def tensors(self) -> Csr:
        """The same memory as tensors."""
        return Csr._make(map(torch.from_numpy, (self.indptr, self.indices, self.data)))


def read_csr(folder: Folder, shape: tuple[int, int]) -> CsrArrays:
    """Map a CSR matrix of an expected shape.

    Raises:
        StoreError: it is missing, of another shape or encoding, or its pointers or columns are not
            those of a CSR matrix (which would crash a product).
    """
    attributes = folder.attributes()
    if {key: attributes.get(key) for key in ENCODING} != ENCODING:
        raise StoreError(f"{folder} is not a CSR matrix of encoding version 0.1.0.")
    if attributes.get("shape") != list(shape):
        found = attributes.get("shape")
        raise StoreError(f"{folder} must have shape {list(shape)}. Got {quoted(found)}.")
    indptr = (folder / "indptr").array(("int32", "int64"), 1)
    indices = (folder / "indices").array((indptr.dtype.name,), 1)
    data = (folder / "data").array(("float32",), 1)
    fault = _fault(shape, indptr, indices, len(data))
    for array in (indptr, indices):
        forget_pages(array)
    if fault:
        raise StoreError(f"{folder} is not a valid CSR matrix: {fault}.")
    return CsrArrays(shape, indptr, indices, data)


def read_averages(folder: Folder, shape: tuple[int, int]) -> CsrArrays:
    """Map a CSR matrix whose rows are averages: weights from 0, with sum 1.

    Raises:
        StoreError: as `read_csr`, or its rows are something else.
    """
    matrix = read_csr(folder, shape)
    filled = len(matrix.data) > 0 and bool((np.diff(matrix.indptr) > 0).all())
    if not filled or not (matrix.data >= 0).all():
        raise StoreError(f"{folder} must have weights from 0 in every row.")
    sums = np.add.reduceat(matrix.data, matrix.indptr[:-1])
    for array in (matrix.indptr, matrix.data):
        forget_pages(array)
    if not np.allclose(sums, 1, atol=1e-5):
        raise StoreError(f"{folder} must have rows that sum to 1.")
    return matrix


def _fault(
    shape: tuple[int, int], indptr: npt.NDArray[Any], indices: npt.NDArray[Any], nnz: int
) -> str | None:
    rows, columns = shape
    if len(indptr) != rows + 1 or len(indices) != nnz:
        return f"{len(indptr)} row pointers, {len(indices)} columns and {nnz} values"
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
