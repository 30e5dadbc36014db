"""CSR matrices as others have them: of a store, by zarr; of torch, by scipy."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
import zarr

from cheblienet_graphs import MapSpec, build_map, open_group, verify
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import read_facts
from cheblienet_graphs.store.matrices import mapped_csr
from cheblienet_graphs.store.reader import LevelFolder


def stored(group: zarr.Group) -> scipy.sparse.csr_array:
    """A matrix of a store."""
    parts = tuple(group[part][:] for part in ("data", "indices", "indptr"))
    return scipy.sparse.csr_array(parts, shape=tuple(group.attrs["shape"]))


def built_map(spec: MapSpec, folder: Path, **how: Any) -> scipy.sparse.csr_array:
    """The matrix of a map that is built into a folder's store; nothing of it is at fault."""
    made = build_map(spec, folder / "m.zarr", **how)
    assert verify(folder / "m.zarr", made.name) == []
    matrix = stored(open_group(folder / "m.zarr", made.name)["map"])
    assert (matrix.shape, matrix.nnz) == ((made.sizes.targets, made.sizes.sources), made.sizes.nnz)
    return matrix


def mapped(group: Folder) -> scipy.sparse.csr_array:
    """A matrix as the packages read it."""
    return mapped_csr(group).scipy()


def edge_weights(version: Folder, level: int) -> scipy.sparse.csr_array:
    """(V, V) W of a level in memory, as reports read it."""
    arrays = LevelFolder.published(version, read_facts(version), level)
    return arrays.weights(np.arange(arrays.of_level.vertices))


def dense_weights(version: zarr.Group, level: int = 0) -> np.ndarray:
    """(V, V) W: -Delta_ij sqrt(n_i n_j) off the diagonal, from the arrays as zarr reads them."""
    arrays, clg = version[f"levels/{level}"], dict(version.attrs)["clg"]
    delta = stored(arrays["laplacian"]).toarray().astype(np.float64)
    delta *= clg["levels"][level]["lambda_max"] / 2
    normal = clg["spec"]["laplacian"] == "normalized"
    mass = arrays["degree" if normal else "area"][:].astype(np.float64)
    weights = -delta * np.sqrt(np.outer(mass, mass))
    np.fill_diagonal(weights, 0)
    return weights


def of_tensor(matrix: torch.Tensor) -> Any:
    parts = matrix.values(), matrix.col_indices(), matrix.crow_indices()
    return scipy.sparse.csr_array(tuple(map(np.asarray, parts)), shape=tuple(matrix.shape))
