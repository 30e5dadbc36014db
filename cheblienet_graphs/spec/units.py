"""Lengths in reports: in the metric's unit, and in pixels, degrees or mean spacings."""

import math

from cheblienet_graphs.spec import GraphSpec


def unit(spec: GraphSpec) -> str:
    """The metric's unit of length: widths of the domain, or arcs of the unit sphere."""
    return spec.geometry.base.unit


def visible_unit(spec: GraphSpec) -> str:
    """The other unit of lengths: pixels, degrees, or mean spacings where points have no grid."""
    if not spec.geometry.base.flat:
        return "degrees of arc"
    return "pixels" if spec.sampling_kind.regular else "mean spacings"


SINGULAR = {
    "pixels": "pixel",
    "mean spacings": "mean spacing",
    "degrees of arc": "degree of arc",
}


def visible(spec: GraphSpec, level: int, length: float) -> float:
    """A length in the visible unit; pixels are those of the level."""
    if not spec.geometry.base.flat:
        return math.degrees(length)
    return length / math.sqrt(spec.squared_spacing(level))


def per_radian(spec: GraphSpec, level: int, xi: float) -> str:
    """xi, the length that one radian of rotation counts for, in both units."""
    first = f"{xi:.4g} {spec.geometry.base.unit}" if spec.geometry.base.flat else f"{xi:.4g}"
    number, name = f"{visible(spec, level, xi):.3g}", visible_unit(spec)
    return f"{first} ({number} {SINGULAR[name] if number == '1' else name}) per radian"
