"""The two orders of HEALPix's pixels (Gorski et al. 2005), in integer arithmetic."""

import math

import numpy as np
import numpy.typing as npt

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
    ring, place, length, _ = rings(nside, nested)
    polar = np.minimum(ring, 4 * nside - ring)
    caps = 2 * ring * (ring - 1), 12 * nside**2 - 2 * polar * (polar + 1)
    belt = 2 * nside * (nside - 1) + (ring - nside) * 4 * nside
    before = np.select([ring < nside, ring > 3 * nside], caps, belt)
    index: Indices = before + place % length
    return index


def rings(nside: int, nested: Indices) -> tuple[Indices, Indices, Indices, Indices]:
    """(n,) ring from 1 in the north, place along it from 0, its pixels, whether shifted (0 or 1).

    A pixel's center is at longitude (place + shifted / 2) 2 pi / pixels. Places may be -1 or
    beyond the ring, once around.

    Args:
        nside: a power of two.
        nested: (n,) in [0, 12 nside^2).
    """
    face, x, y = faces(nside, nested)
    ring = FIRST_RING[face] * nside - x - y - 1
    belt = (ring >= nside) & (ring <= 3 * nside)
    quarter = np.where(belt, nside, np.minimum(ring, 4 * nside - ring))
    shifted = np.where(belt, 1 - ((ring - nside) & 1), 1)
    place = (FIRST_COLUMN[face] * quarter + x - y - shifted) // 2
    return ring, place, 4 * quarter, shifted


def faces(nside: int, nested: Indices) -> tuple[Indices, Indices, Indices]:
    """(n,) face, and the place in it in [0, nside): x toward the north-east, y the north-west."""
    face, within = np.divmod(nested.astype(np.int64), nside**2)
    return face, _even_bits(within), _even_bits(within >> 1)


def _even_bits(values: Indices) -> Indices:
    """Bits 0, 2, 4, ... of numbers from 0, moved together."""
    bits = range((int(values.max(initial=0)).bit_length() + 1) // 2)
    return sum(((values >> 2 * bit & 1) << bit for bit in bits), np.zeros_like(values))
