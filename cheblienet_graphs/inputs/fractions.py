"""Domains on lattices: which part of each half pixel is in them.

Half pixels are enough for the part of each pixel, and of the squares about corners and sides. The
unit of length is a pixel of the finest level: pixel (row, column) covers [column, column + 1] along
x and [row, row + 1] along y, as images do.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from cheblienet_graphs.errors import Found, SpecError
from cheblienet_graphs.inputs.masks import IMAGE_TYPES, Values, ambiguous, check_numbers
from cheblienet_graphs.inputs.polygons import Polygons, coverage
from cheblienet_graphs.typing import Floats

UNIT = 2.0**-16
"""Parts are rounded to whole multiples of it."""
SUBCELLS = {2: 8, 3: 3}
"""Cells along each side of a half pixel in which the part of a level set is estimated."""
AT_ONCE = 2**20
"""Cells that are evaluated together."""

LevelSet: TypeAlias = Callable[..., Any]
"""x, y[, z] -> negative numbers inside and positive ones outside, such as a distance; arrays of one
shape, in pixels."""


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
        SpecError: anything else, NaN too.
    """
    check_numbers(values)
    if values.dtype.newbyteorder("=") in IMAGE_TYPES and values.max(initial=0) > 1:
        return values / np.float64(np.iinfo(values.dtype).max)
    if not ((values >= 0) & (values <= 1)).all():  # which NaN is not
        raise ambiguous("holds numbers outside [0, 1], or NaN; save the part of each pixel inside")
    return values.astype(np.float64)


def _of_rows(level_set: LevelSet, shape: tuple[int, ...], cells: int, rows: range) -> Floats:
    """The part of each of some half pixels where a level set is negative.

    Args:
        level_set: whose values are taken.
        shape: of all half pixels.
        cells: along each side of one.
        rows: the half pixels along the first axis.
    """
    step = 0.5 / cells
    sides = [(rows.start, rows.stop), *((0, side) for side in shape[1:])]
    # Of one cell more on each side, so that slopes are known everywhere.
    axes = [(np.arange(low * cells - 1, high * cells + 1) + 0.5) * step for low, high in sides]
    values = _evaluated(level_set, np.meshgrid(*axes, indexing="ij")[::-1])
    inner = values[(slice(1, -1),) * values.ndim]
    slopes = [_slope(values, axis) for axis in range(values.ndim)]
    rise = np.linalg.norm(slopes, axis=0)
    distances = np.divide(inner, rise, where=rise > 0, out=np.sign(inner))
    share = np.clip(0.5 - distances, 0, 1)
    split = [part for low, high in sides for part in (high - low, cells)]
    means: Floats = share.reshape(split).mean(axis=tuple(range(1, 2 * values.ndim, 2)))
    return means


def _slope(values: Floats, axis: int) -> Floats:
    """The rise by cell along an axis, of all cells but those on the rim."""
    inner, dimension = slice(1, -1), values.ndim
    after = tuple(slice(2, None) if a == axis else inner for a in range(dimension))
    before = tuple(slice(None, -2) if a == axis else inner for a in range(dimension))
    slope: Floats = (values[after] - values[before]) / 2
    return slope


def _evaluated(level_set: LevelSet, places: Sequence[Floats]) -> Floats:
    """Finite values of a level set.

    Raises:
        SpecError: it has others, or an array of another shape.
    """
    values = np.asarray(level_set(*places))
    shape = places[0].shape
    if values.shape != shape or values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        accepted = "a function of arrays x, y in pixels that has finite numbers of their shape"
        found = Found(f"{values.dtype} of shape {values.shape} for {shape}")
        raise SpecError("mask", accepted, found)
    return values.astype(np.float64)


def _of_level_set(level_set: LevelSet, shape: tuple[int, ...]) -> Floats:
    """The part of each half pixel where a level set is negative.

    In each cell it rises from 0 to 1 over one cell along the normal. That ramp has the mean and the
    variance of the exact one, so curved surfaces enclose what they should up to third order.
    """
    halves, cells = tuple(2 * side for side in shape), SUBCELLS[len(shape)]
    line = int(np.prod(halves[1:])) * cells ** len(shape)
    rows = max(1, AT_ONCE // line)
    starts, last = range(0, halves[0], rows), halves[0]
    pieces = (range(start, min(start + rows, last)) for start in starts)
    return np.concatenate([_of_rows(level_set, halves, cells, piece) for piece in pieces])


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
            raise SpecError("mask", "of voxels; polygons are of the plane", Found("polygons"))
        parts = coverage(domain, (2 * shape[0], 2 * shape[1]), 2)
    elif callable(domain):
        parts = _of_level_set(domain, shape)
    else:
        parts = fractions_of_array(np.asarray(domain))
        for axis in range(len(shape)):
            parts = np.repeat(parts, 2, axis=axis)
    return np.round(parts / UNIT) * UNIT
