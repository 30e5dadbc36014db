"""The fields that say which part of a sampling a graph covers: mask and region."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import MISSING, Found, Remedy, SpecError, Words
from cheblienet_graphs.inputs import regions
from cheblienet_graphs.inputs.inside import AmbiguousError, inside_of_array
from cheblienet_graphs.inputs.masks import LatLonMask, inside_region, nested
from cheblienet_graphs.inputs.volumes import Volume
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.spec.mask import Mask
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.values import choice, left_out

if TYPE_CHECKING:
    from cheblienet_graphs.spec.graph_spec import GraphSpec

MASK_ORDERS = ("nested", "ring")


def size_of_mask(
    geometry: Manifold, sampling: str | None, sizes: Mapping[str, Any], mask: Any
) -> Any:
    """The size of a lattice: as given, else that of the mask where no other size is given."""
    named = sampling is None or isinstance(sampling, str)
    on_lattice = geometry.base.flat and named and sampling in {None, "lattice"}
    given = any(size is not None for size in sizes.values())
    if mask is None or isinstance(mask, Mapping) or given or not on_lattice:
        return sizes["size"]
    shape = _array(geometry, mask).shape
    if len(shape) != geometry.base.dimension:
        axes = {2: "(H, W)", 3: "(D, H, W)"}[geometry.base.dimension]
        raise SpecError("mask", f"of shape {axes} on {geometry.name}", shape)
    return shape[::-1]


def region_field(geometry: Manifold, value: object) -> regions.Four | None:
    """(W, S, E, N) degrees, None where there is no region.

    Raises:
        SpecError: it is out of range, or the manifold's base is no sphere.
    """
    if value is None:
        return None
    if geometry.base.flat:
        left_out(
            "region",
            value,
            f"on {geometry.name}, which is flat",
            Words("Give a ", Remedy("mask"), "."),
        )
    return regions.region(value)


def mask_field(spec: "GraphSpec", value: Any, order: str | None) -> Mask | None:
    """The points inside the mask and the region; None where there is neither.

    Args:
        spec: all its other fields.
        value: the mask, or what a store tells of it.
        order: of HEALPix's points in it, one of MASK_ORDERS.

    Raises:
        SpecError: it is of another shape or type, or nothing is inside.
    """
    if order is not None:
        choice("mask_order", order, MASK_ORDERS)
        if spec.nside is None or value is None:
            left_out("mask_order", order, "unless a mask of HEALPix is given")
        if not isinstance(value, Mapping) and _array(spec.geometry, value).ndim != 1:
            left_out("mask_order", order, "of a mask on latitudes and longitudes")
    if isinstance(value, Mapping):
        return Mask.recorded(value, [spec.full_points(level) for level in range(spec.levels)])
    if value is None and spec.region is None:
        return None
    samplings = [spec.full_sampling(level) for level in range(spec.levels)]
    inside = np.ones(samplings[0].num_points, bool)
    if value is not None:
        inside = _inside(spec, samplings[0], value, order or "nested")
    if spec.region is not None:
        inside = inside & inside_region(*_degrees(samplings[0]), spec.region)
        if not inside.any():
            accepted = f"such that it holds one of {len(inside):,} points"
            raise SpecError("region", accepted, spec.region)
    return Mask.of(inside, samplings)


def _inside(spec: "GraphSpec", sampling: Sampling, value: Any, order: str) -> npt.NDArray[np.bool_]:
    """(points,) those inside a mask."""
    spherical, values = not spec.geometry.base.flat, _array(spec.geometry, value)
    if isinstance(value, LatLonMask):
        return value.at(*_degrees(sampling))
    try:
        inside = inside_of_array(values)
    except AmbiguousError as error:
        accepted = f"an array of booleans; this one {error}"
        raise SpecError("mask", accepted, MISSING) from None
    grid = spec.sampling_kind.grid(spec.level_size(0))
    if inside.shape == (sampling.num_points,):
        return nested(inside) if order == "ring" else inside
    if spherical and inside.ndim == 2:
        if inside.shape == grid:
            accepted = (
                f"of shape {(sampling.num_points,)}, a value a point, or on known longitudes, as "
                "NetCDF files and LatLonMask have them: an image of the sphere and the points' own "
                "grid would both have this shape, but other longitudes"
            )
            raise SpecError("mask", accepted, inside.shape)
        return LatLonMask.whole_sphere(inside).at(*_degrees(sampling))
    if not spherical and inside.shape == grid:
        return inside.ravel()
    if spherical:
        accepted = f"of shape {(sampling.num_points,)}, a value a point, or (latitudes, longitudes)"
        raise SpecError("mask", accepted, inside.shape)
    size = Words(Remedy(spec.sampling_kind.field), " may be left out.")
    remedy = size if len(grid) > 1 else ""
    raise SpecError("mask", f"of shape {grid}, a value a point", inside.shape, remedy)


def _array(geometry: Manifold, mask: Any) -> npt.NDArray[Any]:
    """A mask as an array, one on latitudes and longitudes as (lat, lon); its values unchecked.

    Raises:
        SpecError: numpy makes no array of it, some of its values are masked themselves, or it is on
            latitudes and longitudes where there are none.
    """
    if isinstance(mask, LatLonMask):
        if geometry.base.flat:
            accepted = f"an array of pixels on {geometry.name}"
            raise SpecError("mask", accepted, Found("one on latitudes and longitudes"))
        return mask.inside
    if isinstance(mask, Volume):
        return mask.values
    if np.ma.is_masked(mask):
        accepted = "an array without masked values; fill them, as .filled(False) does"
        raise SpecError("mask", accepted, MISSING)
    try:
        array = np.asarray(mask)
    except (ValueError, TypeError, RuntimeError):  # as of rows of several lengths, or on a GPU
        array = np.asarray(None)
    if array.dtype.kind in "OSU" and not array.ndim:
        accepted = "an array of booleans"
        raise SpecError("mask", accepted, Found(f"a {type(mask).__name__}"))
    return array


def _degrees(sampling: Sampling) -> tuple[Floats, Floats]:
    """(points,) latitudes and longitudes of a sampling of the sphere, degrees."""
    beta, gamma = sampling.coordinates(0, sampling.num_points)[:, -2:].T
    return 90 - np.degrees(beta), np.degrees(gamma)
