"""The plane R^2 as a group of translations, isotropic."""

from collections.abc import Iterator
from typing import Any

from cheblienet_graphs.manifolds.metric import Metric


class R2:
    """Points (x, y); the distance is the Euclidean one (eps = 1)."""

    name = "r2"
    title = "R^2"
    columns: tuple[str, ...] = ("x", "y")
    base = "plane"
    oriented = False
    default_neighbors = 8
    default_eps = 1.0

    def elements(self, coordinates: tuple[Any, ...]) -> tuple[Any, ...]:
        """The coordinates themselves."""
        return coordinates

    def logarithms(self, g: tuple[Any, ...], h: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """The displacement h - g, the only candidate."""
        yield h[0] - g[0], h[1] - g[1]

    def squared_distance(self, g: tuple[Any, ...], h: tuple[Any, ...], metric: Metric) -> Any:
        """|h - g|^2 in the metric, elementwise."""
        return metric.squared_norm(next(self.logarithms(g, h)))
