"""Points drawn uniformly, on the plane and on the sphere.

A coarser level has the first of the finest level's points, which are as uniform.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.samplings.scattered import ScatteredPlane, ScatteredSphere
from cheblienet_graphs.typing import Floats


@dataclass(frozen=True)
class RandomSphere(ScatteredSphere):
    """Points uniform by area; each stands for the area of its Voronoi cell.

    Args:
        points: number of points.
        seed: of the generator.
        drawn: how many points are drawn, of which these are the first; by default no others.
        coarser: number of points of the next coarser level, if there is one.
    """

    points: int = 1
    seed: int = 0
    drawn: int | None = None
    coarser: int | None = None

    @cached_property
    def base_points(self) -> Floats:
        """(points, 3) unit vectors."""
        # Heights come before longitudes, so both depend on how many are drawn.
        drawn = np.random.default_rng(self.seed).random((2, self.drawn or self.points))
        height, longitude = drawn[:, : self.points]
        height, gamma = 2 * height - 1, 2 * np.pi * longitude
        across = np.sqrt((1 - height) * (1 + height))
        return np.stack([across * np.cos(gamma), across * np.sin(gamma), height], axis=1)

    @property
    def coarser_points(self) -> Floats | None:
        """(coarser points, 3) the first ones; None where there is no coarser level."""
        return None if self.coarser is None else self.base_points[: self.coarser]


@dataclass(frozen=True)
class RandomPlane(ScatteredPlane):
    """Points uniform in [0, 1)^2, times orientations; vertices are ordered orientation-major.

    Args:
        points: number of points; fewer are the first of more.
        seed: of the generator.
        coarser: number of points of the next coarser level, if there is one.
    """

    points: int
    seed: int = 0
    coarser: int | None = None

    @cached_property
    def base_points(self) -> Floats:
        """(points, 2) x, y."""
        return np.random.default_rng(self.seed).random((self.points, 2))

    @property
    def coarser_points(self) -> Floats | None:
        """(coarser points, 2) the first ones; None where there is no coarser level."""
        return None if self.coarser is None else self.base_points[: self.coarser]
