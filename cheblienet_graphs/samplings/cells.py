"""Cells of points on the sphere, as their sides.

HEALPix has its own pixels, grids in rows have rectangles in latitude and longitude. All others have
Voronoi cells.

Sides of HEALPix' pixels (Gorski et al. 2005, eqs. 19 to 22) are of constant x or y in a face.
Between the latitudes of |z| = 2/3 they are straight in longitude and z. Beyond, sqrt(3 (1 - |z|))
times the longitude, from one of the face's two meridians, is constant. Corners lie where one goes
over into the other, and on the equator.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from cheblienet_graphs.samplings.healpix import FIRST_COLUMN, FIRST_RING, faces, places
from cheblienet_graphs.samplings.sides import PolarCap, Sides, great_circles
from cheblienet_graphs.samplings.voronoi import arcs_of, around, on_a_circle
from cheblienet_graphs.typing import Floats, Indices

CHUNK = 2**15
"""Number of cells at a time."""
AROUND = ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))
"""Corners of a pixel, x and y from the southern one, its inside on the left."""
REMEDY = "Leave out one of any two such points."
"""Remedy for points that are too close."""


def chunks(which: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Some of the points (n,) at a time, and the numbers of their cells."""
    for start in range(0, len(which), CHUNK):
        part = which[start : start + CHUNK]
        yield part, np.arange(start, start + len(part))


def voronoi_sides(points: Floats, number: Indices) -> Iterator[list[Sides]]:
    """Sides of the Voronoi cells of points, for some cells at a time.

    Args:
        points: (n, 3) distinct unit vectors.
        number: (n,) of each cell, -1 where it is not wanted.

    Raises:
        CheblienetError: some points are too close to be distinguished.
    """
    owner, starts, ends, within = _lunes(points) if on_a_circle(points) else _polygons(points)
    cell = number[owner]
    order = np.argsort(cell, kind="stable")
    limits = np.searchsorted(cell[order], np.arange(0, number.max() + 1 + CHUNK, CHUNK))
    for begin, end in pairwise(limits):
        chosen = order[begin:end]
        yield great_circles(cell[chosen], starts[chosen], ends[chosen], within[chosen])


def _polygons(points: Floats) -> tuple[Indices, Floats, Floats, Floats]:
    """(k,) point, (k, 3) starts and ends of its cell's sides, (k,) longitude within the cell."""
    arcs = arcs_of(points, REMEDY)
    one, other = arcs.ends
    across = np.cross(arcs.start, arcs.direction)
    is_left = (across * (points[one] - points[other])).sum(axis=1) > 0
    owner = np.concatenate([np.where(is_left, one, other), np.where(is_left, other, one)])
    starts, ends = (
        np.concatenate(pair) for pair in ((arcs.start, arcs.end), (arcs.end, arcs.start))
    )
    return owner, starts, ends, np.arctan2(points[owner, 1], points[owner, 0])


def _lunes(points: Floats) -> tuple[Indices, Floats, Floats, Floats]:
    """The same of points that lie on one circle: cells are lunes about its axis.

    Each is cut in two where its point is, so that no side is longer than a quarter of a circle.
    """
    owner, after, (x, y, _) = around(points)
    axis, own, half = np.cross(x, y), np.arctan2(points[owner] @ y, points[owner] @ x), after / 2
    west, east = (
        np.concatenate(part) for part in ((own - np.roll(half, 1), own), (own, own + half))
    )
    first, middle, last = (
        np.cos(angle)[:, None] * x + np.sin(angle)[:, None] * y
        for angle in (west, (west + east) / 2, east)
    )
    top = np.broadcast_to(axis, first.shape)
    starts = np.concatenate([top, first, -top, last])
    ends = np.concatenate([first, -top, last, top])
    within = np.arctan2(middle[:, 1], middle[:, 0])
    return np.tile(owner, 8), starts, ends, np.tile(within, 4)


def band_sides(
    counts: Indices, shift: float, depths: Floats, which: Indices, cell: Indices
) -> list[Sides]:
    """Rectangles in bands of latitude, with limits halfway between the points of each.

    Args:
        counts: (rows,) points of each, from the north; as many rows are in the south.
        shift: of the first points from longitude 0, in steps between two.
        depths: (rows / 2 + 1,) 1 - |z| of the limits of the bands, from a pole to the equator.
        which: (n,) of the points.
        cell: (n,) numbers of their cells.
    """
    first = np.cumsum(counts) - counts
    row = np.searchsorted(first, which, side="right") - 1
    column, step = which - first[row] + shift - 0.5, 2 * np.pi / counts[row]
    half = len(depths) - 1
    depths = np.append(depths[:-1], 1.0)
    sides: list[Sides] = []
    for is_north in (True, False):
        here = np.flatnonzero((row < half) == is_north)
        from_pole = row[here] if is_north else 2 * half - 1 - row[here]
        nearer, farther = depths[from_pole], depths[from_pole + 1]
        north, south = (nearer, farther) if is_north else (farther, nearer)
        # The western meridian goes down, the eastern one up.
        meridians = np.concatenate([column[here] * step[here], (column[here] + 1) * step[here]])
        starts, ends = np.append(north, south), np.append(south, north)
        both = np.tile(cell[here], 2)
        sides.append(Sides(is_north, both, (meridians, starts), (meridians, ends)))
    return sides


def healpix_sides(nside: int, nested: Indices, cell: Indices) -> list[Sides]:
    """Sides of pixels.

    Args:
        nside: of the map.
        nested: (n,) indices of the pixels.
        cell: (n,) numbers of their cells.
    """
    face, x, y = faces(nside, nested)
    sides: list[Sides] = []
    for ends in pairwise(AROUND):
        i, j = (np.stack([own + end[n] for end in ends]) for n, own in enumerate((x, y)))
        ring = FIRST_RING[face] * nside - i - j
        for is_north in (True, False):
            from_pole = ring if is_north else 4 * nside - ring
            farther = from_pole.max(0)
            in_belt = (farther > nside) & (farther <= 2 * nside)
            for curve, chosen in ((PolarCap, farther <= nside), (Sides, in_belt)):
                kept = np.flatnonzero(chosen)
                column, across = FIRST_COLUMN[face[kept]], (i - j)[:, kept]
                longitude, depth = places(nside, column, across, from_pole[:, kept])
                # A pole is on the meridian of the other end.
                longitude = np.where(depth > 0, longitude, longitude[::-1])
                start, end = zip(longitude, depth, strict=True)
                sides.append(curve(is_north, cell[kept], start, end))
    return sides
