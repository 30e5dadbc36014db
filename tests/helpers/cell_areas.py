"""Areas that cells and pixels share, found in other ways than by their sides."""

import numpy as np
from scipy.spatial import SphericalVoronoi

from cheblienet_models.resampling.grids import Pixels


def pixels(height: int, width: int, west: float = 0) -> Pixels:
    """A regular grid of the whole sphere."""
    rows, columns = np.arange(height) + 0.5, np.arange(width) + 0.5
    return Pixels(rows * (180 / height) - 90, west + columns * (360 / width))


def places_in(grid: Pixels, parts: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Colatitudes and longitudes, (n,), of parts^2 places in each pixel, and the pixels."""
    shares = (np.arange(parts) + 0.5) / parts
    z = np.sin(np.radians(grid.row_edges))
    z = (z[:-1, None] + np.diff(z)[:, None] * shares).ravel()
    longitude = np.radians(grid.column_edges)
    longitude = (longitude[:-1, None] + np.diff(longitude)[:, None] * shares).ravel()
    beta, gamma = np.meshgrid(np.arccos(z), longitude, indexing="ij")
    row = np.repeat(np.arange(len(grid.latitudes)), parts)[:, None]
    pixel = row * grid.columns + np.repeat(np.arange(grid.columns), parts)
    return beta.ravel(), gamma.ravel(), pixel.ravel()


def sampled_areas(cell: np.ndarray, pixel: np.ndarray, cells: int, grid: Pixels) -> np.ndarray:
    """(cells, pixels) areas, given which cell and pixel places are in, equally many a pixel."""
    counts = np.bincount(cell * grid.count + pixel, minlength=cells * grid.count)
    each = np.bincount(pixel, minlength=grid.count)
    return counts.reshape(cells, -1) / each * grid.areas.ravel()


def polygon_areas(points: np.ndarray) -> np.ndarray:
    """(n,) of Voronoi cells of unit vectors, as scipy has them."""
    return SphericalVoronoi(points).calculate_areas()
