"""CSR matrices as others have them: of a store, by zarr; of torch, by scipy."""

from typing import Any

import numpy as np
import scipy.sparse
import torch
import zarr


def stored(group: zarr.Group) -> scipy.sparse.csr_array:
    """A matrix of a store."""
    parts = tuple(group[part][:] for part in ("data", "indices", "indptr"))
    return scipy.sparse.csr_array(parts, shape=tuple(group.attrs["shape"]))


def of_tensor(matrix: torch.Tensor) -> Any:
    parts = matrix.values(), matrix.col_indices(), matrix.crow_indices()
    return scipy.sparse.csr_array(tuple(map(np.asarray, parts)), shape=tuple(matrix.shape))
