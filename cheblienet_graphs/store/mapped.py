"""Arrays of published versions, mapped and checked: dense ones, matrices, and weights of edges."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.errors import StoreError, quoted
from cheblienet_graphs.limits import Range
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.arrays import mapped_array
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.rules import LARGEST

EVERY = Range(-LARGEST, LARGEST)
"""Of coordinates, and of entries of gradients."""
CHECKED_AT_ONCE = 2**20


def mapped_places(array: Folder, count: int, points: int) -> npt.NDArray[np.integer]:
    """(count,) where points inside a mask are among all, ascending.

    Raises:
        StoreError: as `mapped_array`, or they do not ascend, or lie beyond all points.
    """
    places = mapped_array(array, (count,), ("int32", "int64"))
    if (np.diff(places) <= 0).any() or places[0] < 0 or places[-1] >= points:
        raise StoreError(f"{array} must ascend in [0, {points - 1}].")
    return places


def within(array: Folder, values: npt.NDArray[Any], allowed: Range = EVERY) -> npt.NDArray[Any]:
    """The values of an array, if all are within a range, which NaN never is.

    Raises:
        StoreError: they are not.
    """
    for start in range(0, len(values), CHECKED_AT_ONCE):
        block = values[start : start + CHECKED_AT_ONCE]
        if not (block.min() >= allowed.low and block.max() <= allowed.high):
            raise StoreError(f"{array} has values that are not finite or outside {allowed}.")
    return values


def mapped_csr(
    group: Folder, shape: tuple[int, int] | None = None, nnz: int | None = None
) -> scipy.sparse.csr_array:
    """A sparse matrix of a published version, its arrays mapped.

    Args:
        group: folder of its node.
        shape: required; default that of its metadata.
        nnz: required number of entries; default any.

    Raises:
        StoreError: it is missing, of another shape, or not a valid CSR matrix: scipy would
            crash on it.
    """
    actual = _csr_shape(group)
    if shape is not None and actual != shape:
        raise StoreError(f"{group} must have shape {list(shape)}. Got {list(actual)}.")
    entries = None if nnz is None else (nnz,)
    indptr = mapped_array(group / "indptr", (actual[0] + 1,), ("int32", "int64"))
    indices = mapped_array(group / "indices", entries, (indptr.dtype.name,))
    data = mapped_array(group / "data", indices.shape, ("float32",))
    try:
        matrix = scipy.sparse.csr_array((data, indices, indptr), shape=actual)
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise StoreError(f"{group} is not a CSR matrix: {error}.") from error
    if matrix.nnz != len(data) or not matrix.has_canonical_format:
        raise StoreError(f"{group} is not a CSR matrix: columns do not ascend in every row.")
    return matrix


def _csr_shape(group: Folder) -> tuple[int, int]:
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


@dataclass(frozen=True)
class MappedWeights:
    """W of a level, from the stored Laplacian: w_ij = -Delta_ij sqrt(n_i n_j), without a diagonal.

    n are the degrees where the Laplacian is the normalized one, the areas where it is the
    combinatorial one.

    Args:
        laplacian: (V, V) the stored one, rescaled, over mapped files.
        lambda_max: its scale.
        mass: (V,) n, possibly mapped.
    """

    laplacian: scipy.sparse.csr_array
    lambda_max: float
    mass: npt.NDArray[np.float32]

    def rows(self, vertices: npt.NDArray[np.int64]) -> scipy.sparse.csr_array:
        """(N, V) float64 rows of W, those of N vertices."""
        stored = self.laplacian[vertices].tocoo()
        edge = stored.col != vertices[stored.row]
        row, column = stored.row[edge], stored.col[edge]
        roots = (np.sqrt(self.mass[end], dtype=np.float64) for end in (vertices[row], column))
        weights = -stored.data[edge] * (self.lambda_max / 2) * math.prod(roots)
        return scipy.sparse.csr_array((weights, (row, column)), shape=stored.shape)
