"""Voronoi cells of any points on the sphere, as polygons of arcs of great circles.

A cell is what planes halfway to other points leave of a square about its point: first to those that
are near, then for each corner to whichever point is nearest to it, until every
corner's nearest is the cell's own. Cells that reach the square's edge, beside a void, are cut from
the eight octants about their point instead.
"""

from collections.abc import Iterator

import numpy as np

from cheblienet_models.resampling.cells.polygons import Polygons
from cheblienet_models.resampling.cells.sides import Flags, Floats, Indices, Sides
from cheblienet_models.resampling.nearest import Search

CHUNK = 4096
"""So many cells at a time."""
NEAR = 25
"""So many points, the own one among them, are taken as near."""
WIDE = 3.0
"""Half of the squares' width, as the tangent of an angle."""


def voronoi_sides(points: Floats, which: Indices) -> Iterator[list[Sides]]:
    """Sides of the cells of some points, numbered as in `which`, for some cells at a time.

    Args:
        points: (n, 3) distinct, of length 1.
        which: (m,) those whose cells are wanted.
    """
    search = Search(points)
    for start in range(0, len(which), CHUNK):
        chosen = which[start : start + CHUNK]
        number = np.arange(start, start + len(chosen))
        axes = _axes(points[chosen])
        cells = Polygons(search, chosen, number, _squares(axes))
        cells.cut_by(search.near(points[chosen], NEAR))
        cells.cut_to_cells()
        is_wide = _reach_edge(cells, axes)
        wide = np.flatnonzero(is_wide)
        cells.count[wide] = 0
        sides = cells.sides()
        if len(wide):
            octants = _octants(axes[wide])
            parts = Polygons(
                search, np.repeat(chosen[wide], 8), np.repeat(number[wide], 8), octants
            )
            parts.cut_by(np.repeat(search.near(points[chosen[wide]], NEAR), 8, axis=0))
            parts.cut_to_cells()
            sides += parts.sides()
        yield sides


def _axes(centres: Floats) -> Floats:
    """(n, 3, 3) right-handed triples of unit vectors, the last ones the centres (n, 3)."""
    first = np.cross(centres, np.eye(3)[np.abs(centres).argmin(1)])
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, np.cross(centres, first), centres], axis=1)


def _squares(axes: Floats) -> Floats:
    """(n, 4, 3) corners of squares about centres, counterclockwise."""
    corners = np.array([(WIDE, WIDE, 1), (-WIDE, WIDE, 1), (-WIDE, -WIDE, 1), (WIDE, -WIDE, 1)])
    squares: Floats = corners @ axes / np.linalg.norm(corners[0])
    return squares


def _reach_edge(cells: Polygons, axes: Floats) -> Flags:
    """(n,) whether something of the square's edge is left."""
    place = np.abs(cells.corners @ axes.transpose(0, 2, 1))
    at_edge = np.maximum(place[..., 0], place[..., 1]) > WIDE * (1 - 1e-6) * place[..., 2]
    is_wide: Flags = np.any(at_edge & cells.is_corner, axis=1)
    return is_wide


def _octants(axes: Floats) -> Floats:
    """(8 n, 3, 3) corners of triangles that make up the sphere, counterclockwise."""
    signs = np.array([(x, y, z) for x in (1, -1) for y in (1, -1) for z in (1, -1)])
    triangles = signs[:, :, None] * axes[:, None]
    mirrored = signs.prod(1) < 0
    triangles[:, mirrored] = triangles[:, mirrored, ::-1]
    return triangles.reshape(-1, 3, 3)
