"""The roto-translation group SE(2), orientations modulo pi."""

import math
from collections.abc import Iterator
from typing import Any

from cheblienet_graphs.manifolds.metric import Metric

TURN = 2 * math.pi


class SE2:
    """Elements (x, y, theta), theta in radians; theta and theta + pi are the same orientation."""

    name = "se2"
    title = "SE(2)"
    columns: tuple[str, ...] = ("x", "y", "theta")
    base = "plane"
    oriented = True
    default_neighbors = 16
    default_eps = math.sqrt(0.1)

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
            angle = angle - TURN * (angle / TURN).round()
            mean = g[2] + angle / 2
            cos, sin, sinc = mean.cos(), mean.sin(), (angle / TURN).sinc()
            yield (cos * x + sin * y) / sinc, (cos * y - sin * x) / sinc, angle

    def squared_distance(self, g: tuple[Any, ...], h: tuple[Any, ...], metric: Metric) -> Any:
        """The smaller |log|^2_R of the two candidates: symmetric, left-invariant, pi-periodic.

        The smaller angle is not always the nearer candidate, so both are evaluated. It is the
        length of the path exp(t log), an upper bound of the geodesic distance; the triangle
        inequality does not hold.
        """
        direct, turned = (metric.squared_norm(c) for c in self.logarithms(g, h))
        return direct.minimum(turned)

    def turn(self, g: tuple[Any, ...], h: tuple[Any, ...]) -> Any:
        """The difference of the orientations."""
        return h[2] - g[2]

    def squared_length_of_turn(self, angle: float, metric: Metric) -> float:
        """What d^2 is at least for turns of this angle or more, in [0, pi/2] radians."""
        return (metric.xi * angle) ** 2
