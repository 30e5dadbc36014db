"""The part of a sampling that a graph covers, which a mask and a region say."""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import SpecError, Unquoted
from cheblienet_graphs.inputs.files import unmasked
from cheblienet_graphs.inputs.inside import inside_of_array
from cheblienet_graphs.inputs.masks import LatLonMask, PointMask, inside_region
from cheblienet_graphs.inputs.polygons import Polygons, block_means, half_pixels
from cheblienet_graphs.inputs.volumes import Volume
from cheblienet_graphs.limits import choice, left_out
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.samplings.healpix import ring_indices
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import CutSampling, MaskedSampling, coarsened
from cheblienet_graphs.samplings.points import unit_vectors
from cheblienet_graphs.samplings.region import RegionSampling
from cheblienet_graphs.samplings.sampling import Sampling, SamplingKind
from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    from cheblienet_graphs.spec.graph_spec import GraphSpec

T = TypeVar("T")

MASK_ORDERS = ("nested", "ring")
HALF = 0.5
"""Pixels of which more is in a domain are inside."""
NEAR = 0.05
"""Points of a mask may be off by this share of their mean spacing: files round coordinates."""


@dataclass(frozen=True)
class Mask:
    """The points inside, on each level; equal where these are.

    Args:
        sha256: hex digest of the finest level's booleans, as bytes 0 and 1 in the sampling's order.
        inside: number of points inside, by level.
        places: (n_inside,) int32, or int64 beyond 2^31 points, where each is in the full sampling,
            ascending, by level. None where the mask is known by its digest alone, as a store
            records it.
        halves: (2 height, 2 width), in space (2 depth, 2 height, 2 width): where the domain cuts
            pixels, the part of each half pixel in it, by level; `sha256` is then that of the finest
            level's, as float32.
    """

    sha256: str
    inside: tuple[int, ...]
    places: tuple[Indices, ...] | None = field(default=None, compare=False, repr=False)
    halves: tuple[Floats, ...] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, inside: npt.NDArray[np.bool_], samplings: Sequence[Sampling]) -> "Mask":
        """The mask of a pyramid: a coarser point is inside where any point pooled to it is.

        Args:
            inside: (points,) of the finest level.
            samplings: full ones, finest first.

        Raises:
            SpecError: no point is inside.
        """
        digest = hashlib.sha256(inside.astype(np.uint8).tobytes()).hexdigest()
        places = [_places(inside)]
        if not len(places[0]):
            raise SpecError("mask", "True, inside, somewhere", Unquoted("no point inside"))
        for fine in samplings[:-1]:
            pooling = fine.pooling()
            inside = np.logical_or.reduceat(inside[pooling.indices], pooling.indptr[:-1])
            places.append(_places(inside))
        return cls(digest, tuple(map(len, places)), tuple(places))

    @classmethod
    def cutting(cls, halves: Floats, samplings: Sequence[Lattice]) -> "Mask":
        """The mask of a pyramid with a domain that cuts pixels.

        Args:
            halves: the part of each half pixel of the finest level in the domain.
            samplings: full ones, finest first.

        Raises:
            SpecError: no pixel is inside.
        """
        digest = hashlib.sha256(halves.astype("<f4").tobytes()).hexdigest()
        parts = halves
        levels = []
        for sampling in samplings:
            fraction = block_means(parts, 2)
            levels.append((CutSampling(sampling, fraction).places, parts))
            parts = coarsened(fraction)
        places, by_level = zip(*levels, strict=True)
        if not all(map(len, places)):
            found = Unquoted(f"less on all pixels of level {[*map(len, places)].index(0)}")
            accepted = "such that a fifth of some pixel of every level is inside"
            raise SpecError("mask", accepted, found, "Give fewer `levels`.")
        return cls(digest, tuple(map(len, places)), places, by_level)

    @classmethod
    def recorded(cls, value: Mapping[str, Any], points: Sequence[int]) -> "Mask":
        """The mask of a record by `to_dict`.

        Args:
            value: the record.
            points: number of all points, by level.

        Raises:
            SpecError: it is of another form.
        """
        match dict(value):
            case {"sha256": str(digest), "inside": [*inside], **more} if (
                not more
                and re.fullmatch(r"[0-9a-f]{64}", digest)
                and len(inside) == len(points)
                and all(
                    type(n) is int and 0 < n <= most for n, most in zip(inside, points, strict=True)
                )
            ):
                return cls(digest, tuple(inside))
        accepted = f"a digest, and the number of points inside on each of {len(points)} levels"
        raise SpecError("mask", accepted, value)

    def to_dict(self) -> dict[str, Any]:
        """JSON types: the digest, and the number of points inside on each level."""
        return {"inside": list(self.inside), "sha256": self.sha256}

    def on_level(self, level: int) -> Indices:
        """(n_inside,) places of the points inside, 0 the finest level.

        Raises:
            SpecError: they are not known.
        """
        return self.known(self.places)[level]

    def halves_on(self, level: int) -> Floats:
        """(2 height, 2 width), in space with 2 depth: each half pixel's part in the domain.

        Raises:
            SpecError: it is not known.
        """
        return self.known(self.halves)[level]

    def known(self, of_levels: tuple[T, ...] | None) -> tuple[T, ...]:
        """Arrays by level, which a mask that is known by its digest alone has not.

        Raises:
            SpecError: it has not.
        """
        if of_levels is None:
            remedy = "Give the `mask` or the `region` again."
            found = f"SHA-256 {self.sha256[:12]}..."
            raise SpecError("mask", "an array to build from, not a digest", found, remedy)
        return of_levels


def points_inside(
    spec: "GraphSpec",
    full: SamplingKind,
    places: Indices | None,
    fraction: Floats | None = None,
    areas: Floats | None = None,
) -> Sampling:
    """The points of a graph: all, or the ones inside, as a domain or a region cuts their cells.

    Args:
        spec: of the build.
        full: all points.
        places: (n_inside,) ascending numbers of the points inside; None without a mask.
        fraction: (points,) the part of each pixel in the domain, where that cuts pixels.
        areas: (n_inside,) of cells that the region clips, where they are known already.
    """
    if places is None:
        return full
    if fraction is not None and full.lattice is not None:
        return CutSampling(full.lattice, fraction)
    if spec.clipping is not None:
        return RegionSampling(full, places, spec.clipping, areas)
    return MaskedSampling(full, places)


def _places(inside: npt.NDArray[np.bool_]) -> Indices:
    """Places of the values that are True, in as few bytes as that takes."""
    kind = np.int32 if len(inside) < 2**31 else np.int64
    return np.flatnonzero(inside).astype(kind)


def size_of(geometry: Manifold, mask: Any) -> tuple[int, ...] | None:
    """The size of the lattice that a mask is on; None where none is given.

    Raises:
        SpecError: it has another number of dimensions.
    """
    if mask is None or isinstance(mask, Mapping | Polygons) or callable(mask):
        return None
    shape = _array(geometry, mask).shape
    if len(shape) != geometry.base.dimension:
        axes = {2: "(H, W)", 3: "(D, H, W)"}[geometry.base.dimension]
        raise SpecError("mask", f"of shape {axes} on {geometry.name}", shape)
    return shape[::-1]


def mask_field(spec: "GraphSpec", value: Any, order: str | None) -> Mask | None:
    """The points inside the mask and the region; None where there is neither.

    Args:
        spec: all its other fields.
        value: the mask, or a store's record of it.
        order: of HEALPix's points in it, one of MASK_ORDERS.

    Raises:
        SpecError: it is of another shape or type, or nothing is inside.
    """
    if order is not None:
        choice("mask_order", order, MASK_ORDERS)
        if spec.nside is None or value is None:
            left_out("mask_order", order, "unless a mask of HEALPix is given")
        placed = isinstance(value, PointMask)
        if not isinstance(value, Mapping) and (placed or _array(spec.geometry, value).ndim != 1):
            left_out("mask_order", order, "of a mask on latitudes and longitudes")
    if isinstance(value, Mapping):
        return Mask.recorded(value, [spec.full_points(level) for level in range(spec.levels)])
    if value is None and spec.region is None:
        return None
    samplings = [spec.full_sampling(level) for level in range(spec.levels)]
    if spec.cuts_pixels:
        lattices = [sampling.lattice for sampling in samplings if sampling.lattice]
        drawn = isinstance(value, Polygons) or callable(value)
        domain = value if drawn else _on_grid(spec, _array(spec.geometry, value))
        return Mask.cutting(half_pixels(domain, lattices[0].shape), lattices)
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
    """(points,) True inside a mask."""
    if (isinstance(value, Polygons) or callable(value)) and (lattice := sampling.lattice):
        return block_means(half_pixels(value, lattice.shape), 2).ravel() > HALF
    values = _array(spec.geometry, value)
    if isinstance(value, LatLonMask):
        return value.at(*_degrees(sampling))
    if isinstance(value, PointMask):
        return _at_points(value, sampling)
    inside = inside_of_array(values)
    if inside.shape == (sampling.num_points,):
        return _nested(spec, inside) if order == "ring" else inside
    if spec.geometry.base.flat:
        return _on_grid(spec, inside).ravel()
    other = "(latitudes, longitudes)"
    if inside.shape == spec.grid(0)[1:]:
        other = "on known longitudes, as NetCDF has them: images and the grid have this shape"
    elif inside.ndim == 2:
        return LatLonMask.whole_sphere(inside).at(*_degrees(sampling))
    accepted = f"of shape {(sampling.num_points,)}, a value a point, or {other}"
    raise SpecError("mask", accepted, inside.shape)


def _at_points(mask: PointMask, sampling: Sampling) -> npt.NDArray[np.bool_]:
    """(points,) True inside a mask, whose points are the sampling's in another order.

    Raises:
        SpecError: the sampling has other points.
    """
    from scipy.spatial import KDTree  # what reads stores does without

    count = len(mask.inside)
    remedy = "Give the mask of this sampling, or the sampling of this mask."
    if count != sampling.num_points:
        accepted = f"on the {sampling.num_points:,} points of the sampling"
        raise SpecError("mask", accepted, Unquoted(f"one of {count:,} points"), remedy)
    own = unit_vectors(np.radians(90 - mask.latitudes), np.radians(mask.longitudes))
    distances, nearest = KDTree(own).query(sampling.base_points)
    far = float(distances.max())
    if far > NEAR * math.sqrt(4 * math.pi / count) or len(np.unique(nearest)) < count:
        found = f"one with points up to {math.degrees(far):.3g} degrees away from them"
        raise SpecError("mask", "on the points of the sampling", Unquoted(found), remedy)
    return np.asarray(mask.inside[nearest], np.bool_)


def _on_grid(spec: "GraphSpec", values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Values in the shape that signals on the plane or in space have.

    Raises:
        SpecError: they are of another shape.
    """
    grid = spec.grid(0)[1:]
    if values.shape == grid:
        return values
    remedy = f"`{spec.sampling_kind.field}` may be left out."
    accepted = f"of shape {grid}, a value a point"
    raise SpecError("mask", accepted, values.shape, remedy if len(grid) > 1 else "")


def _nested(spec: "GraphSpec", ring: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """(12 nside^2,) a HEALPix mask in nested order, of one in ring order."""
    return ring[ring_indices(spec.level_size(0), np.arange(len(ring)))]


def _array(geometry: Manifold, mask: Any) -> npt.NDArray[Any]:
    """A mask as an array, one on latitudes and longitudes as (lat, lon); its values unchecked.

    Raises:
        SpecError: numpy makes no array of it, some of its values are masked themselves, or it is on
            latitudes and longitudes where there are none.
    """
    if isinstance(mask, LatLonMask | PointMask):
        if geometry.base.flat:
            accepted = f"an array of pixels on {geometry.name}"
            raise SpecError("mask", accepted, Unquoted("one on latitudes and longitudes"))
        return mask.inside
    if isinstance(mask, Volume):
        return mask.values
    accepted = "an array of booleans"
    array = unmasked("mask", mask, accepted)
    if array.dtype.kind in "OSU" and not array.ndim:
        raise SpecError("mask", accepted, Unquoted(type(mask).__name__))
    return array


def _degrees(sampling: Sampling) -> tuple[Floats, Floats]:
    """(points,) latitudes and longitudes of a sampling of the sphere, degrees."""
    beta, gamma = sampling.coordinates(0, sampling.num_points)[:, -2:].T
    return 90 - np.degrees(beta), np.degrees(gamma)
