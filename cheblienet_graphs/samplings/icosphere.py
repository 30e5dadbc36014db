"""The icosahedron, its triangles subdivided and projected to the sphere.

There may be more subdivisions in a region of longitudes and latitudes.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from cheblienet_graphs import limits
from cheblienet_graphs.errors import SpecError, Unquoted
from cheblienet_graphs.inputs.masks import REGION, Four, inside_region, region
from cheblienet_graphs.limits import integer, numbers
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.maps import TIE, Parents
from cheblienet_graphs.samplings.points import (
    GOLDEN,
    ISOMETRIES,
    Points,
    Scattered,
)
from cheblienet_graphs.samplings.sampling import Size
from cheblienet_graphs.typing import Floats, Indices

MOST_TIES = 6
"""Coarser points at most that may be the nearest of a point."""
ROUNDED = 1e-6
"""Degrees by which surroundings are wider than they have to be."""


@dataclass(frozen=True)
class Mesh:
    """Triangles on the sphere.

    Args:
        points: (P, 3) unit vectors; the coarser mesh's come first.
        faces: (F, 3) corners.
        parents: (new points, 2) ends of the coarser mesh's edges, in the order of the new points,
            their midpoints; empty on the icosahedron itself.
    """

    points: Floats
    faces: Indices
    parents: Indices


class Icosphere(Points):
    """10 * 4^n + 2 points; a size is the number of subdivisions n.

    The icosahedron stands so that its half turns are about the coordinate axes; from one
    subdivision on the poles are among the points.
    """

    name = "icosahedral"
    default_weights = "voronoi"  # networks lose nothing by them
    field = "subdivisions"
    sizes_accepted = limits.SUBDIVISIONS
    words = "icosahedron, {} subdivisions"

    @classmethod
    def points(cls, size: Size) -> int:
        """10 * 4^n + 2."""
        count: int = 10 * 4 ** int(size) + 2
        return count

    @classmethod
    def coarser(cls, size: Size) -> Size | None:
        """One subdivision less."""
        return size - 1 if size else None

    @classmethod
    def links(cls, fine: Size, coarse: Size) -> int:
        """Midpoints have two parents, others one."""
        return 2 * cls.points(fine) - cls.points(coarse)

    @cached_property
    def mesh(self) -> Mesh:
        """The points with their triangles."""
        return next(itertools.islice(_meshes(), self.size, None))

    @cached_property
    def base_points(self) -> Floats:
        """(points, 3) unit vectors."""
        return self.mesh.points

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas of the Voronoi cells, in units of their mean.

        All triangles are acute, so a triangle's circumcenter lies within it and joins the cells of
        its corners: each edge and the circumcenter bound one right triangle of either end's cell.
        """
        corners = self.mesh.points[self.mesh.faces]
        first, second, third = corners.transpose(1, 0, 2)
        center = _normalized(np.cross(second - first, third - first))
        areas: Floats = np.zeros(len(self.mesh.points))
        for start, end in ((0, 1), (1, 2), (2, 0)):
            middle = _normalized(corners[:, start] + corners[:, end])
            share = _triangle_areas(corners[:, start], middle, center)
            for corner in (start, end):
                areas += np.bincount(self.mesh.faces[:, corner], share, len(areas))
        areas /= areas.mean()
        return areas

    @property
    def parents(self) -> Parents:
        """Each point of the coarser mesh belongs to itself, a midpoint to both ends of its edge.

        So means by area do not keep integrals exactly.
        """
        ends = self.mesh.parents
        count = len(self.mesh.points)
        kept = np.arange(count - len(ends))
        points = np.concatenate([kept, np.repeat(np.arange(len(kept), count), 2)])
        coarser = np.concatenate([kept, ends.ravel()])
        return Parents(points, coarser, np.ones(len(points)), (count, len(kept)))

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """Half turns, a reflection, and a rotation of each other order of the icosahedron's."""
        return ((name, matrix) for name, matrix in ISOMETRIES.items() if name != "quarter_turn_z")


def mesh_edges(subdivisions: int, scales: int) -> tuple[Indices, Indices]:
    """Edges of the finest meshes together, both directions: rows ascending, columns in each row.

    Args:
        subdivisions: of the finest mesh; its points include the points of the others.
        scales: how many meshes, in [1, subdivisions + 1].
    """
    meshes = itertools.islice(_meshes(), subdivisions + 1 - scales, subdivisions + 1)
    ends = [mesh.faces[:, [n, (n + 1) % 3]] for mesh in meshes for n in range(3)]
    rows, columns = np.concatenate(ends).T  # faces turn alike, so each direction comes once
    order = np.lexsort((columns, rows))
    return rows[order], columns[order]


def _meshes() -> Iterator[Mesh]:
    """The icosahedron, then with one subdivision more each, without end."""
    mesh = _icosahedron()
    while True:
        yield mesh
        mesh = subdivided(mesh)


def _icosahedron() -> Mesh:
    corners = [
        np.roll([0.0, y, z * GOLDEN], shift) for shift in range(3) for y in (1, -1) for z in (1, -1)
    ]
    points = _normalized(np.array(corners))
    edge = np.linalg.norm(points - points[:, None], axis=2) < 1.1
    corners_of = itertools.combinations(range(12), 3)
    faces = [(a, b, c) for a, b, c in corners_of if edge[a, b] and edge[b, c] and edge[a, c]]
    oriented = np.array(faces)
    inward = np.linalg.det(points[oriented]) < 0
    oriented[inward] = oriented[inward][:, ::-1]
    return Mesh(points, oriented, np.empty((0, 2), np.int64))


def subdivided(mesh: Mesh) -> Mesh:
    """Each triangle cut into four at the midpoints of its edges."""
    count = len(mesh.points)
    ends = np.stack([mesh.faces, np.roll(mesh.faces, -1, axis=1)], axis=2)
    low, high = ends.min(axis=2), ends.max(axis=2)
    edges, position = np.unique(low * count + high, return_inverse=True)
    parents = np.stack([edges // count, edges % count], axis=1)
    midpoints = _normalized(mesh.points[parents[:, 0]] + mesh.points[parents[:, 1]])
    ab, bc, ca = (position.reshape(mesh.faces.shape) + count).T
    a, b, c = mesh.faces.T
    faces = np.concatenate(
        [np.stack(t, axis=1) for t in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))]
    )
    return Mesh(np.concatenate([mesh.points, midpoints]), faces, parents)


def _normalized(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _triangle_areas(a: Floats, b: Floats, c: Floats) -> Floats:
    """Solid angles of spherical triangles (van Oosterom and Strackee, 1983, eq. 8)."""
    triple = abs(np.einsum("ij,ij->i", a, np.cross(b, c)))
    dots = sum(np.einsum("ij,ij->i", u, v) for u, v in ((a, b), (b, c), (c, a)))
    solid: Floats = 2 * np.arctan2(triple, 1 + dots)
    return solid


class RefinedIcosphere(Scattered):
    """Points of an icosphere, and inside a region points of one with more subdivisions.

    A size is (G, L, W, S, E, N): subdivisions outside and inside, and the region in degrees. They
    come in the order of the icosphere with L subdivisions, of which they are. The points of a
    coarser level, (G - 1, L - 1), are among them. Each stands for its Voronoi cell.
    """

    name = "refined-icosahedral"
    default_weights = "voronoi"  # networks lose nothing by them
    field = "refined"
    schemas = "1.6", "1.6"  # earlier ones did not know them
    remedy: ClassVar[str] = "Give fewer subdivisions inside."

    @classmethod
    def parse(cls, size: object, _base: Base) -> Size:
        """Take "G,L,W,S,E,N", or six numbers."""
        accepted = (
            f"G,L,W,S,E,N: subdivisions G outside, in {limits.SUBDIVISIONS}, and L inside, in "
            f"[G + 1, {limits.REFINED_SUBDIVISIONS}], of a region {REGION}"
        )
        given = numbers(size)
        try:
            outside = integer("refined", given[0], *limits.SUBDIVISIONS)
            inside = integer("refined", given[1], outside + 1, limits.REFINED_SUBDIVISIONS)
            sides = region(given[2:])
        except (IndexError, SpecError) as error:
            raise SpecError("refined", accepted, size) from error
        if (count := 10 * 4**inside * share_of_sphere(sides)) > limits.REFINED_POINTS:
            most = f"such that at most {limits.REFINED_POINTS:,} points are inside"
            raise SpecError("refined", most, Unquoted(f"about {count:,.0f}"))
        return outside, inside, *sides

    @classmethod
    def points(cls, size: Size) -> int:
        """Points outside and inside."""
        return refined_count(size)

    @classmethod
    def coarser(cls, size: Size) -> Size | None:
        """One subdivision less, inside and outside."""
        outside, inside, *sides = size
        return (outside - 1, inside - 1, *sides) if outside else None

    @classmethod
    def links(cls, fine: Size, _coarse: Size) -> int:
        """At most so many for each point."""
        return MOST_TIES * cls.points(fine)

    @classmethod
    def name_parts(cls, size: Size) -> tuple[object, ...]:
        """Subdivisions, and the sides of the region."""
        return tuple(f"{part:g}" for part in size)

    @classmethod
    def described(cls, size: Size) -> str:
        """'icosahedron, 3 subdivisions, 5 in the region -10,35,30,60'."""
        sides = ",".join(f"{side:g}" for side in size[2:])
        return f"icosahedron, {size[0]} subdivisions, {size[1]} in the region {sides}"

    @cached_property
    def base_points(self) -> Floats:
        """(points, 3) unit vectors."""
        return refined_points(self.size)

    @cached_property
    def parents(self) -> Parents:
        """The coarser points that are nearest to each: between two, it belongs to both.

        Raises:
            ValueError: there is no coarser level.
        """
        from scipy.spatial import KDTree  # slow to import, most builds do without

        coarse = self.coarser_points
        distances, near = KDTree(coarse).query(self.base_points, k=MOST_TIES)
        tied = distances <= distances[:, :1] * (1 + TIE) + TIE
        point, place = np.nonzero(tied)
        parent = near[point, place]
        order = np.lexsort((parent, point))
        shape = self.num_points, len(coarse)
        return Parents(point[order], parent[order], np.ones(len(point)), shape)


@lru_cache(maxsize=8)
def refined_points(size: tuple[float, ...]) -> Floats:
    """(points, 3) unit vectors, read-only.

    Only triangles near the region are cut, so that the rest of the finest icosphere is not made.

    Args:
        size: (G, L, W, S, E, N), as `RefinedIcosphere.parse` returns it.
    """
    outside, inside, west, south, east, north = size
    sides = west, south, east, north
    mesh = Icosphere(size=int(outside)).mesh
    kept = np.ones(len(mesh.points), np.bool_)
    for _ in range(int(inside - outside)):
        mesh = subdivided(replace(mesh, faces=mesh.faces[_near(mesh, sides)]))
        new = mesh.points[len(kept) :]
        kept = np.append(kept, inside_region(*_degrees(new), sides))
    points: Floats = mesh.points[kept]
    points.setflags(write=False)
    return points


@lru_cache(maxsize=64)
def refined_count(size: tuple[float, ...]) -> int:
    """Number of `refined_points`; only the points along the sides of the region are made.

    Each point is the middle of an edge, which two triangles share. Of a triangle that no side of
    the region crosses, all of them are inside, or none.

    Args:
        size: (G, L, W, S, E, N), as `RefinedIcosphere.parse` returns it.
    """
    outside, inside, west, south, east, north = size
    sides, mesh, shared = (west, south, east, north), _icosahedron(), 0
    corners = mesh.points[mesh.faces]
    for level in range(int(inside)):
        crossed = _crossed(corners, sides)
        whole = inside_region(*_degrees(corners[~crossed, 0]), sides).sum()
        shared += int(whole) * (4 ** int(inside - level) - 4 ** int(max(level, outside) - level))
        corners = corners[crossed]
        sums = corners + np.roll(corners, -1, axis=1)
        middles = _normalized(sums.reshape(-1, 3))
        if level >= outside:
            shared += int(inside_region(*_degrees(middles), sides).sum())
        corners = np.concatenate([*_quarters(corners, middles.reshape(corners.shape))])
    return Icosphere.points(outside) + shared // 2


def _quarters(corners: Floats, middles: Floats) -> Iterator[Floats]:
    """The four parts of triangles, each (F, 3, 3), middles[:, n] between corners n and n + 1."""
    yield middles
    for n in range(3):
        yield np.stack([corners[:, n], middles[:, n], middles[:, n - 1]], axis=1)


def _crossed(corners: Floats, region: Four) -> npt.NDArray[np.bool_]:
    """(F,) False where no side of a region crosses a triangle, (F, 3, 3) all of about one size."""
    west, south, east, north = region
    within = math.radians(ROUNDED) + _longest_side(corners)
    latitudes, longitudes = _degrees(corners[:, 0])
    near = np.zeros(len(corners), np.bool_)
    for side in (south, north):
        near |= abs(latitudes - side) <= math.degrees(within)
    for side in (west, east) if east - west < 360 else ():
        across = -math.sin(math.radians(side)), math.cos(math.radians(side))
        near |= abs(corners[:, 0, :2] @ across) <= math.sin(within)
    around = inside_region(latitudes, longitudes, surroundings(region, math.degrees(within)))
    return np.asarray(near & around)


def _longest_side(corners: Floats) -> float:
    """The longest side of triangles (F, 3, 3), radians of arc."""
    chords = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    return 2 * math.asin(float(chords.max(initial=0)) / 2)


def share_of_sphere(region: Four) -> float:
    """The area of a region (W, S, E, N), degrees, over that of the sphere."""
    west, south, east, north = region
    width = 360.0 if east - west >= 360 else (east - west) % 360
    return width / 720 * (math.sin(math.radians(north)) - math.sin(math.radians(south)))


def _near(mesh: Mesh, region: Four) -> npt.NDArray[np.bool_]:
    """(F,) whether some corner of a triangle is within its longest side of a region.

    So are all triangles of which some point is inside.
    """
    longest = _longest_side(mesh.points[mesh.faces])
    around = surroundings(region, math.degrees(longest))
    near = inside_region(*_degrees(mesh.points), around)
    return np.asarray(near[mesh.faces].any(axis=1))


def surroundings(region: Four, distance: float) -> Four:
    """The least region (W, S, E, N) that holds all points within a distance of one, degrees."""
    west, south, east, north = region
    distance += ROUNDED
    south = max(south - distance, -90.0)
    north = min(north + distance, 90.0)
    across = math.cos(math.radians(max(-south, north)))
    if across <= math.sin(math.radians(distance)):  # a pole is as near
        return -180.0, south, 180.0, north
    aside = math.degrees(math.asin(math.sin(math.radians(distance)) / across)) + ROUNDED
    if (width := 360.0 if east - west >= 360 else (east - west) % 360) + 2 * aside >= 360:
        return -180.0, south, 180.0, north
    return west - aside, south, west + width + aside, north


def _degrees(points: Floats) -> tuple[Floats, Floats]:
    """(N,) latitudes and longitudes of unit vectors, (N, 3)."""
    x, y, z = np.ascontiguousarray(points.T)
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))
