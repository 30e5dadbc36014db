"""The icosahedron, its triangles subdivided and projected to the sphere."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.limits import SUBDIVISIONS
from cheblienet_graphs.samplings.maps import Parents
from cheblienet_graphs.samplings.points import HALF_TURN_X, HALF_TURN_Z, REFLECTION_Y, Points
from cheblienet_graphs.samplings.sampling import Size
from cheblienet_graphs.typing import Floats, Indices

GOLDEN = (1 + np.sqrt(5)) / 2


@dataclass(frozen=True)
class Mesh:
    """Triangles on the sphere.

    Args:
        points: (P, 3) unit vectors; the first ones are those of the coarser mesh.
        faces: (F, 3) corners.
        parents: (new points, 2) ends of the coarser mesh's edges, in the order of the new points,
            their midpoints; empty on the icosahedron itself.
    """

    points: Floats
    faces: Indices
    parents: Indices


class Icosphere(Points):
    """10 * 4^n + 2 points; a size is the number of subdivisions n.

    The icosahedron stands so that its half turns are those about the coordinate axes; from one
    subdivision on the poles are among the points.
    """

    name = "icosahedral"
    field = "subdivisions"
    sizes_accepted = SUBDIVISIONS
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
        mesh = _icosahedron()
        for _ in range(self.size):
            mesh = subdivided(mesh)
        return mesh

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
        ends, count = self.mesh.parents, len(self.mesh.points)
        kept = np.arange(count - len(ends))
        points = np.concatenate([kept, np.repeat(np.arange(len(kept), count), 2)])
        coarser = np.concatenate([kept, ends.ravel()])
        return Parents(points, coarser, np.ones(len(points)), (count, len(kept)))

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """Half turns, a reflection, and a rotation of each other order of the icosahedron's."""
        yield "half_turn_x", HALF_TURN_X
        yield "half_turn_y", HALF_TURN_X @ HALF_TURN_Z
        yield "half_turn_z", HALF_TURN_Z
        yield "reflection", REFLECTION_Y
        yield "rotation_120", np.roll(np.eye(3), 1, axis=1)
        yield "rotation_72", _fifth_turn()


def mesh_edges(subdivisions: int, scales: int) -> tuple[Indices, Indices]:
    """Edges of the finest meshes together, both directions: rows ascending, columns in each row.

    Args:
        subdivisions: of the finest mesh, among whose points those of the others are.
        scales: how many meshes, in [1, subdivisions + 1].
    """
    mesh, ends = _icosahedron(), []
    for level in range(subdivisions + 1):
        if level:
            mesh = subdivided(mesh)
        if level > subdivisions - scales:
            ends.append(np.concatenate([mesh.faces[:, [n, (n + 1) % 3]] for n in range(3)]))
    rows, columns = np.concatenate(ends).T  # faces turn alike, so each direction comes once
    order = np.lexsort((columns, rows))
    return rows[order], columns[order]


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


def _fifth_turn() -> Floats:
    """The rotation by 72 degrees about a corner of the icosahedron (Rodrigues)."""
    axis = np.array([0.0, 1.0, GOLDEN]) / np.sqrt(1 + GOLDEN**2)
    cross = np.cross(np.eye(3), -axis)
    angle = 2 * np.pi / 5
    rotation: Floats = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return rotation
