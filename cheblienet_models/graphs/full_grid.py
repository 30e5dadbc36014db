"""Between maps of a level's full sampling and signals on those of its points that are inside."""

import math
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from cheblienet_models.arguments import check_shape, choice, number
from cheblienet_models.graphs.healpix import nside_of, ring_indices
from cheblienet_models.store.levels import Level
from cheblienet_models.tensors import padded

Order = Literal["nested", "ring"]


class SmallPixels(NamedTuple):
    """Pixels of a domain that are no points, as it cuts them to a small part.

    Args:
        places: (E,) int64, in a flat map.
        sources: (E, m) int64, points that each shows, padded with its first.
        weights: (E, m) float32 that sum to 1 over m.
    """

    places: Tensor
    sources: Tensor
    weights: Tensor

    @classmethod
    def of(cls, stored: Level) -> "SmallPixels | None":
        """Those of a level; None where there are none."""
        if stored.cut is None or stored.base_index is None:
            return None
        filling = stored.cut.filling.tensors()
        is_small = filling.row_pointers.diff() > 0
        is_small[stored.base_index.long()] = False
        places = is_small.nonzero()[:, 0]
        if not len(places):
            return None
        sources, weights = padded(filling, places)
        return cls(places, sources.long(), weights)

    def shown(self, x: Tensor) -> Tensor:
        """(..., points) -> (..., E) their means; of what has none, as integers, the first."""
        if not (x.dtype.is_floating_point or x.dtype.is_complex):
            return x[..., self.sources[:, 0]]
        return (x[..., self.sources] * self.weights.to(x.dtype)).sum(-1)

    def to(self, device: torch.device) -> "SmallPixels":
        """The same on a device."""
        return SmallPixels(*(part.to(device) for part in self))


class FullGrid(NamedTuple):
    """The full sampling of a level, on which maps are given and shown.

    Args:
        label, grid, sampling, num_points, base_index: of the graph.
    """

    label: str
    grid: tuple[int, ...]
    sampling: str | None
    num_points: int
    base_index: Tensor | None

    def places(self, order: Order) -> Tensor | None:
        """(num_points,) integers: where each point is in a flat map; None where in its own place.

        Args:
            order: of the map.

        Raises:
            ValueError: another word, or "ring" for what is no HEALPix sampling.
        """
        index, count = self.base_index, self.grid[1]
        if choice("order", order, get_args(Order)) == "nested":
            return index
        if self.sampling != "healpix" or len(self.grid) != 2 or nside_of(count) is None:
            sampling = self.sampling or "another sampling"
            raise ValueError(f"order='ring' is for HEALPix maps. {self.label} is on {sampling}.")
        nested = np.arange(count) if index is None else index.cpu().numpy()
        ring = torch.from_numpy(ring_indices(math.isqrt(count // 12), nested))
        return ring if index is None else ring.to(index.device)

    def filled(
        self, x: Tensor, fill: float, places: Tensor | None, small: SmallPixels | None
    ) -> Tensor:
        """A signal on the points inside as a map of the full sampling.

        Args:
            x: (B, C, num_points) or (B, C, V).
            fill: the value elsewhere.
            places: (num_points,) of the points in a flat map; None where in their own places.
            small: pixels that show others; None where there are none.

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
        if places is None:
            return x.reshape(shape)
        points, fibers = math.prod(base), x.reshape(*x.shape[:2], x.shape[2] // count, count)
        if points > count:
            check_fill(x.dtype, fill)
        empty = x.new_full((*fibers.shape[:3], points), fill if points > count else 0)
        full = empty.index_copy(3, places.to(x.device).long(), fibers)
        if small is not None:
            full = full.index_copy(3, small.places, small.shown(fibers))
        return full.view(shape)


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
