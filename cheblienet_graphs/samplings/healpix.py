"""HEALPix: 12 nside^2 pixels of equal area, nested order."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module

import numpy as np

from cheblienet_graphs.errors import CheblienetError, SpecError
from cheblienet_graphs.limits import NSIDE
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.kind import SamplingKind, Setting, Size
from cheblienet_graphs.samplings.maps import LevelMap, averages, copies
from cheblienet_graphs.samplings.sphere import (
    HALF_TURN_X,
    HALF_TURN_Z,
    REFLECTION_Y,
    SphereSampling,
    turn_z,
)
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.values import integer


@dataclass(frozen=True)
class Healpix(SphereSampling, SamplingKind):
    """Pixel centres (Gorski et al. 2005); the children of pixel p are 4p, ..., 4p + 3.

    Args:
        nside: a power of two.
    """

    nside: int = 1

    name = "healpix"
    field = "nside"
    library = "astropy-healpix"

    @classmethod
    def parse(cls, size: object, base: Base) -> Size:
        """Take nside, a power of two."""
        del base
        accepted = f"a power of two in {NSIDE}"
        nside = integer("nside", size, *NSIDE, accepted)
        if nside & (nside - 1):
            raise SpecError("nside", accepted, size)
        return nside

    @classmethod
    def points(cls, size: Size) -> int:
        """12 nside^2."""
        return 12 * int(size) ** 2

    @classmethod
    def coarser(cls, size: Size) -> Size | None:
        """Half of nside."""
        return size // 2 if size > 1 else None

    @classmethod
    def described(cls, size: Size) -> str:
        """'HEALPix, nside 8, nested'."""
        return f"HEALPix, nside {size}, nested"

    @classmethod
    def sampled(cls, size: Size, setting: Setting) -> "Healpix":
        """The pixels of this size."""
        return cls(setting.orientations, setting.manifold.fibre, size)

    @classmethod
    def check_library(cls) -> None:
        """Check that astropy-healpix is installed.

        Raises:
            CheblienetError: it is not, or does not work.
        """
        try:
            import_module("astropy_healpix.healpy")
        except ModuleNotFoundError as error:
            raise CheblienetError(
                f"HEALPix sampling needs astropy-healpix, which is not installed ({error.name}). "
                "Install it: pip install 'cheblienet[healpix]', or pip install astropy-healpix."
            ) from None
        except Exception as error:
            cause = " ".join(f"{type(error).__name__}: {error}".split())
            raise CheblienetError(
                f"HEALPix sampling needs astropy-healpix, which does not work here ({cause:.200}). "
                "Install it anew."
            ) from error

    @cached_property
    def base_points(self) -> Floats:
        """(points, 3) unit vectors.

        Raises:
            CheblienetError: the library that computes them is not installed.
        """
        self.check_library()
        from astropy_healpix.healpy import pix2vec  # an extra

        vectors = pix2vec(self.nside, np.arange(12 * self.nside**2), nest=True)
        return np.stack(vectors, axis=1).astype(np.float64)

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) ones."""
        return np.ones(12 * self.nside**2)

    def children(self) -> Indices:
        """(coarser points, 4)."""
        return np.arange(12 * self.nside**2).reshape(-1, 4)

    def pooling(self) -> LevelMap:
        """The map to the next coarser level's points, means by area."""
        return averages(self.children(), self.base_areas)

    def unpooling(self) -> LevelMap:
        """The map that gives each pixel the value of its parent."""
        points = 12 * self.nside**2
        return copies(np.arange(points) // 4, points // 4)

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """Rotations by 90 degrees about the axis, by 180 about others, a reflection."""
        yield "quarter_turn_z", turn_z(np.pi / 2)
        yield "half_turn_x", HALF_TURN_X
        yield "half_turn_z", HALF_TURN_Z
        yield "reflection", REFLECTION_Y
