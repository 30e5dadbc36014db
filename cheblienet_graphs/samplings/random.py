"""Points drawn uniformly, on the plane and on the sphere.

A coarser level has the first of the finest level's points, which are as uniform.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.limits import POINTS
from cheblienet_graphs.samplings.points import Scattered
from cheblienet_graphs.samplings.sampling import Setting, Size
from cheblienet_graphs.typing import Floats


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
    def sampled(cls, size: Size, setting: Setting) -> "Random":
        """Points in the unit square, or on the sphere."""
        fibered = setting.orientations, setting.manifold.fiber
        drawn = setting.seed or 0, setting.finest
        return cls(*fibered, size, setting.periodic, *drawn, setting.manifold.base.flat)

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
        height, gamma = 2 * height - 1, 2 * np.pi * longitude
        across = np.sqrt((1 - height) * (1 + height))
        return np.stack([across * np.cos(gamma), across * np.sin(gamma), height], axis=1)
