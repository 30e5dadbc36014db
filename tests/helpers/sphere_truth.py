"""The sphere's mathematics once more, from scipy's rotations, and edges by comparing all pairs.

Shares no code with the package. A row is (images, V): d^2 from one vertex to all, the images of
the vertices where the plane is periodic first the vertices themselves.
"""

import itertools
import math
from collections.abc import Iterable, Iterator

import numpy as np
from scipy.spatial.transform import Rotation
from truth import Edges, edges_within, se2_squared_distance, squared_radius, weighed

HALF_TURN = Rotation.from_rotvec([0, 0, math.pi])


def rotations(coordinates: np.ndarray) -> Rotation:
    """Rz(gamma) Ry(beta) Rz(alpha) of (V, 3) alpha, beta, gamma: intrinsic turns, first gamma."""
    return Rotation.from_euler("ZYZ", np.asarray(coordinates)[..., ::-1])


def unit_vectors(coordinates: np.ndarray) -> np.ndarray:
    """(V, 3) of (V, 2) beta, gamma."""
    return Rotation.from_euler("ZY", np.asarray(coordinates)[:, ::-1]).apply([0, 0, 1])


def unit(vectors: np.ndarray) -> np.ndarray:
    """(N, d), each of length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def latitudes_longitudes(points: np.ndarray) -> np.ndarray:
    """(N, 2) degrees of (N, 3) unit vectors."""
    x, y, z = points.T
    return np.degrees(np.stack([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)], axis=1))


def within_region(points: np.ndarray, region: tuple[float, ...]) -> np.ndarray:
    """(N,) whether unit vectors lie in W, S, E, N, degrees; poles are at every longitude."""
    west, south, east, north = region
    latitude, longitude = latitudes_longitudes(points).T
    width = 360 if east - west >= 360 else (east - west) % 360
    pole = np.hypot(points[:, 0], points[:, 1]) < 1e-9
    between = pole | ((longitude - west) % 360 <= width)
    return (latitude >= south) & (latitude <= north) & between


def arcs(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Angles between unit vectors, accurate at 0 and at pi (Kahan): the half angle's tangent."""
    return 2 * np.arctan2(np.linalg.norm(u - v, axis=-1), np.linalg.norm(u + v, axis=-1))


def logarithms(g: Rotation, h: Rotation) -> np.ndarray:
    """(2, N, 3) c = (w_y, -w_x, w_z) of the rotation vectors to h, and to h after a half turn."""
    relative = g.inv() * h
    x, y, z = np.stack([relative.as_rotvec(), (relative * HALF_TURN).as_rotvec()]).T
    return np.stack([y, -x, z]).T


def so3_squared_distance(
    g: Rotation, h: Rotation, eps: float, xi: float, period: float = math.pi
) -> np.ndarray:
    """d^2 by scipy's rotation vectors of both candidates, or modulo 2 pi of the direct one."""
    candidates = logarithms(g, h)[: 2 if period == math.pi else 1]
    return weighed(np.moveaxis(candidates, -1, 0), eps, xi).min(axis=0)


def so3_rows(
    coordinates: np.ndarray, eps: float, xi: float, period: float = math.pi
) -> Iterator[np.ndarray]:
    """The same, ten times faster: scipy's quaternions, multiplied as matrices."""
    elements = rotations(coordinates)
    both = np.stack([elements.as_quat(), (elements * HALF_TURN).as_quat()])
    both = both if period == math.pi else both[:1]
    for x, y, z, w in both[0]:
        inverse = np.array([[w, z, -y, -x], [-z, w, x, -y], [y, -x, w, -z], [x, y, z, w]])
        relative = both @ inverse.T
        vector, scalar = relative[..., :3], np.abs(relative[..., 3])
        sine = np.linalg.norm(vector, axis=-1) + 1e-300
        stretch = 2 * np.arctan2(sine, scalar) / sine
        turn_x, turn_y, turn_z = np.moveaxis(stretch[..., None] * vector, -1, 0)
        yield weighed((turn_y, -turn_x, turn_z), eps, xi).min(axis=0)[None]


def s2_rows(coordinates: np.ndarray) -> Iterator[np.ndarray]:
    points = unit_vectors(coordinates)
    for point in points:
        yield arcs(point, points)[None] ** 2


def plane_rows(
    coordinates: np.ndarray, eps: float, xi: float, rings: int = 0, period: float = math.pi
) -> Iterator[np.ndarray]:
    """On the unit square, with `rings` rings of images around it; without theta the plane's."""
    steps = sorted(range(-rings, rings + 1), key=abs)
    shifts = np.array(sorted(itertools.product(steps, repeat=2), key=lambda s: s != (0, 0)))
    x, y = coordinates[:, 0], coordinates[:, 1]
    theta = coordinates[:, 2] if coordinates.shape[1] == 3 else None
    for a in range(len(x)):
        dx, dy = x - x[a] + shifts[:, :1], y - y[a] + shifts[:, 1:]
        if theta is None:
            yield dx**2 + dy**2
        else:
            yield se2_squared_distance(dx, dy, float(theta[a]), theta, eps, xi, period)


def edges_of_rows(rows: Iterable[np.ndarray], count: int, tolerance: float = 1e-6) -> Edges:
    """The neighbor rule, pair by pair.

    All images count for the radius, but the vertex itself; an edge has the length to the nearest
    image, and none leads from a vertex to its own images.
    """
    radii, best = [], []
    for a, row in enumerate(rows):
        others = row.copy()
        others[0, a] = np.inf
        radii.append(squared_radius(others.ravel(), count, tolerance))
        best.append(others.min(axis=0))
    return edges_within(np.array(best), np.array(radii), tolerance)


def rows_of(
    manifold: str,
    coordinates: np.ndarray,
    eps: float,
    xi: float,
    rings: int = 0,
    period: float = math.pi,
) -> Iterator[np.ndarray]:
    """The rows of any cloud."""
    if manifold == "so3":
        return so3_rows(coordinates, eps, xi, period)
    if manifold == "s2":
        return s2_rows(coordinates)
    return plane_rows(coordinates, eps, xi, rings, period)
