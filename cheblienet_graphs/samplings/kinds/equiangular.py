"""The equiangular grid."""

from typing import TYPE_CHECKING

from cheblienet_graphs.limits import BANDLIMIT
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.kinds.kind import SamplingKind, Setting, Size
from cheblienet_graphs.values import integer

if TYPE_CHECKING:
    from cheblienet_graphs.samplings.protocol import Sampling


class EquiangularKind(SamplingKind):
    """The equiangular grid: as many colatitudes as longitudes."""

    name = "equiangular"
    field = "bandlimit"
    bases = ("sphere",)
    longitudes = "[0, 2 pi)"

    def parse(self, size: object, base: Base) -> Size:
        """Take the bandlimit."""
        del base
        return integer("bandlimit", size, *BANDLIMIT)

    def points(self, size: Size) -> int:
        """4 b^2."""
        return 4 * int(size) ** 2

    def coarser(self, size: Size) -> Size | None:
        """Half of an even bandlimit."""
        return size // 2 if size % 2 == 0 else None

    def grid(self, size: Size) -> tuple[int, ...]:
        """(colatitudes, longitudes)."""
        return 2 * size, 2 * size

    def described(self, size: Size, seed: int | None) -> str:
        """'equiangular, bandlimit 8'."""
        del seed
        return f"equiangular, bandlimit {size}"

    def sampled(self, size: Size, setting: Setting) -> "Sampling":
        """The grid of this size."""
        from cheblienet_graphs.samplings.equiangular import Equiangular  # numpy: help does without

        return Equiangular(setting.orientations, setting.manifold.fibre, size)
