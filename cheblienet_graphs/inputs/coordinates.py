"""Latitudes and longitudes as users give them: how they are known, their units, holes of grids.

Both packages read grids, so that what these mean stands here alone. It takes numpy alone.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cheblienet_graphs.errors import SpecError, Unquoted, quoted
from cheblienet_graphs.typing import Floats, Indices


class Axis(NamedTuple):
    """Words, in lower case, that name a coordinate; `letter` is CF's axis."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    letter: str


AXES = {
    "latitude": Axis(
        ("lat", "latitude"), ("degrees_north", "degree_north", "degrees_n", "degree_n"), "y"
    ),
    "longitude": Axis(
        ("lon", "longitude"), ("degrees_east", "degree_east", "degrees_e", "degree_e"), "x"
    ),
}
"""By CF's standard name."""
DEGREES = ("degrees", "degree", "deg", "\N{DEGREE SIGN}")
CONVERT = "Convert it, as numpy.degrees does of radians."

WHOLE, UNEVEN = 1.5, 4.0
"""Ratio of a step to the steps beside it above which it is a hole; the second in uneven grids."""
PARTS = "Give each part by itself, or fill what lies between."


def holes(steps: Floats) -> Indices:
    """The steps between coordinates of a grid that are holes, where it has no pixels.

    A hole is wider than 1.5 times the steps beside it and all that are not so. Grids that grow
    finer toward a place have none. In uneven grids, where other steps are wider than their
    neighbors, too, a hole is wider than 4 times these.

    Args:
        steps: (n,) positive; the last one counts as beside the first.
    """
    wide = steps > WHOLE * np.maximum(np.roll(steps, 1), np.roll(steps, -1))
    if wide.any():
        usual = steps[~wide].max(initial=0)
        wide &= steps > (WHOLE if steps[wide].min() > WHOLE * usual else UNEVEN) * usual
    # Where most steps are such, they are the rule.
    return np.flatnonzero(wide) if 2 * wide.sum() <= len(steps) else np.empty(0, np.int64)


def hole_between_rows(latitudes: Floats) -> str | None:
    """The hole in ascending latitudes, (lat,) degrees, as text; None without one."""
    found = holes(np.diff(latitudes))
    if not len(found):
        return None
    south = latitudes[found[0]]
    north = latitudes[found[0] + 1]
    return f"none between {south:g} and {north:g}"


def hole_between_columns(longitudes: Floats) -> str | None:
    """Two holes in ascending longitudes, (lon,) degrees, as text; None where there are fewer.

    With one hole they are a region, wherever the seam of longitudes cuts it.
    """
    steps = _around(longitudes)
    found = holes(steps)
    if len(found) < 2:
        return None
    ends = ((longitudes[n], longitudes[n] + steps[n]) for n in found[:2])
    return "none " + " and ".join(f"between {west:g} and {east:g}" for west, east in ends)


def eastwards(longitudes: Floats) -> tuple[Indices, bool]:
    """The order in which longitudes go eastwards through what they cover.

    Args:
        longitudes: (lon,) degrees, ascending, less than once around, with one hole at most.

    Returns:
        (lon,) places, of a region from its western end, and whether the grid goes once around.
    """
    found = holes(_around(longitudes))
    columns = np.arange(len(longitudes))
    return (np.roll(columns, -int(found[0]) - 1) if len(found) else columns), not len(found)


def _around(longitudes: Floats) -> Floats:
    """(lon,) steps between longitudes, the last one from the last to the first of the next turn."""
    return np.diff(longitudes, append=longitudes[0] + 360)


def in_radians(latitudes: Floats, longitudes: Floats) -> bool:
    """True if a grid covers the sphere with its numbers read as radians, but not as degrees.

    Args:
        latitudes: (lat,) ascending or descending.
        longitudes: (lon,) ascending.
    """
    inner = abs(latitudes).max()
    from_pole_to_pole = [
        inner <= quarter and 2 * quarter - np.ptp(latitudes) <= 2.5 * np.ptp(latitudes[:2])
        for quarter in (90, np.pi / 2 + 1e-6)
    ]
    width = np.ptp(longitudes)
    step = width / (len(longitudes) - 1)
    # The first may be there again as the last.
    around = [-step / 2 <= turn - width <= 1.5 * step for turn in (360, 2 * np.pi)]
    return any(from_pole_to_pole) and any(around) and not (from_pole_to_pole[0] and around[0])


def objection(axis: str, name: str, attributes: Mapping[str, Any]) -> str | None:
    """The attribute that contradicts latitudes or longitudes in degrees; None without one.

    Args:
        axis: "latitude" or "longitude".
        name: of the coordinate.
        attributes: as CF has them: units, standard_name, axis.
    """
    units, standard, letter = (_said(attributes, key) for key in ("units", "standard_name", "axis"))
    other = next(iter(AXES.keys() - {axis}))
    if standard.startswith(("grid_", "projection_")) or standard == other:
        return f"{quoted(name)} has the standard_name {quoted(standard)}"
    if units not in {"", *DEGREES, *AXES[axis].units}:
        return f"{quoted(name)} has the units {quoted(units)}"
    if letter and letter != AXES[axis].letter:
        return f"{quoted(name)} has the axis {quoted(letter.upper())}"
    return None


def axis_of(name: str, attributes: Mapping[str, Any]) -> str | None:
    """The axis that a coordinate claims to be, "latitude" or "longitude"; None where neither.

    That is what its standard_name says, else its units, degrees_north and degrees_east, else its
    name, lat, latitude, lon or longitude.
    """
    units, standard = (_said(attributes, key) for key in ("units", "standard_name"))
    if standard in AXES:
        return standard
    by_units = [axis for axis, words in AXES.items() if units in words.units]
    by_name = [axis for axis, words in AXES.items() if name.lower() in words.names]
    return next(iter(by_units + by_name), None)


def lat_lon_dimensions(array: Any) -> dict[str, Any]:
    """The dimensions of an xarray.DataArray by "latitude" and "longitude", as far as it has them.

    Raises:
        SpecError: a dimension claims to be one of them, and says what contradicts that.
    """
    found: dict[str, Any] = {}
    for name in array.dims:
        attributes = array.coords[name].attrs if name in array.coords else {}
        axis = axis_of(str(name), attributes)
        if axis is None:
            continue
        if why := objection(axis, str(name), attributes):
            raise SpecError(axis, "in degrees of the sphere itself", Unquoted(why), CONVERT)
        if axis in found:
            names = f"{quoted(found[axis])} and {quoted(name)}"
            raise SpecError(axis, "one dimension", Unquoted(names))
        found[axis] = name
    return found


def in_degrees(name: str, given: Any) -> Any:
    """Latitudes, longitudes or other angles as they were given; in degrees if they have a unit.

    An astropy or pint Quantity is converted; an xarray.DataArray with attributes that say something
    else is refused. All else stays as it is.

    Args:
        name: of the argument, for messages; "latitudes" and "longitudes" have standard names.
        given: the argument.

    Raises:
        SpecError: its unit is not of an angle, or its attributes contradict.
    """
    attributes = getattr(given, "attrs", None)
    if isinstance(attributes, Mapping):
        axis = name.removesuffix("s")
        own = attributes if axis in AXES else {"units": attributes.get("units", "")}
        if why := objection(axis if axis in AXES else "latitude", name, own):
            raise SpecError(name, "in degrees of the sphere itself", Unquoted(why), CONVERT)
    if unit_of(given) is None:
        return given
    try:
        return given.to_value("deg") if hasattr(given, "to_value") else given.m_as("degree")
    except Exception as error:
        found = Unquoted(f"the unit {quoted(unit_of(given))}")
        raise SpecError(name, "angles", found, "Give degrees.") from error


def has_coordinates(array: Any) -> bool:
    """True if an array is an xarray.DataArray, or like one; columns of tables may have any name."""
    return hasattr(type(array), "dims") and hasattr(type(array), "coords")


def unit_of(given: Any) -> str | None:
    """The unit of an astropy or pint Quantity; None where there is none."""
    if hasattr(given, "to_value") and hasattr(given, "unit"):
        return str(given.unit) or None
    if hasattr(given, "m_as") and hasattr(given, "units"):
        return None if str(given.units) == "dimensionless" else str(given.units)
    return None


def _said(attributes: Mapping[str, Any], key: str) -> str:
    return str(attributes.get(key, "")).strip().lower()
