"""The places of a level's points in maps of its full sampling, for the layers that gather there."""

from collections.abc import Callable
from typing import Any, Self

from torch import Tensor

from cheblienet_models.graphs.full_grid import Order, checked_order, places_in_map
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.mapped import Mapped, Reopen


class GridPlaces(Mapped):
    """Where the points of a level are in maps of its full sampling; nothing where in order.

    A layer of its own, so that exported programs hold it without the graph, and it is pickled as a
    handle and not broadcast, as the graph is.

    Args:
        reopen: how to open it again.
        places: (points,) integers; None where each point is in its own place.
    """

    places: Tensor | None

    def __init__(self, reopen: Reopen, places: Tensor | None) -> None:
        super().__init__(reopen)
        self.register_buffer("places", places, persistent=False)

    @classmethod
    def of(cls, graph: Graph, order: Order) -> Self:
        """Those of a graph in maps of an order.

        Raises:
            ValueError: the graph's maps are in no such order.
        """
        checked_order(graph.label, graph.sampling, graph.grid, order)
        places = places_in_map(graph.grid, graph.base_index, order)
        return cls((_reopened, (*graph.handle, order)), places)


def _reopened(reopen: Callable[..., Graph], arguments: tuple[Any, ...], order: Order) -> GridPlaces:
    """Those of a graph that is opened again. Unpickling calls this."""
    return GridPlaces.of(reopen(*arguments), order)
