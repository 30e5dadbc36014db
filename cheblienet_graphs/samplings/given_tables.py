"""Given points: read, checked, normalized, and digested."""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import Found, Remedy, SpecError, Words
from cheblienet_graphs.limits import ASPECT, POINTS
from cheblienet_graphs.samplings.given_points import GivenPoints, PointArrays, UncheckedPoints
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.values import choice, parsed

SAME = 1e-9
"""Points closer than this, in radians or widths of the domain, are one point."""
LEAST_AREA = 1e-12
"""Smallest area, in units of the mean."""
COLUMNS = {False: "latitude, longitude in degrees", True: "x, y"}
DOMAIN = "four numbers X0, Y0, X1, Y1 with X0 < X1 and Y0 < Y1"


def read(given: UncheckedPoints, *, flat: bool) -> GivenPoints:
    """Points of the plane, or of the sphere.

    Args:
        given: coordinates of shape (N, 2), or (N, 3) with areas, or a sequence of such arrays,
            finest first.
        flat: whether they are points of the plane.

    Raises:
        SpecError: they are not valid.
    """
    sets = _tables(given.coordinates, flat=flat)
    places, areas = [table[:, :2] for table in sets], [_areas(table, sets) for table in sets]
    extent = None
    if flat:
        places, extent = _on_the_plane(places, given)
        points, periods = places, extent if given.periodic else None
    else:
        _check_angles(places, given.units)
        places, periods = [_normal_angles(angles) for angles in places], None
        points = [_unit_vectors(angles) for angles in places]
    digest = hashlib.sha256()
    for number, (place, area, point) in enumerate(zip(places, areas, points, strict=True)):
        _check_distinct(place, point, periods, flat=flat, where=_of_level(number, sets))
        for part in (place, area):
            digest.update(b"" if part is None else np.ascontiguousarray(part, "<f8").tobytes())
    return GivenPoints(
        tuple(map(len, sets)),
        "voronoi" if areas[0] is None else "given",
        digest.hexdigest(),
        extent,
        arrays={n: PointArrays(*known) for n, known in enumerate(zip(points, areas, strict=True))},
    )


def _tables(coordinates: object, *, flat: bool) -> list[Floats]:
    """The finite (N, 2) or (N, 3) arrays, one for each level, finest first."""
    accepted = (
        f"of shape (N, 2): {COLUMNS[flat]}, or (N, 3) with areas; for a pyramid a sequence of such "
        "arrays, finest first"
    )
    several = isinstance(coordinates, list | tuple) and bool(coordinates)
    given: Sequence[Any] = [coordinates]
    if several and isinstance(coordinates, list | tuple) and _array(coordinates[0]).ndim > 1:
        given = coordinates
    sets = []
    for one in given:
        table = _array(one)
        if table.dtype.kind not in "fiu":
            raise SpecError("coordinates", accepted, Found(f"a {type(one).__name__}"))
        if table.ndim != 2 or table.shape[1] not in {2, 3}:
            raise SpecError("coordinates", accepted, Found(f"shape {table.shape}"))
        sets.append(table.astype(np.float64) + 0.0)  # no negative zeros
    for number, table in enumerate(sets):
        _check_table(number, table, sets)
    return sets


def _array(given: object) -> npt.NDArray[Any]:
    """An array, in which masked values are NaN; of another dtype than numbers where it is none."""
    if isinstance(given, np.ma.MaskedArray):
        given = np.ma.filled(given.astype(np.float64), np.nan)
    try:
        return np.asarray(given)
    except ValueError:  # rows of several lengths
        return np.asarray(None)


def _check_table(number: int, table: Floats, sets: list[Floats]) -> None:
    where, columns = _of_level(number, sets), sets[0].shape[1]
    if table.shape[1] != columns:
        accepted = "with areas on all levels or on none"
        raise SpecError("coordinates", accepted, Found(f"shape {table.shape}{where}"))
    if not POINTS.low <= len(table) <= POINTS.high:
        found = "1 point" if len(table) == 1 else f"{len(table):,} points"
        accepted = f"at least {POINTS.low} points, and at most {POINTS.high:,}"
        raise SpecError("coordinates", accepted, Found(found + where))
    if number and len(table) >= len(sets[number - 1]):
        accepted = (
            f"fewer on each level than on the one before, which has {len(sets[number - 1]):,}"
        )
        remedy = "Give the finest level first."
        raise SpecError("coordinates", accepted, Found(f"{len(table):,} points{where}"), remedy)
    wrong = np.argwhere(~np.isfinite(table))
    if len(wrong):
        point, column = wrong[0].tolist()
        found = f"{table[point, column]:g} at point {point:,}{where}"
        raise SpecError("coordinates", "finite", Found(found), "Leave out such points.")


def _areas(table: Floats, sets: list[Floats]) -> Floats | None:
    """(N,) areas in units of their mean; None where none are given."""
    if table.shape[1] == 2:
        return None
    number = next(n for n, other in enumerate(sets) if other is table)
    given = table[:, 2]
    areas: Floats = given / given.max() if (given > 0).all() else np.sign(given)
    mean = math.fsum(areas.tolist()) / len(areas)
    wrong = np.flatnonzero(~(areas > 0) | ~(areas >= LEAST_AREA * mean))
    if len(wrong):
        accepted = f"with positive areas, at least {LEAST_AREA:g} of their mean"
        found = f"area {given[wrong[0]]:g} at point {wrong[0]:,}{_of_level(number, sets)}"
        raise SpecError("coordinates", accepted, Found(found))
    areas /= mean
    return areas


def _of_level(number: int, sets: list[Floats]) -> str:
    return f" of level {number}" if len(sets) > 1 else ""


def _check_angles(places: list[Floats], units: object) -> None:
    """See that angles are latitudes and longitudes in degrees."""
    if units is not None:
        choice("units", units, ("degrees",))
    for number, table in enumerate(places):
        where = _of_level(number, places)
        largest = abs(table).max(axis=0)
        wrong = np.flatnonzero(abs(table[:, 0]) > 90)
        if len(wrong):
            found = Found(f"latitude {table[wrong[0], 0]:g} at point {wrong[0]:,}{where}")
            swapped = "The second column fits: the order of columns seems swapped."
            remedy = swapped if largest[1] <= 90 else ""
            accepted = "latitude, in [-90, 90] degrees, before longitude"
            raise SpecError("coordinates", accepted, found, remedy)
        wrong = np.flatnonzero(abs(table[:, 1]) > 360)
        if len(wrong):
            found = Found(f"longitude {table[wrong[0], 1]:g} at point {wrong[0]:,}{where}")
            raise SpecError("coordinates", "with longitudes in [-360, 360] degrees", found)
    largest = np.max([abs(table).max(axis=0) for table in places], axis=0)
    if units is None and largest[0] <= math.pi / 2 and largest[1] <= 2 * math.pi:
        found = Found(f"latitudes up to {largest[0]:.4g} and longitudes up to {largest[1]:.4g}")
        confirmed = Remedy("units", "degrees")
        remedy = Words("These may be radians: convert them, or confirm with ", confirmed, ".")
        raise SpecError("coordinates", "in degrees", found, remedy)


def _normal_angles(angles: Floats) -> Floats:
    """Latitudes with longitudes in (-180, 180], 0 on the poles; exact."""
    latitude, longitude = angles.T
    longitude = np.where(longitude > 180, longitude - 360, longitude)
    longitude = np.where(longitude <= -180, longitude + 360, longitude)
    longitude = np.where(abs(latitude) == 90, 0.0, longitude)
    return np.stack([latitude, longitude], axis=1) + 0.0


def _unit_vectors(angles: Floats) -> Floats:
    """(N, 3) of latitudes and longitudes in degrees, exact where sines and cosines are."""
    (height, across), (sine, cosine) = (_sine_cosine(column) for column in angles.T)
    return np.stack([across * cosine, across * sine, height], axis=1)


def _sine_cosine(degrees: Floats) -> tuple[Floats, Floats]:
    """Sines and cosines; whole quarter turns are taken off first, which is exact."""
    quarters = np.round(degrees / 90)
    rest = np.radians(degrees - 90 * quarters)
    turns = quarters.astype(np.int64) % 4
    sine, cosine = np.sin(rest), np.cos(rest)
    cycle = np.stack([sine, cosine, -sine, -cosine]) + 0.0
    index = np.arange(len(degrees))
    return cycle[turns, index], cycle[(turns + 1) % 4, index]


def _on_the_plane(
    places: list[Floats], given: UncheckedPoints
) -> tuple[list[Floats], tuple[float, float]]:
    """Points in units of the domain's width, from its corner, and its width, 1, and height."""
    low, high = (
        np.min([p.min(axis=0) for p in places], axis=0),
        np.max([p.max(axis=0) for p in places], axis=0),
    )
    if given.domain is not None:
        low, high = _domain(given.domain)
    with np.errstate(over="ignore"):
        width, height = (high - low).tolist()
    if not (0 < width < math.inf and 0 < height < math.inf):
        box = Found(f"a bounding box of {width:g} x {height:g}")
        accepted = "given where the points' bounding box has no width or no height"
        raise SpecError("domain", accepted, box, f"It is {DOMAIN}.")
    if not ASPECT.low <= height / width <= ASPECT.high:
        found = Found(f"{width:g} x {height:g}")
        raise SpecError("domain", f"of a height in {ASPECT} of its width", found)
    for number, table in enumerate(places):
        wrong = np.flatnonzero(((table < low) | (table > high)).any(axis=1))
        if len(wrong):
            x, y = table[wrong[0]].tolist()
            accepted = f"within the domain [{low[0]:g}, {high[0]:g}] x [{low[1]:g}, {high[1]:g}]"
            found = Found(f"({x:g}, {y:g}) at point {wrong[0]:,}{_of_level(number, places)}")
            raise SpecError("coordinates", accepted, found)
    extent = (1.0, height / width)
    points = [(table - low) / width for table in places]
    if given.periodic:
        points = [np.where(table >= extent, 0.0, table) for table in points]
    return points, extent


def _domain(given: Any) -> tuple[Floats, Floats]:
    """Its lower and its higher corner."""
    try:
        sides = given.split(",") if isinstance(given, str) else list(given)
        x0, y0, x1, y1 = (parsed(side) for side in sides)
    except (TypeError, ValueError):
        raise SpecError("domain", DOMAIN, given) from None
    if not (x0 < x1 and y0 < y1):
        raise SpecError("domain", DOMAIN, given)
    return np.array([x0, y0]), np.array([x1, y1])


def coincident(points: Floats, periods: tuple[float, float] | None) -> tuple[int, int] | None:
    """Two points at the same place, the first before the other; None where all are apart.

    Args:
        points: (N, d) Cartesian coordinates; with periods within [0, period).
        periods: of a torus; None elsewhere.
    """
    from scipy.spatial import KDTree  # slow to import, builds on grids do without

    order = np.lexsort(points.T)  # many equal points would stall the tree
    equal = np.flatnonzero((np.diff(points[order], axis=0) == 0).all(axis=1))
    if len(equal):
        pair = order[equal[0]], order[equal[0] + 1]
    else:
        distances, two = KDTree(points, boxsize=periods).query(points, k=2)
        close = np.flatnonzero(distances[:, 1] <= SAME)
        if not len(close):
            return None
        pair = close[0], next(n for n in two[close[0]] if n != close[0])
    first, second = sorted(int(n) for n in pair)
    return first, second


def _check_distinct(
    places: Floats,
    points: Floats,
    periods: tuple[float, float] | None,
    *,
    flat: bool,
    where: str,
) -> None:
    """See that no two points are at the same place."""
    pair = coincident(points, periods)
    if pair is None:
        return
    first, second = pair
    names = ("x", "y") if flat else ("latitude", "longitude")
    place = ", ".join(
        f"{name} {value:.6g}" for name, value in zip(names, places[first], strict=True)
    )
    found = Found(f"points {first:,} and {second:,}{where} both at {place}")
    raise SpecError("coordinates", "different points", found, "Leave out one of them.")
