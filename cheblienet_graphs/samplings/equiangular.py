"""The equiangular grid: as many colatitudes as longitudes, no point on a pole."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.samplings.maps import LevelMap, averages
from cheblienet_graphs.samplings.sphere import (
    HALF_TURN_X,
    HALF_TURN_Z,
    REFLECTION_Y,
    SphereSampling,
    turn_z,
)
from cheblienet_graphs.typing import Floats, Indices


@dataclass(frozen=True)
class Equiangular(SphereSampling):
    """2b x 2b points: beta_j = (j + 1/2) pi / (2b), gamma_k = (k + 1/2) pi / b; index j 2b + k.

    Args:
        bandlimit: b.
    """

    bandlimit: int = 1

    @cached_property
    def angles(self) -> tuple[Floats, Floats]:
        """(points,) colatitudes beta in (0, pi) and longitudes gamma in (0, 2 pi), radians."""
        steps = np.arange(2 * self.bandlimit) + 0.5
        beta, gamma = np.meshgrid(
            steps * np.pi / (2 * self.bandlimit), steps * np.pi / self.bandlimit, indexing="ij"
        )
        return beta.ravel(), gamma.ravel()

    @cached_property
    def base_points(self) -> Floats:
        """(points, 3) unit vectors."""
        beta, gamma = self.angles
        return np.stack(
            [np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma), np.cos(beta)], axis=1
        )

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) sin beta, in units of its mean."""
        sine: Floats = np.sin(self.angles[0])
        sine /= sine.mean()
        return sine

    def children(self) -> Indices:
        """(coarser points, 4) blocks of 2 x 2."""
        side = 2 * self.bandlimit
        index = np.arange(side**2).reshape(self.bandlimit, 2, self.bandlimit, 2)
        return index.transpose(0, 2, 1, 3).reshape(-1, 4)

    def pooling(self) -> LevelMap:
        """The map to the next coarser level's points, means by area."""
        return averages(self.children(), self.base_areas)

    def unpooling(self) -> LevelMap:
        """The map that gives each point the value of its block."""
        row, column = np.divmod(np.arange((2 * self.bandlimit) ** 2), 2 * self.bandlimit)
        block = row // 2 * self.bandlimit + column // 2
        points = len(block)
        return LevelMap((points, points // 4), np.arange(points + 1), block, np.ones(points))

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """The rotation by one longitude, half turns, a reflection."""
        yield "longitude_step", turn_z(np.pi / self.bandlimit)
        yield "half_turn_x", HALF_TURN_X
        yield "half_turn_z", HALF_TURN_Z
        yield "reflection", REFLECTION_Y
