"""Lengths in reports: in the metric's unit, and in pixels, voxels, degrees or mean spacings."""

import math

from cheblienet_graphs.spec import GraphSpec


def visible_unit(spec: GraphSpec) -> str:
    """The other unit of lengths: pixels, voxels, degrees, or mean spacings without a grid.

    Where the sides of voxels differ it is their geometric mean.
    """
    if not spec.geometry.base.flat:
        return "degrees of arc"
    if not spec.sampling_kind.regular:
        return "mean spacings"
    if spec.spacing is not None:
        return "mean voxel sides"
    return "pixels" if spec.geometry.base.dimension == 2 else "voxels"


def visible(spec: GraphSpec, level: int, length: float) -> float:
    """A length in the visible unit; pixels are those of the level."""
    if not spec.geometry.base.flat:
        return math.degrees(length)
    return length / math.sqrt(spec.squared_spacing(level))


def per_radian(spec: GraphSpec, level: int, xi: float) -> str:
    """xi, the length that one radian of rotation counts for, in both units."""
    first = f"{xi:.4g} {spec.geometry.base.unit}" if spec.geometry.base.flat else f"{xi:.4g}"
    number, name = f"{visible(spec, level, xi):.3g}", visible_unit(spec)
    if number == "1":
        name = name.replace("degrees", "degree").removesuffix("s")
    return f"{first} ({number} {name}) per radian"
