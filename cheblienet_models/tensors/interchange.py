"""Sparse matrices as files that scipy, and weather models through it, load."""

import os
from pathlib import Path

import numpy as np
from torch import Tensor

from cheblienet_models.arguments import file_path


def save_npz(path: str | Path, matrix: Tensor) -> Path:
    """Write a matrix in the layout of scipy.sparse.save_npz, at once: no reader sees half of it.

    Args:
        path: of the file; `.npz` is appended where it does not end so, as scipy does.
        matrix: (rows, columns) sparse CSR, float32 or float64, on any device.

    Returns:
        Where the file is.

    Raises:
        OSError: it can't be written; what was there before is left as it was.
    """
    path = file_path("path", path)
    target = path if str(path).endswith(".npz") else Path(f"{path}.npz")
    indptr, indices, data = (
        part.detach().cpu().numpy()
        for part in (matrix.crow_indices(), matrix.col_indices(), matrix.values())
    )
    shape = np.array(tuple(matrix.shape), dtype=np.int64)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("wb") as file:
            np.savez_compressed(
                file,
                indices=indices,
                indptr=indptr,
                format=np.array(b"csr"),
                shape=shape,
                data=data,
            )
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target
