"""The sphere S^2, isotropic."""

from collections.abc import Iterator
from typing import Any

from cheblienet_graphs.manifolds.base import SPHERE, Metric
from cheblienet_graphs.manifolds.manifold import Manifold, Point

TINY = 1e-36
"""Added to a square whose root is a divisor: too small to change results, it avoids 0/0."""


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
