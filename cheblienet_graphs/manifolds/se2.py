"""The roto-translation group SE(2), orientations modulo pi or 2 pi."""

import math
from collections.abc import Iterator
from typing import Any

from cheblienet_graphs.manifolds.base import PERIODS, PLANE, Angles, Metric
from cheblienet_graphs.manifolds.manifold import Diffusion, FlatManifold, Point

FULL_TURN = PERIODS["2pi"]


class SE2(FlatManifold):
    """Elements (x, y, theta), theta in radians modulo the period.

    Modulo pi, theta and theta + pi are the same orientation: that of a line. Modulo 2 pi they are
    opposite ones, those of arrows.

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
    operator_in_words = "-(d_forward^2 + eps^2 d_sideways^2 + xi^-2 d_rotation^2), per width^2"

    def __init__(self, period: str = "pi") -> None:
        self.fiber = Angles(("theta",), PERIODS[period])
        self.default_orientations = {"pi": 6, "2pi": 8}[period]
        self.coordinates_in_words = (
            "x (right) and y (down) in widths of the {domain}, theta from x toward y, in "
            + self.fiber.range_in_words
        )

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
            cos, sin, sinc = mean.cos(), mean.sin(), (angle / FULL_TURN).sinc()
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
