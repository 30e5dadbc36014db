"""Areas that cells share with the pixels of a grid, exact to rounding.

The area of a region is the integral of longitude d(height) along its edge. A cell's sides are cut
where they cross the parallels and meridians of the grid; each piece is then in one pixel, to which
it adds its integral measured from the pixel's western meridian, and it adds its height times their
widths to all pixels of the row that lie west of it. So no polygon has to be clipped, sides that
coincide need no care, and what is shared adds up to a cell's area and, over cells, to a pixel's.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from cheblienet_models.resampling.cells.pieces import Strips, pieces
from cheblienet_models.resampling.cells.sides import Sides
from cheblienet_models.resampling.entries import Entries
from cheblienet_models.resampling.pixels import Pixels

SLIVER = 1e-11
"""Shares of the smaller of a cell and a pixel that are rounding errors."""


def shared_areas(sides: Iterable[Sequence[Sides]], grid: Pixels, cells: int) -> Entries:
    """Of cells (rows) and pixels (columns), steradians, float64.

    Args:
        sides: of some cells each, all sides of a cell together.
        grid: whose pixels share.
        cells: their number.
    """
    hemispheres = [Strips(grid, is_north) for is_north in (True, False)]
    found, of_cells = [], np.zeros(cells)
    for parts in sides:
        for part in parts:
            np.add.at(of_cells, part.cell, part.areas())
        for strips in hemispheres:
            here = [part for part in parts if part.is_north == strips.is_north]
            found.append(_overlaps(here, strips))
    entries = Entries(*(np.concatenate(part) for part in zip(*found, strict=True)))
    places, which = np.unique(entries.rows * grid.count + entries.columns, return_inverse=True)
    areas = np.bincount(which, entries.values, len(places)).astype(np.float64)
    cell, pixel = np.divmod(places, grid.count)
    smaller = np.minimum(of_cells[cell], grid.areas.ravel()[pixel])
    return Entries(cell, pixel, areas).kept(areas > SLIVER * smaller)


def _overlaps(sides: Sequence[Sides], strips: Strips) -> Entries:
    """Of cells and pixels within a hemisphere."""
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
        return Entries(cell, row, height)
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
    return Entries(cell[of_row], pixel, areas).kept(inner < strips.columns)
