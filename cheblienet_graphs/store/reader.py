"""Published versions as numpy, scipy and zarr see them."""

import math
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.store import layout

if TYPE_CHECKING:
    import scipy.sparse
    import zarr


def open_group(store: str | Path, name: str | None = None) -> "zarr.Group":
    """A published version as a read-only zarr group.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; may be left out where the store has one graph.

    Raises:
        UnknownGraphError: there is none of that name.
        StoreError: the store can't be read.
    """
    import zarr

    return zarr.open_group(
        layout.resolve(Path(store).expanduser().absolute(), name), mode="r", zarr_format=3
    )


def mapped_array(array: Path) -> npt.NDArray[Any]:
    """An array of a published version, mapped read-only.

    Raises:
        StoreError: it is missing, not of the format, or not of the size that its metadata says.
    """
    document = layout.read_document(array)
    try:
        shape, dtype = tuple(document["shape"]), np.dtype(layout.DTYPES[document["data_type"]])
        nbytes = math.prod(shape) * dtype.itemsize
        if nbytes == 0:
            return np.zeros(shape, dtype)
        chunk = layout.chunk_file(array, len(shape))
        status = chunk.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size != nbytes:
            raise StoreError(f"{chunk} is not a file of {nbytes} bytes.")
        return np.memmap(chunk, dtype, "r", shape=shape)
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise StoreError(f"{array} can't be read: {error}.") from error


def mapped_csr(group: Path) -> "scipy.sparse.csr_array":
    """A sparse matrix of a published version, its arrays mapped read-only.

    Raises:
        StoreError: it is missing, or not a CSR matrix, on which scipy would crash.
    """
    import scipy.sparse

    attributes = layout.read_document(group).get("attributes", {})
    data, indices, indptr = (mapped_array(group / part) for part in ("data", "indices", "indptr"))
    try:
        rows, columns = map(int, attributes["shape"])
        if fault := _csr_fault((rows, columns), data, indices, indptr):
            raise StoreError(f"{group} is not a CSR matrix: {fault}.")
        matrix = scipy.sparse.csr_array((data, indices, indptr), shape=(rows, columns))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise StoreError(f"{group} is not a CSR matrix: {error}.") from error
    if not matrix.has_canonical_format:
        raise StoreError(f"{group} is not a CSR matrix: columns do not ascend in every row.")
    return matrix


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

    laplacian: "scipy.sparse.csr_array"
    lambda_max: float
    mass: npt.NDArray[np.float32]

    def rows(self, vertices: npt.NDArray[np.int64]) -> "scipy.sparse.csr_array":
        """(N, V) float64 rows of W, those of N vertices."""
        import scipy.sparse

        stored = self.laplacian[vertices]
        row = np.repeat(np.arange(len(vertices)), np.diff(stored.indptr))
        edge = stored.indices != vertices[row]
        row, column = row[edge], stored.indices[edge]
        roots = (np.sqrt(self.mass[end], dtype=np.float64) for end in (vertices[row], column))
        weights = -stored.data[edge] * (self.lambda_max / 2) * math.prod(roots)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(vertices)))])
        return scipy.sparse.csr_array((weights, column, indptr), shape=stored.shape)


def mapped_weights(version: Path, level: int) -> MappedWeights:
    """W of a level, to be read row by row.

    Raises:
        StoreError: it can't be read.
    """
    attributes = layout.check_version(version)
    folder = version / f"levels/{level}"
    laplacian = mapped_csr(folder / "laplacian")
    try:
        lambda_max = float(attributes["levels"][level]["lambda_max"])
        mass = {"normalized": "degree", "combinatorial": "area"}[attributes["spec"]["laplacian"]]
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise StoreError(
            f"{version} has attributes of another form than ours: {error!r}."
        ) from error
    return MappedWeights(laplacian, lambda_max, mapped_array(folder / mass))


def edge_weights(version: Path, level: int) -> "scipy.sparse.csr_array":
    """(V, V) W of a level in memory, as `MappedWeights` defines it.

    Raises:
        StoreError: it can't be read.
    """
    weights = mapped_weights(version, level)
    return weights.rows(np.arange(weights.laplacian.shape[0]))


def _csr_fault(
    shape: tuple[int, int],
    data: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    indptr: npt.NDArray[Any],
) -> str | None:
    rows, columns = shape
    if indptr.shape != (rows + 1,) or indices.shape != data.shape or data.ndim != 1:
        return "row pointers, columns and values do not fit together"
    if indptr[0] != 0 or indptr[-1] != len(data) or (indptr[1:] < indptr[:-1]).any():
        return f"row pointers do not ascend from 0 to {len(data)}"
    if len(data) and (indices.min() < 0 or indices.max() >= columns):
        return f"columns reach outside [0, {columns})"
    return None
