"""Sets of axes and icospheres, from scipy's rotations, hulls and Voronoi cells."""

import itertools
import math

import numpy as np
import scipy.integrate
from scipy.optimize import nnls
from scipy.spatial import ConvexHull, SphericalVoronoi
from scipy.spatial.transform import Rotation

AXES = ("3", "4", "6", "7", "12", "13", "22", "43", "ico6", "ico21", "ico81")


def icosphere(subdivisions: int) -> np.ndarray:
    """Points as a set: the icosahedron's, then midpoints of the edges of a convex hull."""
    golden = (1 + math.sqrt(5)) / 2
    points = np.array(
        [np.roll([0, y, z], s) for s in range(3) for y in (1, -1) for z in (golden, -golden)]
    )
    for _ in range(subdivisions):
        triangles = ConvexHull(points / np.linalg.norm(points, axis=1)[:, None])
        edges = {
            tuple(sorted(pair))
            for face in triangles.simplices.tolist()
            for pair in itertools.combinations(face, 2)
        }
        points /= np.linalg.norm(points, axis=1)[:, None]
        points = np.concatenate([points, [points[a] + points[b] for a, b in sorted(edges)]])
    return points / np.linalg.norm(points, axis=1)[:, None]


def cell_ratio(points: np.ndarray) -> float:
    areas = SphericalVoronoi(points).calculate_areas()
    return float(areas.max() / areas.min())


def axis_set(name: str) -> np.ndarray:
    """One of each pair n, -n, as published: orbits of the cube's rotations, icospheres."""
    if name.startswith("ico"):
        points = icosphere({"6": 0, "21": 1, "81": 2}[name[3:]])
    elif name == "43":
        points = scipy.integrate.lebedev_rule(15)[0].T
    else:
        points = np.concatenate(
            [
                Rotation.create_group("O").apply(vector / np.linalg.norm(vector))
                for vector in map(np.array, _ORBITS[name])
            ]
        )
    chosen: list[np.ndarray] = []
    for point in points:
        if all(abs(abs(point @ other) - 1) > 1e-9 for other in chosen):
            chosen.append(point)
    return np.array(chosen)


def _on_third(squared: float) -> tuple[float, float, float]:
    return math.sqrt(squared), math.sqrt(squared), math.sqrt(1 - 2 * squared)


_FACE, _CORNER, _EDGE = (1.0, 0.0, 0.0), (1.0, 1.0, 1.0), (1.0, 1.0, 0.0)
_ORBITS: dict[str, list[tuple[float, float, float]]] = {
    "3": [_FACE],
    "4": [_CORNER],
    "6": [_EDGE],
    "7": [_FACE, _CORNER],
    "12": [_on_third((4 - math.sqrt(6.4)) / 12)],
    "13": [_FACE, _CORNER, _EDGE],
    "22": [_CORNER, _EDGE, _on_third((4 - math.sqrt(146 / 15)) / 12)],
}


def axes(name: str) -> list[float]:
    """Their number, rotations of the cube that keep them, area ratio, range of nearest angles."""
    points = axis_set(name)
    cosines = abs(points @ points.T)
    nearest = np.degrees(np.arccos(np.clip((cosines - np.eye(len(points))).max(axis=1), 0, 1)))
    kept = sum(
        bool((abs(rotation.apply(points) @ points.T).max(axis=1) > 1 - 1e-9).all())
        for rotation in Rotation.create_group("O")
    )
    ratio = cell_ratio(np.concatenate([points, -points]))
    return [len(points), kept, ratio, nearest.min(), nearest.max()]


def widest_tilts() -> list[float]:
    """Angle of the widest edges of 12 and of 22 axes: the least for which degree 2 is exact."""
    return [_widest_tilt(axis_set(name)) for name in ("12", "22")]


def _widest_tilt(points: np.ndarray) -> float:
    areas = SphericalVoronoi(np.concatenate([points, -points])).calculate_areas()[: len(points)]
    areas /= areas.mean()
    tensors = np.einsum("na,nb->nab", points, points) - np.eye(3) / 3
    upper = np.triu_indices(3)
    pairs = list(itertools.combinations(range(len(points)), 2))
    angles = np.degrees(np.arccos([abs(points[a] @ points[b]) for a, b in pairs]))
    target = (6 * areas[:, None, None] * tensors)[:, *upper].ravel()
    columns = np.zeros((len(points), len(upper[0]), len(pairs)))
    for n, (a, b) in enumerate(pairs):
        difference = (tensors[a] - tensors[b])[upper]
        columns[a, :, n], columns[b, :, n] = difference, -difference
    for limit in np.unique(angles.round(6)):
        kept = angles <= limit + 1e-6
        if nnls(columns.reshape(-1, len(pairs))[:, kept], target)[1] < 1e-8:
            return float(angles[kept].max())
    raise AssertionError("no angle suffices")
