"""The manifolds, by name. A new one is a file beside this one and a name in `_ALL`."""

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

from cheblienet_graphs.manifolds.metric import Metric
from cheblienet_graphs.manifolds.r2 import R2
from cheblienet_graphs.manifolds.s2 import S2
from cheblienet_graphs.manifolds.se2 import SE2
from cheblienet_graphs.manifolds.so3 import SO3

Elements: TypeAlias = Any
"""Numbers with methods, elementwise: a torch tensor, or numpy's through `arrays.Array`."""

Point: TypeAlias = tuple[Elements, ...]
"""One array of numbers for each coordinate."""


class Manifold(Protocol):
    """What the rest of the package knows of a manifold."""

    name: str
    title: str
    columns: tuple[str, ...]
    """Names of the coordinates, in the order in which they are stored."""
    base: str
    """What the orientations lie over: "plane" or "sphere"."""
    oriented: bool
    """Whether a fibre of orientations lies over each point of the base."""
    default_neighbors: int
    default_eps: float

    def elements(self, coordinates: Point) -> Point:
        """What the distance is computed from, evaluated once for each vertex."""

    def logarithms(self, g: Point, h: Point) -> Iterator[Point]:
        """Components (forward, sideways[, rotation]) of each candidate for log g^-1 h."""

    def squared_distance(self, g: Point, h: Point, metric: Metric) -> Elements:
        """Squared norm of log g^-1 h under R: symmetric, left-invariant, no geodesic distance."""


_ALL: tuple[Manifold, ...] = (R2(), SE2(), S2(), SO3())

MANIFOLDS = {manifold.name: manifold for manifold in _ALL}

__all__ = ["MANIFOLDS", "Elements", "Manifold", "Metric", "Point"]
