"""Symbols of graphs on lattices, and bounds of spectra from them.

On an infinite lattice a Laplacian that commutes with translations acts on each plane wave
exp(i k . x) as a Hermitian matrix H(k) of size n_o, its symbol. The eigenvalues of a periodic
lattice are those of H at its waves. An open lattice lacks the edges that lead out of it: where its
matrix is A^-1/2 (D - W) A^-1/2 with equal A at every pixel, x^T (D - W) x is a sum over fewer
edges, so that no eigenvalue is beyond the largest of all H(k).

Where edges along sides add more than that, or where smaller degrees normalize it, eigenvalues
beyond have vectors that die away from a side, as waves along it, or from a corner. Those at a side
are eigenvalues of the symbol of a strip along it, those at a corner of a block of the matrix.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.machine.threads import one_blas_thread
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.sparse import Product
from cheblienet_graphs.spectrum.lanczos import dot, ritz_pairs
from cheblienet_graphs.typing import Floats, Indices

Complex = npt.NDArray[np.complex128]

TOLERANCE = 5e-7
"""Relative width within which the largest eigenvalue of all symbols is found."""
CLOSE = 5e-5
"""Relative distance from an eigenvalue of the graph up to which this is its bound."""
FIRST_WAVES = 8
"""Boxes of wave vectors along each axis to begin with."""
MOST_BOXES = 2**13
"""Boxes of one size; where there are more, the search is given up."""
ENTRIES_AT_ONCE = 2**20
"""Entries of H in memory together."""
ROUNDING = 1e-12
"""Relative square of a part of a wave that is nothing but rounding."""
STRIPS = 16, 24
"""Pixels from a side within which vectors die away that are at it: a larger strip changes less."""
CORNERS = 48, 64
"""Pixels from a corner along both sides, within which vectors die away that are at it."""
CORNER_STEPS = 600
"""Products of Lanczos's recursion at a corner, at most."""
WORK = 500.0
"""Cubes of the sizes of the H that are solved, for each entry of a matrix, at most: with more a
recursion is as quick."""


@dataclass(frozen=True)
class Symbol:
    """The symbol of a matrix on a lattice, from the entries of one pixel's rows; N of them.

    Args:
        orientations: n_o, its size.
        row: (N,) orientations of the rows.
        column: (N,) orientations at the other end.
        offsets: (N, d) pixels to the other end, in the order of the lattice's shape.
        values: (N,) entries.
    """

    orientations: int
    row: Indices
    column: Indices
    offsets: Indices
    values: Floats

    @classmethod
    def of(
        cls, matrix: scipy.sparse.csr_array, lattice: Lattice, pixel: int, sign: float = 1.0
    ) -> "Symbol":
        """That of sign times a matrix, (V, V), from the rows of a pixel."""
        rows = matrix[np.arange(lattice.orientations) * lattice.num_points + pixel].tocoo()
        row, column = rows.coords
        _, here = lattice.decode(np.array([pixel]))
        other, there = lattice.decode(column)
        offsets = np.stack(there, axis=1) - np.stack(here, axis=1)
        return cls(lattice.orientations, row, other, offsets, sign * rows.data.astype(np.float64))

    @classmethod
    def at_side(
        cls, matrix: scipy.sparse.csr_array, lattice: Lattice, across: int, depth: int
    ) -> "Symbol":
        """That of a strip along a side of a plane lattice, of size n_o depth; waves run along it.

        Args:
            matrix: (V, V).
            lattice: open, of images.
            across: the axis across the side.
            depth: pixels across the strip.
        """
        middle = lattice.shape[1 - across] // 2
        line = [np.full(depth, middle)] * 2
        line[across] = np.arange(depth)
        rows = matrix[_vertices(lattice, line)].tocoo()
        row, column = rows.coords
        other, there = lattice.decode(column)
        inside = there[across] < depth
        column, offsets = other * depth + there[across], there[1 - across] - middle
        return cls(
            lattice.orientations * depth,
            row[inside],
            column[inside],
            offsets[inside, None],
            rows.data[inside].astype(np.float64),
        )

    def at(self, cycles: Floats, factors: Indices | float = 1.0) -> Complex:
        """(M, n_o, n_o) sums of value factor exp(2 pi i cycles).

        Args:
            cycles: (M, N) k . offset / (2 pi) of each wave and entry.
            factors: (N,) of the entries.
        """
        entries = np.exp(2j * np.pi * cycles) * (self.values * factors)
        size = self.orientations
        return np.asarray(entries @ self._gather).reshape(-1, size, size)

    def largest(self, wave: Floats) -> float:
        """The largest eigenvalue at a wave vector (d,)."""
        return float(_last(self.at(wave[None] @ self.offsets.T / (2 * np.pi)))[0])

    def around(self, waves: Floats) -> tuple[Complex, list[Complex]]:
        """H (M, n_o, n_o) at wave vectors (M, d), and its derivatives along each axis."""
        cycles = waves @ self.offsets.T / (2 * np.pi)
        return self.at(cycles), [1j * self.at(cycles, along) for along in self.offsets.T]

    def bend(self, widths: Floats) -> float:
        """A bound of the norm of what H has besides its linear part, `widths` (d,) away at most."""
        squares = abs(self.values) * (abs(self.offsets) @ widths) ** 2
        return float(np.bincount(self.row, squares, self.orientations).max()) / 2

    @cached_property
    def _gather(self) -> scipy.sparse.csr_array:
        count, size = len(self.row), self.orientations
        place = np.arange(count), self.row * size + self.column
        return scipy.sparse.csr_array((np.ones(count), place), shape=(count, size**2))


@dataclass(frozen=True)
class Summit:
    """Where the largest eigenvalue of a symbol is.

    Args:
        bound: at least the largest eigenvalue of all H(k), by `TOLERANCE` at most.
        wave: (d,) a wave vector where it is within the same of that, radians per pixel; None
            where no eigenvalue is beyond the floor.
    """

    bound: float
    wave: Floats | None


def summit(symbol: Symbol, floor: float = 0.0, work: float = math.inf) -> Summit | None:
    """Find the largest eigenvalue of all H(k), with proof; None where that takes too long.

    Boxes of wave vectors are halved until none can have a larger eigenvalue. Within a box H differs
    from its linear part by `bend` at most, and the largest eigenvalue of that part, a convex
    function of k, is largest at a corner. k and -k have the same eigenvalues.

    Args:
        symbol: H.
        floor: what counts as reached; only larger eigenvalues are looked for.
        work: cubes of the size of H, one for each that is solved, at most.
    """
    dimension = symbol.offsets.shape[1]
    steps = np.arange(FIRST_WAVES) - FIRST_WAVES // 2 + 1
    axes = [steps[steps >= 0], *[steps] * (dimension - 1)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, dimension)
    waves, widths = grid * (2 * np.pi / FIRST_WAVES), np.full(dimension, np.pi / FIRST_WAVES)
    corners = np.array(list(itertools.product((-1, 1), repeat=dimension)))
    largest, highest = floor, None
    entries, cost = symbol.orientations**2, symbol.orientations**3 * (1 + len(corners))
    while len(waves) <= MOST_BOXES and len(waves) * cost <= work:
        work -= len(waves) * cost
        pieces = np.array_split(waves, -(-len(waves) * entries // ENTRIES_AT_ONCE))
        each = [_largest(symbol, piece, corners * widths) for piece in pieces]
        values, linear = (np.concatenate(part) for part in zip(*each, strict=True))
        if values.max() > largest:
            largest, highest = float(values.max()), waves[values.argmax()]
        kept = linear + symbol.bend(widths) > largest * (1 + TOLERANCE)
        if not kept.any():
            return Summit(largest * (1 + TOLERANCE), highest)
        widths = widths / 2
        waves = (waves[kept, None] + corners * widths).reshape(-1, dimension)
    return None


def _largest(symbol: Symbol, waves: Floats, corners: Floats) -> tuple[Floats, Floats]:
    """(M,) largest eigenvalues at the middle of boxes, and of the linear part at their corners."""
    middle, slopes = symbol.around(waves)
    values = _last(middle)
    farthest = values
    for corner in corners:
        linear = middle.copy()
        for step, slope in zip(corner, slopes, strict=True):
            linear += step * slope
        farthest = np.maximum(farthest, _last(linear))
    return values, farthest


def _last(blocks: Complex) -> Floats:
    """(M,) largest eigenvalues of Hermitian (M, n_o, n_o)."""
    return np.asarray(np.linalg.eigvalsh(blocks)[:, -1], np.float64)


@one_blas_thread()
def bound_by_symbols(
    matrix: scipy.sparse.csr_array, lattice: Lattice, product: Product, *, proven: bool
) -> float | None:
    """A bound of the largest eigenvalue, close to it; None where there is none, or not sooner.

    Where it is not proven, sides and corners are looked at, and `CLOSE` is added for what may be
    farther from a corner. The flip maps all corners to one another, the half turn opposite sides.

    Args:
        matrix: (V, V) of a periodic lattice, or of an open one as above, which is wider than twice
            the longest edges.
        lattice: of its vertices; of images where it is not proven.
        product: x -> matrix x, (V,) float64.
        proven: whether no eigenvalue is beyond those of the infinite lattice.
    """
    inside, reached, bound = _inside(matrix, lattice), 0.0, 0.0
    work = WORK * matrix.nnz
    if not proven:
        narrow = min(lattice.shape) < 2 * CORNERS[1] or 2 * abs(inside.offsets).max() > STRIPS[1]
        if narrow or not lattice.has_half_turn:
            return None
        reached, bound = _at_corner(matrix, lattice)
    top = summit(inside, reached, work)
    if top is not None and top.wave is not None:
        wave = top.wave
        if lattice.periodic:
            value = _of_own_wave(inside, lattice, wave)
        else:
            value = _quotient(_fading_wave(inside, lattice, wave), product)
        reached, bound = max(reached, value), max(bound, top.bound)
    for across in () if proven else (0, 1):
        smaller, strip = (Symbol.at_side(matrix, lattice, across, depth) for depth in STRIPS)
        top = top and summit(strip, reached, work)
        if top is not None and top.wave is not None:
            value = _quotient(_wave_at_side(strip, lattice, top.wave, across), product)
            grown = strip.largest(top.wave) - smaller.largest(top.wave)
            reached, bound = max(reached, value), max(bound, top.bound + grown)
    if top is None or not bound or bound > reached * (1 + CLOSE):
        return None
    return bound if proven else bound * (1 + CLOSE)


def _inside(matrix: scipy.sparse.csr_array, lattice: Lattice) -> Symbol:
    """Of the rows of the pixel in the middle."""
    [middle] = lattice.encode(np.zeros(1, np.int64), [np.array([n // 2]) for n in lattice.shape])
    return Symbol.of(matrix, lattice, int(middle))


def _vertices(lattice: Lattice, places: Sequence[Indices]) -> Indices:
    """(n_o N,) all orientations of N pixels, by orientation."""
    count = len(places[0])
    return np.concatenate(
        [lattice.encode(np.full(count, k), places) for k in range(lattice.orientations)]
    )


def _at_corner(matrix: scipy.sparse.csr_array, lattice: Lattice) -> tuple[float, float]:
    """The largest Ritz value of a corner's block, at most an eigenvalue, and a bound of it.

    An eigenvalue is within the norm of the residual. What a larger block adds falls at least with
    the square of its side, as that of a wave that the block cuts off.

    Args:
        matrix: (V, V).
        lattice: of its vertices.
    """
    values = []
    for side in CORNERS:
        vertices = _vertices(lattice, [place.ravel() for place in np.indices((side, side))])
        block = matrix[vertices][:, vertices].astype(np.float64)
        tolerance = TOLERANCE * float(block.diagonal().max())
        [(value, residual)] = ritz_pairs(
            block.__matmul__, len(vertices), [-1], tolerance, CORNER_STEPS
        )
        values.append(value)
    smaller, largest = values
    more = 1 / ((CORNERS[1] / CORNERS[0]) ** 2 - 1)
    return largest, largest + residual + more * max(largest - smaller, 0.0)


def _of_own_wave(symbol: Symbol, lattice: Lattice, wave: Floats) -> float:
    """The largest eigenvalue of a periodic lattice's own wave that is nearest to one."""
    cycles = np.round(wave * lattice.shape / (2 * np.pi)) / lattice.shape
    return symbol.largest(2 * np.pi * cycles)


def _components(symbol: Symbol, wave: Floats) -> Complex:
    """The eigenvector of the largest eigenvalue at a wave."""
    blocks = symbol.at(wave[None] @ symbol.offsets.T / (2 * np.pi))
    return np.asarray(np.linalg.eigh(blocks[0])[1][:, -1], np.complex128)


def _fading(side: int, along: float) -> Complex:
    """(side,) a wave along an axis that fades towards the sides."""
    place = np.arange(side)
    return np.asarray(np.sin(np.pi * (place + 1) / (side + 1)) * np.exp(1j * along * place))


def _fading_wave(symbol: Symbol, lattice: Lattice, wave: Floats) -> Iterator[Floats]:
    """(V,) real and imaginary part of a wave that fades towards the sides."""
    components = _components(symbol, wave)
    field = np.ones((), np.complex128)
    for side, along in zip(lattice.shape, wave, strict=True):
        field = np.multiply.outer(field, _fading(side, along))
    for turn in (1.0, 1j):
        yield np.concatenate([(turn * k * field).real.ravel() for k in components])


def _wave_at_side(symbol: Symbol, lattice: Lattice, wave: Floats, across: int) -> Iterator[Floats]:
    """(V,) the same of a wave along a side, from the symbol of its strip."""
    components = _components(symbol, wave).reshape(lattice.orientations, -1)
    strip = np.multiply.outer(components, _fading(lattice.shape[1 - across], wave[0]))
    for turn in (1.0, 1j):
        signal = np.zeros((lattice.orientations, *lattice.shape))
        np.moveaxis(signal, 1 + across, 1)[:, : strip.shape[1]] = (turn * strip).real
        yield signal.ravel()


def _quotient(signals: Iterable[Floats], product: Product) -> float:
    """The Rayleigh quotient of the parts of a wave, at most an eigenvalue."""
    energy = squared = 0.0
    for signal in signals:
        if (size := dot(signal, signal)) > squared * ROUNDING:
            energy += dot(signal, product(signal))
            squared += size
    return energy / squared
