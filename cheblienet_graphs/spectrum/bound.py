"""Bounds of the largest eigenvalue of graphs on lattices, from their symbols.

An open lattice lacks the edges that lead out of it: where its matrix is A^-1/2 (D - W) A^-1/2 with
equal A at every pixel, x^T (D - W) x is a sum over fewer edges, so that no eigenvalue is beyond the
infinite lattice's on signals of the same box.

Where edges along sides add more than that, or where smaller degrees normalize it, eigenvalues
beyond have vectors that die away from a side, as waves along it, or from a corner. Eigenvalues at a
side belong to the symbol of a strip along it, at a corner to a block of the matrix.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse

from cheblienet_graphs.machine.threads import one_blas_thread
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.sparse import Product
from cheblienet_graphs.spectrum.lanczos import dot, ritz_pairs
from cheblienet_graphs.spectrum.symbol import (
    ENTRIES_AT_ONCE,
    TOLERANCE,
    Complex,
    Symbol,
    Wave,
    last,
    summit,
    vertices_at,
)
from cheblienet_graphs.typing import Floats, Indices

CLOSE = 1e-5
"""Relative distance from an eigenvalue of the graph that is asked of its bound."""
ACCEPTED = 5e-5
"""The same where that cannot be reached: a recursion is no closer, and takes longer."""
FAR = 1 + 5e-4
"""Ratio of a bound to an eigenvalue up to which its wave is confined closely enough."""
MARGIN = 5e-6
"""Margin of a bound that is not proven."""
ROUNDING = 1e-12
"""Relative square of a part of a wave that is nothing but rounding."""
STEPS = 8, 16, 32, 64
"""Parts of a box's sides by which waves are confined: more of them need more room below the
summit, and lose less."""
STRIPS = 16, 24
"""Pixels from a side within which vectors die away that are at it: a larger strip changes less."""
CORNERS = 48, 64
"""Pixels from a corner along both sides, within which vectors die away that are at it."""
WORK = 500.0
"""Cubes of the sizes of the H that are solved, for each entry of a matrix, at most: with more a
recursion is as quick."""


@one_blas_thread()
def bound_by_symbols(
    matrix: scipy.sparse.csr_array, lattice: Lattice, product: Product, *, proven: bool
) -> float | None:
    """A bound of the largest eigenvalue, close to it; None where there is none, or not sooner.

    Where it is not proven, sides and corners are looked at, and `MARGIN` is added for what may be
    farther from a corner. The flip maps all corners to one another, the half turn opposite sides.

    Args:
        matrix: (V, V) of a periodic lattice, or of an open one as above, which is wider than twice
            the longest edges.
        lattice: of its vertices; of images where it is not proven.
        product: x -> matrix x, (V,) float64.
        proven: whether no eigenvalue is beyond the infinite lattice's.
    """
    inside, work = _inside(matrix, lattice), WORK * matrix.nnz
    if lattice.periodic:
        return _of_periodic(inside, lattice, work)
    reached = corner = 0.0
    sides = np.array(lattice.shape, np.float64)
    margin = 1.0 if proven else 1 + MARGIN
    enough = (1 + CLOSE) / margin
    if not proven:
        narrow = min(lattice.shape) < 2 * CORNERS[1] or 2 * abs(inside.offsets).max() > STRIPS[1]
        if narrow or not lattice.has_half_turn:
            return None
        reached, corner = _at_corner(matrix, lattice)
    waves: list[Wave] = []
    for orientations, part in inside.parts():
        if (top := summit(part, reached, work)) is None:
            return None
        if top.place is None:
            continue
        if top.bound > reached * enough:
            fading = _fading_wave(part, orientations, lattice, top.place)
            reached = max(reached, _quotient(fading, product))
        waves.append(replace(top, sides=sides))
    for across in () if proven else (0, 1):
        smaller, strip = (Symbol.at_side(matrix, lattice, across, depth) for depth in STRIPS)
        if (top := summit(strip, reached, work)) is None:
            return None
        if top.place is None:
            continue
        reached = max(reached, _quotient(_wave_at_side(strip, lattice, top.place, across), product))
        bound = top.bound + strip.largest(top.place) - smaller.largest(top.place)
        waves.append(replace(top, bound=bound, sides=sides[1 - across : 2 - across]))
    for parts in STEPS:
        waves = [
            wave.confined(parts, work / len(STEPS)) if enough < wave.bound / reached < FAR else wave
            for wave in waves
        ]
    bound = margin * max([corner, reached * (1 + TOLERANCE), *(wave.bound for wave in waves)])
    return bound if bound <= reached * (1 + ACCEPTED) else None


def _of_periodic(inside: Symbol, lattice: Lattice, work: float) -> float | None:
    """The bound of all waves, if one of the lattice's own is close to it, else of these alone."""
    reached = bound = 0.0
    for orientations, part in inside.parts():
        if (top := summit(part, reached, work)) is None:
            return None
        if top.place is None:
            continue
        value = _of_own_wave(part, lattice, top.place)
        close = top.bound <= value * (1 + CLOSE)
        if not close:
            if math.prod(lattice.shape) * len(orientations) ** 3 > work:
                return None
            value = _of_own_waves(part, lattice)
        reached = max(reached, value)
        bound = max(bound, top.bound if close else value * (1 + TOLERANCE))
    return max(bound, reached * (1 + TOLERANCE))


def _inside(matrix: scipy.sparse.csr_array, lattice: Lattice) -> Symbol:
    """The symbol from the rows of the pixel in the middle."""
    [middle] = lattice.encode(np.zeros(1, np.int64), [np.array([n // 2]) for n in lattice.shape])
    return Symbol.of(matrix, lattice, int(middle))


def _at_corner(matrix: scipy.sparse.csr_array, lattice: Lattice) -> tuple[float, float]:
    """The largest Ritz value of a corner's block, at most an eigenvalue, and a bound of it.

    An eigenvalue is within the norm of the residual. What a larger block adds, up to the lattice,
    falls at least with the square of its side, as that of a wave that the block cuts off.

    Args:
        matrix: (V, V).
        lattice: of its vertices.
    """
    values = []
    for side in CORNERS:
        vertices = vertices_at(lattice, [place.ravel() for place in np.indices((side, side))])
        block = matrix[vertices][:, vertices].astype(np.float64)
        tolerance = TOLERANCE * float(block.diagonal().max())
        [(value, residual)] = ritz_pairs(block.__matmul__, len(vertices), [-1], tolerance)
        values.append(value)
    smaller, largest = values
    cut = [side**-2.0 for side in (*CORNERS, max(lattice.shape))]
    more = (cut[1] - cut[2]) / (cut[0] - cut[1])
    return largest, largest + residual + more * max(largest - smaller, 0.0)


def _of_own_wave(symbol: Symbol, lattice: Lattice, wave: Floats) -> float:
    """The largest eigenvalue of a periodic lattice's own wave that is nearest to one."""
    cycles = np.round(wave * lattice.shape / (2 * np.pi)) / lattice.shape
    return symbol.largest(2 * np.pi * cycles)


def _of_own_waves(symbol: Symbol, lattice: Lattice) -> float:
    """The largest eigenvalue of a periodic lattice, of all its waves; k and -k have the same."""
    cycles = [np.arange(side) / side for side in lattice.shape]
    cycles[0] = cycles[0][: lattice.shape[0] // 2 + 1]
    grid = np.stack(np.meshgrid(*cycles, indexing="ij"), axis=-1).reshape(-1, len(cycles))
    size = max(symbol.orientations**2, len(symbol.row))
    pieces = np.array_split(grid, -(-len(grid) * size // ENTRIES_AT_ONCE))
    return max(float(last(symbol.at(piece @ symbol.offsets.T)).max()) for piece in pieces)


def _components(symbol: Symbol, wave: Floats) -> Complex:
    """The eigenvector of the largest eigenvalue at a wave."""
    blocks = symbol.at(wave[None] @ symbol.offsets.T / (2 * np.pi))
    return np.asarray(np.linalg.eigh(blocks[0])[1][:, -1], np.complex128)


def _fading(side: int, along: float) -> Complex:
    """(side,) a wave along an axis that fades towards the sides."""
    place = np.arange(side)
    return np.asarray(np.sin(np.pi * (place + 1) / (side + 1)) * np.exp(1j * along * place))


def _fading_wave(
    symbol: Symbol, orientations: Indices, lattice: Lattice, wave: Floats
) -> Iterator[Floats]:
    """(V,) real and imaginary part of a wave in some orientations that fades towards the sides."""
    components = np.zeros(lattice.orientations, np.complex128)
    components[orientations] = _components(symbol, wave)
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
