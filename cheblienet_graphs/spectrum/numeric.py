"""The smallest and largest eigenpairs of stored Laplacians.

Periodic lattices are solved wave by wave (`bloch`), small graphs densely, all others by
Chebyshev-filtered subspace iteration: a block method, because symmetric graphs have multiple
eigenvalues, of which a Lanczos recursion from a single vector can miss copies; the filter takes the
place of a preconditioner. Where it does not converge, shift-invert Lanczos is tried. All start from
fixed vectors. Source: Zhou, Saad, Tiago, Chelikowsky, "Self-consistent-field calculations using
Chebyshev-filtered subspace iteration", J. Comput. Phys. 219 (2006).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import ArpackError, eigsh

from cheblienet_graphs.neighbours import Floats
from cheblienet_graphs.samplings.plane import PlaneLattice
from cheblienet_graphs.spectrum.bloch import BlochBlocks, commutes_with_translations

DENSE = 400
"""Graphs of up to this many vertices are solved densely."""
GUARD = 8
"""Vectors beyond those asked for. More are added while the last of those converge slowly, since
then the end of the block cuts a multiplet in two."""
SLOW = 0.3
"""Residuals that shrink by less than this in a sweep shrink slowly."""
RESIDUAL = 1e-7
"""Largest residual |Delta v - lambda v| that counts as converged, in units of lambda_max / 2."""
SAME = 1e-5
"""Relative difference up to which eigenvalues count as one,"""
ROUNDING = 1e-7
"""and, in units of lambda_max, what storing the matrix in float32 may do to them besides."""

End = Literal["smallest", "largest"]


@dataclass(frozen=True)
class Eigenpairs:
    """Eigenvalues of Delta and their vectors.

    Args:
        values: (M,) ascending; descending where the largest were asked for. Repeated as often as
            they are multiple.
        vectors: (V, M) orthonormal.
        converged: whether all residuals are small.
        method: "bloch", "dense", "chebyshev" or "shift-invert".
    """

    values: Floats
    vectors: Floats
    converged: bool
    method: str


def extreme_eigenpairs(
    rescaled: scipy.sparse.csr_array,
    lambda_max: float,
    count: int,
    *,
    which: End = "smallest",
    sampling: object = None,
    max_products: int = 20_000,
) -> Eigenpairs:
    """The smallest or largest eigenpairs of Delta, multiplicities repeated.

    Args:
        rescaled: 2 Delta / lambda_max - I, symmetric, spectrum in [-1, 1].
        lambda_max: its scale.
        count: M in [1, V].
        which: end of the spectrum.
        sampling: of the graph; a periodic lattice is made use of.
        max_products: sparse products with the block after which filtering is given up.

    Returns:
        The eigenpairs; not `converged` where neither method brought all residuals down.
    """
    sign = 1.0 if which == "smallest" else -1.0
    matrix = sign * rescaled.astype(np.float64)
    values, vectors, method = _solved(matrix, count, sampling, max_products)
    residuals = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
    return Eigenpairs(
        np.maximum((sign * values + 1) * (lambda_max / 2), 0.0),
        _with_fixed_signs(vectors),
        bool((residuals < RESIDUAL).all()),
        method,
    )


def multiplicities(values: Floats, lambda_max: float) -> list[int]:
    """How often each eigenvalue occurs, in their order; the last may continue beyond them."""
    tolerance = SAME * values[1:] + ROUNDING * lambda_max
    starts = np.flatnonzero(abs(np.diff(values)) > tolerance) + 1
    return np.diff([0, *starts, len(values)]).tolist() if len(values) else []


def _solved(
    matrix: scipy.sparse.csr_array, count: int, sampling: object, max_products: int
) -> tuple[Floats, Floats, str]:
    """The smallest eigenvalues, ascending, their vectors, and how they were found."""
    if (
        isinstance(sampling, PlaneLattice)
        and sampling.periodic
        and commutes_with_translations(matrix, sampling)
    ):
        return *BlochBlocks(matrix, sampling).smallest(count), "bloch"
    size = matrix.shape[0]
    if size <= max(DENSE, 3 * (count + GUARD)):
        values, vectors = scipy.linalg.eigh(matrix.toarray(), subset_by_index=(0, count - 1))
        return values, vectors, "dense"
    values, vectors, converged = _filtered_subspace(matrix, count, max_products)
    if not converged:
        try:
            start = np.random.default_rng(0).standard_normal(size)
            found, basis = eigsh(matrix, count, sigma=-1 - SAME, v0=start, tol=RESIDUAL / 10)
        except (ArpackError, RuntimeError, MemoryError):  # no convergence, or no factorisation
            return values, vectors, "chebyshev"
        order = np.argsort(found)
        # Ritz values bound eigenvalues from above: a larger one means that copies were missed.
        if (found[order] <= values + SAME).all():
            return found[order], basis[:, order], "shift-invert"
    return values, vectors, "chebyshev"


def _filtered_subspace(
    matrix: scipy.sparse.csr_array, count: int, max_products: int
) -> tuple[Floats, Floats, bool]:
    random = np.random.default_rng(0)
    size = matrix.shape[0]
    block = random.standard_normal((size, count + GUARD))
    cut, products, largest = -0.9, 0, np.inf
    while largest >= RESIDUAL and products < max_products:
        degree = int(np.clip(4 / np.sqrt((cut + 1) / 2), 8, 400))
        block = np.linalg.qr(_filtered(matrix, block, cut, degree))[0]
        image = matrix @ block
        values, rotation = np.linalg.eigh(block.T @ image)
        block, image = block @ rotation, image @ rotation
        before = largest
        largest = float(np.linalg.norm(image - block * values, axis=0)[:count].max())
        cut = min(float(values[-1]), 0.5)
        products += degree + 1
        if SLOW * before < largest < np.inf and block.shape[1] + GUARD < size:
            block = np.hstack([block, random.standard_normal((size, GUARD))])
    return values[:count], block[:, :count], largest < RESIDUAL


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


def _with_fixed_signs(vectors: Floats) -> Floats:
    """Each vector with its first large component positive, so that equal runs give equal signs."""
    large = abs(vectors) > 0.5 * abs(vectors).max(axis=0)
    first = vectors[large.argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(first < 0, -1.0, 1.0)
