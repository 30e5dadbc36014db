"""Eigenvalues with the copies that symmetries force, from recursions with a single vector.

Commuting involutions, such as half turns and reflections, split the signals into sectors, in which
each of them multiplies signals by 1 or by -1. An eigenvalue that is double because rotations by 90
degrees mix two eigenvectors has one in each of two sectors, so recursions in every sector find
both.
"""

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.sparse import Product
from cheblienet_graphs.spectrum.lanczos import Progress, lanczos_eigenvalues, start_vector
from cheblienet_graphs.typing import Floats

Permutation = npt.NDArray[np.int32] | npt.NDArray[np.int64]

UNCHANGED = 1e-5
"""Largest difference between a permuted product and the product of the permuted vector."""


def involutions(product: Product, sampling: Sampling) -> list[Permutation]:
    """Commuting symmetries of a sampling that are involutions and leave a matrix unchanged.

    The latter is tested with one random vector.
    """
    size = sampling.num_vertices
    signal = start_vector(size)
    image = product(signal)
    permutations: list[Permutation] = []
    for _, symmetry in sampling.symmetries():
        permutation: Permutation = symmetry.astype(np.int32) if size < 2**31 else symmetry
        undone = (permutation[permutation] == np.arange(size, dtype=permutation.dtype)).all()
        if (
            undone
            and all((p[permutation] == permutation[p]).all() for p in permutations)
            and abs(product(signal[permutation]) - image[permutation]).max() <= UNCHANGED
        ):
            permutations.append(permutation)
    return permutations


def eigenvalues_by_sector(
    product: Product,
    size: int,
    count: int,
    symmetries: Sequence[Permutation],
    *,
    max_products: int = 20_000,
    progress: Progress | None = None,
) -> tuple[Floats, bool]:
    """The smallest eigenvalues, those of several sectors repeated.

    Args:
        product: x -> A x, symmetric, its spectrum in [-1, 1].
        size: V.
        count: M.
        symmetries: as `involutions` finds them.
        max_products: altogether, after which the search ends without convergence.
        progress: called with the numbers of products done and at most.

    Returns:
        (M,) ascending, and whether all recursions converged.
    """
    values: Floats = np.empty(0)
    converged, done = True, 0

    def report(products: int, _: int) -> None:
        if progress:
            progress(done + products, max_products)

    for signs in itertools.product((1.0, -1.0), repeat=len(symmetries)):
        sector = lanczos_eigenvalues(
            product,
            size,
            count,
            cutoff=float(values[-1]) if len(values) == count else None,
            project=_projection(symmetries, signs) if symmetries else None,
            max_products=max(max_products - done, 1),
            progress=report,
        )
        values = np.sort(np.append(values, sector.values))[:count]
        converged, done = converged and sector.converged, done + sector.products
    return values, converged


def _projection(
    symmetries: Sequence[Permutation], signs: Sequence[float]
) -> Callable[[Floats], None]:
    """The projection, in place, onto signals that each permutation multiplies by its sign."""

    def project(x: Floats) -> None:
        for permutation, sign in zip(symmetries, signs, strict=True):
            moved = x[permutation]
            moved *= sign
            x += moved
            x *= 0.5

    return project
