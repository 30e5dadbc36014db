"""Published versions as numpy, scipy and zarr see them."""

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

    return zarr.open_group(layout.resolve(Path(store), name), mode="r", zarr_format=3)


def mapped_array(array: Path) -> npt.NDArray[Any]:
    """An array of a published version, mapped read-only.

    Raises:
        StoreError: it is missing, or not of the format.
    """
    document = layout.read_document(array)
    try:
        shape, dtype = tuple(document["shape"]), np.dtype(layout.DTYPES[document["data_type"]])
        if 0 in shape:
            return np.zeros(shape, dtype)
        return np.memmap(layout.chunk_file(array, len(shape)), dtype, "r", shape=shape)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{array} can't be read: {error}.") from error


def mapped_csr(group: Path) -> "scipy.sparse.csr_array":
    """A sparse matrix of a published version, its arrays mapped read-only.

    Raises:
        StoreError: it is missing, or not of the format.
    """
    import scipy.sparse

    attributes = layout.read_document(group).get("attributes", {})
    parts = tuple(mapped_array(group / part) for part in ("data", "indices", "indptr"))
    try:
        return scipy.sparse.csr_array(parts, shape=tuple(attributes["shape"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{group} is not a CSR matrix: {error}.") from error
