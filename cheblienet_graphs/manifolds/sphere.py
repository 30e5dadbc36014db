"""The sphere S^2, and the rotation group SO(3) over it, orientations modulo pi or 2 pi."""

import math
from collections.abc import Iterator
from typing import Any

from cheblienet_graphs.manifolds.base import PERIODS, SPHERE, Angles, Metric
from cheblienet_graphs.manifolds.manifold import Manifold, Point, squared_norm

TINY = 1e-36
"""Added to a square before dividing by its root: too small to change results, it avoids 0/0."""


class S2(Manifold):
    """Points (beta, gamma), radians: (sin beta cos gamma, sin beta sin gamma, cos beta)."""

    name = "s2"
    title = "S^2"
    columns = ("beta", "gamma")
    frame = ("south", "east")
    base = SPHERE
    default_neighbors = 8
    least_matched_neighbors = 24
    anisotropic = "so3"
    coordinates_in_words = "beta (colatitude) in [0, pi], gamma (longitude, east) in {longitudes}"
    operator_in_words = "the Laplacian -div grad, on the unit sphere"

    def elements(self, coordinates: Point) -> Point:
        """Sines and cosines of both angles."""
        beta, gamma = coordinates
        return beta.sin(), beta.cos(), gamma.sin(), gamma.cos()

    def logarithms(self, g: Point, h: Point) -> Iterator[Point]:
        """Components of log_g h along growing beta and along growing gamma, the only candidate.

        That of an antipode, which is equally far in all directions, points along growing beta.
        """
        south, east, up = _seen_from(g, h)
        south = south + TINY**0.5
        sine = (south * south + east * east).sqrt()
        stretch = sine.atan2(up) / sine
        yield stretch * south, stretch * east

    def squared_distance(self, g: Point, h: Point, _metric: Metric) -> Any:
        """The squared arc atan2(|g x h|, g . h)^2, accurate at every angle."""
        south, east, up = _seen_from(g, h)
        arc = (south * south + east * east).sqrt().atan2(up)
        return arc * arc


def _seen_from(g: Point, h: Point) -> tuple[Any, Any, Any]:
    """Components of the unit vector of h along growing beta, growing gamma and radially, at g."""
    sin_beta, cos_beta, sin_gamma, cos_gamma = g
    other_sin_beta, other_cos_beta, other_sin_gamma, other_cos_gamma = h
    cos_east = other_cos_gamma * cos_gamma + other_sin_gamma * sin_gamma
    sin_east = other_sin_gamma * cos_gamma - other_cos_gamma * sin_gamma
    across = other_sin_beta * cos_east
    south = cos_beta * across - sin_beta * other_cos_beta
    return south, other_sin_beta * sin_east, sin_beta * across + cos_beta * other_cos_beta


class SO3(Manifold):
    """Rotations Rz(gamma) Ry(beta) Rz(alpha), radians, alpha modulo the period.

    The base point of G is G e_z, so beta is the colatitude, in [0, pi], and alpha the orientation.
    The frame is (forward, sideways, rotation) = (L_y, -L_x, L_z): the one in which SO(3) tends to
    SE(2) at small scale. The paper prints three frames that contradict one another.

    Args:
        period: name of it, "pi" (alpha and alpha + pi are the same) or "2pi", all of SO(3).
    """

    name = "so3"
    title = "SO(3)"
    columns = ("alpha", "beta", "gamma")
    frame = ("forward", "sideways", "rotation")
    base = SPHERE
    fiber: Angles
    default_neighbors = 16
    window_pays = 6
    default_eps = math.sqrt(0.1)
    least_matched_neighbors = 24
    coordinates_in_words = (
        "alpha from south toward east, in {angles}, beta (colatitude) in [0, pi], gamma (longitude,"
        " east) in {longitudes}"
    )
    operator_in_words = (
        "-(d_forward^2 + eps^2 d_sideways^2 + xi^-2 d_rotation^2), on the unit sphere"
    )

    def __init__(self, period: str = "pi") -> None:
        self.fiber = Angles(("alpha",), PERIODS[period])

    def elements(self, coordinates: Point) -> Point:
        """Unit quaternions (w, x, y, z)."""
        alpha, beta, gamma = coordinates
        sine, cosine = (beta / 2).sin(), (beta / 2).cos()
        half_sum = (alpha + gamma) / 2
        half_difference = (alpha - gamma) / 2
        return (
            cosine * half_sum.cos(),
            sine * half_difference.sin(),
            sine * half_difference.cos(),
            cosine * half_sum.sin(),
        )

    def logarithms(self, g: Point, h: Point) -> Iterator[Point]:
        """Components (c1, c2, c3) of log g^-1 h; modulo pi of log g^-1 h p, too, a half turn p."""
        for scalar, components in self._up_to_sign(g, h):
            sign = 1 - 2 * (scalar < 0)
            yield tuple(sign * c for c in components)

    def squared_distance(self, g: Point, h: Point, metric: Metric) -> Any:
        """The least |log|^2_R of the candidates: symmetric, left-invariant, periodic.

        The length of the path exp(t log), an upper bound of the geodesic distance.
        """
        weights = self.weights(metric)
        least, *others = (squared_norm(weights, c) for _, c in self._up_to_sign(g, h))
        return least.minimum(*others) if others else least

    def rotation_angle(self, g: Point, h: Point) -> Any:
        """s1 + s2 of g^-1 h = Rz(s1) Ry(b) Rz(s2): the angle after parallel transport."""
        a, b, c, d = g
        p, q, r, s = h
        return 2 * (a * s - b * r + c * q - d * p).atan2(a * p + b * q + c * r + d * s)

    def squared_length_of_rotation(self, angle: float, metric: Metric) -> float:
        """The least d^2 of rotations by this angle or more, up to a quarter of the period.

        With (w, x, y, z) the quaternion of g^-1 h, s the angle and b the distance on the base,
        x^2 + y^2 = sin^2(b/2) and |z| = cos(b/2) |sin(s/2)|; each component of the logarithm is at
        least twice as long.
        """
        return 4 * min(1.0, (metric.xi * math.sin(angle / 2)) ** 2)

    def fiber_distances(
        self, elements: Point, points: Any, others: Any, metric: Metric, own: range
    ) -> Iterator[Any]:
        """Distances of the manifold, with one arctangent for each difference of angles.

        With (w, x, y, z) the quaternion between the first orientations, that between others, s and
        t further on, has w + i z turned by (t - s) / 2 and x + i y by -(s + t) / 2. Hence
        d^2 = stretch(t - s)^2 (|x + i y|^2_R(s + t) + xi^2 z(t - s)^2).
        """
        first = tuple(e[0] for e in elements)
        start, end = tuple(e[points][:, None] for e in first), tuple(e[others] for e in first)
        w, x, y, z = _between(start, end)
        n_o = len(elements[0])
        turns = range(0, n_o * len(self.fiber.turns), n_o)
        angles = math.pi / turns.stop * w.new_tensor(range(turns.stop))[:, None, None]
        cos, sin = angles.cos(), angles.sin()
        rotation = z * cos + w * sin
        forward_weight, sideways_weight, turning = self.weights(metric)
        sine = (x * x + y * y + rotation * rotation + TINY).sqrt()
        stretch = (2 * sine.atan2((w * cos - z * sin).abs()) / sine).square().repeat(2, 1, 1)
        turned = turning * rotation.square().repeat(2, 1, 1) * stretch
        flat = forward_weight * (y * cos - x * sin).square()
        flat = (flat + sideways_weight * (x * cos + y * sin).square()).repeat(2, 1, 1)
        for k in own:
            least, *more = (
                stretch[u : u + n_o] * flat[v : v + n_o] + turned[u : u + n_o]
                for u, v in (((turn - k) % turns.stop, turn + k) for turn in turns)
            )
            yield least.minimum(*more) if more else least

    def _up_to_sign(self, g: Point, h: Point) -> Iterator[tuple[Any, tuple[Any, Any, Any]]]:
        """The scalar part w of each candidate's unit quaternion, and sign(w) times its logarithm.

        With (w, v) that quaternion the rotation vector is r = sign(w) 2 atan2(|v|, |w|) / |v| v,
        exact at angle 0 and at pi, and (c1, c2, c3) = (r_y, -r_x, r_z). Lengths do not depend on
        the sign.
        """
        w, x, y, z = _between(g, h)
        # Multiplying by the half turn maps (w, x, y, z) to (-z, y, -x, w).
        candidates = (w, (y, -x, z)), (-z, (-x, -y, w))
        for scalar, (forward, sideways, rotation) in candidates[: len(self.fiber.turns)]:
            sine = (forward * forward + sideways * sideways + rotation * rotation + TINY).sqrt()
            stretch = 2 * sine.atan2(scalar.abs()) / sine
            yield scalar, (stretch * forward, stretch * sideways, stretch * rotation)


def _between(g: Point, h: Point) -> Point:
    """The quaternion (w, x, y, z) of g^-1 h."""
    a, b, c, d = g
    p, q, r, s = h
    return (
        a * p + b * q + c * r + d * s,
        a * q - b * p - c * s + d * r,
        a * r + b * s - c * p - d * q,
        a * s - b * r + c * q - d * p,
    )
