"""Points on the sphere as vectors, and those nearest to places, which scipy finds."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


def unit_vectors(beta: Floats, gamma: Floats) -> Floats:
    """(..., 3) of colatitudes and longitudes, radians, broadcast."""
    beta, gamma = np.broadcast_arrays(beta, gamma)
    sine = np.sin(beta)
    return np.stack([sine * np.cos(gamma), sine * np.sin(gamma), np.cos(beta)], axis=-1)


class Search:
    """A search among points (n, 3) of length 1."""

    def __init__(self, points: Floats) -> None:
        from scipy.spatial import KDTree  # networks and graphs do without scipy

        self.points, self._tree = points, KDTree(points)

    def nearest(self, places: Floats) -> Indices:
        """(m,) the nearest point to each place (m, 3)."""
        nearest: Indices = self._tree.query(places)[1].astype(np.int64)
        return nearest

    def near(self, places: Floats, count: int) -> Indices:
        """(m, k) the `count` points, or all, by their distance from places (m, 3)."""
        ranks = np.arange(1, min(count, len(self.points)) + 1)
        near: Indices = self._tree.query(places, ranks)[1].astype(np.int64)
        return near

    def nearer(self, places: Floats, known: Indices) -> Indices:
        """(m,) the nearest point to each place (m, 3), if nearer than a known one; else -1."""
        distance, nearest = self._tree.query(places)
        is_nearer = distance < np.linalg.norm(places - self.points[known], axis=1)
        return np.where(is_nearer & (nearest != known), nearest, -1)
