"""The equiangular grid: as many colatitudes as longitudes, no point on a pole."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.limits import BANDLIMIT
from cheblienet_graphs.samplings.kind import SamplingKind, Setting, Size
from cheblienet_graphs.samplings.maps import LevelMap, averages, copies
from cheblienet_graphs.samplings.sphere import (
    HALF_TURN_X,
    HALF_TURN_Z,
    REFLECTION_Y,
    SphereSampling,
    turn_z,
    unit_vectors,
)
from cheblienet_graphs.typing import Floats, Indices


@dataclass(frozen=True)
class Equiangular(SphereSampling, SamplingKind):
    """2b x 2b points: beta_j = (j + 1/2) pi / (2b), gamma_k = (k + 1/2) pi / b; index j 2b + k.

    Args:
        bandlimit: b.
    """

    bandlimit: int = 1

    name = "equiangular"
    field = "bandlimit"
    sizes_accepted = BANDLIMIT
    longitudes = "[0, 2 pi)"

    @classmethod
    def points(cls, size: Size) -> int:
        """4 b^2."""
        return 4 * int(size) ** 2

    @classmethod
    def coarser(cls, size: Size) -> Size | None:
        """Half of an even bandlimit."""
        return size // 2 if size % 2 == 0 else None

    @classmethod
    def grid(cls, size: Size) -> tuple[int, ...]:
        """(colatitudes, longitudes)."""
        return 2 * size, 2 * size

    @classmethod
    def described(cls, size: Size) -> str:
        """'equiangular, bandlimit 8'."""
        return f"equiangular, bandlimit {size}"

    @classmethod
    def sampled(cls, size: Size, setting: Setting) -> "Equiangular":
        """The grid of this size."""
        return cls(setting.orientations, setting.manifold.fibre, size)

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
        return unit_vectors(*self.angles)

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
        return copies(block, len(block) // 4)

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """The rotation by one longitude, half turns, a reflection."""
        yield "longitude_step", turn_z(np.pi / self.bandlimit)
        yield "half_turn_x", HALF_TURN_X
        yield "half_turn_z", HALF_TURN_Z
        yield "reflection", REFLECTION_Y
