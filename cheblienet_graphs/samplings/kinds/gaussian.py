"""Gaussian grids, as weather models have them: regular ones, F32, and octahedral ones, O32.

Their latitudes are the nodes of Gauss-Legendre quadrature, N on each half of the sphere.
"""

import math
import re
from typing import TYPE_CHECKING

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import GAUSSIAN
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.kinds.kind import SamplingKind, Setting, Size

if TYPE_CHECKING:
    from cheblienet_graphs.samplings.protocol import Sampling
    from cheblienet_graphs.typing import Floats

FORM = re.compile(r"([OF])([0-9]{1,9})")


class GaussianKind(SamplingKind):
    """Rows of points at Gauss-Legendre latitudes, north to south, each eastwards from longitude 0.

    Of F each row has 4 N points; of O the j-th row from a pole has 4 j + 16.
    """

    name = "gaussian"
    field = "gaussian"
    bases = ("sphere",)
    longitudes = "[0, 2 pi)"

    def parse(self, size: object, base: Base) -> Size:
        """Take "O32" or "F32"."""
        del base
        found = FORM.fullmatch(size.strip().upper()) if isinstance(size, str) else None
        if found is None or not GAUSSIAN.low <= int(found[2]) <= GAUSSIAN.high:
            accepted = f"O or F with a number of latitudes in {GAUSSIAN}, such as O32 (octahedral)"
            raise SpecError("gaussian", f"{accepted} or F32 (regular)", size)
        return f"{found[1]}{int(found[2])}"

    def points(self, size: Size) -> int:
        """8 N^2, of octahedral ones 4 N (N + 9)."""
        return 2 * sum(_half(size))

    def coarser(self, size: Size) -> Size | None:
        """Half of an even number of latitudes."""
        number = int(size[1:])
        return f"{size[0]}{number // 2}" if number % 2 == 0 and number >= 4 else None

    def grid(self, size: Size) -> tuple[int, ...]:
        """(latitudes, longitudes) of regular ones."""
        number = int(size[1:])
        return (2 * number, 4 * number) if size[0] == "F" else (self.points(size),)

    def links(self, fine: Size, coarse: Size) -> int:
        """At most one for each point, as coarser points of which none is the nearest have one."""
        return self.points(fine) + self.points(coarse)

    def schema(self, levels: int) -> str:
        """1.1, as 1.0 did not know them."""
        del levels
        return "1.1"

    def described(self, size: Size, seed: int | None) -> str:
        """'octahedral Gaussian grid O32'."""
        del seed
        return f"{'octahedral' if size[0] == 'O' else 'regular'} Gaussian grid {size}"

    def sampled(self, size: Size, setting: Setting) -> "Sampling":
        """The grid of this size."""
        # They need numpy, which help does without.
        from cheblienet_graphs.samplings.scattered import GivenSphere
        from cheblienet_graphs.samplings.sphere import (
            HALF_TURN_X,
            HALF_TURN_Z,
            REFLECTION_Y,
            turn_z,
        )

        beta, gamma, areas = _grid(size)
        coarser = self.coarser(size)
        step = ("quarter_turn_z", turn_z(math.pi / 2))
        if size[0] == "F":
            step = ("longitude_step", turn_z(math.pi / (2 * int(size[1:]))))
        return GivenSphere(
            orientations=setting.orientations,
            fibre=setting.manifold.fibre,
            points=_unit_vectors(beta, gamma),
            known_areas=areas,
            coarser=None if coarser is None else _unit_vectors(*_grid(coarser)[:2]),
            known_angles=(beta, gamma),
            motions=(
                step,
                ("half_turn_x", HALF_TURN_X),
                ("half_turn_z", HALF_TURN_Z),
                ("reflection", REFLECTION_Y),
            ),
        )


def _half(size: str) -> list[int]:
    """Numbers of points in the rows of one half, from the pole to the equator."""
    number = int(size[1:])
    return [4 * j + 16 if size[0] == "O" else 4 * number for j in range(1, number + 1)]


def _grid(size: str) -> "tuple[Floats, Floats, Floats]":
    """(points,) colatitudes, longitudes and areas in units of their mean."""
    import numpy as np  # help does without

    # The nodes: accurate and quick where there are thousands, unlike numpy's.
    from scipy.special import roots_legendre

    half = _half(size)
    rows = np.array(half + half[::-1])
    nodes, weights = roots_legendre(len(rows))
    first = np.cumsum(rows) - rows
    gamma = (np.arange(rows.sum()) - np.repeat(first, rows)) * np.repeat(2 * np.pi / rows, rows)
    areas = np.repeat(weights[::-1] / rows, rows)
    return np.repeat(np.arccos(nodes[::-1]), rows), gamma, areas / areas.mean()


def _unit_vectors(beta: "Floats", gamma: "Floats") -> "Floats":
    import numpy as np  # help does without

    across = np.sin(beta)
    return np.stack([across * np.cos(gamma), across * np.sin(gamma), np.cos(beta)], axis=1)
