"""The specification of a build: its fields, its digest, its words, and the samplings it means."""

from cheblienet_graphs.spec.fields import (
    BOUNDARIES,
    LAPLACIANS,
    SMALLEST_DEFAULT_POINTS,
    SMALLEST_DEFAULT_SIDE,
    WEIGHTS,
)
from cheblienet_graphs.spec.graph_spec import GraphSpec

__all__ = [
    "BOUNDARIES",
    "LAPLACIANS",
    "SMALLEST_DEFAULT_POINTS",
    "SMALLEST_DEFAULT_SIDE",
    "WEIGHTS",
    "GraphSpec",
]
