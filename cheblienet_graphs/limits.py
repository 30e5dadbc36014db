"""The numbers and words that are accepted; values parsed, checked, and refused in one clear line.

Checks and help pages both take ranges from here.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from cheblienet_graphs.errors import SpecError, quoted

N = TypeVar("N", bound=float)


class Range(NamedTuple, Generic[N]):
    """Numbers from `low` to `high`, both included; whole ones where both are."""

    low: N
    high: N

    def __str__(self) -> str:
        low, high = (str(end) if isinstance(end, int) else f"{end:g}" for end in self)
        return f"[{low}, {high}]"


SIDE = Range(2, 65_536)
SUBDIVISIONS = Range(0, 9)
REFINED_SUBDIVISIONS = 12
"""Most of an icosphere in a region."""
REFINED_POINTS = 2**24
"""Most points that such an icosphere has there."""
NSIDE = Range(1, 8_192)
BANDLIMIT = Range(1, 16_384)
GAUSSIAN = Range(2, 8_192)
"""Latitudes of a Gaussian grid on each half of the sphere."""
ROW = Range(4, 65_536)
"""Points of a latitude of a reduced Gaussian grid."""
POINTS = Range(2, 2**31 - 1)
ASPECT = Range(1e-6, 1e6)
"""Height of the domain of given points, in units of its width."""
SPACING = Range(1e-3, 1e3)
"""Sides of voxels, in units of that along x."""
SEED = Range(0, 2**32 - 1)
ORIENTATIONS = Range(1, 180)
ALPHA = Range(1e-6, 1e6)
XI = Range(1e-6, 1e6)
IN_PLANE_FRACTION = Range(0.01, 0.99)
EPS = Range(0.001, 1)
EPS_SQUARED = Range(EPS.low**2, EPS.high**2)
DIRECTIONAL = EPS_SQUARED
"""Diffusivity across a direction, in units of that along it."""
DRIFT = Range(0.001, 1)
"""Slack of first moments, in units of sum_j w_ij c_ij^2, its mean."""
NEIGHBORS = Range(1, 1024)
RADIUS = Range(1e-6, 1e6)
"""Within which sources of a map are, in units of length of the domain."""
CUTOFF = Range(1e-3, 1e3)
"""The same, in units of the largest spacing of the targets."""
BANDWIDTH = Range(0.01, 100)
EIGENPAIRS = Range(1, 1000)
"""Eigenpairs of a level; no more than it has vertices."""
EIGENVALUES = Range(0, 1000)
"""Eigenvalues in a report."""
WORKERS = Range(1, 1024)
VERTICES = 2**34
"""Largest number of vertices of a level."""
BOUNDARIES = ("open", "periodic")
KERNELS = ("gaussian", "laplace", "cauchy", "rectangular")
MASK_EDGES = ("pixels", "cut")
LAPLACIANS = ("normalized", "combinatorial")
CLASSICAL_GRIDS = ("N32", "N48", "N80", "N128", "N160", "N320", "N640")
"""Reduced Gaussian grids with points that are known by name."""
AXES = {
    **{str(count): count for count in (3, 4, 6, 7, 12, 13, 22, 43)},
    **{f"ico{count}": count for count in (6, 21, 81)},
}
"""Number of axes in each set, by its name."""
DEFAULT_AXES = "12"
DEFAULT_ORIENTATIONS = {"pi": 6, "2pi": 8}
"""By the name of their period."""
SMALLEST_DEFAULT_SIDE = 8
"""Coarser levels with a shorter side are left out of the default pyramid."""
SMALLEST_DEFAULT_POINTS = 42
"""Coarser levels with fewer points are, where points have no grid."""


Number = float | int | str
Given = Mapping[str, Any]
"""Parameters by name, None where they were left out."""

BYTES = {None: 1.0} | {
    f"{unit}{i}": base**power
    for i, base in (("", 1e3), ("i", 1024.0))
    for power, unit in enumerate("kmgt", 1)
}


def choice(field: str, value: object, accepted: tuple[str, ...]) -> str:
    """The word itself, if it is accepted.

    Raises:
        SpecError: something else.
    """
    if isinstance(value, str) and value in accepted:
        return value
    raise SpecError(field, f"one of {', '.join(accepted)}", value)


def left_out(field: str, value: object, where: str, remedy: str = "") -> None:
    """See that a field is not given where it does not apply.

    Raises:
        SpecError: it is, being other than None.
    """
    if value is not None:
        raise SpecError(field, f"left out {where}", value, remedy)


def number(field: str, value: object, low: float, high: float, kind: str = "a number") -> float:
    """A number in [low, high].

    Raises:
        SpecError: something else.
    """
    return _between(field, value, low, high, f"{kind} in [{low:g}, {high:g}]")


def integer(field: str, value: object, low: int, high: int, accepted: str | None = None) -> int:
    """A whole number in [low, high]; 6, 6.0 and "6" are the same.

    Raises:
        SpecError: something else.
    """
    accepted = accepted or f"an integer in [{low}, {high}]"
    read = _between(field, value, low, high, accepted)
    if not read.is_integer():
        raise SpecError(field, accepted, value)
    return int(read)


def _between(field: str, value: object, low: float, high: float, accepted: str) -> float:
    try:
        read = parsed(value)
    except (ValueError, TypeError):
        raise SpecError(field, accepted, value) from None
    if not low <= read <= high:
        raise SpecError(field, accepted, value)
    return read


def parsed(value: object) -> float:
    """A finite float from a number or from text such as '0.1', '1e-3' or '1/10'.

    Raises:
        ValueError, TypeError: it is none.
    """
    if isinstance(value, str):
        numerator, slash, denominator = value.partition("/")
        result = float(numerator) / (float(denominator) or math.nan) if slash else float(numerator)
    elif isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError
    else:
        try:
            result = float(value)
        except OverflowError:
            raise ValueError from None
    if not math.isfinite(result):
        raise ValueError
    return result


def numbers(value: object) -> list[float]:
    """The finite numbers of a sequence, or of a text with commas; empty where it is neither."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, Iterable) or isinstance(parts, set | Mapping):
        return []
    try:
        return [parsed(part) for part in parts]
    except (ValueError, TypeError):
        return []


def byte_count(field: str, value: object) -> int:
    """A number of bytes, from a number or from text such as "2GB", "500 mb" or "1.5GiB".

    Raises:
        SpecError: something else.
    """
    try:
        match = re.fullmatch(r"\s*(\S*?)\s*([kmgt]i?)?b?\s*", str(value).lower())
        count = int(parsed(match[1]) * BYTES[match[2]]) if match else 0
    except (ValueError, OverflowError):  # also of integers too long to be written
        count = 0
    if count <= 0:
        raise SpecError(field, "a size such as 500MB or 2GB", value)
    return count


def file_path(field: str, value: object) -> Path:
    """The path of a file or a folder, "~" expanded.

    Raises:
        SpecError: it is neither text nor a Path, or there is no such home folder.
    """
    if not isinstance(value, str | PathLike):
        raise SpecError(field, "a path, text or a pathlib.Path", value)
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise SpecError(field, "below a home folder that exists", str(value)) from None


def flag(field: str, value: object) -> bool:
    """The truth of a value that can only be true or false.

    Raises:
        SpecError: something else.
    """
    if not isinstance(value, bool) and type(value).__name__ not in {"bool", "bool_"}:  # of numpy
        raise SpecError(field, "True or False", value)
    return bool(value)


def refuse_unknown(names: Iterable[str], known: Sequence[str]) -> None:
    """Refuse arguments that are not known, with the nearest known name for each.

    Raises:
        TypeError: there is one.
    """
    for name in names:
        nearest = get_close_matches(name, known, 1)
        meant = f"did you mean {nearest[0]}?" if nearest else f"there are {', '.join(known)}."
        raise TypeError(f"GraphSpec has no argument {quoted(name)}; {meant}")


def callback(field: str, value: object) -> None:
    """Check that something can be called, or is left out.

    Raises:
        SpecError: it can't.
    """
    if value is not None and not callable(value):
        raise SpecError(field, "a function, or None", value)
