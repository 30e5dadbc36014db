"""Grids of the sphere: HEALPix, the equiangular grid, and Gaussian grids.

Gaussian grids are used by weather models. Their latitudes are the nodes of Gauss-Legendre
quadrature, N on each half of the sphere; regular ones, F32, have equally many points at each,
octahedral ones, O32, fewer near the poles, and others as many as a list says.
"""

import hashlib
import itertools
import re
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import BANDLIMIT, GAUSSIAN, NSIDE, ROW, integer, numbers
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings import healpix
from cheblienet_graphs.samplings.cells import band_sides, chunks, healpix_sides
from cheblienet_graphs.samplings.classical_grids import classical_name
from cheblienet_graphs.samplings.maps import Parents
from cheblienet_graphs.samplings.points import Points, Scattered, isometries_about_z
from cheblienet_graphs.samplings.sampling import Size
from cheblienet_graphs.samplings.sides import Sides
from cheblienet_graphs.typing import Floats, Indices


class Healpix(Points):
    """12 nside^2 pixels of equal area, nested order (Gorski et al. 2005); a size is nside."""

    name = "healpix"
    field = "nside"
    words = "HEALPix, nside {}, nested"

    @classmethod
    def parse(cls, size: object, _base: Base) -> Size:
        """Take nside, a power of two."""
        accepted = f"a power of two in {NSIDE}"
        nside = integer("nside", size, *NSIDE, accepted)
        if nside & (nside - 1):
            raise SpecError("nside", accepted, size)
        return nside

    @classmethod
    def points(cls, size: Size) -> int:
        """12 nside^2."""
        return 12 * int(size) ** 2

    @cached_property
    def base_points(self) -> Floats:
        """(points, 3) unit vectors."""
        return healpix.centers(self.size)

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) ones."""
        return np.ones(self.num_points)

    def sides(self, which: Indices) -> Iterator[list[Sides]]:
        """Sides of some pixels."""
        return (healpix_sides(self.size, *part) for part in chunks(which))

    @property
    def parents(self) -> Parents:
        """Pixel p belongs to p // 4."""
        return Parents.of(np.arange(self.num_points) // 4, self.num_points // 4)

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """Rotations by 90 degrees about the axis, by 180 about others, a reflection."""
        return isometries_about_z("quarter_turn_z", np.pi / 2)


class Equiangular(Points):
    """2b x 2b points: beta_j = (j + 1/2) pi / (2b), gamma_k = (k + 1/2) pi / b; index j 2b + k.

    A size is the bandlimit b.
    """

    name = "equiangular"
    field = "bandlimit"
    sizes_accepted = BANDLIMIT
    words = "equiangular, bandlimit {}"
    longitudes = "[0, 2 pi)"

    @classmethod
    def points(cls, size: Size) -> int:
        """4 b^2."""
        return 4 * int(size) ** 2

    @classmethod
    def grid(cls, size: Size) -> tuple[int, ...]:
        """(colatitudes, longitudes)."""
        return 2 * size, 2 * size

    @cached_property
    def angles(self) -> tuple[Floats, Floats]:
        """(points,) colatitudes beta in (0, pi) and longitudes gamma in (0, 2 pi), radians."""
        steps = np.arange(2 * self.size) + 0.5
        beta = steps * np.pi / (2 * self.size)
        gamma = steps * np.pi / self.size
        return np.repeat(beta, len(steps)), np.tile(gamma, len(steps))

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) sin beta, in units of its mean."""
        sine: Floats = np.sin(self.angles[0])
        sine /= sine.mean()
        return sine

    def sides(self, which: Indices) -> Iterator[list[Sides]]:
        """Sides of rectangles in latitude and longitude, with limits halfway between rows."""
        rows = np.full(2 * self.size, 2 * self.size)
        depths = 2 * np.sin(np.linspace(0, np.pi / 2, self.size + 1) / 2) ** 2
        return (band_sides(rows, 0.5, depths, *part) for part in chunks(which))

    @property
    def parents(self) -> Parents:
        """Each point belongs to the block of 2 x 2 that it is in."""
        row, column = np.divmod(np.arange(self.num_points), 2 * self.size)
        return Parents.of(row // 2 * self.size + column // 2, self.size**2)

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """The rotation by one longitude, half turns, a reflection."""
        return isometries_about_z("longitude_step", np.pi / self.size)


class Gaussian(Scattered):
    """Rows of points at Gauss-Legendre latitudes, north to south, each eastwards from longitude 0.

    Of F each row has 4 N points; of O the j-th row from a pole has 4 j + 16. Areas are the weights
    of the quadrature; levels are joined by nearest points. A size is "O32" or "F32".
    """

    name = "gaussian"
    field = "gaussian"
    longitudes = "[0, 2 pi)"
    schemas = "1.1", "1.1"  # 1.0 did not know them

    @classmethod
    def parse(cls, size: object, _base: Base) -> Size:
        """Take "O32" or "F32"."""
        text = size.strip().upper() if isinstance(size, str) else ""
        form = re.fullmatch(r"([OF])([0-9]{1,9})", text)
        if form is None or not GAUSSIAN.low <= int(form[2]) <= GAUSSIAN.high:
            accepted = f"O or F with a number of latitudes in {GAUSSIAN}, such as O32 (octahedral)"
            others = ", F32 (regular), or a classical reduced grid such as N32"
            raise SpecError("gaussian", f"{accepted}{others}", size)
        return f"{form[1]}{int(form[2])}"

    @classmethod
    def points(cls, size: Size) -> int:
        """8 N^2, of octahedral ones 4 N (N + 9)."""
        return sum(cls.row_lengths(size))

    @classmethod
    def row_lengths(cls, size: Size) -> list[int]:
        """(2 N) points of each row, north to south."""
        number = int(size[1:])
        half = [4 * j + 16 if size[0] == "O" else 4 * number for j in range(1, number + 1)]
        return half + half[::-1]

    @classmethod
    def coarser(cls, size: Size) -> Size | None:
        """Half of an even number of latitudes."""
        number = int(size[1:])
        return f"{size[0]}{number // 2}" if number % 2 == 0 and number >= 4 else None

    @classmethod
    def grid(cls, size: Size) -> tuple[int, ...]:
        """(latitudes, longitudes) of regular ones, with equally long rows; else (points,)."""
        if size[0] != "F":
            return super().grid(size)
        number = int(size[1:])
        return 2 * number, 4 * number

    @classmethod
    def described(cls, size: Size) -> str:
        """'octahedral Gaussian grid O32'."""
        return f"{'octahedral' if size[0] == 'O' else 'regular'} Gaussian grid {size}"

    @cached_property
    def _quadrature(self) -> tuple[Floats, Floats]:
        """(2 N,) heights of the rows, from the south, and their weights."""
        # The nodes: accurate and quick where there are thousands, unlike numpy's.
        from scipy.special import roots_legendre  # slow to import, most builds do without

        nodes, weights = roots_legendre(len(self.row_lengths(self.size)))
        return nodes, weights

    def sides(self, which: Indices) -> Iterator[list[Sides]]:
        """Sides of rectangles in latitude and longitude, each row as high as its weight."""
        rows = np.array(self.row_lengths(self.size))
        weights = self._quadrature[1]
        heights = weights[: len(rows) // 2]
        depths = np.append(0, np.cumsum(heights) / heights.sum())
        return (band_sides(rows, 0.0, depths, *part) for part in chunks(which))

    @cached_property
    def angles(self) -> tuple[Floats, Floats]:
        """(points,) colatitudes beta in (0, pi) and longitudes gamma in [0, 2 pi), radians."""
        rows = np.array(self.row_lengths(self.size))
        nodes = self._quadrature[0]
        place = np.arange(rows.sum()) - np.repeat(np.cumsum(rows) - rows, rows)
        gamma = place * np.repeat(2 * np.pi / rows, rows)
        return np.repeat(np.arccos(nodes[::-1]), rows), gamma

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas in units of their mean."""
        rows = np.array(self.row_lengths(self.size))
        weights = self._quadrature[1]
        areas: Floats = np.repeat(weights[::-1] / rows, rows)
        areas /= areas.mean()
        return areas

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """A turn by a longitude, or by 90 degrees; half turns; a reflection; if rows have them."""
        if self.size[0] == "F":
            return isometries_about_z("longitude_step", np.pi / (2 * int(self.size[1:])))
        return isometries_about_z("quarter_turn_z", np.pi / 2)


class ReducedGaussian(Gaussian):
    """The same with any number of points a row, such as the pl of a GRIB file says it.

    A size is the tuple of them, 2 N, north to south, the same on both halves. The next coarser
    level has half as many rows, each with half of the mean of the two that it is between, rounded
    up.
    """

    name = "reduced-gaussian"
    field = "pl"
    schemas = "1.6", "1.6"  # earlier ones did not know them

    @classmethod
    def parse(cls, size: object, _base: Base) -> Size:
        """Take a sequence of numbers, or a text with commas."""
        low, high = 2 * GAUSSIAN.low, 2 * GAUSSIAN.high
        accepted = (
            f"points of each latitude, north to south, an even number of them in [{low}, {high}], "
            f"each in {ROW}, the same on both halves of the sphere"
        )
        given = numbers(size)
        rows = tuple(map(int, given))
        whole = rows == tuple(given) and low <= len(rows) <= high and len(rows) % 2 == 0
        if not whole or not ROW.low <= min(rows) <= max(rows) <= ROW.high:
            raise SpecError("pl", accepted, size)
        if rows != rows[::-1]:
            half = "Of a half, give both: `pl + pl[::-1]`." if _grows(rows) else ""
            raise SpecError("pl", accepted, size, half)
        return rows

    @classmethod
    def row_lengths(cls, size: Size) -> list[int]:
        """(2 N) points of each row, north to south."""
        return list(size)

    @classmethod
    def coarser(cls, size: Size) -> Size | None:
        """Half of an even number of latitudes on each half of the sphere."""
        if len(size) % 4 or len(size) < 4 * GAUSSIAN.low:
            return None
        pairs = zip(size[::2], size[1::2], strict=True)
        return tuple(max(-(-(one + other) // 4), ROW.low) for one, other in pairs)

    @classmethod
    def name_parts(cls, size: Size) -> tuple[object, ...]:
        """N, and the first digits of a digest of the numbers; without these if N says them."""
        if (name := classical_name(size)) is not None:
            return (name,)
        digest = hashlib.sha256(",".join(map(str, size)).encode()).hexdigest()
        return (f"N{len(size) // 2}-{digest[:8]}",)

    @classmethod
    def described(cls, size: Size) -> str:
        """'reduced Gaussian grid, 64 latitudes of 20 to 128 points'."""
        rows = f"{len(size)} latitudes of {min(size)} to {max(size)} points"
        name = classical_name(size)
        return f"reduced Gaussian grid{f' {name}' if name else ''}, {rows}"


def _grows(rows: tuple[int, ...]) -> bool:
    """True if no row is shorter than the one before it, as from a pole to the equator."""
    return all(few <= many for few, many in itertools.pairwise(rows))
