"""Points of the sphere or the plane with computed Cartesian coordinates: grids, or scattered.

On the sphere isometries that map the points to themselves are symmetries. Scattered points stand
for their Voronoi cells; their levels are joined by nearest points. Random ones are uniform; a
coarser level has the first of the finest level's points, which are as uniform.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cheblienet_graphs.csr import Csr
from cheblienet_graphs.limits import POINTS
from cheblienet_graphs.manifolds.base import NO_FIBER, Base, Fiber
from cheblienet_graphs.samplings.cells import voronoi_sides
from cheblienet_graphs.samplings.maps import Parents, nearest, numbers_of
from cheblienet_graphs.samplings.sampling import SamplingKind, Size
from cheblienet_graphs.samplings.sides import Sides
from cheblienet_graphs.samplings.voronoi import ANOTHER_SEED, cell_areas
from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    from cheblienet_graphs.spec import GraphSpec

POLE = 1e-12
"""Within this distance of the axis a point counts as a pole, where gamma is 0 by convention."""

ON_THE_GRID = 1e-6
"""Largest distance at which a rotated point or orientation counts as falling on a sample."""

GOLDEN = (1 + np.sqrt(5)) / 2


def rotation(axis: Sequence[float] | Floats, angle: float) -> Floats:
    """(3, 3) the rotation about an axis of any length by an angle, radians, right-handed."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn: Floats = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return turn


ISOMETRIES = {
    "half_turn_x": np.diag([1.0, -1.0, -1.0]),
    "half_turn_y": np.diag([-1.0, 1.0, -1.0]),
    "half_turn_z": np.diag([-1.0, -1.0, 1.0]),
    "reflection": np.diag([1.0, -1.0, 1.0]),
    "quarter_turn_z": rotation((0, 0, 1), np.pi / 2),
    "rotation_120": np.roll(np.eye(3), 1, axis=1),
    "rotation_72": rotation((0, 1, GOLDEN), -2 * np.pi / 5),  # about a corner of the icosahedron
}
"""Orthogonal matrices that may map points of the sphere to themselves, by name."""


def isometries_about_z(name: str, angle: float) -> Iterator[tuple[str, Floats]]:
    """A rotation about the z axis, radians; half turns, a reflection."""
    yield name, rotation((0, 0, 1), angle)
    for other in ("half_turn_x", "half_turn_z", "reflection"):
        yield other, ISOMETRIES[other]


def unit_vectors(beta: Floats, gamma: Floats) -> Floats:
    """(N, 3) of colatitudes (N,) and longitudes (N,), radians."""
    across = np.sin(beta)
    return np.stack([across * np.cos(gamma), across * np.sin(gamma), np.cos(beta)], axis=1)


def base_places(base: Base, coordinates: Floats) -> Floats:
    """(V, b) Cartesian coordinates of vertices, unit vectors on the sphere.

    Args:
        base: of the manifold.
        coordinates: (V, d) by the manifold's columns.
    """
    return coordinates[:, : base.dimension] if base.flat else unit_vectors(*coordinates[:, -2:].T)


def image_of(points: Floats, moved: Floats) -> Indices | None:
    """(N,) which of points (N, d) each is moved to; None unless each to another.

    Their order along a generic vector, along which no two are equally far, identifies each.
    """
    generic = np.sin(np.arange(1, points.shape[1] + 1))
    image = np.empty(len(points), np.int64)
    image[np.argsort(moved @ generic)] = np.argsort(points @ generic)
    far = np.linalg.norm(points[image] - moved, axis=1).max()
    return image if far <= ON_THE_GRID else None


@dataclass(frozen=True)
class Points(SamplingKind):
    """Points on the unit sphere unless there is an `extent`, times orientations.

    Args:
        orientations: samples of the fiber; 1 where there is none.
        fiber: over each point.
        size: as its class accepts it.
        periodic: whether opposite sides of a flat domain are glued.
    """

    orientations: int = 1
    fiber: Fiber = NO_FIBER
    size: Any = 1
    periodic: bool = False

    @classmethod
    def sampled(cls, size: Size, spec: "GraphSpec") -> "Points":
        """The points of this size."""
        return cls(spec.orientations, spec.fiber, size, spec.periodic)

    def without_fiber(self) -> "Points":
        """The points alone, without orientations."""
        return replace(self, orientations=1, fiber=NO_FIBER)

    @property
    def num_points(self) -> int:
        """Points of one orientation."""
        return self.points(self.size)

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """Names and orthogonal matrices that may map the points of a sphere to themselves."""
        return iter(())

    @cached_property
    def base_points(self) -> Floats:
        """(points, 3) unit vectors, or (points, 2) x, y; a class has these or angles."""
        return unit_vectors(*self.angles)

    @cached_property
    def angles(self) -> tuple[Floats, Floats]:
        """(points,) colatitudes beta in [0, pi] and longitudes gamma in [-pi, pi], radians."""
        # Each in one piece: before numpy 2.1 the last bit of an arc tangent of strided arrays
        # depends on where they lie in memory.
        x, y, z = np.ascontiguousarray(self.base_points.T)
        axis_distance = np.hypot(x, y)
        beta, gamma = np.arctan2(axis_distance, z), np.arctan2(y, x)
        return beta, np.where(axis_distance < POLE, 0.0, gamma)

    def base_coordinates(self, points: Indices) -> Floats:
        """(N, 2) beta, gamma of some points, (N,); on the plane x, y."""
        columns = self.angles if self.extent is None else self.base_points.T
        return np.stack([column[points] for column in columns], axis=1)

    def sides(self, which: Indices) -> Iterator[list[Sides]]:
        """Sides of the cells of some points of the sphere, for some cells at a time.

        Args:
            which: (n,) the points; their cells are numbered in this order.
        """
        return voronoi_sides(self.base_points, numbers_of(which, self.num_points))

    def symmetries(self, *more: str) -> Iterator[tuple[str, Indices]]:
        """Names and permutations (V,) of the isometries that map the sampling to itself.

        Args:
            more: names of others to try, keys of `ISOMETRIES`.
        """
        others = {name: ISOMETRIES[name] for name in more} if self.extent is None else {}
        for name, matrix in (dict(self.isometries()) | others).items():
            image = image_of(self.base_points, self.base_points @ matrix.T)
            if image is None:
                continue
            steps = self._orientation_steps(matrix, image) if self.fiber.columns else 0.0
            whole = np.round(steps)
            exact = np.abs(steps - whole).max() <= ON_THE_GRID
            handedness = 1 if np.linalg.det(matrix) > 0 else -1
            orientation = handedness * np.arange(self.orientations)[:, None] + whole
            orientation = orientation.astype(np.int64) % self.orientations
            permutation = orientation * self.num_points + image
            yield name if exact else f"{name} (approximate)", permutation.ravel()

    def _orientation_steps(self, matrix: Floats, image: Indices) -> Floats:
        """(points,) steps between orientations by which an isometry rotates each point's frame."""
        beta, gamma = self.angles
        forward = unit_vectors(beta + np.pi / 2, gamma)
        sideways = np.stack([-np.sin(gamma), np.cos(gamma), np.zeros_like(gamma)], axis=1)
        moved = forward @ matrix.T
        ahead, aside = ((moved * axis[image]).sum(axis=1) for axis in (forward, sideways))
        steps: Floats = np.arctan2(aside, ahead) / self.fiber.step(self.orientations)
        return steps


class Scattered(Points):
    """Points, each of which stands for the area of its Voronoi cell unless its class knows more."""

    remedy: ClassVar[str] = ANOTHER_SEED
    """For points that are too close."""

    @property
    def coarser_points(self) -> Floats:
        """(coarser points, d) points of the next coarser level.

        Raises:
            ValueError: there is none.
        """
        coarser = self.coarser(self.size)
        if coarser is None:
            raise ValueError("this sampling has no coarser level")
        return replace(self, size=coarser).base_points

    @classmethod
    def links(cls, fine: Size, coarse: Size) -> int:
        """At most one for each point, as coarser points that are nearest to no point have one."""
        return cls.points(fine) + cls.points(coarse)

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas of the Voronoi cells, in units of their mean."""
        points, extent = self.base_points, self.extent
        areas = cell_areas(points, extent, periodic=self.periodic, remedy=self.remedy)
        areas /= areas.mean()
        return areas

    def _nearest(self, points: Floats, others: Floats) -> Indices:
        """(N,) the nearest of the points to each of the others."""
        return nearest(points, others, self.extent if self.periodic else None)

    @cached_property
    def parents(self) -> Parents:
        """Each point belongs to the nearest coarser one.

        Raises:
            ValueError: there is no coarser level.
        """
        coarser = self.coarser_points
        return Parents.of(self._nearest(coarser, self.base_points), len(coarser))

    def pooling(self) -> Csr:
        """Means by area over the points that belong to each coarser one.

        One to which none belongs takes the value of the point nearest to it.

        Raises:
            ValueError: there is no coarser level.
        """
        parents = self.parents
        alone = np.setdiff1d(np.arange(parents.shape[1]), parents.coarser)
        if len(alone):
            close = self._nearest(self.base_points, self.coarser_points[alone])
            parents = parents.joined(close, alone)
        return parents.pooling(self.base_areas)


@dataclass(frozen=True)
class Random(Scattered):
    """Points uniform by area; a size is their number.

    Args:
        seed: of the generator.
        drawn: how many points are drawn, of which these are the first; by default no others.
        flat: whether they are in [0, 1)^2 and not on the sphere.
    """

    seed: int = 0
    drawn: int | None = None
    flat: bool = False

    name = "random"
    field = "points"
    sizes_accepted = POINTS
    words = "random"
    seeded = True
    default_levels = "one"
    schemas = "1.0", "1.1"  # 1.0 did not know coarser levels

    @classmethod
    def coarser(cls, size: Size) -> Size | None:
        """A quarter of the points, while that is at least 2."""
        return size // 4 if size // 4 >= POINTS.low else None

    @classmethod
    def links(cls, fine: Size, _coarse: Size) -> int:
        """One for each point, as coarser points are among them."""
        return cls.points(fine)

    @classmethod
    def sampled(cls, size: Size, spec: "GraphSpec") -> "Random":
        """Points in the unit square, or on the sphere."""
        drawn = spec.seed or 0, spec.level_size(0), spec.geometry.base.flat
        return cls(spec.orientations, spec.fiber, size, spec.periodic, *drawn)

    @property
    def extent(self) -> tuple[float, float] | None:
        """The unit square; None on the sphere."""
        return (1.0, 1.0) if self.flat else None

    @cached_property
    def base_points(self) -> Floats:
        """(points, 2) x, y, or (points, 3) unit vectors."""
        generator = np.random.default_rng(self.seed)
        if self.flat:
            return generator.random((self.size, 2))
        # Heights come before longitudes, so both depend on how many are drawn.
        height, longitude = generator.random((2, self.drawn or self.size))[:, : self.size]
        height = 2 * height - 1
        gamma = 2 * np.pi * longitude
        across = np.sqrt((1 - height) * (1 + height))
        return np.stack([across * np.cos(gamma), across * np.sin(gamma), height], axis=1)
