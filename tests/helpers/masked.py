"""Graphs, and the same with a mask, which a function of their points gives."""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from cheblienet_graphs import GraphSpec
from cheblienet_models import Pyramid

Mask = Callable[[np.ndarray, tuple[int, ...]], np.ndarray]
"""From one orientation's coordinates (points, d) and the base shape to (points,) booleans."""


def with_mask(spec: GraphSpec, mask: Mask) -> GraphSpec:
    """The same, with a mask."""
    shape, sampling = tuple(spec.grid(0)[1:]), spec.full_sampling(0)
    inside = mask(sampling.coordinates()[: sampling.num_points], shape)
    inside = inside.reshape(shape) if spec.geometry.base.flat else inside.ravel()
    return GraphSpec.from_dict(spec.to_dict() | {"mask": inside})


def images_on(pyramid: Pyramid, count: int = 2) -> Tensor:
    """(count, 2, *base shape) noise, which is NaN outside of a mask."""
    graph = pyramid.levels[0]
    images = torch.randn(count, 2, *graph.grid[1:])
    if graph.base_index is not None:
        outside = torch.ones(math.prod(graph.grid[1:]), dtype=torch.bool)
        outside[graph.base_index] = False
        images.flatten(2)[..., outside] = math.nan
    return images


def disc(_: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The pixels or voxels about the center of a box, less the ones in the middle: a ring."""
    sides = [np.arange(n) - (n - 1) / 2 for n in shape]
    radius = np.sqrt(sum(side**2 for side in np.meshgrid(*sides, indexing="ij")))
    return (radius < min(shape) / 2) & (radius > min(shape) / 8)


def north(coordinates: np.ndarray, _: tuple[int, ...]) -> np.ndarray:
    """The northern hemisphere and a bit more, the pole in it."""
    return coordinates[:, -2] < 1.7


def crescent(_: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A box without a corner: no symmetry maps it to itself."""
    inside = np.ones(shape, dtype=bool)
    inside[: shape[0] // 2 - 1, : shape[1] // 2] = False
    return inside


def half(_: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The upper half of a box."""
    return np.indices(shape)[0] < shape[0] // 2


GRAPHS: dict[str, tuple[GraphSpec, Mask]] = {
    "ring": (GraphSpec("se2", 16, orientations=4, levels=2), disc),
    "crescent": (GraphSpec("se2", "12x10", orientations=2, weights="selling", levels=2), crescent),
    "half": (GraphSpec("se2", 8, orientations=2, period="2pi", levels=2), half),
    "all": (GraphSpec("r2", 8, levels=1), lambda _, shape: np.ones(shape, bool)),
    "ball": (GraphSpec("r3", 8, levels=2), disc),
    "healpix": (GraphSpec("so3", nside=4, orientations=2, period="2pi", levels=2), north),
    "equiangular": (GraphSpec("s2", bandlimit=6, levels=2), north),
    "icosahedral": (GraphSpec("s2", subdivisions=2, levels=2), north),
}
"""By the name of the masked graph: what it was made from, and the mask."""
PARTS = np.clip(7.2 - np.hypot(*(np.indices((16, 16)) - 7.5)), 0, 1)
"""Of pixels, inside a disc that cuts them."""
CUT = {"mask": PARTS, "mask_edge": "cut", "weights": "selling"}
SPECS = {
    "disc": GraphSpec("se2", orientations=4, levels=3, **CUT),
    **{f"whole-{name}": spec for name, (spec, _) in GRAPHS.items()},
    **{name: with_mask(spec, mask) for name, (spec, mask) in GRAPHS.items()},
}
"""Each beside the same with a mask, and one that cuts pixels."""
