"""The smallest eigenpairs of a stored Laplacian, by Chebyshev-filtered subspace iteration.

A block method, because symmetric graphs have multiple eigenvalues, of which a Lanczos recursion
from a single vector can miss copies. Source: Zhou, Saad, Tiago, Chelikowsky, "Self-consistent-field
calculations using Chebyshev-filtered subspace iteration", J. Comput. Phys. 219 (2006).
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse

from cheblienet_graphs.neighbours import Floats

DENSE = 400
"""Graphs of up to this many vertices are solved densely."""
GUARD = 6
"""Vectors beyond those asked for; they speed up the convergence of the last ones."""


@dataclass(frozen=True)
class Eigenpairs:
    """values (M,) ascending, vectors (V, M) orthonormal, and whether all residuals are small."""

    values: Floats
    vectors: Floats
    converged: bool


def smallest_eigenpairs(
    rescaled: scipy.sparse.csr_array,
    lambda_max: float,
    count: int,
    *,
    tolerance: float = 1e-7,
    max_products: int = 20_000,
) -> Eigenpairs:
    """The smallest eigenpairs of Delta, multiplicities repeated.

    Args:
        rescaled: 2 Delta / lambda_max - I, symmetric, spectrum in [-1, 1].
        lambda_max: its scale.
        count: M in [1, V].
        tolerance: largest residual |Delta v - lambda v|, in units of lambda_max / 2.
        max_products: sparse products with the block after which the best so far is returned.

    Returns:
        The eigenpairs; `converged` is False where `max_products` did not suffice.
    """
    size = rescaled.shape[0]
    matrix = rescaled.astype(np.float64)
    width = min(count + GUARD, size)
    if size <= max(DENSE, 3 * width):
        values, vectors = scipy.linalg.eigh(matrix.toarray(), subset_by_index=(0, count - 1))
        return Eigenpairs(_unscaled(values, lambda_max), vectors, converged=True)
    block = np.random.default_rng(0).standard_normal((size, width))
    cut, products, converged = -0.9, 0, False
    while not converged and products < max_products:
        degree = int(np.clip(4 / np.sqrt((cut + 1) / 2), 8, 400))
        block = np.linalg.qr(_filtered(matrix, block, cut, degree))[0]
        image = matrix @ block
        values, rotation = np.linalg.eigh(block.T @ image)
        block, image = block @ rotation, image @ rotation
        residuals = np.linalg.norm(image - block * values, axis=0)[:count]
        converged = bool((residuals < tolerance).all())
        cut = min(float(values[-1]), 0.5)
        products += degree + 1
    return Eigenpairs(_unscaled(values[:count], lambda_max), block[:, :count], converged)


def _unscaled(values: Floats, lambda_max: float) -> Floats:
    unscaled: Floats = np.maximum((values + 1) * (lambda_max / 2), 0.0)
    return unscaled


def _filtered(matrix: scipy.sparse.csr_array, block: Floats, cut: float, degree: int) -> Floats:
    """T_degree of the matrix with [cut, 1] mapped to [-1, 1], scaled to 1 at -1: damps above cut.

    The scaling keeps the recursion from overflowing where it grows, below the cut.
    """
    centre, half = (1 + cut) / 2, (1 - cut) / 2
    first = sigma = half / (-1 - centre)
    previous = block
    current: Floats = (matrix @ block - centre * block) * (sigma / half)
    for _ in range(degree - 1):
        following = 1 / (2 / first - sigma)
        update = (matrix @ current - centre * current) * (2 * following / half)
        update -= (sigma * following) * previous
        previous, current, sigma = current, update, following
    return current
