"""The manifolds over the plane and over space: points alone, with orientations, or with axes."""

import math
from collections.abc import Iterator
from typing import Any

from cheblienet_graphs.manifolds.base import AXES, PERIODS, PLANE, SPACE, Angles, Base, Metric
from cheblienet_graphs.manifolds.manifold import Diffusion, Manifold, Point
from cheblienet_graphs.manifolds.sphere import TINY

FULL_TURN = PERIODS["2pi"]
Vector = tuple[Any, Any, Any]


class Translations(Manifold):
    """Points of R^d; the distance is the Euclidean one (eps = 1).

    Args:
        base: that they act on.
        axes: names of the coordinates, with their directions in words.
        neighbors: K by default.
        selling: largest degree of Selling's stencils.
        anisotropic: as of `Manifold`.
    """

    operator_in_words = "the Laplacian -div grad, per width^2"

    def __init__(
        self,
        base: Base,
        axes: dict[str, str],
        *,
        neighbors: int,
        selling: int,
        anisotropic: str | None = None,
    ) -> None:
        self.name, self.title = f"r{len(axes)}", f"R^{len(axes)}"
        self.base, self.columns = base, tuple(axes)
        self.frame = self.columns
        self.anisotropic = anisotropic
        self.default_neighbors, self.selling_neighbors = neighbors, selling
        *first, last = (f"{axis} ({along})" for axis, along in axes.items())
        self.coordinates_in_words = f"{', '.join(first)} and {last} in widths of the {{domain}}"

    def logarithms(self, g: Point, h: Point) -> Iterator[Point]:
        """The displacement h - g, the only candidate."""
        yield tuple(end - start for start, end in zip(g, h, strict=True))

    def diffusion(self, _sample: tuple[float, ...], _metric: Metric) -> Diffusion:
        """Equally fast along all axes."""
        axes = range(self.base.dimension)
        return tuple((1.0, tuple(float(a == b) for b in axes)) for a in axes)


_PLANE_AXES = {"x": "right", "y": "down"}
_SPACE_AXES = {"x": "width", "y": "height", "z": "depth"}
R2 = Translations(PLANE, _PLANE_AXES, neighbors=8, selling=4, anisotropic="se2")
R3 = Translations(SPACE, _SPACE_AXES, neighbors=18, selling=6)


class SE2(Manifold):
    """Elements (x, y, theta), theta in radians modulo the period.

    Modulo pi, theta and theta + pi are the same orientation: that of a line. Modulo 2 pi they are
    opposite ones, as of arrows.

    Args:
        period: name of it, "pi" or "2pi".
    """

    name = "se2"
    title = "SE(2)"
    columns = ("x", "y", "theta")
    frame = ("forward", "sideways", "rotation")
    base = PLANE
    fiber: Angles
    default_neighbors = 16
    default_eps = math.sqrt(0.1)
    selling_neighbors = 8
    coordinates_in_words = (
        "x (right) and y (down) in widths of the {domain}, theta from x toward y, in {angles}"
    )
    operator_in_words = "-(d_forward^2 + eps^2 d_sideways^2 + xi^-2 d_rotation^2), per width^2"

    def __init__(self, period: str = "pi") -> None:
        self.fiber = Angles(("theta",), PERIODS[period])

    def logarithms(self, g: Point, h: Point) -> Iterator[Point]:
        """Components (c1, c2, c3) of log g^-1 h; modulo pi of log g^-1 h p, p the half turn, too.

        With (x, y, a) = g^-1 h and a wrapped into [-pi, pi], (c1, c2) = Rot(-a/2)(x, y) / sinc(a/2)
        and c3 = a: the closed form of the matrix logarithm, written so that it is regular at 0
        and at +-pi (the paper prints it with a cotangent, which is not). Rotating into g's frame
        and by -a/2 is one rotation, by the mean of both orientations: hence exact symmetry.
        """
        x, y = h[0] - g[0], h[1] - g[1]
        for turn in self.fiber.turns:
            angle = h[2] - g[2] + turn
            angle = angle - FULL_TURN * (angle / FULL_TURN).round()
            mean = g[2] + angle / 2
            cos = mean.cos()
            sin = mean.sin()
            sinc = (angle / FULL_TURN).sinc()
            yield (cos * x + sin * y) / sinc, (cos * y - sin * x) / sinc, angle

    def rotation_angle(self, g: Point, h: Point) -> Any:
        """The difference of the orientations."""
        return h[2] - g[2]

    def squared_length_of_rotation(self, angle: float, metric: Metric) -> float:
        """The least d^2 of rotations by this angle or more, up to a quarter of the period."""
        return (metric.xi * angle) ** 2

    def diffusion(self, sample: tuple[float, ...], metric: Metric) -> Diffusion:
        """1 forward, along theta, and eps^2 sideways."""
        cos, sin = math.cos(sample[0]), math.sin(sample[0])
        return (1.0, (cos, sin)), (metric.eps**2, (-sin, cos))


class R3S2(Manifold):
    """Elements (x, y, z, nx, ny, nz), n a unit vector; n and -n are the same axis.

    The metric is |dy . n|^2 + eps^-2 |dy x n|^2 + xi^2 |dn|^2: invariant under SE(3), as under
    reflections. The distance takes the minimal rotation from one axis to either end of the other;
    its logarithm has no part about the axis.
    """

    name = "r3s2"
    title = "R^3 x S^2"
    meaning = "positions and axes, the quotient of SE(3) by rotations about the axis"
    columns = ("x", "y", "z", "nx", "ny", "nz")
    frame = ("along", "across", "across", "tilt", "tilt")
    cancels = True
    base = SPACE
    fiber = AXES
    default_neighbors = 32
    default_eps = math.sqrt(0.1)
    selling_neighbors = 27  # 12 along space, and to axes at most 15, on ico81
    coordinates_in_words = (
        "x (width), y (height) and z (depth) in widths of the {domain}, unit axis nx, ny, nz along "
        "them, the same as its opposite"
    )
    operator_in_words = (
        "-(d_along^2 + eps^2 d_across^2 + xi^-2 d_tilt^2), across and tilt in two directions each, "
        "per width^2"
    )

    def logarithms(self, g: Point, h: Point) -> Iterator[Point]:
        """Components of log g^-1 h, one for each end of h's axis that g's is turned to.

        First come the parts along n and along two directions across it, then the tilts in these
        two. Where g's axis is turned by the angle a in the plane of both ends, the logarithm's
        translation is the displacement turned back by a / 2 there, its part in that plane divided
        by sinc(a / 2): that of SE(2), and the displacement itself out of the plane.
        """
        start = g[3:]
        step = tuple(b - a for a, b in zip(g[:3], h[:3], strict=True))
        across = directions_across(start)
        for sign in (1, -1):
            end = tuple(sign * part for part in h[3:])
            yield _logarithm(start, end, step, across)

    def squared_distance(self, g: Point, h: Point, metric: Metric) -> Any:
        """The smaller |log|^2_R to both ends of the axis: symmetric, invariant, by dot products.

        With s and q the sum and difference of the axes, t half the angle between them, F and N the
        squares of the displacement along s and q, U what is left of it, and k = (t / sin t)^2:
        k F + eps^-2 (k N + U) + 4 xi^2 t^2. To the other end s and q change places, and t becomes
        pi/2 - t. The triangle inequality does not hold.
        """
        step = tuple(b - a for a, b in zip(g[:3], h[:3], strict=True))
        half = tuple(zip(g[3:], h[3:], strict=True))
        s, q = tuple(a + b for a, b in half), tuple(b - a for a, b in half)
        s_squared, q_squared = _dot(s, s), _dot(q, q)
        along_s = _dot(step, s) ** 2 / (s_squared + TINY)
        along_q = _dot(step, q) ** 2 / (q_squared + TINY)
        left = _dot(step, step) - (along_s + along_q)
        s_length, q_length = s_squared.sqrt(), q_squared.sqrt()
        across, tilt = metric.eps**-2, 4 * metric.xi**2

        def squared(ahead: Any, beside: Any, angle: Any) -> Any:
            stretch = (angle / math.pi).sinc() ** 2
            return ahead / stretch + across * (beside / stretch + left) + tilt * angle**2

        near = squared(along_s, along_q, q_length.atan2(s_length))
        far = squared(along_q, along_s, s_length.atan2(q_length))
        return near.minimum(far)

    def diffusion(self, sample: tuple[float, ...], metric: Metric) -> Diffusion:
        """1 along the axis and eps^2 across."""
        x, y, z = sample
        first, second = directions_across((x, y, z))
        return (1.0, (x, y, z)), (metric.eps**2, first), (metric.eps**2, second)


def _dot(a: Point, b: Point) -> Any:
    first, second, third = (x * y for x, y in zip(a, b, strict=True))
    return first + second + third


def directions_across(axis: Point) -> tuple[Vector, Vector]:
    """Two unit vectors that are orthogonal to a unit vector and to each other, numbers or arrays.

    Source: Duff et al., "Building an orthonormal basis, revisited", J. Comput. Graph. Tech. 6
    (2017).
    """
    x, y, z = axis
    sign = 1 - 2 * (z < 0)
    a = -1 / (sign + z)
    b = x * y * a
    return (1 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y)


def _logarithm(start: Point, end: Point, step: Point, across: tuple[Vector, Vector]) -> Point:
    """The components where the axis `start` is turned to `end`."""
    s, q = (tuple(b + sign * a for a, b in zip(start, end, strict=True)) for sign in (1, -1))
    s_length, q_length = _dot(s, s).sqrt(), _dot(q, q).sqrt()
    half = q_length.atan2(s_length)
    # Opposite ends are turned to each other in any plane through them: in that of the first one.
    opposite = s_length == 0
    middle = tuple(
        (a + opposite * b) / (s_length + opposite) for a, b in zip(s, across[0], strict=True)
    )
    beside = tuple(a / (q_length + (q_length == 0)) for a in q)
    ahead, aside = _dot(step, middle), _dot(step, beside)
    stretch = 1 / (half / math.pi).sinc()
    cos, sin = half.cos(), half.sin()
    tangent = tuple(sin * m + cos * b for m, b in zip(middle, beside, strict=True))
    moved = tuple(
        d - ahead * m - aside * b + stretch * (ahead * n + aside * t)
        for d, m, b, n, t in zip(step, middle, beside, start, tangent, strict=True)
    )
    tilts = (2 * half * _dot(tangent, direction) for direction in across)
    return (*(_dot(moved, direction) for direction in (start, *across)), *tilts)
