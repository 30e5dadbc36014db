"""The eigenpairs that a level stores, checked before anything computes with them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.files import Folder

ROUNDING = 1e-4
"""How far eigenvalues may be out of order or out of range, in units of lambda_max."""


@dataclass(frozen=True)
class Eigenpairs:
    """The smallest eigenpairs of Delta: values (M,) float64 ascending, vectors (V, M) float32.

    Both are mapped copy-on-write.
    """

    values: Tensor
    vectors: Tensor


def read_eigenpairs(folder: Folder, vertices: int, count: Any, lambda_max: float) -> Eigenpairs:
    """Map the eigenpairs of a level.

    The vectors are not looked at, which would read the whole file; `verify=True` does.

    Args:
        folder: of the level.
        vertices: V.
        count: M, as the specification has it.
        lambda_max: upper bound of the spectrum of Delta.

    Raises:
        StoreError: M is not an integer in [1, V], an array is missing or of another shape or type,
            or the eigenvalues do not ascend from about 0 to at most lambda_max.
    """
    if type(count) is not int or not 1 <= count <= vertices:
        raise StoreError(
            f"{folder} must have a number of eigenpairs in [1, {vertices}]. Got {quoted(count)}."
        )
    values = (folder / "eigenvalues").array(("float64",), 1)
    vectors = (folder / "eigenvectors").array(("float32",), 2)
    for name, array, shape in (
        ("eigenvalues", values, (count,)),
        ("eigenvectors", vectors, (vertices, count)),
    ):
        if array.shape != shape:
            raise StoreError(f"{folder}/{name} must have shape {shape}. Got {array.shape}.")
    if not _is_lower_spectrum(values / lambda_max):
        raise StoreError(
            f"{folder}/eigenvalues must be finite and ascend from about 0 to at most lambda_max, "
            f"{lambda_max:g}."
        )
    return Eigenpairs(torch.from_numpy(values), torch.from_numpy(vectors))


def _is_lower_spectrum(shares: npt.NDArray[np.float64]) -> bool:
    """Whether eigenvalues, in units of lambda_max, can be the smallest of a graph's Laplacian."""
    if not np.isfinite(shares).all() or (np.diff(shares) < 0).any():
        return False
    return bool(abs(shares[0]) <= ROUNDING and shares[-1] <= 1 + ROUNDING)
