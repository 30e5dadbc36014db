"""How well graphs on irregular points reproduce the spectrum, whatever their weights.

    python benchmarks/irregular.py                     # everything, about ten minutes
    python benchmarks/irregular.py random|grids|plane|moments

The first 15 eigenvalues but 0 of the combinatorial Laplacian, shift-inverted: the one that is
farthest off, relatively, and the order at which that falls with the spacing, from one row to the
next of half the spacing or so. Of the sphere these are l (l + 1), of the open unit square those of
cosines.

kernel: the paper's, Gaussian, K = 8; their scale is that of the second moments; -100 % where the
graph falls into components. matched: K = 30, on the sphere. cotangent: of the triangles of the
convex hull, or Delaunay's, which cover the hull alone: piecewise linear finite elements with
lumped masses; built here, not in the package. voronoi: finite volumes. lambda_max is in units of
8 / A, that of a square grid with A the mean area: how far close points stretch the spectrum that a
Chebyshev filter has to cover.

random: points of the sphere, three seeds. grids: samplings of the sphere, and stations, points of
one's own of which half are crowded in a spot of 3 degrees. plane: random points and stations, some
of these on the edges. moments: first moments of single points, the median of |sum w c| over
sqrt(sum w sum w |c|^2), and the largest deviation of second moments at a single point.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh
from scipy.spatial import ConvexHull, Delaunay
from scripts import (
    graph_of,
    print_head,
    print_row,
    report_of,
    run_parts,
    smallest_eigenvalues,
    temporary_store,
)

from cheblienet_graphs import CheblienetError, GraphSpec
from cheblienet_graphs.store.catalog import resolve
from cheblienet_graphs.store.map_facts import read_facts
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_graphs.typing import Floats

SPHERE = np.repeat([2.0, 6.0, 12.0], [3, 5, 7])
COSINES = (np.arange(12) * np.pi) ** 2
SQUARE = np.sort(np.add.outer(COSINES, COSINES).ravel())[1:16]
Samplings = list[dict[str, Any]]
"""Fields of specifications that differ by their seed alone."""
KINDS: dict[str, dict[str, Any]] = {
    "kernel": {"weights": "kernel", "laplacian": "combinatorial"},
    "matched": {"weights": "matched", "neighbors": 30},
    "cotangent": {},
    "voronoi": {"weights": "voronoi"},
}


def worst(weights: Any, areas: Floats, exact: Floats, scale: float = 1.0) -> tuple[float, float]:
    """The error of the eigenvalue that is farthest off, and lambda_max.

    Args:
        weights: (N, N) W.
        areas: (N,) masses.
        exact: the smallest eigenvalues but 0.
        scale: of those found.
    """
    root = scipy.sparse.diags_array(areas**-0.5)
    stiffness = scipy.sparse.diags_array(np.asarray(weights.sum(axis=1)).ravel()) - weights
    laplacian = (root @ stiffness @ root).tocsc()
    start = np.random.default_rng(0).random(len(areas))
    values = smallest_eigenvalues(laplacian, len(exact) + 1, -0.5)
    largest = eigsh(laplacian, 1, v0=start, return_eigenvectors=False, tol=1e-3)
    errors = scale * values[1:] / exact - 1
    return float(errors[abs(errors).argmax()]), scale * float(largest[0])


def cotangents(corners: Floats, triangles: NDArray[Any]) -> tuple[Any, Floats]:
    """(N, N) halves of the cotangents across each edge, and (N,) thirds of triangles.

    Args:
        corners: (triangles, 3, dimension) coordinates, which may be others in each triangle.
        triangles: (triangles, 3) points of these, numbered up to N.
    """
    count = triangles.max() + 1
    weights = scipy.sparse.csr_array((count, count))
    areas = np.zeros(count)
    for k in range(3):
        at, one, other = np.roll(triangles, -k, axis=1).T
        start, *ends = np.roll(corners, -k, axis=1).swapaxes(0, 1)
        u, v = (end - start for end in ends)
        inner, squares = (u * v).sum(axis=1), (u**2).sum(axis=1) * (v**2).sum(axis=1)
        double = np.sqrt(np.maximum(squares - inner**2, 0))
        kept = double > 1e-12 * np.sqrt(squares)  # slivers on the hull of the plane's points
        half = np.divide(inner, 2 * double, out=np.zeros_like(inner), where=kept)
        areas += np.bincount(at, double / 6, count)
        part = scipy.sparse.coo_array((half, (one, other)), shape=(count, count))
        weights = weights + part + part.T
    return weights, areas


def errors(kind: str, size: dict[str, Any]) -> tuple[float, float]:
    """The worst error of the first eigenvalues, and lambda_max in units of a square grid's."""
    settings = {"levels": 1} | size
    manifold = settings.pop("manifold")
    exact = SPHERE if manifold == "s2" else SQUARE
    spec = GraphSpec(manifold, **settings, **KINDS[kind])
    sampling = spec.full_sampling(0)
    if kind == "cotangent":
        points = sampling.base_points
        mesh = ConvexHull(points) if manifold == "s2" else Delaunay(points)
        weights, areas = cotangents(points[mesh.simplices], mesh.simplices)
        error, largest = worst(weights, areas, exact)
    else:
        graph = graph_of(spec, device="cpu")
        version = resolve(temporary_store(), spec.sha256[:12])
        rows = LevelFolder.published(version, read_facts(version), 0).weights
        weights = rows(np.arange(spec.num_vertices))
        scale = graph.eigenvalue_scale or math.nan
        error, largest = worst(weights, sampling.areas(), exact, scale)
    return error, largest * spec.squared_spacing(0) / 8


def table(title: str, families: Mapping[str, list[Samplings]]) -> None:
    """A line for each list of samplings, by the kind that they are of, coarsest first."""
    print_head(title, *KINDS, f"lambda_max: {', '.join(KINDS)}")
    for name, rows in families.items():
        before: dict[str, tuple[float, float]] = {}
        for sizes in rows:
            spec = GraphSpec(**{"levels": 1, **sizes[0]})
            spacing = math.sqrt(spec.squared_spacing(0))
            cells, largest = [], []
            for kind in KINDS:
                try:
                    results = [errors(kind, size) for size in sizes]
                except CheblienetError:
                    cells.append("none")
                    largest.append("-")
                    continue
                error = max((e for e, _ in results), key=abs)
                order = ""
                if kind in before and error > -0.99:
                    other, was = before[kind]
                    order = f" ({math.log(abs(other / error)) / math.log(was / spacing):.1f})"
                before[kind] = error, spacing
                cells.append(f"{error:+.2%}{order}".replace("%", " %"))
                largest.append(f"{max(m for _, m in results):.2g}")
            print_row(f"{name}, {spec.base_points(0):,}", *cells, ", ".join(largest))


def seeded(manifold: str, counts: Iterable[int]) -> list[Samplings]:
    return [
        [{"manifold": manifold, "points": count, "seed": seed} for seed in (1, 2, 3)]
        for count in counts
    ]


def stations_of_the_sphere(count: int) -> Floats:
    """Latitudes and longitudes, degrees: half over the sphere, half within some 3 degrees."""
    random = np.random.default_rng(count)
    everywhere = random.normal(size=(count - count // 2, 3))
    spot = [0.6, 0.5, 0.62] + 0.05 * random.normal(size=(count // 2, 3))
    x, y, z = np.concatenate([everywhere, spot]).T
    angles: Floats = np.stack([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)], axis=1)
    return np.degrees(angles)


def stations_of_the_square(count: int) -> Floats:
    """Half all over, half within some hundredths, 20 on each edge, and the corners."""
    random = np.random.default_rng(count)
    spread = random.random((count - count // 2, 2))
    spot = 0.3 + 0.02 * random.normal(size=(count // 2, 2))
    along, zeros = random.random(20), np.zeros(20)
    edges = [(along, zeros), (along, zeros + 1), (zeros, along), (zeros + 1, along)]
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    return np.concatenate([spread, spot, *(np.stack(e, axis=1) for e in edges), corners])


COUNTS = (1_000, 2_000, 4_000, 8_000, 16_000)


def random_points() -> None:
    table("random points of S2, 3 seeds", {"random": seeded("s2", COUNTS)})


def grids() -> None:
    sizes: dict[str, list[dict[str, Any]]] = {
        "stations": [{"coordinates": stations_of_the_sphere(n)} for n in (1000, 4000, 16000)],
        "equiangular": [{"bandlimit": b} for b in (8, 16, 32, 64)],
        "Gaussian, O": [{"gaussian": f"O{n}"} for n in (8, 16, 32, 64)],
        "icosphere": [{"subdivisions": n} for n in (2, 3, 4, 5)],
        "HEALPix": [{"nside": n} for n in (4, 8, 16, 32)],
    }
    families = {
        name: [[{"manifold": "s2", **size}] for size in several] for name, several in sizes.items()
    }
    table("points of S2", families)


def plane() -> None:
    stations: list[Samplings] = [
        [{"manifold": "r2", "coordinates": stations_of_the_square(n), "domain": (0, 0, 1, 1)}]
        for n in (1_000, 4_000, 16_000)
    ]
    families = {"random, 3 seeds": seeded("r2", COUNTS), "stations": stations}
    table("points of the open square", families)


def moments() -> None:
    print_head("points", "weights", "first moments", "second moments of a point")
    for count in (500, 2_000, 8_000):
        for kind in ("kernel", "matched", "voronoi"):
            spec = GraphSpec("s2", points=count, seed=1, **KINDS[kind])
            (metric,) = report_of(spec, eigenvalues=0).effective_metric
            cells = f"{metric.first_moment:.1e}", f"{metric.deviation:.2g} off"
            print_row(f"{count:,}", kind, *cells)


PARTS = {"random": random_points, "grids": grids, "plane": plane, "moments": moments}

if __name__ == "__main__":
    run_parts(__doc__, PARTS)
