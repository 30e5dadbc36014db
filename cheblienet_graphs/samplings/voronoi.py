"""Areas of Voronoi cells: of the part of a domain that is nearer to a point than to all others.

The circumcentres of two Delaunay triangles that share an edge bound, with either end of that edge,
a triangle of the end's cell, both of the same area. Points so close that Qhull takes them for one
share a cell equally.
"""

import itertools

import numpy as np

from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.typing import Floats, Indices

FLAT = 1e-9
"""Points of the sphere this close to a plane lie on a circle, as three always do."""
FIRST_MARGIN = 4.0
"""Width, in spacings, of the first strip of images that is tried around the plane's domain."""
ROUNDING = 1e-6
"""Largest relative difference between the sum of all cells and the domain."""
EDGE = 1e-12
"""Points of the plane this close to an edge of the domain, relatively, lie on it."""
ANOTHER_SEED = "Use another `seed`, or fewer `points`."
"""Remedy where points are random."""


def sphere_cells(points: Floats, remedy: str = ANOTHER_SEED) -> Floats:
    """Solid angles of the cells of points on the unit sphere.

    Args:
        points: (N, 3) unit vectors.
        remedy: for points that are too close.

    Returns:
        (N,), whose sum is 4 pi.

    Raises:
        CheblienetError: some are too close to be distinguished.
    """
    from scipy.spatial import ConvexHull, QhullError  # slow to import, most builds do without

    _, spread, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    if len(points) < 4 or spread[-1] < FLAT:
        return _lunes(points)
    try:
        hull = ConvexHull(points, qhull_options="Qt Qc")
    except QhullError as error:
        raise _indistinct(len(points), remedy) from error
    near, far, (one, other) = _pairs(hull.simplices, hull.neighbors)
    normals = hull.equations[:, :3]
    share = abs(_solid_angles(points[one], normals[near], normals[far]))
    cells = _cells((one, other), share, hull.coplanar, len(points))
    return _checked(cells, 4 * np.pi, remedy)


def _lunes(points: Floats) -> Floats:
    """Cells of points on one circle: between half circles that join the ends of its axis."""
    _, _, axes = np.linalg.svd(points - points.mean(axis=0))
    angle = np.arctan2(points @ axes[1], points @ axes[0])
    order = np.argsort(angle)
    after = np.diff(angle[order], append=angle[order[0]] + 2 * np.pi)
    cells = np.empty(len(points))
    cells[order] = after + np.roll(after, 1)
    return cells


def _solid_angles(a: Floats, b: Floats, c: Floats) -> Floats:
    """Solid angles of spherical triangles, negative where a, b, c go clockwise seen from outside.

    Source: van Oosterom and Strackee, 1983, eq. 8.
    """
    triple = (a * np.cross(b, c)).sum(axis=1)
    dots = sum((u * v).sum(axis=1) for u, v in ((a, b), (b, c), (c, a)))
    solid: Floats = 2 * np.arctan2(triple, 1 + dots)
    return solid


def plane_cells(
    points: Floats,
    extent: tuple[float, float],
    *,
    periodic: bool,
    remedy: str = ANOTHER_SEED,
) -> Floats:
    """Areas of the cells of points in [0, width] x [0, height], on a torus below these.

    Images limit the cells: on a torus these are the points moved by its sides, else reflections
    in the domain's edges, along which the cells of a point and its image meet.

    Args:
        points: (N, 2) x, y.
        extent: width and height.
        periodic: whether opposite sides are glued.
        remedy: for points that are too close.

    Returns:
        (N,), whose sum is width * height.

    Raises:
        CheblienetError: some points are too close to be distinguished.
    """
    sides = np.array(extent)
    low, high = abs(points) <= EDGE * sides, abs(points - sides) <= EDGE * sides
    on_edges = (low | high).sum(axis=1)
    if periodic or not on_edges.any():
        images, share = np.concatenate(_images(points, sides, periodic=periodic)), np.ones(1)
    else:
        points = np.where(low, 0.0, np.where(high, sides, points))
        images, share = _images_around(points, sides), 0.5**on_edges
    margin = FIRST_MARGIN * float(np.sqrt(sides.prod() / len(points)))
    while True:
        inside = ((images >= -margin) & (images <= sides + margin)).all(axis=1)
        cells, reach = _triangulated(np.concatenate([points, images[inside]]), len(points), sides)
        if reach <= margin or inside.all():
            return _checked(cells * share, float(sides.prod()), remedy)
        margin *= 2


def _images(points: Floats, sides: Floats, *, periodic: bool) -> list[Floats]:
    if periodic:
        steps = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]
        return [points + step * sides for step in np.array(steps)]
    flips = np.array([[-1, 1], [1, -1]])
    return [points * flip + far * (flip < 0) for flip in flips for far in (0 * sides, 2 * sides)]


def _images_around(points: Floats, sides: Floats) -> Floats:
    """Images in mirrors along all edges, two domains far, of points some of which lie there.

    These are no images of themselves, so half of their cells lies outside, or three quarters: all
    around an edge the images must be symmetric.
    """
    on_edges = (points == 0) | (points == sides)
    images = []
    for signs in itertools.product((1, -1), repeat=2):
        moved = ~(on_edges & (np.array(signs) < 0)).any(axis=1)
        images += [
            points[moved] * signs + 2 * sides * steps
            for steps in itertools.product((-1, 0, 1), repeat=2)
            if (signs, steps) != ((1, 1), (0, 0))
        ]
    return np.concatenate(images)


def _triangulated(points: Floats, first: int, sides: Floats) -> tuple[Floats, float]:
    """Cells of the first points, and the distance beyond the domain up to which images matter.

    A further image changes them only within the circumcircle of one of their triangles.
    """
    from scipy.spatial import Delaunay  # slow to import, most builds do without

    mesh = Delaunay(points)
    a, b, c = points[mesh.simplices].transpose(1, 0, 2)
    to_centre = _to_circumcentres(b - a, c - a)
    centres = a + to_centre
    near, far, (one, other) = _pairs(mesh.simplices, mesh.neighbors)
    side, height = (
        np.linalg.norm(x, axis=1)
        for x in (centres[near] - centres[far], (points[one] - points[other]) / 2)
    )
    cells = _cells((one, other), side * height / 2, mesh.coplanar, len(points))
    kept = (mesh.simplices < first).any(axis=1)
    radius = np.linalg.norm(to_centre, axis=1)[kept, None]
    beyond = np.maximum(radius - centres[kept], centres[kept] + radius - sides)
    return cells[:first], float(beyond.max())


def _to_circumcentres(u: Floats, v: Floats) -> Floats:
    """From corners of triangles, whose edges there are u and v; 0 where there is no triangle."""
    x = v[:, 1] * (u**2).sum(axis=1) - u[:, 1] * (v**2).sum(axis=1)
    y = u[:, 0] * (v**2).sum(axis=1) - v[:, 0] * (u**2).sum(axis=1)
    scaled = np.stack([x, y], axis=1)
    double = 2 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])[:, None]
    offsets: Floats = np.divide(scaled, double, out=np.zeros_like(scaled), where=double != 0)
    return offsets


def _pairs(triangles: Indices, neighbours: Indices) -> tuple[Indices, Indices, Indices]:
    """Both triangles of each edge, (edges,) and (edges,), and its ends, (2, edges).

    Args:
        triangles: (N, 3) their corners.
        neighbours: (N, 3) the triangle across each corner's opposite edge, -1 where there is none.
    """
    near, corner = np.nonzero(neighbours > np.arange(len(triangles))[:, None])
    ends = np.stack([triangles[near, (corner + step) % 3] for step in (1, 2)])
    return near, neighbours[near, corner], ends


def _cells(ends: tuple[Indices, Indices], share: Floats, coincident: Indices, count: int) -> Floats:
    """(count,) cell areas: sums over the edges of each point.

    Args:
        ends: of the edges.
        share: area that an edge adds at each end.
        coincident: (M, 3) points that Qhull took for another, in the first column; the other one
            in the last column.
        count: of the points.
    """
    cells = sum(np.bincount(end, share, count) for end in ends)
    owner = np.arange(count)
    owner[coincident[:, 0]] = coincident[:, 2]
    shared: Floats = (cells / np.bincount(owner, minlength=count).clip(1))[owner]
    return shared


def _checked(cells: Floats, domain: float, remedy: str) -> Floats:
    if not (cells > 0).all() or abs(cells.sum() / domain - 1) > ROUNDING:
        raise _indistinct(len(cells), remedy)
    return cells


def _indistinct(count: int, remedy: str) -> CheblienetError:
    return CheblienetError(
        f"The Voronoi cells of these {count:,} points can't be told apart in double precision, "
        f"since some points all but coincide. {remedy}"
    )
