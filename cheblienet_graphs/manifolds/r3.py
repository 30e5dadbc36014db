"""The space R^3 as a group of translations, isotropic."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cheblienet_graphs.manifolds.base import Base, Flat
from cheblienet_graphs.manifolds.fibre import NO_FIBRE, Fibre
from cheblienet_graphs.manifolds.metric import Diffusion, Metric, squared_norm

if TYPE_CHECKING:
    from cheblienet_graphs.typing import Floats


class R3:
    """Points (x, y, z); the distance is the Euclidean one (eps = 1)."""

    name = "r3"
    title = "R^3"
    meaning = ""
    columns: tuple[str, ...] = ("x", "y", "z")
    frame: tuple[str, ...] = ("x", "y", "z")
    base: Base = Flat(3)
    fibre: Fibre = NO_FIBRE
    oriented = False
    default_neighbors = 18
    default_eps = 1.0
    selling_neighbors: int | None = 6
    least_matched_neighbors = 1
    anisotropic: str | None = None
    coordinates_in_words = "x (width), y (height) and z (depth) in widths of the {domain}"
    operator_in_words = "the Laplacian -div grad, per width^2"

    def weights(self, _metric: Metric) -> tuple[float, ...]:
        """Ones."""
        return 1.0, 1.0, 1.0

    def elements(self, coordinates: tuple[Any, ...]) -> tuple[Any, ...]:
        """The coordinates themselves."""
        return coordinates

    def logarithms(self, g: tuple[Any, ...], h: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """The displacement h - g, the only candidate."""
        yield tuple(end - start for start, end in zip(g, h, strict=True))

    def squared_distance(self, g: tuple[Any, ...], h: tuple[Any, ...], metric: Metric) -> Any:
        """|h - g|^2 in the metric, elementwise."""
        return squared_norm(self.weights(metric), next(self.logarithms(g, h)))

    def diffusion(self, _sample: tuple[float, ...], _metric: Metric) -> Diffusion:
        """Equally fast along x, y and z."""
        return (1.0, (1.0, 0.0, 0.0)), (1.0, (0.0, 1.0, 0.0)), (1.0, (0.0, 0.0, 1.0))

    def spectrum(self, count: int, _metric: Metric, extent: tuple[float, ...] | None) -> "Floats":
        """|2 pi k|^2 on the torus."""
        # numpy is no part of what the command line needs to show its help.
        from cheblienet_graphs.manifolds.torus import smallest_over_waves

        sides = extent or (1.0, 1.0, 1.0)
        return smallest_over_waves(count, sides, lambda f, _: [f], lambda f: f, math.inf)
