"""Stored eigenpairs: whether they are those of the stored Laplacian."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.sparse import ENTRIES, Product, mapped_product
from cheblienet_graphs.store.reader import LevelArrays
from cheblienet_graphs.typing import Floats

EIGENPAIR = 1e-4
"""Largest |L v - lambda v| that a stored eigenpair may have, and |V'V - I|, in float32."""
EIGENVALUE = 1e-6
"""Largest |v'L v - lambda|, which errors of v change little."""
VECTORS_AT_ONCE = 4
"""Stored eigenvectors that are in memory together."""


def eigenpair_faults(arrays: LevelArrays) -> Iterator[str]:
    """Stored eigenpairs must be those of the stored Laplacian."""
    values, vectors = arrays.eigenvalues, arrays.eigenvectors
    if values is not None and vectors is not None:
        rescaled, product = values * (2 / arrays.of_level.lambda_max) - 1, arrays.laplacian
        with np.errstate(invalid="ignore"):  # of infinite entries
            residual, shift = _residuals(mapped_product(product), rescaled, vectors)
            errors = residual / EIGENPAIR, shift / EIGENVALUE, _skewness(vectors) / EIGENPAIR
        if not all(error <= 1 for error in errors):
            yield "are not the Laplacian's"


def _residuals(
    product: Product, values: Floats, vectors: npt.NDArray[np.float32]
) -> tuple[float, float]:
    """Max |L v - lambda v| and |v'L v - lambda|, some vectors at a time; NaN where there is one."""
    residuals, shifts = [], []
    for start in range(0, len(values), VECTORS_AT_ONCE):
        some = slice(start, start + VECTORS_AT_ONCE)
        wide = vectors[:, some].astype(np.float64)
        image = product(wide)
        image -= wide * values[some]
        shifts.append(abs((image * wide).sum(axis=0)).max())
        residuals.append(np.abs(image, out=image).max())
    return float(np.max(residuals)), float(np.max(shifts))


def _skewness(vectors: npt.NDArray[np.float32]) -> float:
    """Max |V'V - I|."""
    size, count = vectors.shape
    products = -np.eye(count)
    step = max(1, ENTRIES // count)
    for start in range(0, size, step):
        wide = vectors[start : start + step].astype(np.float64)
        products += wide.T @ wide
    return float(abs(products).max())
