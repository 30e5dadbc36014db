"""What to build: a frozen, validated, hashable description.

Only the standard library is imported here, so that the command line can show its help at once.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Literal

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.manifolds import MANIFOLDS, Manifold, Metric
from cheblienet_graphs.weights.kernels import KERNELS

BOUNDARIES = ("open", "periodic")
MAX_SIDE = 65_536
MAX_VERTICES = 2**34
MAX_ORIENTATIONS = 180
MAX_NEIGHBORS = 1024
SMALLEST_DEFAULT_SIDE = 8
"""The default pyramid stops halving before a side would fall below this."""

Number = float | int | str


@dataclass(frozen=True, init=False)
class GraphSpec:
    """A build: manifold, lattice, metric, neighbour rule, weights and pyramid.

    Values are normalised (96, 96.0 and "96"; 0.1 and "1/10"), so that equal builds have equal
    digests. The defaults are the paper's.

    Args:
        manifold: "r2" or "se2".
        size: pixels of the finest level, `N`, `"WxH"` or `(W, H)`: width times height, at least 2
            each. An image tensor then has shape (B, C, H, W).
        orientations: n_o in [1, 180], samples of theta in [-pi/2, pi/2); default 6. Only on se2.
        eps: anisotropy in R = diag(1, eps^-2, xi^2), in [0.001, 1]; default sqrt(0.1) on se2, and
            always 1 on r2, which has no orientation to be anisotropic about.
        eps_squared: the same as its square, in [1e-6, 1]; give one of the two.
        xi: the orientation weight of the finest level, in [1e-6, 1e6], or "alpha" (default):
            xi^2 = alpha n_o h^2, h the pixel size 1/W. Coarser levels keep the finest level's
            alpha. Only on se2.
        alpha: in [1e-6, 1e6], default 1; exclusive with a number for xi. Only on se2.
        neighbors: K in [1, 1024], at most this many neighbours; default 16 on se2, 8 on r2.
        kernel: "gaussian" (default), "laplace", "cauchy" or "rectangular".
        bandwidth: t = bandwidth x mean squared distance, in [0.01, 100]; default 0.2.
        boundary: "open" (default) or "periodic".
        levels: number of graphs in the pyramid; each level halves both sides. Default: while both
            sides are even and their halves at least 8.
        lambda_max: "exact" (default), or 2, the bound that holds for every graph.

    Raises:
        SpecError: a value is of the wrong type or out of range; the message names the field, the
            accepted range and the value found.
    """

    manifold: str
    size: tuple[int, int]
    orientations: int
    eps: float
    xi: float | Literal["alpha"] | None
    alpha: float | None
    neighbors: int
    kernel: str
    bandwidth: float
    boundary: str
    levels: int
    lambda_max: Literal["exact", 2]

    def __init__(
        self,
        manifold: str,
        size: Number | Sequence[Number],
        *,
        orientations: Number | None = None,
        eps: Number | None = None,
        eps_squared: Number | None = None,
        xi: Number | None = None,
        alpha: Number | None = None,
        neighbors: Number | None = None,
        kernel: str = "gaussian",
        bandwidth: Number = 0.2,
        boundary: str = "open",
        levels: Number | None = None,
        lambda_max: Number = "exact",
    ) -> None:
        geometry = MANIFOLDS[_choice("manifold", manifold, tuple(MANIFOLDS))]
        width, height = _size(size)
        fibre = _fibre(geometry, orientations, xi, alpha)
        if neighbors is None:
            neighbors = geometry.default_neighbors
        normalised = {
            "manifold": geometry.name,
            "size": (width, height),
            **fibre,
            "eps": _anisotropy(geometry, eps, eps_squared),
            "neighbors": _integer("neighbors", neighbors, 1, MAX_NEIGHBORS),
            "kernel": _choice("kernel", kernel, tuple(KERNELS)),
            "bandwidth": _number("bandwidth", bandwidth, 0.01, 100),
            "boundary": _choice("boundary", boundary, BOUNDARIES),
            "levels": _levels(levels, width, height),
            "lambda_max": _lambda_max(lambda_max),
        }
        for field, value in normalised.items():
            object.__setattr__(self, field, value)
        if self.num_vertices > MAX_VERTICES:
            raise SpecError(
                "size",
                f"such that there are at most {MAX_VERTICES} vertices",
                "x".join(map(str, self.shape)),
            )

    @property
    def geometry(self) -> Manifold:
        """The manifold itself."""
        return MANIFOLDS[self.manifold]

    @property
    def shape(self) -> tuple[int, ...]:
        """(width, height) of the finest level, and orientations where the manifold has them."""
        return (*self.size, self.orientations) if self.geometry.oriented else self.size

    @property
    def num_vertices(self) -> int:
        """Vertices of the finest level."""
        return math.prod(self.shape)

    @property
    def default_name(self) -> str:
        """The name under which the graph is published unless another is given."""
        return f"{self.manifold}-{'x'.join(map(str, self.shape))}"

    def level_size(self, level: int) -> tuple[int, int]:
        """(width, height) of a level, 0 the finest."""
        width, height = self.size
        return width >> level, height >> level

    def metric(self, level: int) -> Metric:
        """The metric of a level, lengths in units of the finest level's width.

        xi^2 = alpha n_o h^2 with the same alpha on every level, so all neighbourhoods look alike.
        """
        width, _ = self.level_size(level)
        if isinstance(self.xi, float):
            return Metric(self.eps, self.xi * self.size[0] / width)
        if self.alpha is None:
            return Metric(self.eps)
        return Metric(self.eps, math.sqrt(self.alpha * self.orientations) / width)

    def to_dict(self) -> dict[str, Any]:
        """The normalised values as JSON types; fields that do not apply are left out."""
        values = {name: value for name, value in asdict(self).items() if value is not None}
        return values | {"size": list(self.size)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "GraphSpec":
        """The spec of which `values` is the `to_dict()`."""
        fields = dict(values)
        if not MANIFOLDS[_choice("manifold", fields.get("manifold"), tuple(MANIFOLDS))].oriented:
            fields.pop("orientations", None)
        return cls(**fields)

    @property
    def sha256(self) -> str:
        """Hex digest of the canonical JSON of `to_dict()`."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _fibre(
    geometry: Manifold, orientations: Number | None, xi: Number | None, alpha: Number | None
) -> dict[str, Any]:
    given = {"orientations": orientations, "xi": xi, "alpha": alpha}
    if not geometry.oriented:
        for field, value in given.items():
            if value is not None:
                raise SpecError(
                    field, f"left out on {geometry.name}, which has no orientations", value
                )
        return {"orientations": 1, "xi": None, "alpha": None}
    count = _integer(
        "orientations", 6 if orientations is None else orientations, 1, MAX_ORIENTATIONS
    )
    if xi is None or xi == "alpha":
        return {
            "orientations": count,
            "xi": "alpha",
            "alpha": _number("alpha", 1 if alpha is None else alpha, 1e-6, 1e6),
        }
    if alpha is not None:
        raise SpecError("xi", "left out where alpha is given", xi, "Give one of the two.")
    return {
        "orientations": count,
        "xi": _number("xi", xi, 1e-6, 1e6, "'alpha', or a number"),
        "alpha": None,
    }


def _anisotropy(geometry: Manifold, eps: Number | None, eps_squared: Number | None) -> float:
    if eps is not None and eps_squared is not None:
        raise SpecError("eps", "left out where eps_squared is given", eps, "Give one of the two.")
    if eps_squared is not None:
        field, value = "eps_squared", math.sqrt(_number("eps_squared", eps_squared, 1e-6, 1))
    else:
        field = "eps"
        value = _number("eps", geometry.default_eps if eps is None else eps, 0.001, 1)
    if not geometry.oriented and value != 1:
        remedy = "Use se2 for an anisotropic metric."
        raise SpecError(field, f"1 on {geometry.name}, which is isotropic", value, remedy)
    return value


def _size(size: Number | Sequence[Number]) -> tuple[int, int]:
    accepted = (
        f"N or WxH, width and height in [2, {MAX_SIDE}] (WxH is for image tensors (B, C, H, W))"
    )
    sides: Sequence[Number]
    if isinstance(size, str):
        sides = size.lower().split("x")
    elif isinstance(size, Sequence):
        sides = size
    else:
        sides = (size,)
    try:
        numbers = [_parsed(side) for side in sides]
    except (ValueError, TypeError):
        raise SpecError("size", accepted, size) from None
    if len(numbers) == 1:
        numbers *= 2
    if len(numbers) != 2 or not all(n.is_integer() and 2 <= n <= MAX_SIDE for n in numbers):
        raise SpecError("size", accepted, size)
    return int(numbers[0]), int(numbers[1])


def _levels(levels: Number | None, width: int, height: int) -> int:
    possible = 1
    while _halves(width, height, possible, at_least=2):
        possible += 1
    if levels is not None:
        accepted = (
            f"an integer in [1, {possible}] for {width}x{height} (width x height; images "
            f"(B, C, {height}, {width})): each level halves both sides, which must come out whole "
            "and at least 2"
        )
        return _integer("levels", levels, 1, possible, accepted)
    count = 1
    while _halves(width, height, count, at_least=SMALLEST_DEFAULT_SIDE):
        count += 1
    return count


def _halves(width: int, height: int, times: int, *, at_least: int) -> bool:
    return all(side % 2**times == 0 and side >> times >= at_least for side in (width, height))


def _lambda_max(value: Number) -> Literal["exact", 2]:
    if value == "exact":
        return "exact"
    if value in {2, "2"} and not isinstance(value, bool):
        return 2
    raise SpecError("lambda_max", "'exact' or 2", value)


def _choice(field: str, value: object, accepted: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in accepted:
        return value
    raise SpecError(field, f"one of {', '.join(accepted)}", value)


def _number(field: str, value: Number, low: float, high: float, kind: str = "a number") -> float:
    accepted = f"{kind} in [{low:g}, {high:g}]"
    try:
        number = _parsed(value)
    except (ValueError, TypeError):
        raise SpecError(field, accepted, value) from None
    if not low <= number <= high:
        raise SpecError(field, accepted, value)
    return number


def _integer(field: str, value: Number, low: int, high: int, accepted: str | None = None) -> int:
    accepted = accepted or f"an integer in [{low}, {high}]"
    try:
        number = _parsed(value)
    except (ValueError, TypeError):
        raise SpecError(field, accepted, value) from None
    if not (low <= number <= high and number.is_integer()):
        raise SpecError(field, accepted, value)
    return int(number)


def _parsed(value: object) -> float:
    """A finite float from a number or from text such as '0.1', '1e-3' or '1/10'."""
    if isinstance(value, str):
        numerator, slash, denominator = value.partition("/")
        number = float(numerator) / (float(denominator) or math.nan) if slash else float(numerator)
    elif isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError
    else:
        try:
            number = float(value)
        except OverflowError:
            raise ValueError from None
    if not math.isfinite(number):
        raise ValueError
    return number
