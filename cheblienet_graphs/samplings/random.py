"""Points drawn uniformly, on the plane and on the sphere.

A coarser level has the first of the finest level's points, which are as uniform.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.limits import POINTS
from cheblienet_graphs.samplings.kind import SamplingKind, Setting, Size
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.samplings.scattered import Scattered, ScatteredPlane, ScatteredSphere
from cheblienet_graphs.typing import Floats


@dataclass(frozen=True)
class _Drawn(Scattered):
    """Points uniform by area.

    Args:
        points: number of points.
        seed: of the generator.
        coarser: number of points of the next coarser level, if there is one.
    """

    points: int = 1
    seed: int = 0
    coarser: int | None = None

    @property
    def coarser_points(self) -> Floats | None:
        """(coarser points, d) the first ones; None where there is no coarser level."""
        return None if self.coarser is None else self.base_points[: self.coarser]


@dataclass(frozen=True)
class RandomSphere(_Drawn, ScatteredSphere):
    """Points uniform on the sphere.

    Args:
        drawn: how many points are drawn, of which these are the first; by default no others.
    """

    drawn: int | None = None

    @cached_property
    def base_points(self) -> Floats:
        """(points, 3) unit vectors."""
        # Heights come before longitudes, so both depend on how many are drawn.
        drawn = np.random.default_rng(self.seed).random((2, self.drawn or self.points))
        height, longitude = drawn[:, : self.points]
        height, gamma = 2 * height - 1, 2 * np.pi * longitude
        across = np.sqrt((1 - height) * (1 + height))
        return np.stack([across * np.cos(gamma), across * np.sin(gamma), height], axis=1)


@dataclass(frozen=True)
class RandomPlane(_Drawn, ScatteredPlane):
    """Points uniform in [0, 1)^2; fewer are the first of more."""

    @cached_property
    def base_points(self) -> Floats:
        """(points, 2) x, y."""
        return np.random.default_rng(self.seed).random((self.points, 2))


class Random(SamplingKind):
    """Points drawn uniformly, `RandomPlane` or `RandomSphere`."""

    name = "random"
    field = "points"
    sizes_accepted = POINTS
    seeded = True
    default_levels = "one"
    schemas = "1.0", "1.1"  # 1.0 did not know coarser levels

    @classmethod
    def points(cls, size: Size) -> int:
        """The size itself."""
        return int(size)

    @classmethod
    def coarser(cls, size: Size) -> Size | None:
        """A quarter of the points, while that is at least 2."""
        return size // 4 if size // 4 >= POINTS.low else None

    @classmethod
    def described(cls, size: Size) -> str:
        """'random'."""
        del size
        return "random"

    @classmethod
    def sampled(cls, size: Size, setting: Setting) -> Sampling:
        """Points in the unit square, or on the sphere."""
        fibred = setting.orientations, setting.manifold.fibre
        drawn = {"points": size, "seed": setting.seed or 0, "coarser": cls.coarser(size)}
        if setting.manifold.base.flat:
            return RandomPlane(*fibred, periodic=setting.periodic, **drawn)
        return RandomSphere(*fibred, drawn=setting.finest, **drawn)
