"""Gaussian grids, as weather models have them: regular ones, F32, and octahedral ones, O32.

Their latitudes are the nodes of Gauss-Legendre quadrature, N on each half of the sphere.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import GAUSSIAN
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.kind import SamplingKind, Setting, Size
from cheblienet_graphs.samplings.scattered import ScatteredSphere
from cheblienet_graphs.samplings.sphere import (
    HALF_TURN_X,
    HALF_TURN_Z,
    REFLECTION_Y,
    turn_z,
    unit_vectors,
)
from cheblienet_graphs.typing import Floats

FORM = re.compile(r"([OF])([0-9]{1,9})")


@dataclass(frozen=True)
class Gaussian(ScatteredSphere, SamplingKind):
    """Rows of points at Gauss-Legendre latitudes, north to south, each eastwards from longitude 0.

    Of F each row has 4 N points; of O the j-th row from a pole has 4 j + 16. Areas are the weights
    of the quadrature; levels are joined by nearest points.

    Args:
        size: "O32" or "F32".
    """

    size: str = "F2"

    name = "gaussian"
    field = "gaussian"
    longitudes = "[0, 2 pi)"
    schemas = "1.1", "1.1"  # 1.0 did not know them

    @classmethod
    def parse(cls, size: object, base: Base) -> Size:
        """Take "O32" or "F32"."""
        del base
        form = FORM.fullmatch(size.strip().upper()) if isinstance(size, str) else None
        if form is None or not GAUSSIAN.low <= int(form[2]) <= GAUSSIAN.high:
            accepted = f"O or F with a number of latitudes in {GAUSSIAN}, such as O32 (octahedral)"
            raise SpecError("gaussian", f"{accepted} or F32 (regular)", size)
        return f"{form[1]}{int(form[2])}"

    @classmethod
    def points(cls, size: Size) -> int:
        """8 N^2, of octahedral ones 4 N (N + 9)."""
        return 2 * sum(_half(size))

    @classmethod
    def coarser(cls, size: Size) -> Size | None:
        """Half of an even number of latitudes."""
        number = int(size[1:])
        return f"{size[0]}{number // 2}" if number % 2 == 0 and number >= 4 else None

    @classmethod
    def grid(cls, size: Size) -> tuple[int, ...]:
        """(latitudes, longitudes) of regular ones."""
        number = int(size[1:])
        return (2 * number, 4 * number) if size[0] == "F" else (cls.points(size),)

    @classmethod
    def links(cls, fine: Size, coarse: Size) -> int:
        """At most one for each point, as coarser points of which none is the nearest have one."""
        return cls.points(fine) + cls.points(coarse)

    @classmethod
    def described(cls, size: Size) -> str:
        """'octahedral Gaussian grid O32'."""
        return f"{'octahedral' if size[0] == 'O' else 'regular'} Gaussian grid {size}"

    @classmethod
    def sampled(cls, size: Size, setting: Setting) -> "Gaussian":
        """The grid of this size."""
        return cls(setting.orientations, setting.manifold.fibre, size)

    @cached_property
    def _rows(self) -> tuple[Floats, Floats, Floats]:
        """(points,) colatitudes, longitudes and areas in units of their mean."""
        # The nodes: accurate and quick where there are thousands, unlike numpy's.
        from scipy.special import roots_legendre  # slow to import, most builds do without

        half = _half(self.size)
        rows = np.array(half + half[::-1])
        nodes, weights = roots_legendre(len(rows))
        first = np.cumsum(rows) - rows
        gamma = (np.arange(rows.sum()) - np.repeat(first, rows)) * np.repeat(2 * np.pi / rows, rows)
        areas = np.repeat(weights[::-1] / rows, rows)
        return np.repeat(np.arccos(nodes[::-1]), rows), gamma, areas / areas.mean()

    @cached_property
    def angles(self) -> tuple[Floats, Floats]:
        """(points,) colatitudes beta in (0, pi) and longitudes gamma in [0, 2 pi), radians."""
        return self._rows[:2]

    @cached_property
    def base_points(self) -> Floats:
        """(points, 3) unit vectors."""
        return unit_vectors(*self.angles)

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas in units of their mean."""
        return self._rows[2]

    @property
    def coarser_points(self) -> Floats | None:
        """(coarser points, 3) unit vectors of the next coarser level; None where there is none."""
        coarser = self.coarser(self.size)
        return None if coarser is None else Gaussian(size=coarser).base_points

    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """The rotation by a longitude, or a quarter; half turns, a reflection."""
        if self.size[0] == "F":
            yield "longitude_step", turn_z(math.pi / (2 * int(self.size[1:])))
        else:
            yield "quarter_turn_z", turn_z(math.pi / 2)
        yield "half_turn_x", HALF_TURN_X
        yield "half_turn_z", HALF_TURN_Z
        yield "reflection", REFLECTION_Y


def _half(size: str) -> list[int]:
    """Numbers of points in the rows of one half, from the pole to the equator."""
    number = int(size[1:])
    return [4 * j + 16 if size[0] == "O" else 4 * number for j in range(1, number + 1)]
