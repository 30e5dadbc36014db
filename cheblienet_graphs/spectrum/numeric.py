"""The smallest and largest eigenpairs of stored Laplacians.

Periodic lattices are solved wave by wave (`symmetric`), small graphs densely, all others by
Chebyshev-filtered subspace iteration: a block method, because symmetric graphs have multiple
eigenvalues, of which a Lanczos recursion from a single vector can miss copies; the filter takes the
place of a preconditioner. Where it does not converge, shift-invert Lanczos is tried on matrices
that are small enough to factorize. Where the block would be too large for memory, eigenvalues
without vectors come from Lanczos recursions with three vectors (`lanczos`), one for each sector of
the graph's symmetries (`symmetric`). All start from fixed vectors. Source: Zhou, Saad, Tiago,
Chelikowsky, "Self-consistent-field calculations using Chebyshev-filtered subspace iteration",
J. Comput. Phys. 219 (2006).
"""

from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.linalg.blas import daxpy
from scipy.sparse.linalg import ArpackError, eigsh

from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.machine.threads import one_blas_thread
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.sparse import CAST_AT_ONCE, Product, mapped_product
from cheblienet_graphs.spectrum.lanczos import MAX_PRODUCTS, Eigenvalues, Progress, start_vector
from cheblienet_graphs.spectrum.symmetric import (
    BlochBlocks,
    eigenvalues_by_sector,
    involutions,
    translated,
)
from cheblienet_graphs.typing import Floats

End = Literal["smallest", "largest"]

DENSE = 400
"""Graphs of up to this many vertices are solved densely."""
GUARD = 8
"""Vectors of the block beyond the number asked for. More are added while the last wanted ones
converge slowly, since the block's end may then cut a multiplet in two."""
SLOW = 0.3
"""Convergence is slow where a sweep leaves more than this share of the residuals."""
RESIDUAL = 1e-7
"""Largest residual |Delta v - lambda v| that counts as converged, in units of lambda_max / 2."""
STIFF = 1e-4
"""Eigenvalues up to this, in units of lambda_max / 2, are looked for with a factorized matrix:
filtered ones have residuals no smaller than RESIDUAL of the same unit."""
SAME = 1e-5
"""Relative difference up to which eigenvalues count as one."""
ROUNDING = 1e-7
"""Change of eigenvalues by storing the matrix in float32, at most, in units of lambda_max."""
NARROWEST = 2e-4
"""Distance of the filter's cut from -1 where all Ritz values are there, as in a block smaller than
the null space: the least that the largest degree can resolve."""
BLOCK_BYTES = 2**30
"""Largest block of vectors; about five of them are in memory together."""


@dataclass(frozen=True)
class Eigenpairs(Eigenvalues):
    """Eigenvalues of Delta and their vectors.

    Args:
        vectors: (V, M) orthonormal.
    """

    vectors: Floats

    def first(self, count: int) -> Self:
        """The first of them."""
        return replace(self, values=self.values[:count], vectors=self.vectors[:, :count])


def smallest_eigenvalues(
    rescaled: scipy.sparse.csr_array,
    lambda_max: float,
    count: int,
    *,
    sampling: Sampling,
    shift: Floats | None = None,
    progress: Progress | None = None,
) -> Eigenvalues:
    """The smallest eigenvalues of Delta, with their vectors where these fit into BLOCK_BYTES.

    Where they do not, and the lattice is not periodic, Lanczos recursions find the values alone.

    Args:
        rescaled: 2 Delta / lambda_max - I, symmetric, spectrum in [-1, 1].
        lambda_max: its scale.
        count: M in [1, V].
        sampling: of the graph; its symmetries are used.
        shift: (V,) what is added to the diagonal, as of `null_shift`.
        progress: called with the numbers of these products done and at most.
    """
    size = rescaled.shape[0]
    if _block_bytes(size, count) <= BLOCK_BYTES:
        return extreme_eigenpairs(rescaled, lambda_max, count, sampling=sampling, shift=shift)
    if lattice := translated(sampling, rescaled):
        values = BlochBlocks(rescaled, lattice, shift=shift).eigenvalues()[:count]
        return Eigenvalues(_of_delta(values, lambda_max), converged=True, method="bloch")
    product = mapped_product(rescaled, shift)
    symmetries = involutions(product, sampling)
    found = eigenvalues_by_sector(product, size, count, symmetries, progress=progress)
    return replace(found, values=_of_delta(found.values, lambda_max))


@one_blas_thread()
def extreme_eigenpairs(
    rescaled: scipy.sparse.csr_array,
    lambda_max: float,
    count: int,
    *,
    which: End = "smallest",
    sampling: Sampling | None = None,
    shift: Floats | None = None,
) -> Eigenpairs:
    """The smallest or largest eigenpairs of Delta, multiplicities repeated.

    Dense linear algebra uses one thread, so that results do not depend on their number.

    Args:
        rescaled: 2 Delta / lambda_max - I, symmetric, spectrum in [-1, 1].
        lambda_max: its scale.
        count: M in [1, V].
        which: end of the spectrum.
        sampling: of the graph; periodic lattices are solved wave by wave.
        shift: (V,) what is added to the diagonal, as of `null_shift`.

    Returns:
        The eigenpairs; not `converged` where no method made all residuals small.

    Raises:
        CheblienetError: the block of vectors would take more than BLOCK_BYTES.
    """
    sign = 1.0 if which == "smallest" else -1.0
    stored = mapped_product(rescaled, shift)

    def product(x: Floats) -> Floats:
        image = stored(x)
        return image if which == "smallest" else np.negative(image, out=image)

    if lattice := translated(sampling, rescaled):
        values, vectors = BlochBlocks(rescaled, lattice, sign, shift).smallest(count)
        method = "bloch"
    else:
        values, vectors, method = _solved(rescaled, shift, sign, product, count)
    image = product(vectors)
    image -= vectors * values
    residuals = np.linalg.norm(image, axis=0)
    converged = bool((residuals < RESIDUAL).all())
    fixed = with_fixed_signs(vectors)
    return Eigenpairs(_of_delta(sign * values, lambda_max), converged, method, fixed)


def multiplicities(values: Floats, lambda_max: float) -> list[int]:
    """Multiplicity of each distinct eigenvalue, in order; the last may have further copies."""
    tolerance = SAME * values[1:] + ROUNDING * lambda_max
    starts = np.flatnonzero(abs(np.diff(values)) > tolerance) + 1
    return np.diff([0, *starts, len(values)]).tolist() if len(values) else []


def _of_delta(rescaled: Floats, lambda_max: float) -> Floats:
    return np.maximum((rescaled + 1) * (lambda_max / 2), 0.0)


def _block_bytes(size: int, count: int) -> int:
    return 8 * size * (count + GUARD)


def _solved(
    rescaled: scipy.sparse.csr_array,
    shift: Floats | None,
    sign: float,
    product: Product,
    count: int,
) -> tuple[Floats, Floats, str]:
    """The smallest eigenvalues of sign times the matrix, ascending, their vectors, and the method.

    Args:
        rescaled: the matrix without the sign.
        shift: (V,) what is added to its diagonal.
        sign: 1 or -1.
        product: X -> sign A X.
        count: number of eigenvalues.
    """
    size = rescaled.shape[0]
    if size <= max(DENSE, 3 * (count + GUARD)):
        dense = rescaled.toarray().astype(np.float64)
        dense[np.diag_indices(size)] += 0.0 if shift is None else shift
        dense *= sign
        values, vectors = scipy.linalg.eigh(dense, subset_by_index=(0, count - 1))
        return values, vectors, "dense"
    if (needed := _block_bytes(size, count)) > BLOCK_BYTES:
        raise CheblienetError(
            f"{count} eigenpairs of {size:,} vertices take blocks of {needed / 2**30:.1f} GiB, "
            f"for which {BLOCK_BYTES / 2**30:.1f} GiB is the limit. Ask for fewer, for a coarser "
            "level, or for eigenvalues alone."
        )
    values, vectors, converged = _filtered_subspace(product, size, count)
    stiff = shift is not None and values[-1] + 1 < STIFF
    if (stiff or not converged) and rescaled.nnz <= CAST_AT_ONCE:
        matrix = rescaled.astype(np.float64)
        if shift is not None:
            matrix = (matrix + scipy.sparse.diags_array(shift)).tocsr()
        matrix = sign * matrix
        below = abs(float(values[-1]) + 1) / 10 if stiff else SAME
        tolerance = 0.0 if stiff else RESIDUAL / 10
        try:
            start = start_vector(size)
            solved, basis = eigsh(matrix, count, sigma=-1 - below, v0=start, tol=tolerance)
        except (ArpackError, RuntimeError, MemoryError):  # not converged, or not factorized
            return values, vectors, "chebyshev"
        order = np.argsort(solved)
        # Ritz values bound eigenvalues from above: a larger one means that copies were missed.
        if (solved[order] <= values + SAME).all():
            return solved[order], basis[:, order], "shift-invert"
    return values, vectors, "chebyshev"


def _filtered_subspace(product: Product, size: int, count: int) -> tuple[Floats, Floats, bool]:
    random = np.random.default_rng(0)
    block = random.standard_normal((size, count + GUARD))
    cut, products, largest = -0.9, 0, np.inf
    while largest >= RESIDUAL and products < MAX_PRODUCTS:
        degree = int(np.clip(4 / np.sqrt((cut + 1) / 2), 8, 400))
        block = np.linalg.qr(_filtered(product, block, cut, degree))[0]
        image = product(block)
        values, rotation = np.linalg.eigh(block.T @ image)
        block, image = block @ rotation, image @ rotation
        before = largest
        largest = float(np.linalg.norm(image - block * values, axis=0)[:count].max())
        cut = min(float(values[-1]), 0.5)
        if cut <= ROUNDING - 1:
            cut = NARROWEST - 1
        products += degree + 1
        if SLOW * before < largest < np.inf and block.shape[1] + GUARD < size:
            block = np.hstack([block, random.standard_normal((size, GUARD))])
    return values[:count], block[:, :count], largest < RESIDUAL


def _filtered(product: Product, block: Floats, cut: float, degree: int) -> Floats:
    """T_degree of the matrix, [cut, 1] mapped to [-1, 1], scaled to 1 at -1: it damps above cut.

    The scaling keeps the recursion from overflowing where it grows, below the cut.
    """
    center = (1 + cut) / 2
    half = (1 - cut) / 2
    first = sigma = half / (-1 - center)
    previous = block
    current = _shifted(product, block, center, sigma / half)
    for _ in range(degree - 1):
        following = 1 / (2 / first - sigma)
        update = _shifted(product, current, center, 2 * following / half)
        update = _added(update, previous, -sigma * following)
        previous, current, sigma = current, update, following
    return current


def _shifted(product: Product, block: Floats, center: float, scale: float) -> Floats:
    """(A - center) X times a scale."""
    image = product(block)
    image *= scale
    return _added(image, block, -center * scale)


def _added(total: Floats, block: Floats, factor: float) -> Floats:
    """The total plus a block times a factor, in one pass and in place."""
    added: Floats = daxpy(block.ravel(), total.ravel(), a=factor)
    return added.reshape(total.shape)


def with_fixed_signs(vectors: Floats) -> Floats:
    """The vectors, signs chosen so that the first large component is positive in every run."""
    large = abs(vectors) > 0.5 * abs(vectors).max(axis=0)
    first = vectors[large.argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(first < 0, -1.0, 1.0)
