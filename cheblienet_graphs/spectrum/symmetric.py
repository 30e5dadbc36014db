"""Eigenvalues of graphs with symmetries, by smaller problems that each give some of them.

By Bloch's theorem translations, which leave the graph on a periodic lattice unchanged, let its
Laplacian act separately on each plane wave exp(i k . x), as a Hermitian matrix of size n_o: one
small problem for each wave vector instead of a large one. Waves k and -k have the same eigenvalues
and conjugate vectors with real eigenvectors as real and imaginary parts, so one of the two is
enough.

Commuting involutions, such as half turns and reflections, split the signals into sectors, in which
each of them multiplies signals by 1 or by -1. An eigenvalue that is double because rotations by 90
degrees mix two eigenvectors has one in each of two sectors, so Lanczos recursions with a single
vector in every sector find both.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.samplings.lattice import Lattice, Places
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.sparse import Product, mapped_product
from cheblienet_graphs.spectrum.lanczos import (
    MAX_PRODUCTS,
    Eigenvalues,
    Progress,
    lanczos_eigenvalues,
    start_vector,
)
from cheblienet_graphs.spectrum.symbol import Complex, Symbol
from cheblienet_graphs.typing import Floats, Indices

Permutation = npt.NDArray[np.int32] | npt.NDArray[np.int64]

NUMBERS_AT_ONCE = 2**22
"""Most complex numbers in memory together, besides the result."""
UNCHANGED = 1e-5
"""Largest difference between a moved product and the product of the moved vector."""


def translated(sampling: Sampling | None, matrix: scipy.sparse.csr_array) -> Lattice | None:
    """The periodic lattice with translations that commute with a matrix; None where there is none.

    That they commute is checked with one random vector.
    """
    lattice = None if sampling is None else sampling.whole_lattice
    if lattice is None or not lattice.periodic:
        return None
    product = mapped_product(matrix)
    shape = (lattice.orientations, *lattice.shape)
    signal = np.random.default_rng(0).standard_normal(shape)
    image = product(signal.ravel()).reshape(shape)

    def difference(axis: int) -> float:
        moved = product(np.roll(signal, 1, axis).ravel()).reshape(shape)
        moved -= np.roll(image, 1, axis)
        return float(np.abs(moved, out=moved).max())

    return lattice if max(map(difference, range(1, len(shape)))) <= UNCHANGED else None


class BlochBlocks:
    """A symmetric matrix that commutes with the translations of a lattice, wave by wave.

    Args:
        matrix: (V, V).
        lattice: periodic.
        sign: -1 for the blocks of -matrix.
        shift: (V,) what is added to its diagonal.
    """

    def __init__(
        self,
        matrix: scipy.sparse.csr_array,
        lattice: Lattice,
        sign: float = 1.0,
        shift: Floats | None = None,
    ) -> None:
        self._lattice, symbol = lattice, Symbol.of(matrix, lattice, 0, sign)
        if shift is not None:
            firsts = np.arange(lattice.orientations) * lattice.num_points
            own = (symbol.row == symbol.column) & ~symbol.offsets.any(axis=1)
            added = np.where(own, sign * shift[firsts[symbol.row]], 0.0)
            symbol = replace(symbol, values=symbol.values + added)
        self._symbol = symbol
        index = np.arange(lattice.num_points)
        _, places = lattice.decode(index)
        opposite = [-place % side for place, side in zip(places, lattice.shape, strict=True)]
        conjugate = lattice.encode(np.zeros_like(index), opposite)
        self._waves = index[index <= conjugate]
        self._is_real = (index == conjugate)[self._waves]

    def eigenvalues(self) -> Floats:
        """(V,) all eigenvalues, ascending."""
        values = [np.linalg.eigvalsh(self.blocks(waves)) for waves in self._pieces()]
        copies = np.where(self._is_real, 1, 2)
        return np.sort(np.repeat(np.concatenate(values), copies, axis=0), axis=None)

    def smallest(self, count: int) -> tuple[Floats, Floats]:
        """The smallest eigenvalues (count,), ascending, and orthonormal eigenvectors (V, count)."""
        values = np.concatenate([np.linalg.eigvalsh(self.blocks(w)) for w in self._pieces()])
        n_o = values.shape[1]
        # Real and imaginary parts of each vector; of real vectors only one part.
        both = np.stack([values, np.where(self._is_real[:, None], np.inf, values)], axis=2)
        chosen = np.argsort(both, axis=None, kind="stable")[:count]
        which, band, part = np.unravel_index(chosen, both.shape)
        vectors = np.empty((n_o * self._lattice.num_points, count))
        for wave in np.unique(which):
            of_wave = np.flatnonzero(which == wave)
            block = self.blocks(self._waves[wave : wave + 1])[0]
            basis = np.linalg.eigh(block.real if self._is_real[wave] else block)[1]
            for column in of_wave:
                field = self._field(int(self._waves[wave]), basis[:, band[column]])
                vectors[:, column] = field.imag if part[column] else field.real
        vectors /= np.linalg.norm(vectors, axis=0)
        return both.ravel()[chosen], vectors

    def _pieces(self) -> list[Indices]:
        size = max(len(self._symbol.row), self._lattice.orientations**2)
        return np.array_split(self._waves, -(-len(self._waves) * size // NUMBERS_AT_ONCE))

    def blocks(self, waves: Indices) -> Complex:
        """(waves, n_o, n_o) Hermitian: sum over a row's entries of value exp(i k . offset)."""
        return self._symbol.at(self._cycles(waves[:, None], tuple(self._symbol.offsets.T)))

    def _field(self, wave: int, components: Complex) -> Complex:
        """(V,) the plane wave with these components, one for each orientation."""
        _, places = self._lattice.decode(np.arange(self._lattice.num_points))
        phases = np.exp(2j * np.pi * self._cycles(np.array(wave), places))
        return np.outer(components, phases).ravel()

    def _cycles(self, waves: Indices, offsets: Places) -> Floats:
        """Phases k . offset / (2 pi), whole cycles taken off exactly."""
        _, numbers = self._lattice.decode(waves)
        parts = [
            number * offset % side / side
            for number, offset, side in zip(numbers, offsets, self._lattice.shape, strict=True)
        ]
        return functools.reduce(np.add, parts)


def involutions(product: Product, sampling: Sampling) -> list[Permutation]:
    """Commuting symmetries of a sampling that are involutions and leave a matrix unchanged.

    That they commute is checked with one random vector.
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
    progress: Progress | None = None,
) -> Eigenvalues:
    """The smallest eigenvalues, repeated if in several sectors, by at most MAX_PRODUCTS products.

    Args:
        product: x -> A x, symmetric, its spectrum in [-1, 1].
        size: V.
        count: M.
        symmetries: as `involutions` finds them.
        progress: called with the number of products done and the most that are allowed.
    """
    values: Floats = np.empty(0)
    converged, done = True, 0

    def counted(x: Floats) -> Floats:
        nonlocal done
        done += 1
        return product(x)

    def report(*_: int) -> None:
        if progress:
            progress(done, MAX_PRODUCTS)

    for signs in itertools.product((1.0, -1.0), repeat=len(symmetries)):
        sector = lanczos_eigenvalues(
            counted,
            size,
            count,
            cutoff=float(values[-1]) if len(values) == count else None,
            project=_projection(symmetries, signs) if symmetries else None,
            max_products=max(MAX_PRODUCTS - done, 1),
            progress=report,
        )
        values = np.sort(np.append(values, sector.values))[:count]
        converged &= sector.converged
    return Eigenvalues(values, converged, "lanczos")


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
