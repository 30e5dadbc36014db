"""HEALPix."""

from typing import TYPE_CHECKING

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import NSIDE
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.kinds.kind import SamplingKind, Setting, Size
from cheblienet_graphs.values import integer

if TYPE_CHECKING:
    from cheblienet_graphs.samplings.protocol import Sampling


class HealpixKind(SamplingKind):
    """HEALPix, nested."""

    name = "healpix"
    field = "nside"
    bases = ("sphere",)
    library = "astropy-healpix"

    def parse(self, size: object, base: Base) -> Size:
        """Take nside, a power of two."""
        del base
        accepted = f"a power of two in {NSIDE}"
        nside = integer("nside", size, *NSIDE, accepted)
        if nside & (nside - 1):
            raise SpecError("nside", accepted, size)
        return nside

    def points(self, size: Size) -> int:
        """12 nside^2."""
        return 12 * int(size) ** 2

    def coarser(self, size: Size) -> Size | None:
        """Half of nside."""
        return size // 2 if size > 1 else None

    def described(self, size: Size, seed: int | None) -> str:
        """'HEALPix, nside 8, nested'."""
        del seed
        return f"HEALPix, nside {size}, nested"

    def sampled(self, size: Size, setting: Setting) -> "Sampling":
        """The pixels of this size."""
        from cheblienet_graphs.samplings.healpix import Healpix  # numpy: help does without

        return Healpix(setting.orientations, setting.manifold.fibre, size)

    def check_library(self) -> None:
        """Check that astropy-healpix is installed.

        Raises:
            CheblienetError: it is not, or does not work.
        """
        from cheblienet_graphs.samplings.healpix import check_library  # numpy: help does without

        check_library()
