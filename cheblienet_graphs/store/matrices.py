"""Matrices of published versions, mapped and checked."""

import numpy as np

from cheblienet_graphs.csr import Csr
from cheblienet_graphs.errors import StoreError, quoted
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.arrays import forget_pages, mapped_array
from cheblienet_graphs.store.folder import Folder

SUMS = 1e-5
"""Largest error of a sum of averages."""


def mapped_csr(group: Folder, shape: tuple[int, int] | None = None, nnz: int | None = None) -> Csr:
    """Map a sparse matrix.

    Args:
        group: folder of its node.
        shape: that it must have; default that of its metadata.
        nnz: number of entries that it must have; default any.

    Raises:
        StoreError: it is missing, of another shape or encoding, or its pointers or columns do not
            make a CSR matrix, which would crash a product.
    """
    actual = _shape(group)
    if shape is not None and actual != shape:
        raise StoreError(f"{group} must have shape {list(shape)}. Got {list(actual)}.")
    entries = None if nnz is None else (nnz,)
    indptr = mapped_array(group / "indptr", (actual[0] + 1,), ("int32", "int64"))
    indices = mapped_array(group / "indices", entries or (None,), (indptr.dtype.name,))
    data = mapped_array(group / "data", indices.shape, ("float32",))
    matrix = Csr(actual, indptr, indices, data)
    fault = matrix.fault()
    for array in (indptr, indices):
        forget_pages(array)
    if fault:
        raise StoreError(f"{group} is not a CSR matrix: {fault}.")
    return matrix


def _shape(group: Folder) -> tuple[int, int]:
    """Rows and columns of a matrix in AnnData's encoding."""
    document = group.document()
    given = document.get("attributes")
    attributes = given if isinstance(given, dict) else {}
    shape = attributes.get("shape")
    if not layout.is_shape(shape, [2]) or not layout.same(
        document, layout.group_document(attributes | layout.csr_attributes(shape))
    ):
        raise StoreError(
            f"{group} is not a CSR matrix of encoding version 0.1.0. Got {quoted(attributes)}."
        )
    return shape[0], shape[1]


def mapped_averages(
    group: Folder, shape: tuple[int, int], nnz: int | None = None, *, gaps: bool = False
) -> Csr:
    """Map a matrix of averages: rows with weights from 0 and sum 1.

    Args:
        group: folder of its node.
        shape: that it must have.
        nnz: as of `mapped_csr`.
        gaps: whether rows may be empty.

    Raises:
        StoreError: as `mapped_csr`, or its rows are something else.
    """
    matrix = mapped_csr(group, shape, nnz)
    filled = np.diff(matrix.indptr) > 0
    if not matrix.nnz or not (filled.all() or gaps) or not (matrix.data >= 0).all():
        raise StoreError(f"{group} must have weights from 0 in every row.")
    sums = np.add.reduceat(matrix.data, matrix.indptr[:-1][filled])
    for array in (matrix.indptr, matrix.data):
        forget_pages(array)
    if not (abs(sums - 1) <= SUMS).all():
        raise StoreError(f"{group} must have rows that sum to 1.")
    return matrix
