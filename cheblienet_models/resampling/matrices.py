"""Matrices of resampling, from the points of a sphere and a grid to sparse entries."""

from functools import lru_cache
from typing import Literal

import numpy as np

from cheblienet_models.resampling.cells import cells_of
from cheblienet_models.resampling.entries import Direction, Entries
from cheblienet_models.resampling.grids import Floats, Indices, Pixels
from cheblienet_models.resampling.hull import facet_weights
from cheblienet_models.resampling.overlaps import shared_areas
from cheblienet_models.resampling.samplings import Sampling, nearest, unit_vectors
from cheblienet_models.tensors import Csr

Method = Literal["bilinear", "conservative", "nearest"]

KEPT = 16
"""How many pairs of matrices a process keeps."""


@lru_cache(maxsize=KEPT)
def matrices(
    direction: Direction, method: Method, sampling: Sampling, latitudes: bytes, longitudes: bytes
) -> tuple[Csr, Csr]:
    """The matrix and its transpose, from float64 (lat,) and (lon,); cached.

    Rows of targets without any source are empty: points that the grid does not reach, pixels
    whose center, or with "conservative" whole area, is in cells of points that are not inside.
    """
    lat, lon = np.frombuffer(latitudes), np.frombuffer(longitudes)
    descending = lat[0] > lat[-1]
    grid = Pixels(lat[::-1] if descending else lat, lon)
    build = {"bilinear": _bilinear, "conservative": _conservative, "nearest": _nearest}[method]
    entries = build(direction, grid, sampling)
    pixels = np.arange(grid.count).reshape(-1, grid.columns)[:: -1 if descending else 1].ravel()
    if direction == "to points":
        entries = entries._replace(columns=pixels[entries.columns])
        shape = sampling.count, grid.count
    else:
        entries = entries._replace(rows=pixels[entries.rows])
        shape = grid.count, sampling.count
    return entries.csr(shape), entries.transposed().csr(shape[::-1])


def _bilinear(direction: Direction, grid: Pixels, sampling: Sampling) -> Entries:
    if direction == "to points":
        return _bilinear_to_points(grid, *sampling.inside_angles)
    pixels = _pixels(grid)
    if sampling.is_whole:
        return Entries(*facet_weights(unit_vectors(*sampling.angles), pixels))
    from_nearest = _nearest(direction, grid, sampling)
    in_domain = from_nearest.rows
    if len(in_domain) == 0:
        return from_nearest
    place, point, weight = facet_weights(unit_vectors(*sampling.angles), pixels[in_domain])
    number = sampling.number[point]
    entries = Entries(in_domain[place], number, weight).kept((number >= 0) & (weight > 0))
    # The nearest point of all need not be a corner of the facet.
    alone = np.isin(in_domain, entries.rows, invert=True)
    parts = zip(entries, from_nearest.kept(alone), strict=True)
    return Entries(*(np.concatenate(part) for part in parts)).averages(grid.count)


def _pixels(grid: Pixels) -> Floats:
    """(pixels, 3) their centers as vectors, row by row."""
    colatitudes, longitudes = grid.centers
    return unit_vectors(colatitudes[:, None], longitudes).reshape(-1, 3)


def _bilinear_to_points(grid: Pixels, beta: Floats, gamma: Floats) -> Entries:
    """Where a grid reaches a pole beyond its last row, that row's mean continues it there."""
    reached = np.flatnonzero(grid.reaches(beta, gamma))
    known, latitude = grid.latitudes, 90 - np.degrees(beta[reached])
    below = grid.poles[0] and bool(known[0] > -90)
    above = grid.poles[1] and bool(known[-1] < 90)
    first = -int(below)
    rows = np.concatenate([[-90.0] * below, known, [90.0] * above])
    south, north_share = _between(rows, latitude)
    left, right_share = _columns(grid, gamma[reached])
    found: list[tuple[Indices, Indices, Floats]] = []
    for row, share in ((south + first, 1 - north_share), (south + 1 + first, north_share)):
        inside = np.flatnonzero((row >= 0) & (row < len(known)))
        start = row[inside] * grid.columns
        for column, part in ((left, 1 - right_share), (left + 1, right_share)):
            pixel = start + column[inside] % grid.columns
            found.append((reached[inside], pixel, (share * part)[inside]))
        beyond = np.flatnonzero((row < 0) | (row >= len(known)))
        circle = np.arange(grid.columns)
        pixel = row[beyond, None].clip(0, len(known) - 1) * grid.columns + circle
        mean = np.repeat(share[beyond] / grid.columns, grid.columns)
        found.append((np.repeat(reached[beyond], grid.columns), pixel.ravel(), mean))
    return Entries(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _columns(grid: Pixels, gamma: Floats) -> tuple[Indices, Floats]:
    """(n,) the longitude west of each point, modulo their number, and the eastern one's share."""
    known = grid.longitudes
    if not grid.is_around:
        return _between(known, grid.unrolled(gamma))
    left, share = _between(
        np.concatenate([[known[-1] - 360], known, [known[0] + 360]]), grid.unrolled(gamma)
    )
    return left - 1, share


def _between(known: Floats, places: Floats) -> tuple[Indices, Floats]:
    """(n,) which of the ascending numbers lies before each place, and the share of the next one.

    Beyond the first and the last these are continued.
    """
    before = (np.searchsorted(known, places, side="right") - 1).clip(0, len(known) - 2)
    share = (places - known[before]) / (known[before + 1] - known[before])
    return before, share.clip(0, 1)


def _nearest(direction: Direction, grid: Pixels, sampling: Sampling) -> Entries:
    if direction == "to points":
        beta, gamma = sampling.inside_angles
        point = np.flatnonzero(grid.reaches(beta, gamma))
        pixel = grid.containing(beta[point], gamma[point])
        return Entries(point, pixel, np.ones(len(point)))
    number = sampling.number[nearest(unit_vectors(*sampling.angles), _pixels(grid))]
    return Entries(np.arange(grid.count), number, np.ones(grid.count)).kept(number >= 0)


def _conservative(direction: Direction, grid: Pixels, sampling: Sampling) -> Entries:
    """Areas that pixels and cells share, over those of the targets."""
    overlap = shared_areas(cells_of(sampling), grid, sampling.count)
    if direction == "to points":
        return overlap.averages(sampling.count)
    return overlap.transposed().averages(grid.count)
