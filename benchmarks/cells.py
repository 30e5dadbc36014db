"""Cells of conservative resampling, found in four ways, against the areas that points stand for.

    sampled, 64 or 1024: which point is nearest to so many places a point
    Voronoi: exact Voronoi cells, of every sampling
    own: the package's: HEALPix' pixels, bands of equiangular and Gaussian grids, else Voronoi's

On a grid of a degree: the least and the largest area of a cell as a share of Graph.area's; how much
integrals of blobs 3 degrees wide change, to the points and there and back, the worst of 200 random
places; the largest gap of a pixel, between its area and what cells share of it; and seconds of
processor time.

    python benchmarks/cells.py
"""

import time
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import KDTree
from scripts import graph_of, parser_of, print_head, print_row

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.cells import voronoi_sides
from cheblienet_graphs.samplings.points import Points, Random, unit_vectors
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.typing import Floats
from cheblienet_models.resampling.grids import Pixels
from cheblienet_models.resampling.overlaps import shared_areas, summed
from cheblienet_models.resampling.points import sampling_of

SIZES: dict[str, list[dict[str, Any]]] = {
    "icosahedral": [{"subdivisions": level} for level in (2, 3, 4, 5)],
    "healpix": [{"nside": nside} for nside in (4, 8, 16, 32)],
    "equiangular": [{"bandlimit": limit} for limit in (6, 12, 24, 48)],
    "gaussian": [{"gaussian": name} for name in ("O8", "O16", "O32", "F32")],
    "random": [{"points": count} for count in (160, 640, 2560, 10240)],
}
WAYS = ("sampled, 64", "sampled, 1024", "Voronoi", "own")
BLOBS = 200
WIDTH = 3.0


def sampled(sampling: Sampling, grid: Pixels, places: int) -> csr_array:
    """Areas by the point that is nearest to each of about so many places a point."""
    side = max(1, int(np.ceil(np.sqrt(places * sampling.num_points / grid.count))))
    z = np.sin(np.radians(grid.row_edges))
    shares = (np.arange(side) + 0.5) / side
    heights = (z[:-1, None] + np.diff(z)[:, None] * shares).ravel()
    west = np.radians(grid.column_edges)
    longitudes = (west[:-1, None] + np.diff(west)[:, None] * shares).ravel()
    column = np.repeat(np.arange(grid.columns), side)
    points = KDTree(sampling.full.base_points)
    keys = []
    for circle, colatitude in enumerate(np.arccos(heights)):
        point = points.query(unit_vectors(np.full(len(longitudes), colatitude), longitudes))[1]
        keys.append(point * grid.count + (circle // side) * grid.columns + column)
    pairs, count = np.unique(np.concatenate(keys), return_counts=True)
    point, pixel = np.divmod(pairs, grid.count)
    areas = count / side**2 * grid.areas.ravel()[pixel]
    return summed((sampling.num_points, grid.count), point, pixel, areas)


def shared_by(way: str, sampling: Sampling, grid: Pixels) -> csr_array:
    """Areas that points (rows) and pixels (columns) share, steradians."""
    if way.startswith("sampled"):
        return sampled(sampling, grid, int(way.split()[1]))
    full = cast("Points", sampling.full)
    every = np.arange(full.num_points)
    own = full.sides(every)
    voronoi = voronoi_sides(full.base_points, every)
    return shared_areas(voronoi if way == "Voronoi" else own, grid, sampling.num_points)


def blobs(grid: Pixels) -> Floats:
    """(pixels, BLOBS) around random places."""
    beta, gamma = np.radians(90 - grid.latitudes), np.radians(grid.longitudes)
    pixels = unit_vectors(np.repeat(beta, len(gamma)), np.tile(gamma, len(beta)))
    places = np.random.default_rng(0).normal(size=(3, BLOBS))
    places /= np.linalg.norm(places, axis=0)
    distance = np.degrees(np.arccos((pixels @ places).clip(-1, 1)))
    heights: Floats = np.exp(-((2 * distance / WIDTH) ** 2))
    return heights


def lost(shared: csr_array, areas: Floats, image: Floats, pixels: Floats) -> tuple[float, float]:
    """Largest relative change of an integral at the points, of these areas, and after the way back.

    Args:
        shared: (points, pixels) areas.
        areas: (points,) that integrals are taken with.
        image: (pixels, n) fields.
        pixels: (pixels,) areas.
    """
    integral = pixels @ image
    means = (shared @ image) / shared.sum(1)[:, None]
    back = (shared.T @ means) / shared.sum(0)[:, None]
    at_points, after = (abs(part / integral - 1).max() for part in (areas @ means, pixels @ back))
    return float(at_points), float(after)


def main() -> None:
    parser_of(__doc__).parse_args()
    grid = Pixels(np.arange(-89.5, 90), np.arange(0.5, 360))
    image, pixels = blobs(grid), grid.areas.ravel()
    losses = "area of a cell", "pixel", "blob", "there and back"
    print_head("sampling", "points", "cells", *losses, "seconds")
    for name, sizes in SIZES.items():
        for size in sizes:
            levels: dict[str, Any] = {} if "points" in size else {"levels": 1}
            graph = graph_of(GraphSpec("s2", **levels, **size), device="cpu")
            areas = graph.area.double().numpy()
            sampling = sampling_of(graph.stored)
            areas *= 4 * np.pi / areas.sum()
            for way in WAYS:
                if way == "own" and isinstance(sampling.full, Random):
                    continue  # these are Voronoi's
                began = time.process_time()
                shared = shared_by(way, sampling, grid)
                seconds = time.process_time() - began
                ratio = shared.sum(1) / areas
                gap = abs(shared.sum(0) / pixels - 1).max()
                at_points, after = lost(shared, areas, image, pixels)
                cells = f"{ratio.min():.6f} to {ratio.max():.6f}", f"{gap:.0e}"
                changes = f"{at_points:.1e}", f"{after:.1e}"
                print_row(name, f"{sampling.num_points:,}", way, *cells, *changes, f"{seconds:.2f}")


if __name__ == "__main__":
    main()
