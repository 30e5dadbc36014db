"""Matrices of resampling: numpy, from the points of a sphere and a grid to sparse entries."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cheblienet_models.resampling.hull import facet_weights

Method = Literal["bilinear", "conservative", "nearest"]
Direction = Literal["to points", "to grid"]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

SAMPLES = 64
"""Conservative averages take about so many samples a point, at least."""
REFINEMENTS = 3
"""How often the samples' spacing is halved for points that got none."""
KEPT = 16
"""How many pairs of matrices a process keeps."""


class Csr(NamedTuple):
    """A sparse matrix: row pointers (rows + 1,) and columns (nnz,) int32, values (nnz,) float32."""

    row_pointers: Tensor
    columns: Tensor
    values: Tensor


@lru_cache(maxsize=KEPT)
def matrices(
    direction: Direction, method: Method, points: bytes, latitudes: bytes, longitudes: bytes
) -> tuple[Csr, Csr]:
    """The matrix and its transpose, from float64 (points, 2), (lat,) and (lon,); cached."""
    beta, gamma = np.frombuffer(points).reshape(-1, 2).T
    lat, lon = np.frombuffer(latitudes), np.frombuffer(longitudes)
    descending = lat[0] > lat[-1]
    grid = _Grid(lat[::-1] if descending else lat, lon[0], len(lon))
    build = {"bilinear": _bilinear, "conservative": _conservative, "nearest": _nearest}[method]
    entries = build(direction, grid, beta, gamma)
    if descending:
        entries = entries.with_rows_reversed(direction, grid)
    pixels, count = len(lat) * len(lon), len(beta)
    shape = (count, pixels) if direction == "to points" else (pixels, count)
    return _csr(entries, shape), _csr(entries.transposed(), shape[::-1])


class _Grid(NamedTuple):
    """Latitudes (lat,) ascending, the first longitude, degrees, and the number of longitudes."""

    latitudes: Floats
    west: float
    columns: int

    @property
    def edges(self) -> Floats:
        """(lat + 1,) between the rows of pixels, from pole to pole."""
        middles = (self.latitudes[1:] + self.latitudes[:-1]) / 2
        return np.concatenate([[-90.0], middles, [90.0]])

    def columns_at(self, gamma: Floats) -> Floats:
        """(n,) places in [0, columns] of longitudes, radians; whole numbers at centres."""
        step = 360 / self.columns
        places: Floats = (np.degrees(gamma) - self.west) / step % self.columns
        return places


class _Entries(NamedTuple):
    """Entries (nnz,) of a matrix, those of the same place to be added."""

    rows: Indices
    columns: Indices
    values: Floats

    def transposed(self) -> "_Entries":
        return _Entries(self.columns, self.rows, self.values)

    def with_rows_reversed(self, direction: Direction, grid: _Grid) -> "_Entries":
        """With the image's rows in descending order."""
        pixels = self.columns if direction == "to points" else self.rows
        row, column = np.divmod(pixels, grid.columns)
        pixels = (len(grid.latitudes) - 1 - row) * grid.columns + column
        if direction == "to points":
            return self._replace(columns=pixels)
        return self._replace(rows=pixels)


def _csr(entries: _Entries, shape: tuple[int, int]) -> Csr:
    places, which = np.unique(entries.rows * shape[1] + entries.columns, return_inverse=True)
    values = np.bincount(which, entries.values, len(places))
    places, values = places[values != 0], values[values != 0]
    rows, columns = np.divmod(places, shape[1])
    pointers = np.searchsorted(rows, np.arange(shape[0] + 1))
    return Csr(
        torch.from_numpy(pointers.astype(np.int32)),
        torch.from_numpy(columns.astype(np.int32)),
        torch.from_numpy(values.astype(np.float32)),
    )


def _unit_vectors(beta: Floats, gamma: Floats) -> Floats:
    """(..., 3) of colatitudes and longitudes, radians, broadcast."""
    beta, gamma = np.broadcast_arrays(beta, gamma)
    sine = np.sin(beta)
    return np.stack([sine * np.cos(gamma), sine * np.sin(gamma), np.cos(beta)], axis=-1)


def _centres(grid: _Grid) -> tuple[Floats, Floats]:
    """(lat,) colatitudes and (lon,) longitudes of the pixels, radians."""
    longitudes = grid.west + np.arange(grid.columns) * (360 / grid.columns)
    return np.radians(90 - grid.latitudes), np.radians(longitudes)


def _bilinear(direction: Direction, grid: _Grid, beta: Floats, gamma: Floats) -> _Entries:
    if direction == "to points":
        return _bilinear_to_points(grid, beta, gamma)
    colatitudes, longitudes = _centres(grid)
    pixels = _unit_vectors(colatitudes[:, None], longitudes).reshape(-1, 3)
    return _Entries(*facet_weights(_unit_vectors(beta, gamma), pixels))


def _bilinear_to_points(grid: _Grid, beta: Floats, gamma: Floats) -> _Entries:
    """Rows of the image that are no pole's are continued by one that is the last one's mean."""
    known, latitude = grid.latitudes, 90 - np.degrees(beta)
    first = -1 if known[0] > -90 else 0
    rows = np.concatenate([[-90.0] * -first, known, [90.0] * int(known[-1] < 90)])
    south = (np.searchsorted(rows, latitude, side="right") - 1).clip(0, len(rows) - 2)
    north_share = ((latitude - rows[south]) / (rows[south + 1] - rows[south])).clip(0, 1)
    place = grid.columns_at(gamma)
    left = np.floor(place).astype(np.int64)
    right_share = place - left
    found: list[tuple[Indices, Indices, Floats]] = []
    for row, share in ((south + first, 1 - north_share), (south + 1 + first, north_share)):
        inside = np.flatnonzero((row >= 0) & (row < len(known)))
        start = row[inside] * grid.columns
        for column, part in ((left, 1 - right_share), (left + 1, right_share)):
            pixel = start + column[inside] % grid.columns
            found.append((inside, pixel, (share * part)[inside]))
        beyond = np.flatnonzero((row < 0) | (row >= len(known)))
        circle = np.arange(grid.columns)
        pixel = row[beyond, None].clip(0, len(known) - 1) * grid.columns + circle
        mean = np.repeat(share[beyond] / grid.columns, grid.columns)
        found.append((np.repeat(beyond, grid.columns), pixel.ravel(), mean))
    return _Entries(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _nearest(direction: Direction, grid: _Grid, beta: Floats, gamma: Floats) -> _Entries:
    if direction == "to points":
        row = np.searchsorted(grid.edges[1:-1], 90 - np.degrees(beta))
        column = np.rint(grid.columns_at(gamma)).astype(np.int64) % grid.columns
        point = np.arange(len(beta))
        return _Entries(point, row * grid.columns + column, np.ones(len(beta)))
    found = np.concatenate(list(_nearest_points(beta, gamma, *_centres(grid))))
    return _Entries(np.arange(len(found)), found, np.ones(len(found)))


def _conservative(direction: Direction, grid: _Grid, beta: Floats, gamma: Floats) -> _Entries:
    """Areas that pixels and Voronoi cells share, over those of the targets."""
    pixels = len(grid.latitudes) * grid.columns
    if direction == "to points" and pixels < len(beta):
        raise ValueError(
            f"The grid is coarser than the vertices: {pixels} pixels for {len(beta)} points. "
            "Use method='bilinear'."
        )
    samples = max(1, int(np.ceil(np.sqrt(SAMPLES * len(beta) / pixels))))
    for _ in range(REFINEMENTS + 1):
        overlap = _overlaps(grid, beta, gamma, samples)
        areas = np.bincount(overlap.rows, overlap.values, len(beta))
        if areas.all() or direction == "to grid":
            break
        samples *= 2
    else:
        raise ValueError(
            f"The grid is coarser than the vertices: {np.count_nonzero(areas == 0)} of "
            f"{len(beta)} points are too close to others. Use method='bilinear'."
        )
    if direction == "to points":
        return overlap._replace(values=overlap.values / areas[overlap.rows])
    areas = np.bincount(overlap.columns, overlap.values, pixels)
    return overlap._replace(values=overlap.values / areas[overlap.columns]).transposed()


def _overlaps(grid: _Grid, beta: Floats, gamma: Floats, samples: int) -> _Entries:
    """Of points (rows) and pixels (columns), as counts of samples^2 equal parts of each pixel."""
    heights = np.sin(np.radians(grid.edges))
    shares = (np.arange(samples) + 0.5) / samples
    z = heights[:-1, None] + np.diff(heights)[:, None] * shares
    parts = grid.west + (np.arange(grid.columns)[:, None] + shares - 0.5) * (360 / grid.columns)
    longitudes = np.radians(parts.ravel())
    column = np.repeat(np.arange(grid.columns), samples)
    found: list[tuple[Indices, Indices, Floats]] = []
    near = _nearest_points(beta, gamma, np.arccos(z.ravel().clip(-1, 1)), longitudes)
    for row, area in enumerate(np.diff(heights)):
        keys = np.concatenate([next(near) * grid.columns + column for _ in range(samples)])
        places, count = np.unique(keys, return_counts=True)
        point, pixel = np.divmod(places, grid.columns)
        found.append((point, row * grid.columns + pixel, count * area))
    return _Entries(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _nearest_points(
    beta: Floats, gamma: Floats, colatitudes: Floats, longitudes: Floats
) -> Iterator[Indices]:
    """(lon,) the nearest point to each place of a circle of latitude, circle by circle.

    Points are compared where their colatitudes are near; as no distance is below the difference in
    colatitude, the nearest is known once it is nearer than those left out.
    """
    order = np.argsort(beta, kind="stable")
    sorted_beta, points = beta[order], _unit_vectors(beta, gamma)[order]
    start = np.sqrt(4 * np.pi / len(beta))
    for colatitude in colatitudes:
        places = _unit_vectors(np.full(len(longitudes), colatitude), longitudes)
        margin = start
        while True:
            low, high = np.searchsorted(sorted_beta, [colatitude - margin, colatitude + margin])
            if high > low:
                cosines = places @ points[low:high].T
                best = cosines.argmax(1)
                if margin >= np.pi or cosines[np.arange(len(best)), best].min() >= np.cos(margin):
                    break
            margin = min(2 * margin, 4.0)
        yield order[low + best]
