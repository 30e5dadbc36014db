"""Masks: which values of them mean inside, on the sphere by latitudes and longitudes, of regions.

Whatever file or array a mask comes from, one of the conventions here says what is inside.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import MISSING, Found, Remedy, SpecError, Words, quoted
from cheblienet_graphs.inputs.files import reals, unmasked
from cheblienet_graphs.limits import numbers
from cheblienet_graphs.typing import Floats, Indices

Booleans: TypeAlias = npt.NDArray[np.bool_]
Values: TypeAlias = npt.NDArray[Any]

IMAGE_TYPES = (np.dtype(np.uint8), np.dtype(np.uint16))
"""Types whose whole range images use."""
Four = tuple[float, float, float, float]
REGION = "W,S,E,N in degrees, S < N in [-90, 90], W and E in [-360, 360]"
TOLERANCE = 1e-6
"""Numbers this close to 0 or 1 are these, and those as little outside [0, 1] are in it: float32."""
UNDECLARED = 1e15
"""Numbers as large are none of a field: fill values that no attribute names, or infinity."""
PERCENT = ("%", "percent", "per cent", "pct")
OF_ONE = ("", "1", "(0 - 1)", "0-1", "0 to 1", "fraction", "dimensionless", "unitless", "none", "-")
"""Units, in lower case, of numbers that are shares of 100 and of 1."""
SAVE = "save booleans"
ROUNDING = 1e-9
"""Points this close to a border, in degrees, are on it."""
WHOLE = 1.5
"""Longitudes go around where their largest gap is at most so many times the steps beside it."""
TO_THE_POLE = 1.001
"""An outermost latitude at most so many steps from a pole covers it."""


def ambiguous(what: str) -> SpecError:
    """A mask whose values don't say which are inside, and why: "holds NaN"."""
    accepted = Words("such that its values say what is inside; this one ", what)
    return SpecError("mask", accepted, MISSING)


def inside_of_image(values: Values) -> Booleans:
    """Inside is True, or above half of the range: 128 and more of 8 bits, 32,768 and more of 16.

    Args:
        values: of any shape; bool, uint8 or uint16 of any byte order.

    Raises:
        SpecError: numbers that are 0 and 1, which are both below half of the range.
    """
    if values.dtype != np.bool_ and values.size and values.max() == 1:
        raise dim(values)
    return inside_of_array(values)


def inside_of_array(values: Values) -> Booleans:
    """Inside is True, or 1 of numbers that are 0 and 1, or else above half of an image's range.

    Args:
        values: of any shape; bool, numbers that are 0 and 1, or uint8 or uint16 of any byte order.

    Raises:
        SpecError: anything else, NaN too; an image of which no pixel is above half of its range.
    """
    check_numbers(values)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ambiguous("holds NaN; save booleans, such as numpy.isfinite(field)")
    if zeros_and_ones(values):
        return np.asarray(values > 0.5)
    if values.dtype.newbyteorder("=") in IMAGE_TYPES:
        check_bright(values)
        return np.asarray(values > np.iinfo(values.dtype).max // 2)
    held = f"holds {values.dtype} values other than 0 and 1, {spread(values)}; save booleans"
    if within(values):
        held = Words(held, ", or on lattices give ", Remedy("mask_edge", "cut"))
    raise ambiguous(held)


def check_bright(values: Values) -> None:
    """Refuse an image without a pixel above half of its range: labels, or 12 bits in 16.

    Args:
        values: of any shape, uint8 or uint16 of any byte order.

    Raises:
        SpecError: it has none.
    """
    if values.max() <= np.iinfo(values.dtype).max // 2:
        raise dim(values)


def dim(values: Values) -> SpecError:
    """That an image has too low a range, and which."""
    most = np.iinfo(values.dtype).max
    return ambiguous(
        f"holds {values.min()} to {values.max()} of a range to {most}, of which above half is "
        f"inside; scale it to {most}, or save booleans as .npy"
    )


def inside_of_field(values: Values, units: str = "", *, labels: bool = False) -> Booleans:
    """Inside is what a field of a model says, NaN being missing values.

    - Of booleans True; of numbers that are 0 and 1, or 0 and 100 %, or missing, the larger one.
    - Of fractions in [0, 1] or in percent, as land-sea masks have, above one half.
    - Of other fields what is not missing, as the sea is in a field of temperatures.

    Args:
        values: of any shape.
        units: of these; fractions have none, "1" or "%".
        labels: whether numbers stand for kinds, as those of `flag_values` do.

    Raises:
        SpecError: a field that is not clearly one of these, as fractions are of which some are
            missing; or one with infinite or huge values, which nothing calls missing.
    """
    check_numbers(values)
    missing = np.isnan(values)
    valid = values[~missing]
    if not valid.size:
        raise ambiguous("has missing values alone")
    low, high = float(valid.min()), float(valid.max())
    of = units.strip().lower()
    whole = 100 if of in PERCENT else 1
    lost = f"{missing.sum():,} of {missing.size:,} missing"
    seen = f"holds {spread(valid)}, units {quoted(units) if of else 'none'}, {lost}"
    if max(-low, high) >= UNDECLARED:
        raise ambiguous(f"{seen}: infinite or huge values that no attribute calls missing; {SAVE}")
    shares = valid / whole
    if zeros_and_ones(shares):
        return np.asarray(values > whole / 2)
    fractions = of in OF_ONE or (whole == 100 and high > 1 + TOLERANCE)
    if not missing.any():
        if fractions and within(shares):
            return np.asarray(values > whole / 2)
        raise ambiguous(f"{seen}: it is no fraction, and nothing says what is inside; {SAVE}")
    if whole == 100 or (of in OF_ONE and low > -1 and high < 2):
        raise ambiguous(f"{seen}: missing values and fractions, so inside is either; {SAVE}")
    if labels or (not of and zeros_and_ones(np.array([low, high]) / 100)):
        kind = "labels" if labels else "what may be percent"
        raise ambiguous(f"{seen}: missing values and {kind}, so inside is either; {SAVE}")
    return ~missing


def spread(values: Values) -> str:
    """The range of numbers in words: '0 to 3', or '0 to 3 and NaN'."""
    missing = np.isnan(values)
    known = values[~missing]
    ends = [f"{known.min():.8g} to {known.max():.8g}"] if known.size else []
    return " and ".join([*ends, *["NaN"] * bool(missing.any())])


def check_numbers(values: Values) -> None:
    """Refuse what holds no numbers.

    Raises:
        SpecError: it does not.
    """
    if values.dtype.kind not in "biuf":
        raise ambiguous(f"holds {values.dtype} values; save booleans")


def zeros_and_ones(values: Values) -> bool:
    """Whether numbers are 0 and 1, up to the rounding of float32."""
    if values.dtype.kind != "f":
        return bool(((values == 0) | (values == 1)).all())
    return bool((np.minimum(np.abs(values), np.abs(values - 1)) <= TOLERANCE).all())


def within(values: Values) -> bool:
    """Whether numbers are in [0, 1], up to the rounding of float32; NaN is not."""
    return bool(((values >= -TOLERANCE) & (values <= 1 + TOLERANCE)).all())


@dataclass(frozen=True, eq=False)
class LatLonMask:
    """A mask on a grid of latitudes and longitudes, whole or regional, in any order.

    Each point of the sphere takes the pixel whose latitude is nearest and whose longitude is;
    between two the southern and the eastern one. Pixels reach half a step beyond the outermost
    coordinates, to the pole where that is at most one step away; what lies further out is outside.

    Args:
        inside: (lat, lon) bool.
        latitudes: (lat,) degrees in [-90, 90], at least 2, all different.
        longitudes: (lon,) degrees in [-360, 360], at least 2. One that is there twice, as 0 and 360
            are, must have the same pixels both times.

    Raises:
        SpecError: shapes or coordinates are not like that.
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
            degrees = reals(name, getattr(self, name))
            if degrees.ndim != 1:
                raise SpecError("mask", f"on {name} of one dimension", degrees.shape)
            object.__setattr__(self, name, degrees)
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
        if len(self._columns[0]) < 2:
            raise SpecError("mask", "on 2 longitudes or more", _span(self.longitudes))

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
        inside = unmasked("mask", inside, "an array of booleans")
        shape = inside.shape
        if len(shape) != 2:
            raise SpecError("mask", "of shape (latitudes, longitudes)", shape)
        height, width = shape
        latitudes = 90 - (np.arange(height) + 0.5) * (180 / max(height, 1))
        longitudes = -180 + (np.arange(width) + 0.5) * (360 / max(width, 1))
        return cls(inside, latitudes, longitudes)

    def at(self, latitudes: Floats, longitudes: Floats) -> Booleans:
        """Whether points are inside.

        Args:
            latitudes: (N,) degrees in [-90, 90].
            longitudes: (N,) degrees, of any turn.

        Returns:
            (N,) bool.
        """
        latitudes, longitudes = reals("latitudes", latitudes), reals("longitudes", longitudes)
        if latitudes.shape != longitudes.shape:
            accepted = f"of the shape of latitudes, {latitudes.shape}"
            raise SpecError("longitudes", accepted, Found(f"{longitudes.shape}"))
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
        ascending, order = self._columns
        start, steps = ascending[0], np.diff(ascending)
        gap = 360 - (ascending[-1] - start)
        whole = gap <= WHOLE * max(steps[0], steps[-1])
        before, after = (gap / 2, gap / 2) if whole else (steps[0] / 2, steps[-1] / 2)
        # Degrees east of the first column's center.
        borders = (ascending[1:] + ascending[:-1]) / 2 - start
        east = (longitudes - start + before + ROUNDING) % 360 - before
        within = east <= ascending[-1] - start + after + 2 * ROUNDING
        return order[np.searchsorted(borders, east, side="right")], within

    @cached_property
    def _columns(self) -> tuple[Floats, Indices]:
        """Longitudes eastwards, the largest gap left between the last and the first; their columns.

        The first is in [0, 360), none is there twice.
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
        gaps = np.diff(ascending, append=ascending[0] + 360)
        first = (int(np.argmax(gaps)) + 1) % len(order)
        order = np.roll(order, -first)
        return np.roll(ascending, -first) + 360 * (
            np.arange(len(order)) >= len(order) - first
        ), order


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
    """Whether points are in a region; its limits belong to it.

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
