"""Domains on lattices: which part of each half pixel is in them; polygons, from GeoJSON.

Half pixels are enough for pixels and for the squares about corners and sides. The unit of length is
a pixel of the finest level: pixel (row, column) covers [column, column + 1] x [row, row + 1].
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from operator import add
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from cheblienet_graphs.errors import CheblienetError, InputError, SpecError, Unquoted, listed
from cheblienet_graphs.inputs.files import reading, reals, reason, unmasked
from cheblienet_graphs.inputs.inside import (
    IMAGE_TYPES,
    Values,
    ambiguous,
    check_bright,
    check_numbers,
    dim,
    spread,
    within,
)
from cheblienet_graphs.typing import Floats

GEOJSON = (".geojson", ".json")
FORM = "a GeoJSON file"
OVERLAP = 1e-6
"""Excess of a part over [0, 1] above which polygons overlap."""
UNIT = 2.0**-16
"""Parts are rounded to whole multiples of it."""
SUBCELLS = {2: 8, 3: 3}
"""Cells along each side of a half pixel in which the part of a level set is estimated."""
LARGEST_CORNER = 1e9
"""Pixels; beyond, sides are no longer known to a thousandth of a pixel."""
AT_ONCE = 2**20
"""Cells that are evaluated, and pieces of sides that are added, together."""
LevelSet: TypeAlias = Callable[..., Any]
"""A function of arrays x, y[, z] in pixels, negative inside, finite to 0.1 pixels beyond."""


@dataclass(frozen=True, eq=False)
class Polygons:
    """Polygons in the plane, with holes or without.

    Args:
        rings: of each polygon its outer ring, then its holes: (N, 2) x, y of N >= 3 corners, in
            pixels; pixel (row, column) covers [column, column + 1] x [row, row + 1]. A ring may
            repeat its first corner at its end. Polygons must not overlap, nor a ring cross itself:
            that is noticed where more than the whole of a pixel is inside.

    Raises:
        SpecError: rings have another shape, or corners not in [-1e9, 1e9].

    Example:
        >>> square = [[(2, 2), (6, 2), (6, 6), (2, 6)]]
        >>> GraphSpec("r2", 8, mask=Polygons([square]), mask_edge="cut", weights="selling").vertices
        (16,)
    """

    rings: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        try:
            given = [[*polygon] for polygon in self.rings]
        except (TypeError, RuntimeError):  # of a tensor that has no rows, such as one of mkldnn
            raise SpecError("mask", "polygons, each a sequence of rings", self.rings) from None
        polygons = [[_ring(ring) for ring in polygon] for polygon in given]
        if not polygons or not all(polygons):
            raise SpecError("mask", "polygons of at least one ring each", Unquoted("none"))
        object.__setattr__(self, "rings", polygons)

    @classmethod
    def of(cls, vertices: Any, *holes: Any) -> "Polygons":
        """One polygon, of the corners of its outer ring and of its holes."""
        return cls([[vertices, *holes]])


def coverage(polygons: Polygons, shape: tuple[int, int], scale: float = 1.0) -> Floats:
    """The part of each pixel that is inside.

    Each side adds, with its sign, what is to its right, so that rings that run one way around add
    their inside, and holes, which run the other way, take theirs.

    Args:
        polygons: what is inside.
        shape: (height, width).
        scale: of the corners' unit, in these pixels.

    Returns:
        float64 in [0, 1], of this shape.

    Raises:
        SpecError: polygons overlap.
    """
    total = np.zeros((shape[0], shape[1] + 1))
    starts, ends, signs = _sides(polygons, shape, scale)
    lines = np.minimum(abs(ends - starts), shape[::-1]).sum(axis=1) + 3
    parts_of = np.cumsum(lines) // AT_ONCE
    for part in np.split(np.arange(len(starts)), np.flatnonzero(np.diff(parts_of)) + 1):
        pieces = _cut(starts[part], ends[part], signs[part], 1, shape[0])
        _add(total, *_cut(*_within(*pieces, shape), 0, shape[1]))
    covered: Floats = np.cumsum(total, axis=1)[:, :-1]
    for place in (covered.argmin(), covered.argmax()) if covered.size else ():
        row, column = divmod(int(place), shape[1])
        if not -OVERLAP <= covered[row, column] <= 1 + OVERLAP:
            raise _overlapping(polygons, row, column, scale, covered[row, column])
    return covered.clip(0, 1)


def _overlapping(polygons: Polygons, row: int, column: int, scale: float, part: float) -> SpecError:
    """Error that names overlapping polygons and their place."""
    box = np.array([column, row]) / scale
    there = [
        number
        for number, (outer, *_) in enumerate(polygons.rings)
        if (np.min(outer, axis=0) < box + 1 / scale).all() and (np.max(outer, axis=0) > box).all()
    ]
    x, y = box + 0.5 / scale
    named = f"Polygon {there[0]} crosses itself" if len(there) == 1 else ""
    named = named or f"Polygons {listed(map(str, there))} overlap" if there else "Rings cross"
    return SpecError(
        "mask",
        "of polygons that neither overlap nor cross themselves",
        Unquoted(f"{part:.9g} times the area about x = {x:g}, y = {y:g}"),
        f"{named} there, counted from 0; unite them, as shapely.union_all does.",
    )


def _ring(corners: Any) -> Floats:
    """(N, 2), the first corner not repeated."""
    ring = reals("mask", corners)
    if ring.ndim == 2 and len(ring) > 1 and (ring[0] == ring[-1]).all():
        ring = ring[:-1]
    if ring.ndim != 2 or ring.shape[1] != 2 or len(ring) < 3:
        accepted = "of rings of at least 3 corners x, y"
        raise SpecError("mask", accepted, Unquoted(f"an array of shape {ring.shape}"))
    near = (abs(ring) <= LARGEST_CORNER).all(axis=1)  # which NaN is not
    if not near.all():
        accepted = f"of rings whose corners are in [-{LARGEST_CORNER:g}, {LARGEST_CORNER:g}] pixels"
        x, y = ring[~near][0]
        raise SpecError("mask", accepted, Unquoted(f"({x:g}, {y:g})"))
    return ring


def _sides(
    polygons: Polygons, shape: tuple[int, int], scale: float
) -> tuple[Floats, Floats, Floats]:
    """Starts and ends, (M, 2), of sides with something of the lattice to their right.

    Also (M,) their signs: 1 of sides of rings that run as they should, outer ones from x to y and
    holes the other way, else -1.
    """
    rings = [ring for polygon in polygons.rings for ring in polygon]
    wanted = [-1 if hole else 1 for polygon in polygons.rings for hole in range(len(polygon))]
    sizes = np.array([len(ring) for ring in rings])
    firsts = np.cumsum(sizes) - sizes
    starts = np.concatenate(rings) * scale
    following = np.arange(1, len(starts) + 1)
    following[firsts + sizes - 1] = firsts
    ends = starts[following]
    means = np.add.reduceat(starts, firsts) / sizes[:, None]
    x, y = (starts - np.repeat(means, sizes, axis=0)).T
    areas = np.add.reduceat(x * y[following] - y * x[following], firsts)
    signs = np.repeat(np.where(areas * wanted > 0, 1.0, -1.0), sizes)
    return _within(starts, ends, signs, shape)


def _within(
    starts: Floats, ends: Floats, signs: Floats, shape: tuple[int, int]
) -> tuple[Floats, Floats, Floats]:
    """The sides that rise or fall within the rows, and begin or end left of the last column."""
    low, high = np.minimum(starts, ends), np.maximum(starts, ends)
    kept = (low[:, 1] < high[:, 1]) & (high[:, 1] > 0) & (low[:, 1] < shape[0])
    kept &= low[:, 0] < shape[1]
    return starts[kept], ends[kept], signs[kept]


def _cut(
    starts: Floats, ends: Floats, signs: Floats, axis: int, size: int
) -> tuple[Floats, Floats, Floats]:
    """Sides cut at the lines 0, ..., size between pixels along an axis, in their order."""
    begin, end = starts[:, axis], ends[:, axis]
    first = np.ceil(np.minimum(begin, end)).clip(0, size + 1)
    last = np.floor(np.maximum(begin, end)).clip(-1, size)
    lines = np.where(begin == end, 0, last - first + 1).clip(0).astype(np.int64)
    side = np.repeat(np.arange(len(starts)), lines + 1)
    after = np.cumsum(lines + 1)
    number = np.arange(len(side)) - np.repeat(after - lines - 1, lines + 1)
    stops = ends[side]
    inner = number < lines[side]  # pieces that end at a line
    of, count = side[inner], number[inner]
    line = np.where(end[of] > begin[of], first[of] + count, last[of] - count)
    at = ((line - begin[of]) / (end[of] - begin[of])).clip(0, 1)[:, None]
    stops[inner] = starts[of] + at * (ends[of] - starts[of])
    stops[inner, axis] = line
    begins = np.roll(stops, 1, axis=0)
    begins[number == 0] = starts
    return begins, stops, signs[side]


def _add(total: Floats, starts: Floats, ends: Floats, signs: Floats) -> None:
    """Add what is to the right of pieces of sides, which are in one pixel each.

    Args:
        total: (height, width + 1), of which sums along rows are the parts.
        starts: (M, 2).
        ends: (M, 2).
        signs: (M,) by which they count.
    """
    height, width = total.shape[0], total.shape[1] - 1
    middle, rise = (starts + ends) / 2, (ends[:, 1] - starts[:, 1]) * signs
    row = np.floor(middle[:, 1]).astype(np.int64).clip(0, height - 1)
    x = middle[:, 0].clip(0, width)
    column = np.floor(x).astype(np.int64).clip(0, width - 1)
    beyond = x - column
    np.add.at(total, (row, column), -rise * (1 - beyond))
    np.add.at(total, (row, column + 1), -rise * beyond)


def read_polygons(file: Path) -> Polygons:
    """The polygons of a GeoJSON file: x, y in pixels, as tools for images write them.

    Args:
        file: a Polygon, a MultiPolygon, a Feature of one, or a collection of these. Heights, and
            what is empty or null, are left out.

    Raises:
        InputError: it can't be read, or holds something else.
        SpecError: rings are no rings.
    """
    with reading(file, FORM):
        polygons = [*_of_geometry(json.loads(file.read_bytes()), file)]
    return Polygons(polygons)


def _of_geometry(value: Any, file: Path) -> Iterator[Any]:
    """The polygons in a GeoJSON value, x and y alone; empty ones are left out."""
    match value:
        case {"type": "Polygon", "coordinates": [*rings]}:
            if rings and rings[0] != []:
                yield [_plane(ring) for ring in rings]
        case {"type": "MultiPolygon", "coordinates": [*polygons]}:
            for polygon in polygons:
                yield from _of_geometry({"type": "Polygon", "coordinates": polygon}, file)
        case {"type": "Feature", "geometry": None}:
            return
        case {"type": "Feature", "geometry": geometry}:
            yield from _of_geometry(geometry, file)
        case {"type": "FeatureCollection", "features": [*members]}:
            for member in members:
                yield from _of_geometry(member, file)
        case {"type": "GeometryCollection", "geometries": [*members]}:
            for member in members:
                yield from _of_geometry(member, file)
        case _:
            kind = value.get("type") if isinstance(value, dict) else type(value).__name__
            raise InputError(f"{file} must hold Polygons or MultiPolygons. Got {kind!r:.40}.")


def _plane(ring: Any) -> Any:
    """A ring without heights."""
    if not isinstance(ring, list):
        return ring
    return [corner[:2] if isinstance(corner, list) else corner for corner in ring]


def fractions_of_array(values: Values) -> Floats:
    """The part of each pixel in the domain, from an array of numbers.

    - Of booleans, and of numbers that are 0 and 1, all or nothing.
    - Of numbers in [0, 1] themselves.
    - Of 8 and 16 bits their share of the whole range, as antialiased pictures have.

    Args:
        values: of any shape.

    Returns:
        float64, of the same shape, in [0, 1].

    Raises:
        SpecError: anything else, NaN too; an image of labels, or of fewer bits than its type has.
    """
    check_numbers(values)
    if values.dtype.newbyteorder("=") in IMAGE_TYPES and values.max(initial=0) > 1:
        most = np.iinfo(values.dtype).max
        top = values.max()
        if top < most and ((values == 0) | (values == top)).all():
            raise dim(values)
        check_bright(values)
        return values / np.float64(most)
    if not within(values):
        held = f"holds numbers outside [0, 1], or NaN: {spread(values)}"
        raise ambiguous(f"{held}; save the part of each pixel inside")
    return values.astype(np.float64).clip(0, 1)


def _of_block(level_set: LevelSet, cells: int, sides: Sequence[tuple[int, int]]) -> Floats:
    """The part of each of some half pixels where a level set is negative.

    Args:
        level_set: to evaluate.
        cells: along each side of one.
        sides: the first half pixel along each axis, and the one after the last.
    """
    step = 0.5 / cells
    # Of one cell more on each side, so that slopes are known everywhere.
    axes = [(np.arange(low * cells - 1, high * cells + 1) + 0.5) * step for low, high in sides]
    values = _evaluated(level_set, np.meshgrid(*axes, indexing="ij")[::-1])
    core = (slice(1, -1),) * values.ndim
    inner = values[core]
    slopes = [np.asarray(np.gradient(values, axis=axis))[core] for axis in range(values.ndim)]
    rise = np.linalg.norm(slopes, axis=0)
    distances = np.divide(inner, rise, where=rise > 0, out=np.sign(inner))
    return block_means(np.clip(0.5 - distances, 0, 1), cells)


def block_means(values: Floats, side: int) -> Floats:
    """The means of blocks of so many cells a side, the array's sides multiples of that."""
    split = [part for length in values.shape for part in (length // side, side)]
    means: Floats = values.reshape(split).mean(axis=tuple(range(1, 2 * values.ndim, 2)))
    return means


def _evaluated(level_set: LevelSet, places: Sequence[Floats]) -> Floats:
    """Finite values of a level set.

    Raises:
        SpecError: it has others, or an array of another shape; or it is no function of arrays.
    """
    accepted = (
        "a function of arrays x, y in pixels, up to 0.1 beyond the lattice, that has finite "
        "numbers of their shape"
    )
    try:
        returned = level_set(*places)
    except (CheblienetError, MemoryError):
        raise
    except Exception as error:
        raised = f"It raised {type(error).__name__}: {reason(error)}."
        raise SpecError("mask", accepted, Unquoted(type(level_set).__name__), raised) from error
    values = unmasked("mask", returned, accepted)
    shape = places[0].shape
    if values.shape != shape or values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        alike = values.shape == shape and values.dtype.kind in "iuf"
        other = f"{values.dtype} of shape {values.shape} for {shape}"
        found = Unquoted("some that are NaN or infinite" if alike else other)
        raise SpecError("mask", accepted, found)
    return values.astype(np.float64)


def _of_level_set(level_set: LevelSet, shape: tuple[int, ...]) -> Floats:
    """The part of each half pixel where a level set is negative.

    In each cell it rises from 0 to 1 over one cell along the normal. That ramp has the mean and the
    variance of the exact one, so curved surfaces enclose what they should up to third order.
    """
    halves, cells = tuple(2 * side for side in shape), SUBCELLS[len(shape)]
    each = math.prod(halves[2:]) * cells ** len(shape)
    columns = min(halves[1], max(1, AT_ONCE // each))
    steps = max(1, AT_ONCE // (each * columns)), columns, *halves[2:]
    parts = np.empty(halves)
    for starts in product(*map(range, [0] * len(shape), halves, steps)):
        ends = map(min, map(add, starts, steps), halves)
        sides = [*zip(starts, ends, strict=True)]
        parts[tuple(map(slice, *zip(*sides, strict=True)))] = _of_block(level_set, cells, sides)
    return parts


def half_pixels(domain: Any, shape: tuple[int, ...]) -> Floats:
    """The part of each half pixel in a domain, a multiple of UNIT.

    Args:
        domain: (height, width), in space (depth, height, width), the part of each pixel, as of
            `fractions_of_array`; `Polygons`; or a level set.
        shape: (height, width) or (depth, height, width).

    Returns:
        (2 height, 2 width), in space (2 depth, 2 height, 2 width).

    Raises:
        SpecError: polygons where there are voxels, or a level set that has other values.
    """
    if isinstance(domain, Polygons):
        if len(shape) != 2:
            raise SpecError("mask", "of voxels; polygons are of the plane", Unquoted("polygons"))
        parts = coverage(domain, (2 * shape[0], 2 * shape[1]), 2)
    elif callable(domain):
        parts = _of_level_set(domain, shape)
    else:
        parts = fractions_of_array(np.asarray(domain))
        for axis in range(len(shape)):
            parts = np.repeat(parts, 2, axis=axis)
    return np.round(parts / UNIT) * UNIT
