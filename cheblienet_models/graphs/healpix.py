"""The two orders of HEALPix's pixels (Gorski et al. 2005), in integer arithmetic, and places."""

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

FIRST_RING = np.array([2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4])
"""Of each of the twelve faces the ring of its southern corner, in units of nside."""
FIRST_COLUMN = np.array([1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7])
"""And its place along the ring, in eighths of the circle."""


def nside_of(points: int) -> int | None:
    """The nside of a map of so many pixels; None where there is no such map in nested order."""
    nside = math.isqrt(max(0, points) // 12)
    return nside if nside & (nside - 1) == 0 and 0 < 12 * nside**2 == points else None


def ring_indices(nside: int, nested: Indices) -> Indices:
    """(n,) int64: where pixels, given by their nested indices, are in ring order.

    Args:
        nside: a power of two.
        nested: (n,) in [0, 12 nside^2).
    """
    face, x, y = faces(nside, nested)
    ring = FIRST_RING[face] * nside - x - y - 1
    polar = np.minimum(ring, 4 * nside - ring)
    quarter = np.minimum(polar, nside)
    shifted = np.where(polar < nside, 1, 1 - ((ring - nside) & 1))
    place = (FIRST_COLUMN[face] * quarter + x - y - shifted) // 2
    caps = 2 * ring * (ring - 1), 12 * nside**2 - 2 * polar * (polar + 1)
    belt = 2 * nside * (nside - 1) + (ring - nside) * 4 * nside
    before = np.select([ring < nside, ring > 3 * nside], caps, belt)
    index: Indices = before + place % (4 * quarter)
    return index


def places(
    nside: int, column: Indices, across: Indices, from_pole: Indices
) -> tuple[Floats, Floats]:
    """(..., n) longitudes, radians from -pi / 4, and 1 - |z| of places in faces.

    Args:
        nside: a power of two.
        column: (n,) FIRST_COLUMN of the faces.
        across: (..., n) x - y there.
        from_pole: (..., n) from which ring they are, counted from the nearer pole, on which
            `across` is 0.
    """
    turn = across / np.minimum(from_pole, nside).clip(1)
    belt = 1 - (2 * nside - from_pole) * (2 / (3 * nside))
    depth = np.where(from_pole < nside, (from_pole / nside) ** 2 / 3, belt)
    return (np.pi / 4) * (column + turn), depth


def faces(nside: int, nested: Indices) -> tuple[Indices, Indices, Indices]:
    """(n,) face, and the place in it in [0, nside): x toward the north-east, y the north-west."""
    face, within = np.divmod(nested.astype(np.int64), nside**2)
    return face, _even_bits(within), _even_bits(within >> 1)


def _even_bits(values: Indices) -> Indices:
    """Bits 0, 2, 4, ... of numbers from 0, moved together."""
    bits = range((int(values.max(initial=0)).bit_length() + 1) // 2)
    return sum(((values >> 2 * bit & 1) << bit for bit in bits), np.zeros_like(values))
