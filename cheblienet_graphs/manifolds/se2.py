"""The roto-translation group SE(2), orientations modulo pi."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cheblienet_graphs.manifolds.base import Base, Flat
from cheblienet_graphs.manifolds.fibre import AnglesModuloPi, Fibre
from cheblienet_graphs.manifolds.metric import Diffusion, Metric, squared_norm

if TYPE_CHECKING:
    from cheblienet_graphs.typing import Floats

FULL_TURN = 2 * math.pi


class SE2:
    """Elements (x, y, theta), theta in radians; theta and theta + pi are the same orientation."""

    name = "se2"
    title = "SE(2)"
    meaning = ""
    columns: tuple[str, ...] = ("x", "y", "theta")
    frame: tuple[str, ...] = ("forward", "sideways", "rotation")
    base: Base = Flat(2)
    fibre: Fibre = AnglesModuloPi("theta")
    oriented = True
    default_neighbors = 16
    default_eps = math.sqrt(0.1)
    selling_neighbors: int | None = 8
    least_matched_neighbors = 1
    anisotropic: str | None = None
    coordinates_in_words = (
        "x (right) and y (down) in widths of the {domain}, theta from x towards y, in [-pi/2, pi/2)"
    )
    operator_in_words = "-(d_forward^2 + eps^2 d_sideways^2 + xi^-2 d_rotation^2), per width^2"

    def weights(self, metric: Metric) -> tuple[float, ...]:
        """1, eps^-2, xi^2 along (forward, sideways, rotation)."""
        return 1.0, metric.eps**-2, metric.xi**2

    def elements(self, coordinates: tuple[Any, ...]) -> tuple[Any, ...]:
        """The coordinates themselves."""
        return coordinates

    def logarithms(self, g: tuple[Any, ...], h: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """Components (c1, c2, c3) of log g^-1 h and of log g^-1 h p, p the rotation by pi.

        With (x, y, a) = g^-1 h and a wrapped into [-pi, pi], (c1, c2) = Rot(-a/2)(x, y) / sinc(a/2)
        and c3 = a: the closed form of the matrix logarithm, written so that it is regular at 0
        and at +-pi (the paper prints it with a cotangent, which is not). Rotating into g's frame
        and by -a/2 is one rotation, by the mean of both orientations: hence exact symmetry.
        """
        x, y = h[0] - g[0], h[1] - g[1]
        for half_turn in (0.0, math.pi):
            angle = h[2] - g[2] + half_turn
            angle = angle - FULL_TURN * (angle / FULL_TURN).round()
            mean = g[2] + angle / 2
            cos, sin, sinc = mean.cos(), mean.sin(), (angle / FULL_TURN).sinc()
            yield (cos * x + sin * y) / sinc, (cos * y - sin * x) / sinc, angle

    def squared_distance(self, g: tuple[Any, ...], h: tuple[Any, ...], metric: Metric) -> Any:
        """The smaller |log|^2_R of the two candidates: symmetric, left-invariant, pi-periodic.

        The smaller angle is not always the nearer candidate, so both are evaluated. The distance is
        the length of the path exp(t log), an upper bound of the geodesic distance; the triangle
        inequality does not hold.
        """
        weights = self.weights(metric)
        direct, turned = (squared_norm(weights, c) for c in self.logarithms(g, h))
        return direct.minimum(turned)

    def rotation_angle(self, g: tuple[Any, ...], h: tuple[Any, ...]) -> Any:
        """The difference of the orientations."""
        return h[2] - g[2]

    def squared_length_of_rotation(self, angle: float, metric: Metric) -> float:
        """The least d^2 of rotations by this angle or more, in [0, pi/2] radians."""
        return (metric.xi * angle) ** 2

    def diffusion(self, sample: tuple[float, ...], metric: Metric) -> Diffusion:
        """1 forward, along theta, and eps^2 sideways."""
        cos, sin = math.cos(sample[0]), math.sin(sample[0])
        return (1.0, (cos, sin)), (metric.eps**2, (-sin, cos))

    def spectrum(self, count: int, metric: Metric, extent: tuple[float, ...] | None) -> "Floats":
        """Eigenvalues on the torus times R / pi.

        For a base frequency kappa the operator acts on the fibre as
        kappa^2 (1 + eps^2)/2 + xi^-2 (-d^2/dtheta^2 + 2 q cos 2 theta),
        q = xi^2 kappa^2 (1 - eps^2) / 4: Mathieu's operator on functions of period pi.
        """
        # scipy is no part of what the command line needs to show its help.
        from cheblienet_graphs.manifolds.torus import smallest_over_waves

        def over(squared: float, cutoff: float) -> list[float]:
            shift = squared * (1 + metric.eps**2) / 2
            below = (-math.inf, metric.xi**2 * (cutoff - shift) + 1)
            values = _mathieu(metric, squared, cutoff, select="v", select_range=below)
            return [float(value) for value in values if value <= cutoff]

        def lowest(squared: float) -> float:
            return float(_mathieu(metric, squared, 0.0, select="i", select_range=(0, 0))[0])

        sides = extent or (1.0, 1.0)
        return smallest_over_waves(count, sides, over, lowest, 4 / metric.xi**2)


def _mathieu(metric: Metric, squared: float, cutoff: float, **selected: Any) -> "Floats":
    """Eigenvalues over |2 pi k|^2 = squared, from the tridiagonal matrix in exp(2 i m theta)."""
    import numpy as np  # help does without
    from scipy.linalg import eigvalsh_tridiagonal

    q = metric.xi**2 * squared * (1 - metric.eps**2) / 4
    largest = metric.xi * math.sqrt(cutoff) / 2
    # Beyond the turning point 4 m^2 = a + 2 q vectors fall off like exp(-m^2 / sqrt q).
    reach = math.ceil(largest + min(1.2 * q**0.5, 7 * q**0.25)) + 12
    m = np.arange(-reach, reach + 1)
    values = eigvalsh_tridiagonal(4.0 * m**2, np.full(2 * reach, q), **selected)
    shifted = squared * (1 + metric.eps**2) / 2 + values / metric.xi**2
    # A lower bound of all eigenvalues; where xi is tiny, rounding errors could be larger.
    bounded: Floats = np.maximum(shifted, metric.eps**2 * squared)
    return bounded
