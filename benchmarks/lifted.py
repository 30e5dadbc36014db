"""What of the weights of Voronoi cells carries over to SO(3), and what does not.

    python benchmarks/lifted.py [transport|budget|anisotropic]

transport: eps = 1. An edge of the sphere joins frames that are parallel along it. As these fall
between two orientations, its weight is shared by both, linearly, which keeps first moments 0 and
adds w t (1 - t) delta^2 to the second moment of rotation; the fiber edges of each vertex are made
weaker by that. Where they would become negative, which is counted, they are left out. Largest
error of the first 10 and 30 eigenvalues at xi = 0.5, and its order.

budget: the vertices without enough of a fiber edge, at alpha = 1.

anisotropic: eps < 1. The only weights on Delaunay's edges that are exact for linear functions on
each triangle are those of piecewise linear finite elements; how many are negative, of six
orientations, and their share of the sum of all |w|. On equilateral triangles the three directions
of edges have one decomposition of the matrix diag(1, eps^2), turned: it is not negative at every
orientation where eps^2 >= 1/3 only, whatever made the weights.
"""

import math
from typing import Any

import numpy as np
import scipy.sparse
from irregular import cotangents
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh
from scipy.spatial import ConvexHull
from scripts import print_head, print_row, run_parts

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.weights.voronoi import voronoi_entries

Floats = NDArray[np.float64]
XI = 0.5
COUNT = 30
SIZES: dict[str, dict[str, Any]] = {
    "icosphere 4": {"subdivisions": 4},
    "HEALPix 16": {"nside": 16},
    "random, 4,000": {"points": 4_000},
}


def frames(points: Floats) -> tuple[Floats, Floats]:
    """(N, 3) south and (N, 3) east at each point: forward and sideways at orientation 0."""
    x, y, z = points.T
    beta, gamma = np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)
    south = [np.cos(beta) * np.cos(gamma), np.cos(beta) * np.sin(gamma), -np.sin(beta)]
    east = [-np.sin(gamma), np.cos(gamma), 0 * gamma]
    return np.stack(south, axis=1), np.stack(east, axis=1)


def transported(points: Floats, i: NDArray[Any], j: NDArray[Any]) -> Floats:
    """(edges,) orientation at j of the frame that is parallel to orientation 0 at i."""
    south, east = frames(points)
    cosine = (points[i] * points[j]).sum(axis=1)[:, None]
    leaving, arriving = points[j] - cosine * points[i], cosine * points[j] - points[i]
    angles = [
        np.arctan2((along * east[at]).sum(axis=1), (along * south[at]).sum(axis=1))
        for along, at in ((leaving, i), (arriving, j))
    ]
    turned: Floats = angles[1] - angles[0]
    return turned


def lifted(size: dict[str, Any], orientations: int, xi: float) -> tuple[Any, Floats, float]:
    """(V, V) W, (V,) areas, and the share of vertices whose fiber edges would be negative."""
    sampling = GraphSpec("s2", levels=1, **size).full_sampling(0)
    rows, columns, values = voronoi_entries(sampling)
    once = rows < columns
    i, j, w = rows[once], columns[once], values[once]
    count, delta, areas = sampling.num_points, math.pi / orientations, sampling.areas()
    steps = transported(sampling.base_points, i, j) / delta
    low = np.floor(steps).astype(np.int64)
    t = steps - low
    spread = w * t * (1 - t) * delta**2
    added = np.bincount(i, spread, count) + np.bincount(j, spread, count)
    fiber = (2 * areas / xi**2 - added) / (2 * math.sin(delta) ** 2)
    parts = []
    for k in range(orientations):
        for step, share in ((low, w * (1 - t)), (low + 1, w * t)):
            parts.append((k * count + i, (k + step) % orientations * count + j, share))
        own, following = np.arange(count), (k + 1) % orientations * count
        parts.append((k * count + own, following + own, fiber.clip(min=0)))
    start, end, weights = map(np.concatenate, zip(*parts, strict=True))
    shape = (orientations * count, orientations * count)
    half = scipy.sparse.coo_array((weights, (start, end)), shape=shape).tocsr()
    return half + half.T, np.tile(areas, orientations), float((fiber < 0).mean())


def transport() -> None:
    print_head("points", "n_o", "first 10", "first 30 (order)", "without enough of a fiber edge")
    families: dict[str, list[tuple[dict[str, Any], int]]] = {
        "icosphere": [({"subdivisions": n}, 6 * 2 ** (n - 1)) for n in (1, 2, 3)],
        "HEALPix": [({"nside": n}, 3 * n) for n in (2, 4)],
        "random": [({"points": n, "seed": 1}, no) for n, no in ((250, 6), (1_000, 12))],
    }
    for name, rows in families.items():
        before = math.nan
        for size, orientations in rows:
            spec = GraphSpec("so3", levels=1, **size, orientations=orientations, eps=1, xi=XI)
            exact = spec.geometry.spectrum(COUNT + 1, spec.metric(0), None)[1:]
            weights, areas, short = lifted(size, orientations, XI)
            root = scipy.sparse.diags_array(areas**-0.5)
            stiffness = scipy.sparse.diags_array(weights.sum(axis=1)) - weights
            matrix = (root @ stiffness @ root).tocsc()
            values = eigsh(matrix, COUNT + 1, sigma=-0.3, return_eigenvectors=False)
            errors = np.sort(values)[1:] / exact - 1
            few, error = abs(errors[:10]).max(), abs(errors).max()
            order = "" if math.isnan(before) else f" ({math.log2(before / error):.1f})"
            cells = f"{few:.1%}", f"{error:.1%}{order}", f"{short:.1%}"
            spaced = [cell.replace("%", " %") for cell in cells]
            print_row(f"{name}, {spec.base_points(0):,}", orientations, *spaced)
            before = error


def budget() -> None:
    print_head("n_o", *SIZES)
    for orientations in (4, 6, 12, 24):
        cells = []
        for size in SIZES.values():
            spec = GraphSpec("so3", levels=1, orientations=orientations, **size)
            cells.append(f"{100 * lifted(size, orientations, spec.metric(0).xi)[2]:.1f} %")
        print_row(orientations, *cells)


def negative(size: dict[str, Any], eps_squared: float, orientation: float) -> tuple[float, float]:
    """Shares of negative weights of finite elements: in number, and of the sum of all |w|."""
    points = GraphSpec("s2", levels=1, **size).full_sampling(0).base_points
    triangles = ConvexHull(points).simplices
    south, east = frames(points)
    forward = math.cos(orientation) * south + math.sin(orientation) * east
    middle = points[triangles].sum(axis=1)
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    along = forward[triangles[:, 0]]
    along = along - (along * middle).sum(axis=1, keepdims=True) * middle
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    across = np.cross(middle, along)
    x = (points[triangles] * along[:, None]).sum(axis=2)
    y = (points[triangles] * across[:, None]).sum(axis=2) / math.sqrt(eps_squared)
    weights, _ = cotangents(np.stack([x, y], axis=2), triangles)
    below = weights.data < -1e-9
    return float(below.mean()), float(-weights.data[below].sum() / abs(weights.data).sum())


def anisotropic() -> None:
    print_head("eps^2", *SIZES)
    for eps_squared in (0.5, 1 / 3, 0.1):
        cells = []
        for size in SIZES.values():
            angles = -math.pi / 2 + np.arange(6) * math.pi / 6
            shares = np.array([negative(size, eps_squared, angle) for angle in angles])
            number, weight = 100 * shares.mean(axis=0)
            cells.append(f"{number:.1f} %, {weight:.1f} % of the weight")
        print_row(f"{eps_squared:.2g}", *cells)


PARTS = {"transport": transport, "budget": budget, "anisotropic": anisotropic}

if __name__ == "__main__":
    run_parts(__doc__, PARTS)
