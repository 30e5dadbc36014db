"""Areas that cells share with the pixels of a grid, exact to rounding.

The area of a region is the integral of longitude d(height) along its edge. A cell's sides are cut
where they cross the parallels and meridians of the grid; each piece is then in one pixel, to which
it adds its integral, measured from this pixel's western meridian. It also adds its height times
their widths to all pixels of the row that lie west of it. So no polygon has to be clipped, sides
that coincide need no care, and shared areas add up to a cell's area over pixels and to a pixel's
over cells.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cheblienet_graphs.samplings.sides import Sides
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_models.resampling.grids import Pixels

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TURN = 2 * np.pi
SLIVER = 1e-11
"""Largest share of the smaller of a cell and a pixel that counts as a rounding error."""


def summed(shape: tuple[int, int], rows: Indices, columns: Indices, values: Floats) -> "csr_array":
    """The matrix of entries (n,), which are added up where they have the same place."""
    from scipy.sparse import coo_array  # networks and graphs do without scipy

    return coo_array((values, (rows, columns)), shape=shape).tocsr()


class Strips:
    """Rows and columns of a grid, as one hemisphere sees them from its pole.

    What is outside of the grid makes up a strip toward the pole, one at the equator and, where the
    grid does not go around, a column.

    Attributes:
        is_north: whether the cap is the northern one.
        depths: (k,) depths, 1 - |z|, of the parallels between strips.
        rows: (k + 1,) the grid's row of each strip, -1 outside.
        columns: the number of the grid's columns.
        edges: (count + 1,) meridians between columns, radians.
        count: the number of columns with the one outside of the grid.
        widths: (count,) widths of these columns, radians.
    """

    def __init__(self, grid: Pixels, is_north: bool) -> None:  # noqa: FBT001
        self.is_north = is_north
        latitudes = grid.row_edges if is_north else -grid.row_edges[::-1]
        inner = latitudes[(latitudes > 0) & (latitudes < 90)]
        # Twice the squared sine of half the colatitude.
        self.depths: Floats = 2 * np.sin(np.radians(90 - inner[::-1]) / 2) ** 2
        middles = 1 - (np.append(0, self.depths) + np.append(self.depths, 1)) / 2
        heights = np.sin(np.radians(grid.row_edges))
        rows = np.searchsorted(heights, middles if is_north else -middles, side="right") - 1
        self.rows: Indices = np.where(rows < len(grid.latitudes), rows, -1)
        self.edges: Floats = np.radians(grid.column_edges)
        if not grid.is_around:
            self.edges = np.append(self.edges, self.edges[0] + TURN)
        self.columns, self.count = grid.columns, len(self.edges) - 1
        self.widths: Floats = np.diff(self.edges)

    def row(self, depth: Floats) -> Indices:
        """(n,) the strips, from the pole."""
        return np.searchsorted(self.depths, depth).astype(np.int64)

    def column(self, longitude: Floats) -> Indices:
        """(n,) the column of each longitude, numbered on beyond one turn."""
        turns = np.floor((longitude - self.edges[0]) / TURN)
        column = np.searchsorted(self.edges, longitude - TURN * turns, side="right") - 1
        pixel: Indices = turns.astype(np.int64) * self.count + column.clip(0, self.count - 1)
        return pixel

    def western_edge(self, column: Indices) -> Floats:
        """(n,) longitudes, radians."""
        turns, place = np.divmod(column, self.count)
        return self.edges[place] + TURN * turns


Pieces = tuple[Indices, Indices, Indices, Floats, Floats]
"""Pieces of sides, (n,) each: the cell; row of the strips; column, numbered on around the sphere;
the increase of z; and the integral over z of the longitude, from the column's western edge."""


def pieces(sides: Sides, strips: Strips) -> Pieces:
    """Sides cut wherever they cross a parallel or a meridian; only pieces in a row of the grid.

    What lies along a parallel adds nothing, and is left out.
    """
    row_a, row_b = strips.row(sides.start[1]), strips.row(sides.end[1])
    in_grid = np.append(0, np.cumsum(strips.rows >= 0))
    is_in = in_grid[np.maximum(row_a, row_b) + 1] > in_grid[np.minimum(row_a, row_b)]
    side = np.flatnonzero(is_in & (sides.start[1] != sides.end[1]))
    row_a, row_b = row_a[side], row_b[side]
    starts, ends = ((place[0][side], place[1][side]) for place in (sides.start, sides.end))
    column_a, column_b = strips.column(starts[0]), strips.column(ends[0])

    at_row, edge = _between(row_a, row_b)
    parallel = strips.depths[edge]
    longitude = sides.longitude_at(side[at_row], parallel)
    longitude = _clipped(longitude, starts[0][at_row], ends[0][at_row])
    at_column, edge = _between(column_a, column_b)
    meridian = strips.western_edge(edge + 1)
    depth = sides.depth_at(side[at_column], meridian)
    depth = _clipped(depth, starts[1][at_column], ends[1][at_column])

    count = np.arange(len(side))
    which = np.concatenate([count, at_row, at_column, count])
    longitudes = np.concatenate([starts[0], longitude, meridian, ends[0]])
    depths = np.concatenate([starts[1], parallel, depth, ends[1]])
    is_last = np.arange(len(which)) >= len(which) - len(count)
    # Longitude and depth are both monotonic along a side, so that their sum is.
    along = np.abs(longitudes - starts[0][which]) + np.abs(depths - starts[1][which])
    along[: len(count)], along[is_last] = -1, np.inf
    order = np.lexsort((along, which))
    begin = np.flatnonzero(~is_last[order])
    a, b = order[begin], order[begin + 1]
    row = strips.row((depths[a] + depths[b]) / 2)
    column = strips.column((longitudes[a] + longitudes[b]) / 2)
    height = depths[b] - depths[a]
    integral = ((longitudes[a] + longitudes[b]) / 2 - strips.western_edge(column)) * height
    integral += sides.bulge(side[which[a]], (longitudes[a], depths[a]), (longitudes[b], depths[b]))
    kept = (strips.rows[row] >= 0) & ((height != 0) | (integral != 0))
    sign = -1 if sides.is_north else 1  # of z and depth
    cell = sides.cell[side[which[a]]]
    return cell[kept], row[kept], column[kept], sign * height[kept], sign * integral[kept]


def _between(a: Indices, b: Indices) -> tuple[Indices, Indices]:
    """(m,) for each unit step between a and b: the number of its pair, and its lower end."""
    steps = np.abs(b - a)
    which = np.repeat(np.arange(len(a)), steps)
    step = np.arange(len(which)) - np.repeat(np.cumsum(steps) - steps, steps)
    number: Indices = np.minimum(a, b)[which] + step
    return which, number


def _clipped(values: Floats, a: Floats, b: Floats) -> Floats:
    """(m,) values, clipped to the interval between a and b."""
    return values.clip(np.minimum(a, b), np.maximum(a, b))


def shared_areas(sides: Iterable[Sequence[Sides]], grid: Pixels, cells: int) -> "csr_array":
    """(cells, pixels) areas, steradians, float64.

    Args:
        sides: of some cells each, all sides of a cell together.
        grid: of the pixels.
        cells: their number.
    """
    hemispheres = [Strips(grid, is_north) for is_north in (True, False)]
    parts, of_cells = [], np.zeros(cells)
    for some in sides:
        for part in some:
            np.add.at(of_cells, part.cell, part.areas())
        for strips in hemispheres:
            here = [part for part in some if part.is_north == strips.is_north]
            parts.append(_overlaps(here, strips))
    joined = (np.concatenate(part) for part in zip(*parts, strict=True))
    shared = summed((cells, grid.count), *joined)
    smaller = np.minimum(
        np.repeat(of_cells, np.diff(shared.indptr)), grid.areas.ravel()[shared.indices]
    )
    shared.data[shared.data <= SLIVER * smaller] = 0
    shared.eliminate_zeros()
    return shared


def _overlaps(sides: Sequence[Sides], strips: Strips) -> tuple[Indices, Indices, Floats]:
    """(n,) cells, pixels and the areas that they share within a hemisphere."""
    parts = [pieces(part, strips) for part in sides]
    cell, row, column, height, integral = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    # Each cell's part of each row: the columns that its sides are in, and all between.
    order = np.lexsort((row, cell))
    key = (cell * len(strips.rows) + row)[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    size = np.diff(np.append(first, len(key)))
    column, height, integral = column[order], height[order], integral[order]
    if len(first) == 0:
        return cell, row, height
    west = np.minimum.reduceat(column, first)
    length = np.maximum.reduceat(column, first) - west + 1
    offset = np.cumsum(length) - length
    total = int(length.sum())
    place = column + np.repeat(offset - west, size)
    heights = np.bincount(place, height, total)
    areas = np.bincount(place, integral, total).astype(np.float64)
    which = np.repeat(np.arange(len(first)), length)
    summed = np.cumsum(heights)
    east_of = summed[offset + length - 1][which] - summed
    inner = (np.arange(total) + (west - offset)[which]) % strips.count
    areas += east_of * strips.widths[inner]
    of_row = order[first][which]
    pixel = strips.rows[row[of_row]] * strips.columns + inner
    in_grid = inner < strips.columns
    return cell[of_row][in_grid], pixel[in_grid], areas[in_grid]
