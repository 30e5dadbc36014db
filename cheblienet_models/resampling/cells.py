"""Cells of a level's points, as their sides.

HEALPix has its own pixels, grids in rows have rectangles in latitude and longitude. All others have
Voronoi cells, whose corners are the normals of the facets of the points' convex hull.

Sides of HEALPix' pixels (Gorski et al. 2005, eqs. 19 to 22) are of constant x or y in a face.
Between the latitudes of |z| = 2/3 they are straight in longitude and z. Beyond, sqrt(3 (1 - |z|))
times the longitude, from one of the face's two meridians, is constant. Corners lie where one goes
over into the other, and on the equator.
"""

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from cheblienet_models.graphs.healpix import FIRST_COLUMN, FIRST_RING, faces, places
from cheblienet_models.resampling.grids import Floats, Indices
from cheblienet_models.resampling.samplings import Rows, Sampling, rows_of, unit_vectors
from cheblienet_models.resampling.sides import PolarCap, Sides, great_circles

CHUNK = 2**15
"""So many cells at a time."""
AROUND = ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))
"""x and y of a pixel's corners from the southern one, its inside on the left."""
FLAT = 1e-11
"""Points whose distances from one plane are this small, which rounding makes of many, lie in it."""


def cells_of(sampling: Sampling) -> Iterator[list[Sides]]:
    """Sides of the cells of the points inside, numbered in their order, for some at a time."""
    which, rows = sampling.places, rows_of(sampling.kind, sampling.shape)
    if sampling.kind is None:
        yield from _voronoi(unit_vectors(*sampling.angles), sampling.number)
        return
    for start in range(0, len(which), CHUNK):
        part = which[start : start + CHUNK]
        cell = np.arange(start, start + len(part))
        if rows is not None:
            yield _in_rows(rows, part, cell)
        else:
            yield _healpix(sampling.shape[0], part, cell)


def _voronoi(points: Floats, number: Indices) -> Iterator[list[Sides]]:
    """Sides of the cells of points (n, 3), distinct; `number` of each cell, -1 where unwanted."""
    is_flat = len(points) < 3 or _principal(points)[0][-1] <= FLAT
    arcs = _lunes(points) if is_flat else _around_facets(points)
    cell = number[arcs[0]]
    order = np.argsort(cell, kind="stable")
    limits = np.searchsorted(cell[order], np.arange(0, number.max() + 1 + CHUNK, CHUNK))
    for begin, end in pairwise(limits):
        chosen = order[begin:end]
        yield great_circles(cell[chosen], *(part[chosen] for part in arcs[1:]))


def _principal(points: Floats) -> tuple[Floats, Floats]:
    """Deviations of points (n, 3) from their mean, descending, and (3, 3) directions of these."""
    _, spread, axes = np.linalg.svd(np.linalg.qr(points - points.mean(0), mode="r"))
    return spread / math.sqrt(len(points)), axes


def _around_facets(points: Floats) -> tuple[Indices, Floats, Floats, Floats]:
    """(k,) point, (k, 3) starts and ends of its cell's sides, (k,) longitude within the cell.

    A side lies across an edge of the convex hull, between the centers of the two facets there.
    """
    from scipy.spatial import ConvexHull  # networks and graphs do without scipy

    hull = ConvexHull(points)
    centers, corners = hull.equations[:, :3], points[hull.simplices]
    turns = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    is_clockwise = (turns * centers).sum(1) < 0
    triangles, beyond = (
        np.where(is_clockwise[:, None], part[:, ::-1], part).astype(np.int64)
        for part in (hull.simplices, hull.neighbors)
    )
    # Beyond the edge opposite to a corner, which goes from the next corner to the one after.
    owner = np.roll(triangles, -1, axis=1).ravel()
    within = np.arctan2(points[:, 1], points[:, 0])
    return owner, centers[beyond.ravel()], np.repeat(centers, 3, axis=0), within[owner]


def _lunes(points: Floats) -> tuple[Indices, Floats, Floats, Floats]:
    """As `_around_facets`, of points that lie in one plane: cells are lunes about its normal.

    Each is cut in two where its point is, so that no side is longer than a quarter of a circle.
    """
    x, y, _ = _principal(points)[1]
    axis = np.cross(x, y)
    angles = np.arctan2(points @ y, points @ x)
    owner = np.argsort(angles)
    own = angles[owner]
    half = np.diff(own, append=own[0] + 2 * np.pi) / 2
    west, east = (
        np.concatenate(part) for part in ((own - np.roll(half, 1), own), (own, own + half))
    )
    first, middle, last = (
        np.cos(angle)[:, None] * x + np.sin(angle)[:, None] * y
        for angle in (west, (west + east) / 2, east)
    )
    top = np.broadcast_to(axis, first.shape)
    starts, ends = (
        np.concatenate([top, first, -top, last]),
        np.concatenate([first, -top, last, top]),
    )
    within = np.arctan2(middle[:, 1], middle[:, 0])
    return np.tile(owner, 8), starts, ends, np.tile(within, 4)


def _in_rows(rows: Rows, which: Indices, cell: Indices) -> list[Sides]:
    """Rectangles of a sampling in rows, with limits halfway between its points.

    Args:
        rows: of the sampling.
        which: (n,) of its points.
        cell: (n,) numbers of their cells.
    """
    first = np.cumsum(rows.counts) - rows.counts
    row = np.searchsorted(first, which, side="right") - 1
    column, step = which - first[row] + rows.shift - 0.5, 2 * np.pi / rows.counts[row]
    half = len(rows.depths) - 1
    depths = np.append(rows.depths[:-1], 1.0)
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


def _healpix(points: int, nested: Indices, cell: Indices) -> list[Sides]:
    """Sides of pixels.

    Args:
        points: 12 nside^2 of the map.
        nested: (n,) indices of the pixels.
        cell: (n,) numbers of their cells.
    """
    nside = math.isqrt(points // 12)
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
