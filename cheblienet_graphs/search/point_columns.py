"""Points given as an array: read, checked, and placed on a manifold."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs import limits
from cheblienet_graphs.errors import MISSING, SpecError, Unquoted
from cheblienet_graphs.inputs.coordinates import in_degrees, unit_of
from cheblienet_graphs.inputs.files import unmasked
from cheblienet_graphs.inputs.labelled import by_columns
from cheblienet_graphs.limits import choice, left_out, number, numbers
from cheblienet_graphs.manifolds import MANIFOLDS, Manifold, Metric, with_period
from cheblienet_graphs.samplings.maps import within
from cheblienet_graphs.search.positions import PlacedPoints
from cheblienet_graphs.typing import Floats

UNITS = ("degrees", "radians")
LARGEST = 1e100
"""Coordinates beyond this would overflow when they are squared."""
MOST_ASPECT = 1000
"""Largest ratio of periods: beyond it the nearest images belong to few points, over and over."""
COLUMNS = {
    "r2": "x, y",
    "r3": "x, y, z",
    "se2": "x, y, theta",
    "s2": "latitude, longitude",
    "so3": "latitude, longitude, orientation",
    "r3s2": "x, y, z, nx, ny, nz",
}
"""Columns of the arrays that are taken, by manifold."""
ANGLES = {"se2": {2: "theta"}, "s2": {0: "latitude", 1: "longitude"}}
ANGLES["so3"] = {**ANGLES["s2"], 2: "orientation"}
"""The columns that are angles, by manifold."""


def placed_points(
    points: npt.ArrayLike,
    *,
    manifold: str,
    eps: Any = None,
    xi: Any = None,
    period: Any = None,
    periodic: Any = None,
    units: Any = None,
) -> PlacedPoints:
    """Points as `nearest_neighbors` takes them.

    Raises:
        SpecError: an argument is out of range, or given where it does not apply.
    """
    name = choice("manifold", manifold, tuple(MANIFOLDS))
    geometry = _with_period(name, period)
    if ANGLES.get(name) and name != "se2" and unit_of(points) is not None:
        if units not in {None, "degrees"}:
            left_out("units", units, f"where points have one, {unit_of(points)}")
        points, units = in_degrees("points", points), "degrees"
    table = _table(points, name)
    metric = _metric(geometry, eps, xi)
    angles = ANGLES.get(name, {})
    if angles:
        table = _in_degrees(table, angles, units)
    else:
        left_out("units", units, f"on {name}, where no column is an angle")
    if name == "s2":
        table[abs(table[:, 0]) == 90, 1] = 0  # a pole is one place
    if not geometry.base.flat:
        left_out("periodic", periodic, "on the sphere, which is closed already")
        return PlacedPoints(geometry, metric, *_on_the_sphere(table), None)
    dimension, sides = geometry.base.dimension, _periods(periodic, geometry.base.dimension)
    if sides is not None:
        table[:, :dimension] = within(table[:, :dimension], sides)
    if name == "se2":
        table[:, 2] = np.radians(table[:, 2])
    if name == "r3s2":
        table[:, 3:] = _unit_axes(table[:, 3:])
    return PlacedPoints(geometry, metric, table, table[:, :dimension].copy(), sides)


def _with_period(name: str, period: Any) -> Manifold:
    """The manifold of a name, with the period of its orientations where it has any."""
    geometry = MANIFOLDS[name]
    if not geometry.periods:
        left_out("period", period, f"on {name}, which has no angles of orientation")
        return geometry
    return with_period(name, choice("period", "pi" if period is None else period, geometry.periods))


def _table(points: npt.ArrayLike, name: str) -> Floats:
    """(N, d) finite numbers, a copy without negative zeros."""
    accepted = f"of shape (N, {COLUMNS[name].count(',') + 1}) on {name}: {COLUMNS[name]}"
    table = unmasked("points", by_columns("points", points, COLUMNS[name].split(", ")), accepted)
    if table.dtype.kind not in "fiu":
        raise SpecError("points", accepted, Unquoted(type(points).__name__))
    if table.ndim != 2 or table.shape[1] != COLUMNS[name].count(",") + 1:
        raise SpecError("points", accepted, Unquoted(f"shape {table.shape}"))
    if not limits.POINTS.low <= len(table) <= limits.POINTS.high:
        raise SpecError("points", f"in {limits.POINTS} of them", Unquoted(f"{len(table)} points"))
    table = table.astype(np.float64) + 0.0
    wrong = ~(abs(table) <= LARGEST)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        found = Unquoted(f"{table[row, column]:g} at point {row:,}")
        raise SpecError("points", f"finite, of magnitude at most {LARGEST:g}", found)
    return table


def _metric(geometry: Manifold, eps: Any, xi: Any) -> Metric:
    """The metric; xi has no default, as it depends on the unit of length."""
    if not geometry.oriented:
        left_out("eps", eps, f"on {geometry.name}, which is isotropic")
        left_out("xi", xi, f"on {geometry.name}, which has no orientations")
        return Metric(1.0)
    if xi is None:
        accepted = f"given on {geometry.name}: the length that one radian of rotation counts for"
        raise SpecError("xi", accepted, MISSING)
    anisotropy = geometry.default_eps if eps is None else number("eps", eps, *limits.EPS)
    return Metric(anisotropy, number("xi", xi, *limits.XI))


def _in_degrees(table: Floats, angles: dict[int, str], units: Any) -> Floats:
    """The table with angles in degrees, which are refused where they look like radians."""
    if units is not None:
        choice("units", units, UNITS)
    columns = list(angles)
    largest = abs(table[:, columns]).max(axis=0)
    bounds = [math.pi / 2 if angles[n] == "latitude" else 2 * math.pi for n in columns]
    if units is None and largest.any() and (largest <= np.array(bounds)).all():
        sizes = zip(angles.values(), largest, strict=True)
        ranges = " and ".join(f"{name} up to {size:.4g}" for name, size in sizes)
        say = "Say `units='radians'` or `units='degrees'`."
        raise SpecError("points", "in degrees; these may be radians", Unquoted(ranges), say)
    if units == "radians":
        table[:, columns] = np.degrees(table[:, columns])
    for column, most in ((0, 90.0), (1, 360.0)) if "latitude" in angles.values() else ():
        _check_angle(table[:, column], angles[column], most)
    return table


def _check_angle(degrees: Floats, name: str, most: float) -> None:
    wrong = abs(degrees) > most * (1 + 1e-15)
    if wrong.any():
        found = Unquoted(f"{name} {degrees[wrong][0]:g} at point {int(wrong.argmax()):,}")
        raise SpecError("points", f"of {name} in [-{most:g}, {most:g}] degrees", found)


def _on_the_sphere(table: Floats) -> tuple[Floats, Floats]:
    """Coordinates by the manifold's columns and unit vectors, of degrees."""
    beta = np.radians(90 - table[:, 0])
    gamma = np.radians(table[:, 1])
    latitude = np.radians(table[:, 0])
    across = np.cos(np.radians(table[:, 0]))
    base = np.stack([across * np.cos(gamma), across * np.sin(gamma), np.sin(latitude)], axis=1)
    return np.stack([*np.radians(table[:, 2:]).T, beta, gamma], axis=1), base


def _periods(periodic: Any, dimension: int) -> tuple[float, ...] | None:
    if periodic is None:
        return None
    sides = tuple(numbers(periodic))
    if len(sides) != dimension or not all(0 < side <= LARGEST for side in sides):
        accepted = f"{dimension} positive periods, one along each axis, or None"
        raise SpecError("periodic", accepted, periodic)
    if max(sides) > MOST_ASPECT * min(sides):
        raise SpecError("periodic", f"none more than {MOST_ASPECT} times another", periodic)
    return sides


def _unit_axes(axes: Floats) -> Floats:
    lengths = np.linalg.norm(axes, axis=1)
    if not lengths.all():
        found = Unquoted(f"0, 0, 0 at point {int((lengths == 0).argmax()):,}")
        raise SpecError("points", "with axes nx, ny, nz of some length", found)
    units: Floats = axes / lengths[:, None]
    return units
