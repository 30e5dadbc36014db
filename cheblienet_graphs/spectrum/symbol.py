"""Symbols of graphs on lattices, and bounds of their eigenvalues.

On an infinite lattice a Laplacian that commutes with translations acts on each plane wave exp(i k .
x) as a Hermitian matrix H(k) of size n_o, its symbol. A periodic lattice has the eigenvalues of H
at its waves.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.typing import Floats, Indices

Complex = npt.NDArray[np.complex128]

TOLERANCE = 5e-7
"""Relative width within which the largest eigenvalue of all symbols is found."""
FIRST_WAVES = 8
"""Boxes of wave vectors along each axis to begin with."""
MOST_BOXES = 2**13
"""Boxes of one size; where there are more, the search is given up."""
ENTRIES_AT_ONCE = 2**20
"""Entries of H in memory together."""
CURVED = 0.99
"""Share of the bend at a summit by which waves are confined."""


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
        """The symbol of sign times a matrix, (V, V), from the rows of a pixel."""
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
        """The symbol of a strip along a side of a lattice, of size n_o depth; waves run along it.

        Args:
            matrix: (V, V).
            lattice: open, of images.
            across: the axis across the side.
            depth: pixels across the strip.
        """
        middle = lattice.shape[1 - across] // 2
        line = [np.full(depth, middle)] * 2
        line[across] = np.arange(depth)
        rows = matrix[vertices_at(lattice, line)].tocoo()
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
        return float(last(self.at(wave[None] @ self.offsets.T / (2 * np.pi)))[0])

    def around(self, waves: Floats) -> tuple[Complex, list[Complex]]:
        """H (M, n_o, n_o) at wave vectors (M, d), and its derivatives along each axis."""
        cycles = waves @ self.offsets.T / (2 * np.pi)
        return self.at(cycles), [1j * self.at(cycles, along) for along in self.offsets.T]

    def bend(self, widths: Floats) -> float:
        """A bound of the norm of what H has besides its linear part, `widths` (d,) away at most."""
        squares = abs(self.values) * (abs(self.offsets) @ widths) ** 2
        return float(np.bincount(self.row, squares, self.orientations).max()) / 2

    def parts(self) -> Iterator[tuple[Indices, "Symbol"]]:
        """Orientations (M,) that entries couple, and their symbol; one after another."""
        from scipy.sparse.csgraph import connected_components  # slow to import

        entries = np.ones(len(self.row)), (self.row, self.column)
        coupled = scipy.sparse.coo_array(entries, (self.orientations,) * 2)
        count, part = connected_components(coupled, directed=False)
        for number in range(count):
            own = np.flatnonzero(part == number)
            of = part[self.row] == number
            row, column = (np.searchsorted(own, end[of]) for end in (self.row, self.column))
            yield own, Symbol(len(own), row, column, self.offsets[of], self.values[of])

    def plus_waves(self, amounts: Floats, steps: Indices) -> "Symbol":
        """H(k) + sum_i a_i (1 - cos m_i k_i), with a (d,) and m (d,)."""
        count = self.orientations
        dimension = len(steps)
        offsets = np.zeros((dimension, 3, dimension), np.int64)
        for axis, step in enumerate(steps):
            offsets[axis, :, axis] = 0, step, -step
        values = amounts[:, None] * [1.0, -0.5, -0.5]
        own = np.repeat(np.arange(count), 3 * dimension)
        return Symbol(
            count,
            np.concatenate([self.row, own]),
            np.concatenate([self.column, own]),
            np.concatenate([self.offsets, np.tile(offsets.reshape(-1, dimension), (count, 1))]),
            np.concatenate([self.values, np.tile(values.ravel(), count)]),
        )

    @cached_property
    def _gather(self) -> scipy.sparse.csr_array:
        count = len(self.row)
        size = self.orientations
        place = np.arange(count), self.row * size + self.column
        return scipy.sparse.csr_array((np.ones(count), place), shape=(count, size**2))


def summit(symbol: Symbol, floor: float = 0.0, work: float = math.inf) -> "Wave | None":
    """Find the largest eigenvalue of all H(k), with proof; None where that takes too long.

    Its bound is at least that eigenvalue, by `TOLERANCE` at most, and its place within the same of
    it; it has no place where no eigenvalue is beyond the floor.

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
            return Wave(symbol, highest, largest * (1 + TOLERANCE))
        widths = widths / 2
        waves = (waves[kept, None] + corners * widths).reshape(-1, dimension)
    return None


def _largest(symbol: Symbol, waves: Floats, corners: Floats) -> tuple[Floats, Floats]:
    """(M,) largest eigenvalues at the middle of boxes, and of the linear part at their corners."""
    middle, slopes = symbol.around(waves)
    values = last(middle)
    farthest = values
    for corner in corners:
        linear = middle.copy()
        for step, slope in zip(corner, slopes, strict=True):
            linear += step * slope
        farthest = np.maximum(farthest, last(linear))
    return values, farthest


def last(blocks: Complex) -> Floats:
    """(M,) largest eigenvalues of Hermitian (M, n_o, n_o)."""
    return np.asarray(np.linalg.eigvalsh(blocks)[:, -1], np.float64)


@dataclass(frozen=True)
class Wave:
    """The wave of the largest eigenvalue of a symbol, on all signals or on signals of a box.

    Args:
        symbol: H.
        place: (d,) the wave vector, radians per pixel; None where none is known.
        bound: of the eigenvalues.
        sides: (d,) pixels N of the box; None for all signals.
    """

    symbol: Symbol
    place: Floats | None
    bound: float
    sides: Floats | None = None

    def confined(self, parts: int, work: float) -> "Wave":
        """The same with a bound smaller than that of all waves, where the box has one.

        A signal x on N pixels in line, 0 beyond, consists of m signals, each on every m-th pixel, c
        of them at most: x^T (1 - cos m k) x >= (1 - cos(pi / (c + 1))) |x|^2. So eigenvalues on the
        box are at most the largest one of H(k) + sum_i a_i (1 - cos m_i k_i), less the sum of all
        a_i (1 - cos(pi / (c_i + 1))). With even m the cosines are 1 at each wave that is its own
        conjugate, and a is such that the sum is nearly flat about it; about other waves, or where
        other eigenvalues are nearly as large, nothing is gained.

        Args:
            parts: N / m.
            work: as `summit` has it.
        """
        if self.place is None or self.sides is None:
            return self
        symbol = self.symbol
        wave = np.pi * np.round(self.place / np.pi)
        steps = np.maximum(2 * np.round(self.sides / parts / 2), 2).astype(np.int64)
        first = np.diag(np.pi / (self.sides + 1))
        drops = symbol.largest(wave) - np.array([symbol.largest(wave + along) for along in first])
        amounts = CURVED * np.maximum(drops, 0.0) / (1 - np.cos(steps * first.diagonal()))
        raised = summit(symbol.plus_waves(amounts, steps), self.bound / (1 + TOLERANCE), work)
        if raised is None:
            return self
        chains = -(-self.sides // steps)
        bound = raised.bound - float(amounts @ (1 - np.cos(np.pi / (chains + 1))))
        return replace(self, bound=min(self.bound, bound))


def vertices_at(lattice: Lattice, places: Sequence[Indices]) -> Indices:
    """(n_o N,) all orientations of N pixels, by orientation."""
    count = len(places[0])
    return np.concatenate(
        [lattice.encode(np.full(count, k), places) for k in range(lattice.orientations)]
    )
