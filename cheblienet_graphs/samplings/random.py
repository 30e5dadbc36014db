"""Points drawn uniformly, on the plane and on the sphere."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

import numpy as np

from cheblienet_graphs.manifolds.fibre import NO_FIBRE, Fibre
from cheblienet_graphs.samplings.fibre import fibre_coordinates, vertices
from cheblienet_graphs.samplings.maps import LevelMap
from cheblienet_graphs.samplings.sphere import SphereSampling
from cheblienet_graphs.samplings.voronoi import plane_cells, sphere_cells
from cheblienet_graphs.typing import Floats, Indices


@dataclass(frozen=True)
class RandomSphere(SphereSampling):
    """Points uniform by area; each stands for the area of its Voronoi cell.

    Args:
        points: number of points.
        seed: of the generator.
    """

    points: int = 1
    seed: int = 0

    @cached_property
    def base_points(self) -> Floats:
        """(points, 3) unit vectors."""
        height, longitude = np.random.default_rng(self.seed).random((2, self.points))
        height, gamma = 2 * height - 1, 2 * np.pi * longitude
        across = np.sqrt((1 - height) * (1 + height))
        return np.stack([across * np.cos(gamma), across * np.sin(gamma), height], axis=1)

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas of the Voronoi cells, in units of their mean."""
        areas = sphere_cells(self.base_points)
        areas /= areas.mean()
        return areas

    def children(self) -> Indices:
        """Refused: there is no coarser level."""
        _refuse_levels()

    def unpooling(self) -> LevelMap:
        """Refused: there is no coarser level."""
        _refuse_levels()

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """None: there is no symmetry."""
        return iter(())


@dataclass(frozen=True)
class RandomPlane:
    """Points uniform in [0, 1)^2, times orientations; vertices are ordered orientation-major.

    Args:
        points: number of points.
        seed: of the generator.
        orientations: samples theta_k = -pi/2 + k pi/n_o; 1 on the plane itself.
        fibre: over each point.
        periodic: whether opposite sides are glued.
    """

    points: int
    seed: int = 0
    orientations: int = 1
    fibre: Fibre = NO_FIBRE
    periodic: bool = False

    @cached_property
    def base_points(self) -> Floats:
        """(points, 2) x, y."""
        return np.random.default_rng(self.seed).random((self.points, 2))

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas of the Voronoi cells within the domain, in units of their mean."""
        areas = plane_cells(self.base_points, self.extent, periodic=self.periodic)
        areas /= areas.mean()
        return areas

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height of the domain."""
        return 1.0, 1.0

    @property
    def num_points(self) -> int:
        """Points of one orientation."""
        return self.points

    @property
    def num_vertices(self) -> int:
        """Vertices altogether."""
        return self.orientations * self.points

    def coordinates(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V, 2) x, y, or (V, 3) x, y, theta, or those of the vertices start..stop."""
        orientation, point = vertices(self, start, stop)
        return np.column_stack([self.base_points[point], fibre_coordinates(self)[orientation]])

    def areas(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V,) areas in units of their mean, or those of the vertices start..stop."""
        areas: Floats = self.base_areas[vertices(self, start, stop)[1]]
        return areas

    def pooling(self) -> LevelMap:
        """Refused: there is no coarser level."""
        _refuse_levels()

    def unpooling(self) -> LevelMap:
        """Refused: there is no coarser level."""
        _refuse_levels()

    def probes(self) -> Indices:
        """Points where the effective metric is measured: all of them."""
        return np.arange(self.points)

    def symmetries(self) -> Iterator[tuple[str, Indices]]:
        """None: there is no symmetry."""
        return iter(())


def _refuse_levels() -> NoReturn:
    raise ValueError("a random sampling has no coarser level")
