"""Areas that cells and pixels share, found in other ways than by their sides."""

import numpy as np

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
    """(n,) of Voronoi cells, by Girard's formula on the triangles of the points' convex hull."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    corners = points[hull.simplices]
    centers = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    centers *= np.sign((centers * corners.mean(1)).sum(1))[:, None]
    areas = np.zeros(len(points))
    for a in range(3):
        for b in range(3):
            if a != b:
                middle = corners[:, a] + corners[:, b]
                middle /= np.linalg.norm(middle, axis=1, keepdims=True)
                np.add.at(
                    areas,
                    hull.simplices[:, a],
                    _girard(corners[:, a], middle, centers, corners, 3 - a - b),
                )
    return areas


def _girard(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, corners: np.ndarray, third: int
) -> np.ndarray:
    """(n,) areas of triangles, negative where c is beyond the side opposite to the third corner."""
    size = (a * np.cross(b, c)).sum(1)
    side = (a * np.cross(b, corners[:, third])).sum(1)
    area = 2 * np.arctan2(np.abs(size), 1 + (a * b).sum(1) + (b * c).sum(1) + (c * a).sum(1))
    return area * np.sign(size * side)
