"""Points drawn uniformly."""

from typing import TYPE_CHECKING

from cheblienet_graphs.limits import POINTS
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.kinds.kind import SamplingKind, Setting, Size
from cheblienet_graphs.values import integer

if TYPE_CHECKING:
    from cheblienet_graphs.samplings.protocol import Sampling


class RandomKind(SamplingKind):
    """Points drawn uniformly."""

    name = "random"
    field = "points"
    bases = ("plane", "sphere")
    seeded = True

    def parse(self, size: object, base: Base) -> Size:
        """Take the number of points."""
        del base
        return integer("points", size, *POINTS)

    def points(self, size: Size) -> int:
        """The size itself."""
        return int(size)

    def coarser(self, size: Size) -> Size | None:
        """None: there are no coarser levels."""
        del size
        return None

    def described(self, size: Size, seed: int | None) -> str:
        """'random, seed 0'."""
        del size
        return f"random, seed {seed}"

    def sampled(self, size: Size, setting: Setting) -> "Sampling":
        """Points in the unit square, or on the sphere."""
        # They need numpy, which help does without.
        from cheblienet_graphs.samplings.random import RandomPlane, RandomSphere

        manifold, seed = setting.manifold, setting.seed or 0
        if manifold.base.flat:
            return RandomPlane(size, seed, setting.orientations, manifold.fibre, setting.periodic)
        return RandomSphere(setting.orientations, manifold.fibre, size, seed)
