"""The manifolds, by name. A new one is a class in a file beside this one and a name in `_ALL`."""

from cheblienet_graphs.manifolds.base import Metric
from cheblienet_graphs.manifolds.flat import R2, R3, R3S2, SE2
from cheblienet_graphs.manifolds.manifold import Manifold, Point
from cheblienet_graphs.manifolds.sphere import S2, SO3

_ALL: tuple[Manifold, ...] = (R2, SE2(), S2(), SO3(), R3, R3S2())

MANIFOLDS = {manifold.name: manifold for manifold in _ALL}

OVER_FULL_TURNS: dict[str, Manifold] = {"se2": SE2("2pi"), "so3": SO3("2pi")}
"""Manifolds with orientations modulo 2 pi."""


def with_period(name: str, period: str | None) -> Manifold:
    """The manifold of a name, its orientations modulo "pi" or "2pi"; None without orientations."""
    return OVER_FULL_TURNS[name] if period == "2pi" else MANIFOLDS[name]


__all__ = [
    "MANIFOLDS",
    "OVER_FULL_TURNS",
    "Manifold",
    "Metric",
    "Point",
    "with_period",
]
