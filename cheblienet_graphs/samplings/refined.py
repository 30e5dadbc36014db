"""Icospheres with more subdivisions in a region of longitudes and latitudes."""

import math
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import Found, SpecError
from cheblienet_graphs.inputs.masks import REGION, Four, inside_region, region
from cheblienet_graphs.limits import REFINED_POINTS, REFINED_SUBDIVISIONS, SUBDIVISIONS
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.icosphere import Icosphere, Mesh, subdivided
from cheblienet_graphs.samplings.maps import TIE, Parents
from cheblienet_graphs.samplings.points import Scattered
from cheblienet_graphs.samplings.sampling import Size
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.values import numbers

MOST_TIES = 6
"""Coarser points at most that may be the nearest of a point."""
ROUNDED = 1e-6
"""Degrees by which surroundings are wider than they have to be."""


class RefinedIcosphere(Scattered):
    """Points of an icosphere, and inside a region those of one with more subdivisions.

    A size is (G, L, W, S, E, N): subdivisions outside and inside, and the region in degrees. They
    come in the order of the icosphere with L subdivisions, of which they are. Those of a coarser
    level, (G - 1, L - 1), are among them. Each stands for its Voronoi cell.
    """

    name = "refined-icosahedral"
    field = "refined"
    schemas = "1.6", "1.6"  # earlier ones did not know them
    remedy: ClassVar[str] = "Give fewer subdivisions inside."

    @classmethod
    def parse(cls, size: object, _base: Base) -> Size:
        """Take "G,L,W,S,E,N", or six numbers."""
        accepted = (
            f"G,L,W,S,E,N: subdivisions G outside, in {SUBDIVISIONS}, and L inside, in "
            f"[G + 1, {REFINED_SUBDIVISIONS}], of a region {REGION}"
        )
        given = numbers(size)
        if len(given) != 6 or not all(number.is_integer() for number in given[:2]):
            raise SpecError("refined", accepted, size)
        outside, inside = map(int, given[:2])
        low, high = SUBDIVISIONS
        if not low <= outside <= high or not outside < inside <= REFINED_SUBDIVISIONS:
            raise SpecError("refined", accepted, size)
        try:
            sides = region(given[2:])
        except SpecError as error:
            raise SpecError("refined", accepted, size) from error
        if (count := 10 * 4**inside * share_of_sphere(sides)) > REFINED_POINTS:
            most = f"such that at most {REFINED_POINTS:,} points are inside"
            raise SpecError("refined", most, Found(f"about {count:,.0f}"))
        return outside, inside, *sides

    @classmethod
    def points(cls, size: Size) -> int:
        """Points outside and inside."""
        return len(refined_points(size))

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
        if coarse is None:
            raise ValueError("this sampling has no coarser level")
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


def share_of_sphere(region: Four) -> float:
    """The area of a region (W, S, E, N), degrees, over that of the sphere."""
    west, south, east, north = region
    width = 360.0 if east - west >= 360 else (east - west) % 360
    return width / 720 * (math.sin(math.radians(north)) - math.sin(math.radians(south)))


def _near(mesh: Mesh, region: Four) -> npt.NDArray[np.bool_]:
    """(F,) whether some corner of a triangle is within its longest side of a region.

    So are all triangles of which some point is inside.
    """
    corners = mesh.points[mesh.faces]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max()
    around = surroundings(region, math.degrees(2 * math.asin(longest / 2)))
    near = inside_region(*_degrees(mesh.points), around)
    return np.asarray(near[mesh.faces].any(axis=1))


def surroundings(region: Four, distance: float) -> Four:
    """The least region (W, S, E, N) that holds all points within a distance of one, degrees."""
    west, south, east, north = region
    distance += ROUNDED
    south, north = max(south - distance, -90.0), min(north + distance, 90.0)
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
