"""Values that are missing, and the level that a field is on."""

import torch
from torch import Tensor

from cheblienet_models.arguments import check_signal, instance, integer
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.pyramid import Pyramid

UNSEEN = -1.6375e30
"""What healpy writes where a map has no value."""
CLOSE = 1e-5
"""Of UNSEEN, as healpy compares: maps may have been rounded to float32."""


def level_of(pyramid: Pyramid, level: int) -> Graph:
    """A level of a pyramid.

    Raises:
        TypeError: it is no pyramid, or level no integer.
        ValueError: there is no such level.
    """
    instance("pyramid", pyramid, Pyramid)
    return pyramid.levels[integer("level", level, 0, len(pyramid.levels) - 1)]


def known_values(name: str, graph: Graph, x: Tensor) -> tuple[Tensor, Tensor]:
    """Where a field has values, (B, C, V) bool, and these in float64 with 0 elsewhere.

    Args:
        name: of the function that takes the field, for messages.
        graph: with V vertices.
        x: (B, C, V); missing values are NaN or UNSEEN.

    Raises:
        TypeError: x is no tensor.
        ValueError: x has another shape, dtype or device, or a value is infinite.
    """
    name = f"{name} on {graph.label}"
    check_signal(name, x, ("B", "C", graph.num_vertices), graph.values.device)
    wide = x.double()
    missing = wide.isnan() | ((wide - UNSEEN).abs() <= CLOSE * -UNSEEN)
    known = torch.where(missing, 0.0, wide)
    if not bool(known.isfinite().all()):
        count = int(known.isinf().sum())
        raise ValueError(
            f"{name} takes finite values, and NaN or {UNSEEN:g} where they are missing. Got "
            f"{count} infinite ones among {x.numel()}: make them NaN."
        )
    return ~missing, known
