"""Masks on the sphere by latitudes and longitudes, and regions."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cheblienet_graphs.errors import SpecError, Unquoted
from cheblienet_graphs.inputs.coordinates import (
    AXES,
    CONVERT,
    PARTS,
    eastwards,
    has_coordinates,
    hole_between_columns,
    hole_between_rows,
    in_degrees,
    in_radians,
    lat_lon_dimensions,
)
from cheblienet_graphs.inputs.files import reals, unmasked
from cheblienet_graphs.inputs.inside import Booleans
from cheblienet_graphs.limits import numbers
from cheblienet_graphs.typing import Floats, Indices

Four = tuple[float, float, float, float]
REGION = "W,S,E,N in degrees, S < N in [-90, 90], W and E in [-360, 360]"
ROUNDING = 1e-9
"""Points this close to a border, in degrees, are on it."""
TO_THE_POLE = 1.001
"""An outermost latitude at most so many steps from a pole covers it."""


@dataclass(frozen=True, eq=False)
class LatLonMask:
    """A mask on a grid of latitudes and longitudes, whole or regional, in any order.

    Each point of the sphere takes the pixel of nearest latitude and longitude; between two the
    southern and the eastern one. Pixels reach half a step beyond the outermost coordinates, to the
    pole where that is at most one step away; what lies further out is outside.

    Args:
        inside: (lat, lon) bool.
        latitudes: (lat,) degrees in [-90, 90], at least 2, all different.
        longitudes: (lon,) degrees in [-360, 360], at least 2. One that is there twice, as 0 and 360
            are, must have the same pixels both times.

    Raises:
        SpecError: shapes or coordinates are not like that.

    Example:
        >>> north = LatLonMask([[False] * 4, [True] * 4], [-45, 45], [0, 90, 180, 270])
        >>> GraphSpec("s2", nside=4, mask=north).vertices
        (88, 28)
    """

    inside: Booleans
    latitudes: Floats
    longitudes: Floats

    def __repr__(self) -> str:
        """Its size in a line, without the values."""
        sides = f"{len(self.latitudes):,} latitudes x {len(self.longitudes):,} longitudes"
        return f"LatLonMask({sides}, {self.inside.sum():,} inside)"

    def __post_init__(self) -> None:
        for name in ("latitudes", "longitudes"):
            degrees = reals(name, in_degrees(name, getattr(self, name)))
            if degrees.ndim != 1:
                raise SpecError("mask", f"on {name} of one dimension", degrees.shape)
            object.__setattr__(self, name, degrees)
        if has_coordinates(self.inside):
            _check_own(self.inside, self.latitudes, self.longitudes)
        object.__setattr__(self, "inside", unmasked("mask", self.inside, "an array of booleans"))
        shape = self.latitudes.shape + self.longitudes.shape
        if self.inside.dtype != np.bool_ or self.inside.shape != shape or min(shape) < 2:
            accepted = f"boolean and of shape {shape}, as its latitudes and longitudes, at least 2"
            found = f"{self.inside.dtype}, {self.inside.shape}"
            raise SpecError("mask", accepted, found)
        _check_degrees("latitudes", self.latitudes, 90)
        _check_degrees("longitudes", self.longitudes, 360)
        if np.diff(np.sort(self.latitudes)).min() <= ROUNDING:
            raise SpecError("mask", "on latitudes that are all different", _span(self.latitudes))
        if len(self._eastwards[0]) < 2:
            raise SpecError("mask", "on 2 longitudes or more", _span(self.longitudes))
        if in_radians(np.sort(self.latitudes), np.sort(self.longitudes)):
            found = f"latitudes {_span(self.latitudes)}, longitudes {_span(self.longitudes)}"
            raise SpecError("mask", "in degrees, not in radians", Unquoted(found), CONVERT)
        if hole := hole_between_rows(np.sort(self.latitudes)):
            raise SpecError("mask", "on latitudes without a hole", Unquoted(hole), PARTS)

    @classmethod
    def whole_sphere(cls, inside: Booleans) -> "LatLonMask":
        """A mask on an image of the whole sphere: north up, its left edge at longitude -180.

        Pixel (i, j) of H x W has its center at latitude 90 - (i + 1/2) 180/H and longitude
        -180 + (j + 1/2) 360/W.

        Args:
            inside: (H, W) bool, at least 2 x 2.

        Raises:
            SpecError: it is not.
        """
        given: Any = inside
        if has_coordinates(given) and len(given.coords):
            remedy = "Give LatLonMask these, or the values alone."
            found = Unquoted(f"coordinates {tuple(map(str, given.coords))}")
            raise SpecError("mask", "without coordinates of its own", found, remedy)
        inside = unmasked("mask", inside, "an array of booleans")
        shape = inside.shape
        if len(shape) != 2:
            raise SpecError("mask", "of shape (latitudes, longitudes)", shape)
        height, width = shape
        latitudes = 90 - (np.arange(height) + 0.5) * (180 / max(height, 1))
        longitudes = -180 + (np.arange(width) + 0.5) * (360 / max(width, 1))
        return cls(inside, latitudes, longitudes)

    def at(self, latitudes: Floats, longitudes: Floats) -> Booleans:
        """True for each point inside.

        Args:
            latitudes: (N,) degrees in [-90, 90].
            longitudes: (N,) degrees, of any turn.

        Returns:
            (N,) bool.
        """
        latitudes = reals("latitudes", in_degrees("latitudes", latitudes))
        longitudes = reals("longitudes", in_degrees("longitudes", longitudes))
        if latitudes.shape != longitudes.shape:
            accepted = f"of the shape of latitudes, {latitudes.shape}"
            raise SpecError("longitudes", accepted, Unquoted(f"{longitudes.shape}"))
        row, within_rows = self._row(latitudes)
        column, within_columns = self._column(longitudes)
        return self.inside[row, column] & within_rows & within_columns

    def _row(self, latitudes: Floats) -> tuple[Indices, Booleans]:
        """Row of the nearest latitude, and whether the point is within the grid."""
        order = np.argsort(self.latitudes)
        ascending = self.latitudes[order]
        borders = (ascending[1:] + ascending[:-1]) / 2
        south = _edge(90 + ascending[0], ascending[1] - ascending[0])
        north = _edge(90 - ascending[-1], ascending[-1] - ascending[-2])
        within = (latitudes >= ascending[0] - south - ROUNDING) & (
            latitudes <= ascending[-1] + north + ROUNDING
        )
        return order[np.searchsorted(borders, latitudes - ROUNDING)], within

    def _column(self, longitudes: Floats) -> tuple[Indices, Booleans]:
        """Column of the nearest longitude, and whether the point is within the grid."""
        ascending, order, around = self._eastwards
        start = ascending[0]
        steps = np.diff(ascending)
        gap = 360 - (ascending[-1] - start)
        before, after = (gap / 2, gap / 2) if around else (steps[0] / 2, steps[-1] / 2)
        # Degrees east of the first column's center.
        borders = (ascending[1:] + ascending[:-1]) / 2 - start
        east = (longitudes - start + before + ROUNDING) % 360 - before
        within = east <= ascending[-1] - start + after + 2 * ROUNDING
        return order[np.searchsorted(borders, east, side="right")], within

    @cached_property
    def _eastwards(self) -> tuple[Floats, Indices, bool]:
        """Longitudes eastwards, their columns, and whether they go once around.

        The first is in [0, 360), and all are different.
        """
        turned = self.longitudes % 360
        turned[turned > 360 - ROUNDING] = 0
        order = np.argsort(turned, kind="stable")
        twice = np.concatenate([[False], np.diff(turned[order]) <= ROUNDING])
        for place in np.flatnonzero(twice):
            pair = order[place - 1], order[place]
            if (self.inside[:, pair[0]] != self.inside[:, pair[1]]).any():
                where = f"longitude {self.longitudes[pair[1]]:g} is there twice"
                raise SpecError("mask", "the same wherever a longitude is the same", where)
        order = order[~twice]
        ascending = turned[order]
        if len(order) < 2:
            return ascending, order, False
        if hole := hole_between_columns(ascending):
            raise SpecError("mask", "on longitudes without several holes", Unquoted(hole), PARTS)
        columns, around = eastwards(ascending)
        ascending = ascending[columns]
        return ascending + 360 * (ascending < ascending[0]), order[columns], around


@dataclass(frozen=True, eq=False)
class PointMask:
    """A mask with a value for each point of a sampling of the sphere, in any order.

    Args:
        inside: (N,) bool.
        latitudes: (N,) degrees.
        longitudes: (N,) degrees.
    """

    inside: Booleans
    latitudes: Floats
    longitudes: Floats

    def __repr__(self) -> str:
        """Its size in a line, without the values."""
        return f"PointMask({len(self.inside):,} points, {self.inside.sum():,} inside)"


def _check_own(inside: Any, *given: Floats) -> None:
    """See that a DataArray is on the latitudes and longitudes that are given with it."""
    axes = lat_lon_dimensions(inside)
    if [*axes] != [*AXES]:
        accepted = "of dimensions latitude, longitude, in this order"
        raise SpecError("mask", accepted, Unquoted(f"{tuple(inside.dims)}"), "Transpose it.")
    for (axis, name), degrees in zip(axes.items(), given, strict=True):
        own = np.asarray(inside.coords[name].values) if name in inside.coords else degrees
        turned = np.abs((own - degrees + 180) % 360 - 180) if own.shape == degrees.shape else 360
        if np.any(turned > ROUNDING):
            raise SpecError("mask", f"on the {axis}s that it has itself", Unquoted(_span(degrees)))


def region(value: object) -> Four:
    """A region of the sphere: from W eastwards to E, from S to N, degrees; the limits belong to it.

    W > E crosses the date line; E - W of 360 or more is all longitudes.

    Args:
        value: "W,S,E,N", or four numbers.

    Raises:
        SpecError: it is no region.
    """
    sides = [side + 0.0 for side in numbers(value)]
    if len(sides) != 4:
        raise SpecError("region", REGION, value)
    west, south, east, north = sides
    if not (-90 <= south < north <= 90 and max(abs(west), abs(east)) <= 360):
        swapped = "S is north of N." if south > north else ""
        raise SpecError("region", REGION, value, swapped)
    if east - west < 360 and (east - west) % 360 == 0:
        remedy = "All longitudes are -180,S,180,N."
        raise SpecError("region", "W,S,E,N with W and E on different meridians", value, remedy)
    return west, south, east, north


def inside_region(latitudes: Floats, longitudes: Floats, region: Four) -> Booleans:
    """True for each point in a region; its limits belong to it.

    A pole has no longitude: it is inside where its latitude is.

    Args:
        latitudes: (N,) degrees in [-90, 90].
        longitudes: (N,) degrees, of any turn.
        region: W, S, E, N, as `region` returns it.

    Returns:
        (N,) bool.
    """
    west, south, east, north = region
    latitudes = np.asarray(latitudes, dtype=np.float64)
    eastwards = (np.asarray(longitudes, dtype=np.float64) - west + ROUNDING) % 360
    width = 360.0 if east - west >= 360 else (east - west) % 360
    pole = np.abs(latitudes) >= 90 - ROUNDING
    between = (latitudes >= south - ROUNDING) & (latitudes <= north + ROUNDING)
    return between & (pole | (eastwards <= width + 2 * ROUNDING))


def _edge(to_the_pole: float, step: float) -> float:
    """Degrees by which an outermost row reaches beyond its latitude."""
    return to_the_pole if to_the_pole <= TO_THE_POLE * step else step / 2


def _check_degrees(name: str, values: Floats, most: int) -> None:
    if not (np.abs(values) <= most).all():  # which NaN is not
        raise SpecError("mask", f"on {name} in [-{most}, {most}] degrees", _span(values))


def _span(values: Floats) -> str:
    """'180 from -89.5 to 89.5'."""
    return f"{values.size} from {values.min():g} to {values.max():g}"
