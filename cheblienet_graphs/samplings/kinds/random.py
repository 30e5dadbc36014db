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
    default_levels = "one"

    def parse(self, size: object, base: Base) -> Size:
        """Take the number of points."""
        del base
        return integer("points", size, *POINTS)

    def points(self, size: Size) -> int:
        """The size itself."""
        return int(size)

    def coarser(self, size: Size) -> Size | None:
        """A quarter of the points, while that is at least 2."""
        return size // 4 if size // 4 >= POINTS.low else None

    def schema(self, levels: int) -> str:
        """1.1 with coarser levels, which 1.0 did not know."""
        return "1.1" if levels > 1 else "1.0"

    def described(self, size: Size, seed: int | None) -> str:
        """'random, seed 0'."""
        del size
        return f"random, seed {seed}"

    def sampled(self, size: Size, setting: Setting) -> "Sampling":
        """Points in the unit square, or on the sphere."""
        # They need numpy, which help does without.
        from cheblienet_graphs.samplings.random import RandomPlane, RandomSphere

        fibre, orientations = setting.manifold.fibre, setting.orientations
        seed, coarser = setting.seed or 0, self.coarser(size)
        if setting.manifold.base.flat:
            return RandomPlane(
                size,
                seed,
                coarser,
                orientations=orientations,
                fibre=fibre,
                periodic=setting.periodic,
            )
        return RandomSphere(orientations, fibre, size, seed, setting.finest, coarser)
