"""The subdivided icosahedron."""

from typing import TYPE_CHECKING

from cheblienet_graphs.limits import SUBDIVISIONS
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.kinds.kind import SamplingKind, Setting, Size
from cheblienet_graphs.values import integer

if TYPE_CHECKING:
    from cheblienet_graphs.samplings.protocol import Sampling


class IcosahedralKind(SamplingKind):
    """The icosahedron, subdivided."""

    name = "icosahedral"
    field = "subdivisions"
    bases = ("sphere",)

    def parse(self, size: object, base: Base) -> Size:
        """Take the number of subdivisions."""
        del base
        return integer("subdivisions", size, *SUBDIVISIONS)

    def points(self, size: Size) -> int:
        """10 * 4^n + 2."""
        count: int = 10 * 4 ** int(size) + 2
        return count

    def coarser(self, size: Size) -> Size | None:
        """One subdivision less."""
        return size - 1 if size else None

    def links(self, fine: Size, coarse: Size) -> int:
        """Midpoints have two parents, others one."""
        return 2 * self.points(fine) - self.points(coarse)

    def described(self, size: Size, seed: int | None) -> str:
        """'icosahedron, 4 subdivisions'."""
        del seed
        return f"icosahedron, {size} subdivisions"

    def sampled(self, size: Size, setting: Setting) -> "Sampling":
        """The icosphere of this size."""
        from cheblienet_graphs.samplings.icosphere import Icosphere  # numpy: help does without

        return Icosphere(setting.orientations, setting.manifold.fibre, size)
