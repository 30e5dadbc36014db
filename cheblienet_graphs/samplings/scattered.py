"""Points in no order: their areas are Voronoi cells, their levels are joined by nearest points."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from cheblienet_graphs.samplings.maps import LevelMap, NearestMaps
from cheblienet_graphs.samplings.points import Points
from cheblienet_graphs.samplings.sphere import SphereSampling
from cheblienet_graphs.samplings.voronoi import ANOTHER_SEED, plane_cells, sphere_cells
from cheblienet_graphs.typing import Floats, Indices


class Scattered(Points):
    """Points, each of which stands for the area of its Voronoi cell."""

    remedy: ClassVar[str] = ANOTHER_SEED
    """For points that are too close."""

    @property
    def coarser_points(self) -> Floats | None:
        """(coarser points, d) those of the next coarser level; None where there is none."""
        return None

    @property
    def periods(self) -> tuple[float, float] | None:
        """Sides of a torus; None elsewhere."""
        return None

    @abstractmethod
    def cells(self) -> Floats:
        """(points,) areas of the Voronoi cells."""

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas of the Voronoi cells, in units of their mean."""
        areas = self.cells()
        areas /= areas.mean()
        return areas

    @cached_property
    def _maps(self) -> NearestMaps:
        if self.coarser_points is None:
            raise ValueError("this sampling has no coarser level")
        return NearestMaps(self.base_points, self.coarser_points, self.periods)

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


@dataclass(frozen=True)
class ScatteredSphere(Scattered, SphereSampling):
    """Points of the sphere."""

    def cells(self) -> Floats:
        """(points,) solid angles of the Voronoi cells."""
        return sphere_cells(self.base_points, self.remedy)

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """None: no symmetry is known."""
        return iter(())


@dataclass(frozen=True)
class ScatteredPlane(Scattered):
    """Points of a box of width 1; each stands for its Voronoi cell within the box.

    Args:
        periodic: whether opposite sides are glued.
    """

    periodic: bool = False

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height of the domain."""
        return 1.0, 1.0

    @property
    def periods(self) -> tuple[float, float] | None:
        """Sides of a torus; None elsewhere."""
        return self.extent if self.periodic else None

    def cells(self) -> Floats:
        """(points,) areas of the Voronoi cells within the domain."""
        return plane_cells(
            self.base_points, self.extent, periodic=self.periodic, remedy=self.remedy
        )

    def coordinates(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V, 2) x, y, or (V, 3) x, y, theta, or those of the vertices start..stop."""
        fibre, point = self.vertices(start, stop)
        return np.column_stack([self.base_points[point], fibre])

    def symmetries(self) -> Iterator[tuple[str, Indices]]:
        """None: there is no symmetry."""
        return iter(())
