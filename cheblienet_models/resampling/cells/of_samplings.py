"""Cells of a level's points, as their sides.

HEALPix has its own pixels, grids in rows have rectangles in latitude and longitude. All others have
Voronoi cells.
"""

from collections.abc import Iterator

import numpy as np

from cheblienet_models.resampling.cells.healpix import healpix_sides
from cheblienet_models.resampling.cells.sides import Floats, Indices, Sides, rectangles
from cheblienet_models.resampling.cells.voronoi import voronoi_sides
from cheblienet_models.resampling.full_samplings import gaussian_depths, gaussian_rows
from cheblienet_models.resampling.nearest import unit_vectors
from cheblienet_models.resampling.sampling import Sampling

CHUNK = 2**15
"""So many cells at a time, of those that follow from their number."""


def cells_of(sampling: Sampling) -> Iterator[list[Sides]]:
    """Sides of the cells of the points inside, numbered in their order, for some at a time."""
    which = sampling.places
    if sampling.kind is None:
        yield from voronoi_sides(unit_vectors(*sampling.angles), which)
        return
    for start in range(0, len(which), CHUNK):
        part = which[start : start + CHUNK]
        cell = np.arange(start, start + len(part))
        if sampling.kind == "healpix":
            yield healpix_sides(sampling.shape[0], part, cell)
        elif sampling.kind == "equiangular":
            yield _equiangular(sampling.shape, part, cell)
        else:
            yield _gaussian(sampling.shape, part, cell)


def _equiangular(shape: tuple[int, ...], which: Indices, cell: Indices) -> list[Sides]:
    """Limits halfway between the rows, and at multiples of the step in longitude."""
    rows, columns = shape
    colatitudes = np.linspace(0, np.pi / 2, rows // 2 + 1)
    row, column = np.divmod(which, columns)
    return _in_rows(2 * np.sin(colatitudes / 2) ** 2, row, column, np.full(len(row), columns), cell)


def _gaussian(shape: tuple[int, ...], which: Indices, cell: Indices) -> list[Sides]:
    """Rows as high as their weights, and limits halfway between points."""
    counts = np.array(gaussian_rows(shape))
    first = np.cumsum(counts) - counts
    row = np.searchsorted(first, which, side="right") - 1
    column = which - first[row] - 0.5
    return _in_rows(gaussian_depths(len(counts)), row, column, counts[row], cell)


def _in_rows(
    depths: Floats, row: Indices, column: Floats | Indices, columns: Indices, cell: Indices
) -> list[Sides]:
    """Rectangles of grids with as many rows on both hemispheres.

    Args:
        depths: (rows / 2 + 1,) of the limits of rows, from a pole, at 0, to the equator, at 1.
        row: (n,) from the north.
        column: (n,) western limits, in steps.
        columns: (n,) steps once around.
        cell: (n,) numbers.
    """
    half = len(depths) - 1
    depths = np.append(depths[:-1], 1.0)
    step = 2 * np.pi / columns
    found: list[Sides] = []
    for is_north in (True, False):
        here = np.flatnonzero((row < half) == is_north)
        from_pole = row[here] if is_north else 2 * half - 1 - row[here]
        west, east = column[here] * step[here], (column[here] + 1) * step[here]
        limits = depths[from_pole], depths[from_pole + 1]
        found.append(rectangles(is_north, cell[here], (west, east), limits))
    return found
