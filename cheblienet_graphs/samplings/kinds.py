"""The kinds of samplings: their sizes, numbers of points, and coarser levels.

Only the standard library is imported at first, so that the command line can show its help at once:
the points themselves, in the files beside this one, need numpy.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import BANDLIMIT, NSIDE, POINTS, SIDE, SUBDIVISIONS
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.values import integer, parsed

if TYPE_CHECKING:
    from cheblienet_graphs.samplings.protocol import Sampling

Size = Any
"""(width, height[, depth]) of a lattice, one integer for the other samplings."""


class SamplingKind(ABC):
    """A way of choosing points, its size left open."""

    name: ClassVar[str]
    field: ClassVar[str]
    """Name of the parameter that holds its size."""
    bases: ClassVar[tuple[str, ...]]
    """Names of the bases that it can sample."""
    regular: ClassVar[bool] = False
    """Whether it is a lattice, on which stencils exist."""
    seeded: ClassVar[bool] = False
    """Whether it is drawn from a seed."""
    longitudes: ClassVar[str] = "[-pi, pi]"
    """Range of those that it gives to points of a sphere."""
    library: ClassVar[str | None] = None
    """The package that computes its points, where it is not this one."""

    @abstractmethod
    def parse(self, size: object, base: Base) -> Size:
        """Check a size and normalise it.

        Raises:
            SpecError: it is not valid.
        """

    @abstractmethod
    def points(self, size: Size) -> int:
        """Number of points that a size makes."""

    @abstractmethod
    def coarser(self, size: Size) -> Size | None:
        """Size of the next coarser level; None where there is none."""

    def grid(self, size: Size) -> tuple[int, ...]:
        """Shape in which a signal on the points is laid out; (height, width) on a lattice."""
        return (self.points(size),)

    def squared_spacing(self, size: Size, base: Base) -> float:
        """Area of the base for each point; on a lattice h^2 in any dimension."""
        return base.measure / self.points(size)

    def links(self, fine: Size, coarse: Size) -> int:
        """Stored entries of a map between two levels; one for each fine point unless overridden."""
        del coarse
        return self.points(fine)

    @abstractmethod
    def described(self, size: Size, seed: int | None) -> str:
        """The sampling in words."""

    @abstractmethod
    def sampled(
        self, size: Size, manifold: Manifold, orientations: int, *, periodic: bool, seed: int | None
    ) -> "Sampling":
        """The points of a size, times orientations."""

    def sizes(self, size: Size) -> list[Size]:
        """The size and all coarser ones, finest first."""
        sizes = [size]
        while (coarser := self.coarser(sizes[-1])) is not None:
            sizes.append(coarser)
        return sizes

    def check_library(self) -> None:
        """Check that the package which computes the points is installed.

        Raises:
            CheblienetError: it is not, or does not work.
        """
        return


class LatticeKind(SamplingKind):
    """Pixels or voxels."""

    name = "lattice"
    field = "size"
    bases = ("plane", "space")
    regular = True

    def parse(self, size: object, base: Base) -> Size:
        """Take N, "WxH" or (W, H), in space N, "WxHxD" or (W, H, D)."""
        form, sides, shape = {
            2: ("WxH", "width and height", "(B, C, H, W)"),
            3: ("WxHxD", "width, height and depth", "(B, C, D, H, W)"),
        }[base.dimension]
        accepted = f"N or {form}, {sides} in {SIDE} ({form} is for image tensors {shape})"
        given: Sequence[object]
        if isinstance(size, str):
            given = size.lower().split("x")
        elif isinstance(size, Sequence):
            given = size
        else:
            given = (size,)
        try:
            numbers = [parsed(side) for side in given]
        except (ValueError, TypeError):
            raise SpecError("size", accepted, size) from None
        if len(numbers) == 1:
            numbers *= base.dimension
        inside = all(n.is_integer() and SIDE.low <= n <= SIDE.high for n in numbers)
        if len(numbers) != base.dimension or not inside:
            raise SpecError("size", accepted, size)
        return tuple(map(int, numbers))

    def points(self, size: Size) -> int:
        """The product of the sides."""
        return math.prod(size)

    def coarser(self, size: Size) -> Size | None:
        """Half of each side, where these come out whole and at least 2."""
        if any(side % 2 or side < 4 for side in size):
            return None
        return tuple(side // 2 for side in size)

    def grid(self, size: Size) -> tuple[int, ...]:
        """(height, width) or (depth, height, width)."""
        return tuple(reversed(size))

    def squared_spacing(self, size: Size, base: Base) -> float:
        """h^2, the width of the domain being 1."""
        del base
        return 1 / float(size[0]) ** 2

    def described(self, size: Size, seed: int | None) -> str:
        """'96 x 96 pixels (width x height)'."""
        del seed
        sides = ("width", "height", "depth")[: len(size)]
        cells = "pixels" if len(size) == 2 else "voxels"
        return f"{' x '.join(map(str, size))} {cells} ({' x '.join(sides)})"

    def sampled(
        self, size: Size, manifold: Manifold, orientations: int, *, periodic: bool, seed: int | None
    ) -> "Sampling":
        """A lattice of this size."""
        from cheblienet_graphs.samplings.lattice import Lattice  # numpy: help does without

        del seed
        return Lattice(self.grid(size), orientations, manifold.fibre, periodic)


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

    def sampled(
        self, size: Size, manifold: Manifold, orientations: int, *, periodic: bool, seed: int | None
    ) -> "Sampling":
        """The icosphere of this size."""
        from cheblienet_graphs.samplings.icosphere import Icosphere  # numpy: help does without

        del periodic, seed
        return Icosphere(orientations, manifold.fibre, size)


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

    def sampled(
        self, size: Size, manifold: Manifold, orientations: int, *, periodic: bool, seed: int | None
    ) -> "Sampling":
        """The pixels of this size."""
        from cheblienet_graphs.samplings.healpix import Healpix  # numpy: help does without

        del periodic, seed
        return Healpix(orientations, manifold.fibre, size)

    def check_library(self) -> None:
        """Check that astropy-healpix is installed.

        Raises:
            CheblienetError: it is not, or does not work.
        """
        from cheblienet_graphs.samplings.healpix import check_library  # numpy: help does without

        check_library()


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

    def sampled(
        self, size: Size, manifold: Manifold, orientations: int, *, periodic: bool, seed: int | None
    ) -> "Sampling":
        """The grid of this size."""
        from cheblienet_graphs.samplings.equiangular import Equiangular  # numpy: help does without

        del periodic, seed
        return Equiangular(orientations, manifold.fibre, size)


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

    def sampled(
        self, size: Size, manifold: Manifold, orientations: int, *, periodic: bool, seed: int | None
    ) -> "Sampling":
        """Points in the unit square, or on the sphere."""
        # They need numpy, which help does without.
        from cheblienet_graphs.samplings.random import RandomPlane, RandomSphere

        if manifold.base.flat:
            return RandomPlane(size, seed or 0, orientations, manifold.fibre, periodic)
        return RandomSphere(orientations, manifold.fibre, size, seed or 0)


_ALL: tuple[SamplingKind, ...] = (
    LatticeKind(),
    IcosahedralKind(),
    HealpixKind(),
    EquiangularKind(),
    RandomKind(),
)

SAMPLINGS = {kind.name: kind for kind in _ALL}


def sampling_names(base: Base) -> tuple[str, ...]:
    """Names of the samplings of a base, the default first."""
    return tuple(kind.name for kind in _ALL if base.name in kind.bases)
