"""HEALPix's pixels (Gorski et al. 2005): their centers, both orders, and places in them.

Positions in a face are x toward the north-east and y toward the north-west of its southern corner.
"""

import numpy as np

from cheblienet_graphs.typing import Flags, Floats, Indices

FIRST_RING = np.array([2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4])
"""The ring of each face's southern corner, in units of nside."""
FIRST_COLUMN = np.array([1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7])
"""And its place along the ring, in eighths of the circle."""


def centers(nside: int) -> Floats:
    """(12 nside^2, 3) unit vectors of the pixels' centers, in nested order (eqs. 4, 5, 8, 9).

    Rounded as Astropy's implementation does it, to the last bit.

    Args:
        nside: a power of two.
    """
    face, x, y = faces(nside, np.arange(12 * nside**2))
    east, north = x + 0.5, y + 0.5
    ring = east + north
    in_north, in_south = (face < 4) & (ring > nside), (face >= 8) & (ring < nside)
    vectors = np.empty((len(face), 3))
    belt = ~(in_north | in_south)
    row, column = np.divmod(face[belt], 4)
    a, b = east[belt] / nside, north[belt] / nside
    z: Floats = 2 / 3 * (a + b - row)
    gamma = np.pi / 4 * (a - b + np.where(row == 1, 0.0, 1.0) + 2 * column)
    _put(vectors, belt, z, np.sqrt(1 - z * z), gamma)
    for cap, sign, from_west, from_east in (
        (in_north, 1, (nside - east)[in_north], (nside - north)[in_north]),
        (in_south, -1, north[in_south], east[in_south]),
    ):  # the ways from the quarter's meridians, toward the pole
        turn = np.pi * from_east / (2 * (from_west + from_east))
        far = np.where(turn < np.pi / 4, from_west, from_east)
        most = np.where(turn < np.pi / 4, 2 * turn - np.pi, 2 * turn)
        root = abs(np.pi * far / (most * nside) / np.sqrt(3))
        z = (1 - root) * (1 + root)
        gamma = np.pi / 2 * (face[cap] % 4) + turn
        _put(vectors, cap, sign * z, root * np.sqrt(1 + z), gamma)
    return vectors


def _put(vectors: Floats, which: Flags, z: Floats, radius: Floats, gamma: Floats) -> None:
    """Set some unit vectors by their cylindrical coordinates."""
    gamma = np.where(gamma < 0, gamma + 2 * np.pi, gamma)
    vectors[which] = np.stack([radius * np.cos(gamma), radius * np.sin(gamma), z], axis=1)


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
