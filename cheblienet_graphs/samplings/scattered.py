"""Points in no order: their areas are Voronoi cells, their levels are joined by nearest points."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from cheblienet_graphs.manifolds.fibre import NO_FIBRE, Fibre
from cheblienet_graphs.samplings.fibre import fibre_coordinates, vertices
from cheblienet_graphs.samplings.maps import LevelMap
from cheblienet_graphs.samplings.nearest import NearestMaps
from cheblienet_graphs.samplings.sphere import SphereSampling
from cheblienet_graphs.samplings.voronoi import ANOTHER_SEED, plane_cells, sphere_cells
from cheblienet_graphs.typing import Floats, Indices

TOO_CLOSE = "Leave out one of any two such points of `coordinates`, or give an area for each point."


@dataclass(frozen=True)
class ScatteredSphere(SphereSampling):
    """Points of the sphere; each stands for the area of its Voronoi cell."""

    remedy: ClassVar[str] = ANOTHER_SEED
    """For points that are too close."""

    @property
    def coarser_points(self) -> Floats | None:
        """(coarser points, 3) unit vectors of the next coarser level; None where there is none."""
        return None

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas of the Voronoi cells, in units of their mean."""
        areas = sphere_cells(self.base_points, self.remedy)
        areas /= areas.mean()
        return areas

    @cached_property
    def _maps(self) -> NearestMaps:
        return _maps(self.base_points, self.coarser_points)

    def pooling(self) -> LevelMap:
        """The map to the next coarser level's points, means by area.

        Raises:
            ValueError: there is no coarser level.
        """
        return self._maps.pooling(self.base_areas)

    def unpooling(self) -> LevelMap:
        """The map that gives each point the value of the nearest coarser one.

        Raises:
            ValueError: there is no coarser level.
        """
        return self._maps.unpooling()

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """None: no symmetry is known."""
        return iter(())


@dataclass(frozen=True, kw_only=True)
class ScatteredPlane(ABC):
    """Points of a box of width 1, times orientations; vertices are ordered orientation-major.

    Each point stands for the area of its Voronoi cell within the box.

    Args:
        orientations: samples theta_k = -pi/2 + k pi/n_o; 1 on the plane itself.
        fibre: over each point.
        periodic: whether opposite sides are glued.
    """

    orientations: int = 1
    fibre: Fibre = NO_FIBRE
    periodic: bool = False

    remedy: ClassVar[str] = ANOTHER_SEED
    """For points that are too close."""

    @cached_property
    @abstractmethod
    def base_points(self) -> Floats:
        """(points, 2) x, y."""

    @property
    def coarser_points(self) -> Floats | None:
        """(coarser points, 2) x, y of the next coarser level; None where there is none."""
        return None

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height of the domain."""
        return 1.0, 1.0

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas of the Voronoi cells within the domain, in units of their mean."""
        areas = plane_cells(
            self.base_points, self.extent, periodic=self.periodic, remedy=self.remedy
        )
        areas /= areas.mean()
        return areas

    @property
    def num_points(self) -> int:
        """Points of one orientation."""
        return len(self.base_points)

    @property
    def num_vertices(self) -> int:
        """Vertices altogether."""
        return self.orientations * self.num_points

    def coordinates(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V, 2) x, y, or (V, 3) x, y, theta, or those of the vertices start..stop."""
        orientation, point = vertices(self, start, stop)
        return np.column_stack([self.base_points[point], fibre_coordinates(self)[orientation]])

    def areas(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V,) areas in units of their mean, or those of the vertices start..stop."""
        areas: Floats = self.base_areas[vertices(self, start, stop)[1]]
        return areas

    @cached_property
    def _maps(self) -> NearestMaps:
        return _maps(self.base_points, self.coarser_points, self.extent if self.periodic else None)

    def pooling(self) -> LevelMap:
        """The map to the next coarser level's points, means by area.

        Raises:
            ValueError: there is no coarser level.
        """
        return self._maps.pooling(self.base_areas)

    def unpooling(self) -> LevelMap:
        """The map that gives each point the value of the nearest coarser one.

        Raises:
            ValueError: there is no coarser level.
        """
        return self._maps.unpooling()

    def probes(self) -> Indices:
        """Points where the effective metric is measured: all of them."""
        return np.arange(self.num_points)

    def symmetries(self) -> Iterator[tuple[str, Indices]]:
        """None: there is no symmetry."""
        return iter(())


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenSphere(ScatteredSphere):
    """Points of the sphere that are known as an array.

    Args:
        points: (points, 3) unit vectors.
        known_areas: (points,) in units of their mean; None for those of Voronoi cells.
        coarser: (coarser points, 3) unit vectors of the next coarser level, if there is one.
        known_angles: (points,) colatitudes and (points,) longitudes, where these shall be others
            than `SphereSampling.angles`.
        motions: names and orthogonal matrices that may map the points to themselves.
    """

    points: Floats
    known_areas: Floats | None = None
    coarser: Floats | None = None
    known_angles: tuple[Floats, Floats] | None = None
    motions: tuple[tuple[str, Floats], ...] = ()

    remedy: ClassVar[str] = TOO_CLOSE

    @cached_property
    def base_points(self) -> Floats:
        """(points, 3) unit vectors."""
        return self.points

    @property
    def coarser_points(self) -> Floats | None:
        """(coarser points, 3) unit vectors of the next coarser level; None where there is none."""
        return self.coarser

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas in units of their mean."""
        return super().base_areas if self.known_areas is None else self.known_areas

    @cached_property
    def angles(self) -> tuple[Floats, Floats]:
        """(points,) colatitudes beta in [0, pi] and (points,) longitudes gamma, radians."""
        return super().angles if self.known_angles is None else self.known_angles

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """Names and orthogonal matrices that may map the points to themselves."""
        return iter(self.motions)


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenPlane(ScatteredPlane):
    """Points of a box that are known as an array.

    Args:
        points: (points, 2) x, y.
        sides: width, 1, and height of the domain.
        known_areas: (points,) in units of their mean; None for those of Voronoi cells.
        coarser: (coarser points, 2) those of the next coarser level, if there is one.
    """

    points: Floats
    sides: tuple[float, float]
    known_areas: Floats | None = None
    coarser: Floats | None = None

    remedy: ClassVar[str] = TOO_CLOSE

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height of the domain."""
        return self.sides

    @cached_property
    def base_points(self) -> Floats:
        """(points, 2) x, y."""
        return self.points

    @property
    def coarser_points(self) -> Floats | None:
        """(coarser points, 2) x, y of the next coarser level; None where there is none."""
        return self.coarser

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas in units of their mean."""
        return super().base_areas if self.known_areas is None else self.known_areas


def _maps(
    points: Floats, coarser: Floats | None, periods: tuple[float, float] | None = None
) -> NearestMaps:
    if coarser is None:
        raise ValueError("this sampling has no coarser level")
    return NearestMaps(points, coarser, periods)
