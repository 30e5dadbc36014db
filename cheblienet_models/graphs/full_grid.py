"""Conversion between maps of a level's full sampling and signals on its points inside."""

import math
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from cheblienet_graphs.samplings.healpix import ring_indices
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_models.arguments import check_shape, choice, number
from cheblienet_models.graphs.mapped import Mapped, recipe_of
from cheblienet_models.tensors import CsrParts, padded

if TYPE_CHECKING:
    from cheblienet_models.graphs.graph import Graph  # which imports this

Order = Literal["nested", "ring"]
SMALL = ("small_places", "small_sources", "small_weights")
"""Attributes of a graph and of its full grid, None where a domain cuts no pixel to so small a part
that it is no point: (E,) int64 places of these in a flat map; (E, m) int64 points that each shows,
padded with its first; (E, m) weights that sum to 1 over m."""


def small_pixels(stored: LevelFolder) -> tuple[Tensor, ...] | tuple[None, ...]:
    """The values of the attributes SMALL, of a level."""
    if not stored.spec.cuts_pixels:
        return None, None, None
    filling = CsrParts.of(stored.filling)
    is_small = filling.row_pointers.diff() > 0
    is_small[torch.from_numpy(stored.base_index).long()] = False
    places = is_small.nonzero()[:, 0]
    if not len(places):
        return None, None, None
    sources, weights = padded(filling, places)
    return places, sources.long(), weights


class FullGrid(Mapped):
    """The full sampling of a level, on which maps are given and shown.

    A module of its own, so that exported programs hold it without the graph, and it is pickled as a
    handle and not broadcast, as the graph is.

    Args:
        graph: of the points.
        order: of the maps.

    Attributes:
        places: (points,) integers: where each is in a flat map; None where in its own place.

    Raises:
        ValueError: another order, or "ring" for what is no HEALPix sampling.
    """

    places: Tensor | None
    small_places: Tensor | None
    small_sources: Tensor
    small_weights: Tensor

    def __init__(self, graph: "Graph", order: Order) -> None:
        super().__init__(recipe_of(graph.handle, FullGrid, order))
        self.label, self.grid, index = graph.label, graph.grid, graph.base_index
        self.num_points = math.prod(self.grid[1:]) if index is None else len(index)
        self._hold("places", _places(graph, order))
        for name in SMALL:
            self._hold(name, getattr(graph, name))

    def inside(self, x: Tensor) -> Tensor:
        """(..., points) or (..., points inside) -> (..., points inside), in the graph's order."""
        if self.places is None or x.shape[-1] != math.prod(self.grid[1:]):
            return x
        return x.index_select(x.ndim - 1, self.places)

    def filled(self, x: Tensor, fill: float) -> Tensor:
        """A signal on the points inside as a map of the full sampling.

        Args:
            x: (B, C, num_points) or (B, C, V).
            fill: the value elsewhere.

        Returns:
            (B, C, *base shape), or (B, C, orientations, *base shape), in the dtype of x.

        Raises:
            ValueError: x has another shape, or fill is no number of its dtype where it is needed.
        """
        number("fill", fill)
        (orientations, *base), count = self.grid, self.num_points
        sizes = count, orientations * count
        check_shape(f"to_grid on {self.label}", x, [("B", "C", size) for size in sizes])
        shape = (*x.shape[:2], *base)
        if x.shape[2] != count:
            shape = (*x.shape[:2], orientations, *base)
        if self.places is None:
            return x.reshape(shape)
        points, fibers = math.prod(base), x.reshape(*x.shape[:2], x.shape[2] // count, count)
        if points > count:
            check_fill(x.dtype, fill)
        empty = x.new_full((*fibers.shape[:3], points), fill if points > count else 0)
        full = empty.index_copy(3, self.places.to(x.device).long(), fibers)
        if self.small_places is not None:
            full = full.index_copy(3, self.small_places, self._shown(fibers))
        return full.view(shape)

    def _shown(self, x: Tensor) -> Tensor:
        """(..., points) -> (..., E) means; of what has none, as integers, the first."""
        if not (x.dtype.is_floating_point or x.dtype.is_complex):
            return x[..., self.small_sources[:, 0]]
        return (x[..., self.small_sources] * self.small_weights.to(x.dtype)).sum(-1)


def _places(graph: "Graph", order: Order) -> Tensor | None:
    """Places of a graph's points in a flat map; None where each is in its own place."""
    index = graph.base_index
    count = graph.grid[1]
    if choice("order", order, get_args(Order)) == "nested":
        return index
    if graph.sampling != "healpix":
        raise ValueError(f"order='ring' is for HEALPix maps. {graph.label} is on {graph.sampling}.")
    nested = np.arange(count) if index is None else index.cpu().numpy()
    ring = ring_indices(math.isqrt(count // 12), nested)
    with torch.inference_mode(mode=False):  # graphs keep it
        return torch.from_numpy(ring).to(graph.values.device)


def check_fill(dtype: torch.dtype, fill: float) -> None:
    """Check that a value exists in a dtype.

    Raises:
        ValueError: it does not.
    """
    if dtype.is_floating_point or dtype.is_complex:
        largest = torch.finfo(dtype).max
        if abs(fill) > largest and math.isfinite(fill):
            raise ValueError(
                f"fill must be a value of {dtype}, up to {largest:.5g}. Got {fill!r}: give "
                "another, or a signal of a wider dtype."
            )
        return
    limits = None if dtype == torch.bool else torch.iinfo(dtype)
    low, high = (limits.min, limits.max) if limits else (0, 1)
    if not (math.isfinite(fill) and fill == int(fill) and low <= fill <= high):
        raise ValueError(
            f"fill must be a value of {dtype}, which has no {fill!r}: give a whole number in "
            f"[{low}, {high}], such as fill=0."
        )
