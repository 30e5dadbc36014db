"""Tables of given points: read, checked, normalized, and digested."""

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import SpecError, Unquoted
from cheblienet_graphs.inputs.coordinates import in_degrees, unit_of
from cheblienet_graphs.inputs.files import AREA, PLANE, SPHERE, unmasked
from cheblienet_graphs.inputs.labelled import by_columns
from cheblienet_graphs.limits import ASPECT, POINTS, choice, numbers
from cheblienet_graphs.typing import Floats, Indices

SAME = 1e-9
"""Points closer than this, in radians or widths of the domain, are one point."""
POLE = 1e-12
"""Points that are this close to the axis are on it: others are farther from a pole than SAME."""
LEAST_AREA = 1e-12
"""Smallest area, in units of the mean."""
DOMAIN = "four numbers X0, Y0, X1, Y1 with X0 < X1 and Y0 < Y1"


Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.floating]


class PointArrays(NamedTuple):
    """The points of a level.

    Args:
        points: (N, d) Cartesian coordinates, on the plane in units of the domain's width.
        areas: (N,) in units of their mean; None for areas of Voronoi cells.
    """

    points: Floats
    areas: Floats | None


class Level(NamedTuple):
    """A level as it was given: a table of shape (N, 2) or (N, 3), and words for which one it is."""

    table: Floats
    where: str

    def check(
        self, wrong: Mask, accepted: str, described: Callable[[Floats], str], remedy: str = ""
    ) -> None:
        """Refuse the first of the points (N,) that are wrong; its row is described."""
        if wrong.any():
            point = int(wrong.argmax())
            place = Unquoted(f"{described(self.table[point])} at point {point:,}{self.where}")
            raise SpecError("coordinates", accepted, place, remedy)


def on_the_sphere(coordinates: object, units: object) -> tuple[list[PointArrays], str]:
    """Points by latitudes and longitudes.

    Args:
        coordinates: (N, 2) degrees, or (N, 3) with areas, or several such arrays, finest first.
        units: of angles; None where these are not confirmed.

    Returns:
        The points of each level, and their digest.

    Raises:
        SpecError: they are not valid.
    """
    if units is None and any(map(unit_of, [coordinates, *_sequence(coordinates)])):
        units = "degrees"
    levels = _levels(coordinates, SPHERE, "latitude, longitude in degrees")
    _check_angles(levels, units)
    angles = [_normal_angles(level.table[:, :2]) for level in levels]
    points = [PointArrays(_unit_vectors(a), _areas(n)) for a, n in zip(angles, levels, strict=True)]
    for level, place, (known, _) in zip(levels, angles, points, strict=True):
        apart = np.flatnonzero(~_again_on_a_pole(level.table))
        pair = coincident(known[apart])
        pair = pair and (int(apart[pair[0]]), int(apart[pair[1]]))
        _check_distinct(level, pair, ("latitude", "longitude"), place)
    return points, digest_of_points(angles, [areas for _, areas in points])


def on_the_plane(
    coordinates: object, domain: object, *, periodic: bool
) -> tuple[list[PointArrays], str, tuple[float, float]]:
    """Points by x and y, in units of the domain's width and from its corner.

    Args:
        coordinates: (N, 2), or (N, 3) with areas, or several such arrays, finest first.
        domain: four numbers; None for the points' bounding box.
        periodic: whether opposite sides of the domain are glued.

    Returns:
        The points of each level, their digest, and the domain's width, 1, and height.

    Raises:
        SpecError: they are not valid.
    """
    levels = _levels(coordinates, PLANE, "x, y")
    low, high = _corners(levels, domain)
    width, height = (high - low).tolist()
    extent = (1.0, height / width)
    points = []
    for level in levels:
        table = level.table[:, :2]
        level.check(
            np.any((table < low) | (table > high), axis=1),
            f"within the domain [{low[0]:g}, {high[0]:g}] x [{low[1]:g}, {high[1]:g}]",
            lambda row: f"({row[0]:g}, {row[1]:g})",
        )
        place = (table - low) / width
        points.append(
            PointArrays(np.where(periodic & (place >= extent), 0.0, place), _areas(level))
        )
    for level, (place, _) in zip(levels, points, strict=True):
        _check_distinct(level, coincident(place, extent if periodic else None), ("x", "y"), place)
    return points, digest_of_points(*zip(*points, strict=True)), extent


def digest_of_points(places: Iterable[Numbers], areas: Iterable[Floats | None]) -> str:
    """Hex digest of given points, by level.

    Args:
        places: (N, 2) latitudes and longitudes in degrees, or x and y.
        areas: (N,); None where none are given.
    """
    digest = hashlib.sha256()
    for parts in zip(places, areas, strict=False):
        for part in parts:
            digest.update(b"" if part is None else np.ascontiguousarray(part, "<f8").tobytes())
    return digest.hexdigest()


def _levels(coordinates: object, columns: Sequence[str], words: str) -> list[Level]:
    """The finite (N, 2) or (N, 3) arrays, one for each level, finest first."""
    accepted = (
        f"of shape (N, 2): {words}, or (N, 3) with areas; for a pyramid a sequence of such "
        "arrays, finest first"
    )
    given: Sequence[Any] = [coordinates]
    if several := _sequence(coordinates):
        given = several if _array(several[0], columns, accepted).ndim > 1 else given
    levels: list[Level] = []
    for one in given:
        table = _array(one, columns, accepted)
        if table.dtype.kind not in "fiu":
            raise SpecError("coordinates", accepted, Unquoted(type(one).__name__))
        if table.ndim != 2 or table.shape[1] not in {2, 3}:
            raise SpecError("coordinates", accepted, Unquoted(f"shape {table.shape}"))
        where = f" of level {len(levels)}" if len(given) > 1 else ""
        levels.append(Level(table.astype(np.float64) + 0.0, where))  # no negative zeros
    for finer, level in zip([None, *levels], levels, strict=False):
        _check_shape(level, finer)
        level.check(
            np.any(~np.isfinite(level.table), axis=1),
            "finite",
            lambda row: f"{row[~np.isfinite(row)][0]:g}",
            "Leave out such points.",
        )
    return levels


def _sequence(coordinates: object) -> Sequence[Any]:
    """The given list or tuple, perhaps of several levels' tables; empty for anything else."""
    return coordinates if isinstance(coordinates, list | tuple) else []


def _array(given: Any, columns: Sequence[str], accepted: str) -> npt.NDArray[Any]:
    """An array, in which masked values are NaN; of another dtype than numbers where it is none.

    A table with names is taken by these; of the sphere, degrees are made of other units of angles.
    """
    given = by_columns("coordinates", given, columns, AREA)
    given = in_degrees("coordinates", given) if columns == SPHERE else given
    if isinstance(given, np.ma.MaskedArray):
        given = np.ma.filled(given.astype(np.float64), np.nan)
    return unmasked("coordinates", given, accepted)


def _check_shape(level: Level, finer: Level | None) -> None:
    """See that a level has points, fewer than the one before, and areas as that one."""
    table, where = level
    count = len(level.table)
    remedy = ""
    found = f"{count:,} point{'s' if count != 1 else ''}{where}"
    if finer is not None and table.shape[1] != finer.table.shape[1]:
        accepted = "with areas on all levels or on none"
        found = f"shape {table.shape}{where}"
    elif not POINTS.low <= count <= POINTS.high:
        accepted = f"at least {POINTS.low} points, and at most {POINTS.high:,}"
    elif finer is not None and count >= len(finer.table):
        accepted = f"fewer on each level than on the one before, which has {len(finer.table):,}"
        remedy = "Give the finest level first."
    else:
        return
    raise SpecError("coordinates", accepted, Unquoted(found), remedy)


def _areas(level: Level) -> Floats | None:
    """(N,) areas in units of their mean; None where none are given."""
    if level.table.shape[1] == 2:
        return None
    given = level.table[:, 2]
    areas: Floats = given / given.max() if (given > 0).all() else np.sign(given)
    mean = math.fsum(areas.tolist()) / len(areas)
    accepted = f"with positive areas, at least {LEAST_AREA:g} of their mean"
    wrong = ~(areas > 0) | ~(areas >= LEAST_AREA * mean)
    level.check(wrong, accepted, lambda row: f"area {row[2]:g}")
    areas /= mean
    return areas


def _check_angles(levels: list[Level], units: object) -> None:
    """See that angles are latitudes and longitudes in degrees."""
    if units is not None:
        choice("units", units, ("degrees",))
    sizes = [abs(level.table[:, :2]) for level in levels]
    for level, size in zip(levels, sizes, strict=True):
        swapped = "The second column fits: the order of columns seems swapped."
        level.check(
            size[:, 0] > 90,
            "latitude, in [-90, 90] degrees, before longitude",
            lambda row: f"latitude {row[0]:g}",
            swapped if size[:, 1].max() <= 90 else "",
        )
        level.check(
            size[:, 1] > 360,
            "with longitudes in [-360, 360] degrees",
            lambda row: f"longitude {row[1]:g}",
        )
    largest = np.concatenate(sizes).max(axis=0)
    if units is None and largest[0] <= math.pi / 2 and largest[1] <= 2 * math.pi:
        found = Unquoted(f"latitudes up to {largest[0]:.4g} and longitudes up to {largest[1]:.4g}")
        remedy = "These may be radians: convert them, or confirm with `units='degrees'`."
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


def _corners(levels: list[Level], domain: Any) -> tuple[Floats, Floats]:
    """The lower and the higher corner of the domain, by default of the points' bounding box."""
    if domain is None:
        every = np.concatenate([level.table[:, :2] for level in levels])
        low, high = every.min(axis=0), every.max(axis=0)
    else:
        corners = numbers(domain)
        low, high = np.array(corners[:2]), np.array(corners[2:])
        if len(corners) != 4 or not (low < high).all():
            raise SpecError("domain", DOMAIN, domain)
    with np.errstate(over="ignore"):
        width, height = (high - low).tolist()
    box = f"{width:g} x {height:g}"
    if not (0 < width < math.inf and 0 < height < math.inf):
        accepted = "given where the points' bounding box has no width or no height"
        raise SpecError(
            "domain", accepted, Unquoted(f"a bounding box of {box}"), f"It is {DOMAIN}."
        )
    if not ASPECT.low <= height / width <= ASPECT.high:
        raise SpecError("domain", f"of a height in {ASPECT} of its width", Unquoted(box))
    return low, high


def _again_on_a_pole(table: Floats) -> Mask:
    """(N,) points of a grid's row on a pole but for its first one: these are one place.

    Such a row has the longitudes of the next one. Other points that coincide there are no row.
    """
    latitude = table[:, 0]
    longitude = table[:, 1] % 360
    again = np.zeros(len(table), bool)
    others = latitude[abs(latitude) < 90]
    for pole, next_to_it in ((90.0, others.max(initial=-90)), (-90.0, others.min(initial=90))):
        row = np.flatnonzero(latitude == pole)
        along = np.sort(longitude[latitude == next_to_it])
        if len(row) > 1 and np.array_equal(np.sort(longitude[row]), along):
            again[row[1:]] = True
    return again


def again_on_poles(points: Floats) -> Indices:
    """(n,) which of unit vectors (N, 3) are on a pole, but for the first one on each."""
    poles = np.flatnonzero(np.hypot(points[:, 0], points[:, 1]) < POLE)
    north = points[poles, 2] > 0
    return np.concatenate([poles[north][1:], poles[~north][1:]])


def coincident(
    points: Floats, periods: tuple[float, float] | None = None
) -> tuple[int, int] | None:
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
    level: Level, pair: tuple[int, int] | None, names: tuple[str, str], places: Floats
) -> None:
    """See that no two points of a level are at the same place."""
    if pair is not None:
        columns = zip(names, places[pair[0]], strict=True)
        place = ", ".join(f"{name} {value:.6g}" for name, value in columns)
        found = Unquoted(f"points {pair[0]:,} and {pair[1]:,}{level.where} both at {place}")
        raise SpecError("coordinates", "different points", found, "Leave out one of them.")
