"""The samplings, by name: what their sizes are, how many points that makes, what is coarser.

Only the standard library is imported here; the points themselves are in the files beside this one.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import BANDLIMIT, NSIDE, POINTS, SIDE, SUBDIVISIONS
from cheblienet_graphs.values import integer, parsed

Size = Any
"""(width, height) of a lattice, one integer for the other samplings."""


@dataclass(frozen=True)
class SamplingKind:
    """A way of choosing points, its size left open.

    Args:
        name: of the sampling.
        bases: what it can sample, "plane" or "sphere".
        field: the field of GraphSpec that holds its size.
        parse: checks a size and normalises it.
        points: number of points that a size makes.
        coarser: the size of the next coarser level, or None where there is none.
        grid: shape in which a signal on the points is laid out; (height, width) on a lattice.
    """

    name: str
    bases: tuple[str, ...]
    field: str
    parse: Callable[[object], Size]
    points: Callable[[Size], int]
    coarser: Callable[[Size], Size | None]
    grid: Callable[[Size], tuple[int, ...]]

    def sizes(self, size: Size) -> list[Size]:
        """The size and all coarser ones, finest first."""
        found = [size]
        while (coarser := self.coarser(found[-1])) is not None:
            found.append(coarser)
        return found


def _lattice_size(size: object) -> tuple[int, int]:
    accepted = f"N or WxH, width and height in {SIDE} (WxH is for image tensors (B, C, H, W))"
    sides: Sequence[object]
    if isinstance(size, str):
        sides = size.lower().split("x")
    elif isinstance(size, Sequence):
        sides = size
    else:
        sides = (size,)
    try:
        numbers = [parsed(side) for side in sides]
    except (ValueError, TypeError):
        raise SpecError("size", accepted, size) from None
    if len(numbers) == 1:
        numbers *= 2
    if len(numbers) != 2 or not all(n.is_integer() and SIDE.low <= n <= SIDE.high for n in numbers):
        raise SpecError("size", accepted, size)
    return int(numbers[0]), int(numbers[1])


def _halved_lattice(size: tuple[int, int]) -> tuple[int, int] | None:
    if any(side % 2 or side < 4 for side in size):
        return None
    return size[0] // 2, size[1] // 2


def _nside(value: object) -> int:
    accepted = f"a power of two in {NSIDE}"
    nside = integer("nside", value, *NSIDE, accepted)
    if nside & (nside - 1):
        raise SpecError("nside", accepted, value)
    return nside


_ALL = (
    SamplingKind(
        "lattice",
        ("plane",),
        "size",
        _lattice_size,
        math.prod,
        _halved_lattice,
        lambda size: (size[1], size[0]),
    ),
    SamplingKind(
        "icosahedral",
        ("sphere",),
        "subdivisions",
        lambda value: integer("subdivisions", value, *SUBDIVISIONS),
        lambda subdivisions: 10 * 4**subdivisions + 2,
        lambda subdivisions: subdivisions - 1 if subdivisions else None,
        lambda subdivisions: (10 * 4**subdivisions + 2,),
    ),
    SamplingKind(
        "healpix",
        ("sphere",),
        "nside",
        _nside,
        lambda nside: 12 * nside**2,
        lambda nside: nside // 2 if nside > 1 else None,
        lambda nside: (12 * nside**2,),
    ),
    SamplingKind(
        "equiangular",
        ("sphere",),
        "bandlimit",
        lambda value: integer("bandlimit", value, *BANDLIMIT),
        lambda bandlimit: 4 * bandlimit**2,
        lambda bandlimit: bandlimit // 2 if bandlimit % 2 == 0 else None,
        lambda bandlimit: (2 * bandlimit, 2 * bandlimit),
    ),
    SamplingKind(
        "random",
        ("plane", "sphere"),
        "points",
        lambda value: integer("points", value, *POINTS),
        int,
        lambda _: None,
        lambda points: (points,),
    ),
)

SAMPLINGS = {kind.name: kind for kind in _ALL}


def sampling_names(base: str) -> tuple[str, ...]:
    """Names of the samplings of a base, the default first."""
    return tuple(kind.name for kind in _ALL if base in kind.bases)
