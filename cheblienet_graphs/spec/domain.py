"""The fields that say which part of a sampling a graph covers: mask and region."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.spec.mask import Mask

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from cheblienet_graphs.samplings.protocol import Sampling
    from cheblienet_graphs.spec.graph_spec import GraphSpec


def size_of_mask(geometry: Manifold, sampling: str | None, sizes: Mapping[str, Any], mask: Any) -> Any:
    """The size of a lattice: as given, else that of the mask where no other size is given."""
    on_lattice = geometry.base.flat and sampling in {None, "lattice"}
    given = any(size is not None for size in sizes.values())
    if mask is None or isinstance(mask, Mapping) or given or not on_lattice:
        return sizes["size"]
    import numpy as np  # help does without

    return np.shape(mask)[::-1] or None


def region_field(geometry: Manifold, value: object) -> tuple[float, ...] | None:
    """(W, S, E, N) degrees, None where there is no region.

    Raises:
        SpecError: it is out of range, or the manifold's base is no sphere.
    """
    if value is None:
        return None
    if geometry.base.flat:
        remedy = "Use a `mask`."
        raise SpecError("region", f"left out on {geometry.name}, which is flat", value, remedy)
    from cheblienet_graphs.inputs.regions import region  # numpy: help does without

    return region(value)


def mask_field(spec: "GraphSpec", value: object) -> Mask | None:
    """The points inside the mask and the region; None where there is neither.

    Args:
        spec: all its other fields.
        value: an array, or what a store tells of it.

    Raises:
        SpecError: it is of another shape or type, or nothing is inside.
    """
    if isinstance(value, Mapping):
        return Mask.recorded(value, spec.levels)
    if value is None and spec.region is None:
        return None
    from cheblienet_graphs.spec.sampling import sampling  # it needs the finished class

    samplings = [sampling(spec, level) for level in range(spec.levels)]
    import numpy as np  # help does without

    inside = np.ones(samplings[0].num_points, bool)
    if value is not None:
        inside &= _inside(spec, samplings[0], value)
    return Mask.of(inside, samplings)


def _inside(spec: "GraphSpec", sampling: "Sampling", value: Any) -> "npt.NDArray[np.bool_]":
    """(points,) those inside a mask."""
    import numpy as np  # help does without

    array = np.asarray(value)
    grid = spec.sampling_kind.grid(spec.level_size(0))
    shapes: Sequence[tuple[int, ...]] = [grid, (sampling.num_points,)]
    if array.shape not in shapes:
        accepted = f"an array of shape {grid}, one a point"
        raise SpecError("mask", accepted, f"shape {array.shape}")
    return array.astype(bool).ravel()
