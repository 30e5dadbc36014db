"""HEALPix' own pixels (Gorski et al. 2005, eqs. 19 to 22): sides are of constant x or y in a face.

Between the latitudes of |z| = 2/3 they are straight in longitude and z. Beyond, sqrt(3 (1 - |z|))
times the longitude, from one of the face's two meridians, is constant. Corners lie where one goes
over into the other, and on the equator.
"""

import math
from itertools import pairwise

import numpy as np

from cheblienet_models.graphs.healpix import FIRST_COLUMN, FIRST_RING, faces
from cheblienet_models.resampling.cells.sides import (
    Floats,
    Indices,
    Place,
    PolarCap,
    Sides,
    Straight,
)

AROUND = ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))
"""x and y of a pixel's corners from the southern one, its inside on the left."""


def healpix_sides(points: int, nested: Indices, cell: Indices) -> list[Sides]:
    """Sides of pixels.

    Args:
        points: 12 nside^2 of the map.
        nested: (n,) indices of the pixels.
        cell: (n,) numbers of their cells.
    """
    nside = math.isqrt(points // 12)
    face, x, y = faces(nside, nested)
    found: list[Sides] = []
    for a, b in pairwise(AROUND):
        ends = [(x + dx, y + dy) for dx, dy in (a, b)]
        rings = [FIRST_RING[face] * nside - i - j for i, j in ends]
        for is_north in (True, False):
            steps = rings if is_north else [4 * nside - ring for ring in rings]
            farther = np.maximum(*steps)
            is_cap = farther <= nside
            for is_polar, chosen in ((True, is_cap), (False, ~is_cap & (farther <= 2 * nside))):
                kept = np.flatnonzero(chosen)
                column, places = FIRST_COLUMN[face[kept]], [(i[kept], j[kept]) for i, j in ends]
                from_pole = [step[kept] for step in steps]
                if is_polar:
                    origin, constant = _curve(nside, is_north, a[0] == b[0], column, places[0])
                    start, end = (_on_cap(nside, origin, constant, step) for step in from_pole)
                    side: Sides = PolarCap(is_north, cell[kept], start, end, origin, constant)
                else:
                    start, end = (
                        _in_belt(nside, column, *both)
                        for both in zip(places, from_pole, strict=True)
                    )
                    side = Straight(is_north, cell[kept], start, end)
                found.append(side)
    return found


def _curve(
    nside: int,
    is_north: bool,  # noqa: FBT001
    is_of_x: bool,  # noqa: FBT001
    column: Indices,
    corner: tuple[Indices, Indices],
) -> tuple[Floats, Floats]:
    """(n,) origin and constant of sides of constant x, or y, radians.

    Args:
        nside: of the map.
        is_north: the cap, else the southern one.
        is_of_x: which of both is constant.
        column: (n,) of the faces' middles, in eighths of the circle.
        corner: (n,) x and y of either end.
    """
    place = corner[0] if is_of_x else corner[1]
    steps = nside - place if is_north else place
    # From the face's eastern meridian westwards, or from the western one eastwards.
    is_east = is_of_x == is_north
    sign = -1 if is_east else 1
    origin, constant = (column - sign) * (np.pi / 4), sign * steps * (np.pi / 2 / nside)
    return origin.astype(np.float64), constant.astype(np.float64)


def _on_cap(nside: int, origin: Floats, constant: Floats, from_pole: Indices) -> Place:
    """(n,) longitudes and depths of corners in a cap, so many rings from the pole."""
    root: Floats = from_pole / nside
    turn = np.divide(constant, root, out=np.zeros_like(root), where=from_pole > 0)
    return origin + turn, root**2 / 3


def _in_belt(
    nside: int, column: Indices, corner: tuple[Indices, Indices], from_pole: Indices
) -> Place:
    """(n,) longitudes and depths of corners x, y in the belt, so many rings from a pole."""
    eighths = column + (corner[0] - corner[1]) / nside
    height = (2 * nside - from_pole) * (2 / (3 * nside))
    return (np.pi / 4) * eighths.astype(np.float64), 1 - height.astype(np.float64)
