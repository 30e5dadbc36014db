"""Voronoi diagrams, by the sides that cells share, and the areas of cells.

The circumcenters of two Delaunay triangles with a common edge are the ends of the side that the
cells of that edge's ends share. Points so close that Qhull takes them for one share a cell equally.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.typing import Floats, Indices

FLAT = 1e-9
"""Points of the sphere this close to a plane lie on a circle, as three always do."""
FIRST_MARGIN = 4.0
"""Width, in spacings, of the first strip of images that is tried around the plane's domain."""
EDGE = 1e-12
"""Points of the plane this close to an edge of the domain, relatively, lie on it."""
ROUNDING = 1e-6
"""Largest relative difference between the sum of all cells and the domain."""
ANOTHER_SEED = "Use another `seed`, or fewer `points`."
"""Remedy where points are random."""


@dataclass(frozen=True)
class Diagram:
    """The sides of Voronoi cells.

    Args:
        ends: (2, sides) numbers of the points with cells on either side, images among them.
        lengths: (sides,) arcs on the sphere; rounding may leave a length where there is none.
        distances: (sides,) between the two points.
        cells: (points,) areas of the cells: of points complete ones, wherever; of images parts.
        coincident: (M, 3) points that Qhull took for another, in the first column; the other one
            in the last column.
        sources: (points,) the original point of each point or image; points come first.
        inside: (points,) share of each point's cell that is within the domain.
        measure: area of the domain.
    """

    ends: tuple[Indices, Indices]
    lengths: Floats
    distances: Floats
    cells: Floats
    coincident: Indices
    sources: Indices
    inside: Floats
    measure: float


@dataclass(frozen=True)
class Arcs:
    """The sides of the cells of points of the sphere, arcs of great circles.

    Args:
        ends: (2, sides) numbers of the points with cells on either side.
        start, end: (sides, 3) where each begins and ends.
        direction: (sides, 3) unit vectors there, along it.
        lengths: (sides,) radians.
        distances: (sides,) between the two points, radians.
        coincident: as of `Diagram`.
    """

    ends: tuple[Indices, Indices]
    start: Floats
    end: Floats
    direction: Floats
    lengths: Floats
    distances: Floats
    coincident: Indices

    def at(self, angles: Floats) -> Floats:
        """(sides, n, 3) points at angles, (sides, n), from the start."""
        return (
            np.cos(angles)[..., None] * self.start[:, None]
            + np.sin(angles)[..., None] * self.direction[:, None]
        )


def most_sides(count: int, *, flat: bool) -> int:
    """Twice the number of pairs of cells with a common side, at most, by Euler's formula.

    On the sphere 3 N - 6 of N points, on a torus 3 N.
    """
    return min(6 * count - (0 if flat else 12), count * (count - 1))


def on_a_circle(points: Floats) -> bool:
    """True if points (N, 3) of the sphere lie on one circle, so that cells are lunes."""
    if len(points) < 4:
        return True
    _, spread, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return bool(spread[-1] < FLAT)


def voronoi_diagram(
    points: Floats, extent: tuple[float, ...] | None, *, periodic: bool, remedy: str
) -> Diagram:
    """The diagram of points of the unit sphere, not all on one circle, or of the plane.

    Args:
        points: (N, 3) unit vectors, or (N, 2) x, y in [0, width] x [0, height], on a torus below.
        extent: width and height; None for the sphere.
        periodic: whether opposite sides are glued.
        remedy: for points that are too close.

    Raises:
        CheblienetError: some of the sphere are too close to be distinguished.
    """
    if extent is None:
        return _sphere_diagram(points, remedy)
    return _plane_diagram(points, np.array(extent), periodic=periodic)


def _sphere_diagram(points: Floats, remedy: str) -> Diagram:
    (one, other), near, far, coincident = _sides(points, remedy)
    shares = abs(_solid_angles(points[one], near, far))
    return Diagram(
        (one, other),
        _arcs(near, far),
        _arcs(points[one], points[other]),
        _cells(len(points), (one, other), shares),
        coincident,
        np.arange(len(points)),
        np.ones(len(points)),
        4 * np.pi,
    )


def _sides(points: Floats, remedy: str) -> tuple[tuple[Indices, Indices], Floats, Floats, Indices]:
    """The sides of cells on the sphere: points, two ends (sides, 3), coincident points."""
    from scipy.spatial import ConvexHull, QhullError  # slow to import, most builds do without

    try:
        hull = ConvexHull(points, qhull_options="Qt Qc")
    except QhullError as error:
        raise indistinct(len(points), remedy) from error
    near, far, (one, other) = _pairs(hull.simplices, hull.neighbors)
    normals = hull.equations[:, :3]
    return (one, other), normals[near], normals[far], hull.coplanar


def arcs_of(points: Floats, remedy: str) -> Arcs:
    """The sides of the cells of points of the sphere, also of points on one circle.

    Args:
        points: (N, 3) unit vectors.
        remedy: for points that are too close.

    Raises:
        CheblienetError: some are too close to be distinguished.
    """
    if on_a_circle(points):
        ends, start, direction = _half_circles(points)
        far = -start
        lengths = np.full(len(start), np.pi)
        coincident = np.empty((0, 3), np.int64)
    else:
        ends, start, far, coincident = _sides(points, remedy)
        across = far - start * (start * far).sum(axis=1, keepdims=True)
        long = np.linalg.norm(across, axis=1, keepdims=True)
        direction = np.divide(across, long, out=np.zeros_like(across), where=long > 0)
        lengths = _arcs(start, far)
    one, other = ends
    return Arcs(ends, start, far, direction, lengths, _arcs(points[one], points[other]), coincident)


def _cells(count: int, ends: tuple[Indices, Indices], shares: Floats) -> Floats:
    """(count,) areas, by the triangles that sides make with either point, (sides,)."""
    return np.add(*(np.bincount(end, shares, count) for end in ends), dtype=np.float64)


def _plane_diagram(points: Floats, sides: Floats, *, periodic: bool) -> Diagram:
    """The diagram with images.

    Images limit the cells: on a torus these are the points moved by its sides, else reflections
    in the domain's edges, along which the cells of a point and its image meet. Only the cells of
    points themselves are complete.
    """
    points, images, sources, inside = _with_images(points, sides, periodic=periodic)
    margin = FIRST_MARGIN * float(np.sqrt(sides.prod() / len(points)))
    while True:
        near = ((images >= -margin) & (images <= sides + margin)).all(axis=1)
        every = np.concatenate([np.arange(len(points)), sources[near]])
        diagram, reach = _triangulated(np.concatenate([points, images[near]]), every, inside, sides)
        if reach <= margin or near.all():
            return diagram
        margin *= 2


def _with_images(
    points: Floats, sides: Floats, *, periodic: bool
) -> tuple[Floats, Floats, Indices, Floats]:
    """The points, with near ones put on an edge; images, their sources, shares of cells inside."""
    low = abs(points) <= EDGE * sides
    high = abs(points - sides) <= EDGE * sides
    on_edges = (low | high).sum(axis=1)
    if periodic or not on_edges.any():
        images = _images(points, sides, periodic=periodic)
        sources = np.tile(np.arange(len(points)), len(images))
        return points, np.concatenate(images), sources, np.ones(len(points))
    points = np.where(low, 0.0, np.where(high, sides, points))
    return points, *_images_around(points, sides), 0.5**on_edges


def _images(points: Floats, sides: Floats, *, periodic: bool) -> list[Floats]:
    if periodic:
        steps = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]
        return [points + step * sides for step in np.array(steps)]
    flips = np.array([[-1, 1], [1, -1]])
    return [points * flip + far * (flip < 0) for flip in flips for far in (0 * sides, 2 * sides)]


def _images_around(points: Floats, sides: Floats) -> tuple[Floats, Indices]:
    """Images in mirrors along all edges, two domains far, of points some of which lie there.

    These are no images of themselves, so half of their cells lies outside, or three quarters: all
    around an edge the images must be symmetric.
    """
    on_edges = (points == 0) | (points == sides)
    images, sources = [], []
    for signs in itertools.product((1, -1), repeat=2):
        moved = np.flatnonzero(~(on_edges & (np.array(signs) < 0)).any(axis=1))
        for steps in itertools.product((-1, 0, 1), repeat=2):
            if (signs, steps) != ((1, 1), (0, 0)):
                images.append(points[moved] * signs + 2 * sides * steps)
                sources.append(moved)
    return np.concatenate(images), np.concatenate(sources)


def _triangulated(
    points: Floats, sources: Indices, inside: Floats, sides: Floats
) -> tuple[Diagram, float]:
    """The diagram, and the distance beyond the domain up to which images matter.

    A further image changes cells of points only within the circumcircle of one of their triangles.
    """
    from scipy.spatial import Delaunay  # slow to import, most builds do without

    mesh = Delaunay(points)
    a, b, c = points[mesh.simplices].transpose(1, 0, 2)
    to_center = _to_circumcenters(b - a, c - a)
    centers = a + to_center
    near, far, (one, other) = _pairs(mesh.simplices, mesh.neighbors)
    side, height = (
        np.linalg.norm(x, axis=1)
        for x in (centers[near] - centers[far], (points[one] - points[other]) / 2)
    )
    cells = _cells(len(sources), (one, other), side * height / 2)
    parts = side, 2 * height, cells, mesh.coplanar, sources, inside
    diagram = Diagram((one, other), *parts, float(sides.prod()))
    if (mesh.convex_hull < len(inside)).any():  # a cell without end
        return diagram, np.inf
    kept = (mesh.simplices < len(inside)).any(axis=1)
    radius = np.linalg.norm(to_center, axis=1)[kept, None]
    beyond = np.maximum(radius - centers[kept], centers[kept] + radius - sides)
    return diagram, float(beyond.max())


def _to_circumcenters(u: Floats, v: Floats) -> Floats:
    """Vectors from corners of triangles with edges u and v there; 0 where there is no triangle."""
    x = v[:, 1] * (u**2).sum(axis=1) - u[:, 1] * (v**2).sum(axis=1)
    y = u[:, 0] * (v**2).sum(axis=1) - v[:, 0] * (u**2).sum(axis=1)
    scaled = np.stack([x, y], axis=1)
    double = 2 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])[:, None]
    offsets: Floats = np.divide(scaled, double, out=np.zeros_like(scaled), where=double != 0)
    return offsets


def _pairs(triangles: Indices, neighbors: Indices) -> tuple[Indices, Indices, Indices]:
    """Both triangles of each edge, (edges,) and (edges,), and its ends, (2, edges).

    Args:
        triangles: (N, 3) their corners.
        neighbors: (N, 3) the triangle across each corner's opposite edge, -1 where there is none.
    """
    near, corner = np.nonzero(neighbors > np.arange(len(triangles))[:, None])
    # Qhull's numbers have 32 bits, in which a product of two may overflow.
    ends = np.stack([triangles[near, (corner + step) % 3] for step in (1, 2)]).astype(np.int64)
    return near, neighbors[near, corner], ends


def _solid_angles(a: Floats, b: Floats, c: Floats) -> Floats:
    """Solid angles of spherical triangles, negative where a, b, c go clockwise seen from outside.

    Source: van Oosterom and Strackee, 1983, eq. 8.
    """
    triple = (a * np.cross(b, c)).sum(axis=1)
    dots = sum((u * v).sum(axis=1) for u, v in ((a, b), (b, c), (c, a)))
    solid: Floats = 2 * np.arctan2(triple, 1 + dots)
    return solid


def _arcs(a: Floats, b: Floats) -> Floats:
    """(N,) angles between unit vectors, as accurate for small ones."""
    difference, total = (np.linalg.norm(x, axis=1) for x in (a - b, a + b))
    arcs: Floats = 2 * np.arctan2(difference, total)
    return arcs


def indistinct(count: int, remedy: str) -> CheblienetError:
    """The error where some of so many points are too close."""
    return CheblienetError(
        (
            f"The Voronoi cells of these {count:,} points can't be told apart in double "
            f"precision, since some points all but coincide. {remedy}"
        ),
    )


def cell_areas(
    points: Floats,
    extent: tuple[float, ...] | None = None,
    *,
    periodic: bool = False,
    remedy: str = ANOTHER_SEED,
) -> Floats:
    """Areas of the cells of points; points that coincide share one.

    Args:
        points: (N, 3) unit vectors, or (N, 2) x, y in [0, width] x [0, height], on a torus below.
        extent: width and height; None for the sphere.
        periodic: whether opposite sides are glued.
        remedy: for points that are too close.

    Returns:
        (N,) areas that add up to width * height, or 4 pi.

    Raises:
        CheblienetError: some are too close to be distinguished.
    """
    if extent is None and on_a_circle(points):
        return _lunes(points)
    diagram = voronoi_diagram(points, extent, periodic=periodic, remedy=remedy)
    owner = np.arange(len(diagram.sources))
    owner[diagram.coincident[:, 0]] = diagram.coincident[:, 2]
    shared = (diagram.cells / np.bincount(owner, minlength=len(owner)).clip(1))[owner]
    cells: Floats = shared[: len(points)] * diagram.inside
    if not (cells > 0).all() or abs(cells.sum() / diagram.measure - 1) > ROUNDING:
        raise indistinct(len(cells), remedy)
    return cells


def _lunes(points: Floats) -> Floats:
    """Cells of points on one circle: between half circles that join the ends of its axis."""
    order, after, _ = around(points)
    cells = np.empty(len(points))
    cells[order] = after + np.roll(after, 1)
    return cells


def _half_circles(points: Floats) -> tuple[tuple[Indices, Indices], Floats, Floats]:
    """Sides of such cells: the points on both, where each begins, and its direction there."""
    if len(points) == 1:
        none = np.empty(0, np.int64)
        return (none, none), np.empty((0, 3)), np.empty((0, 3))
    order, after, (across, along, axis) = around(points)
    angle = np.arctan2(points[order] @ along, points[order] @ across) + after / 2
    direction = np.cos(angle)[:, None] * across + np.sin(angle)[:, None] * along
    return (order, np.roll(order, -1)), np.tile(axis, (len(order), 1)), direction


def around(points: Floats) -> tuple[Indices, Floats, Floats]:
    """The order of points on one circle, the angle after each, axes: the last is the circle's."""
    few = len(points) < 3  # else the other vectors would take a matrix of points by points
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=few)
    angle = np.arctan2(points @ axes[1], points @ axes[0])
    order = np.argsort(angle)
    return order, np.diff(angle[order], append=angle[order[0]] + 2 * np.pi), axes
