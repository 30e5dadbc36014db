"""Areas that cells share with pixels: their sums against formulas, each against counted places."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial import SphericalVoronoi
from scipy.special import roots_legendre

from cheblienet_graphs.samplings.cells import voronoi_sides
from cheblienet_graphs.samplings.grids import Equiangular, Gaussian, Healpix, ReducedGaussian
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.points import Points, unit_vectors
from cheblienet_graphs.samplings.sides import Sides
from cheblienet_models.resampling.grids import Pixels
from cheblienet_models.resampling.overlaps import shared_areas


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


GRIDS = {
    "2 degrees": pixels(90, 180),
    "odd": pixels(7, 11, -173.1),
    "coarse": pixels(2, 2),
    "half pixels at the poles": Pixels(np.linspace(-90, 90, 19), np.arange(0, 360, 10.0)),
    "uneven": Pixels(
        np.array([-87.0, -75, -20, 3, 4, 60, 89]), np.array([1.0, 2, 90, 93, 200, 290])
    ),
}
EVERY_GRID = pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
PL = (20, 24, 32, 32)
KINDS: dict[str, Points] = {
    "healpix 1": Healpix(size=1),
    "healpix 4": Healpix(size=4),
    "equiangular": Equiangular(size=6),
    "regular": Gaussian(size="F8"),
    "octahedral": Gaussian(size="O7"),
    "reduced": ReducedGaussian(size=PL + PL[::-1]),
}
Cells = tuple[int, Iterable[list[Sides]]]
"""Number of cells, and their sides."""


def on_sphere(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


RANDOM = on_sphere(np.random.default_rng(2).normal(size=(500, 3)))
PAIRED = np.tile([[0.0], [1.0]], (500, 1))
SOLIDS = {
    "octahedron": np.concatenate([np.eye(3), -np.eye(3)]),
    "cube": np.array([(x, y, z) for x in (1, -1) for y in (1, -1) for z in (1, -1)]) / 3**0.5,
    "icosahedron": Icosphere(size=0).base_points,
    "crowded poles": unit_vectors(
        np.repeat(np.arange(0.5, 8) * np.pi / 8, 40), np.tile(np.arange(0.5, 40) * np.pi / 20, 8)
    ),
    "poles and rings": unit_vectors(
        np.append([0, np.pi], np.repeat([0.4, 1, 2, 2.7], 9)), np.arange(-2, 36) / 9 * 2 * np.pi
    ),
    "a ring at the equator": unit_vectors(np.full(36, np.pi / 2), np.arange(36) * np.pi / 18),
    "half a meridian": unit_vectors(np.linspace(0, np.pi, 20), np.full(20, 0.3)),
    "the poles": np.array([(0, 0, 1.0), (0, 0, -1.0)]),
    "one": np.array([(0.6, 0, 0.8)]),
    "two near each other": unit_vectors(np.array([1, 1 + 1e-7]), np.zeros(2)),
    "pairs near each other": on_sphere(np.repeat(RANDOM, 2, axis=0) + 1e-9 * np.eye(3)[0] * PAIRED),
    "a region": on_sphere(0.01 * RANDOM + [1, 0.2, 0.3]),
    "500": RANDOM,
}
UNKNOWN = {"half a meridian", "one", "two near each other", "pairs near each other", "a region"}
"""Whose Voronoi cells are no polygons, or rounded."""
EQUAL = {"octahedron", "cube", "icosahedron", "a ring at the equator", "the poles"}


def cells_of(kind: str) -> Cells:
    points = KINDS[kind]
    return points.num_points, points.sides(np.arange(points.num_points))


def given_points(vectors: np.ndarray) -> Cells:
    return len(vectors), voronoi_sides(vectors, np.arange(len(vectors)))


def overlap(of: Cells, grid: Pixels) -> tuple[csr_array, np.ndarray, np.ndarray]:
    """Areas, and their sums over pixels, and over cells as shares of the pixels."""
    count, sides = of
    shared = shared_areas(sides, grid, count)
    assert shared.data.min() > 0
    return shared, shared.sum(axis=1), shared.sum(axis=0) / grid.areas.ravel()


def exact_areas(kind: str) -> np.ndarray:
    points = KINDS[kind]
    if isinstance(points, Healpix):
        return np.full(points.num_points, 4 * np.pi / points.num_points)
    if isinstance(points, Equiangular):
        limits = np.cos(np.linspace(0, np.pi, 13))
        return np.repeat(-np.diff(limits) * 2 * np.pi / 12, 12)
    octahedral = [4 * j + 16 for j in range(1, 8)]
    rows = {"regular": [32] * 8, "octahedral": octahedral, "reduced": PL}[kind]
    counts = np.array([*rows, *rows[::-1]])
    return np.repeat(roots_legendre(len(counts))[1] * 2 * np.pi / counts, counts)


@EVERY_GRID
@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_areas_of_cells_and_pixels(kind: str, grid: Pixels) -> None:
    _, cells, covered = overlap(cells_of(kind), grid)
    assert np.abs(cells / exact_areas(kind) - 1).max() < 1e-10
    assert np.abs(covered - 1).max() < 1e-10


@EVERY_GRID
@pytest.mark.parametrize("name", SOLIDS)
def test_voronoi_cells_have_the_areas_of_polygons(name: str, grid: Pixels) -> None:
    """Also where corners and sides are at the poles, and where many of them meet."""
    points = SOLIDS[name]
    _, cells, covered = overlap(given_points(points), grid)
    assert np.abs(covered - 1).max() < 1e-10
    assert cells.sum() == pytest.approx(4 * np.pi, rel=1e-12)
    if name in EQUAL:
        assert np.abs(cells * len(points) / (4 * np.pi) - 1).max() < 1e-10
    elif name not in UNKNOWN:
        assert np.abs(cells / SphericalVoronoi(points).calculate_areas() - 1).max() < 1e-10
    elif name == "pairs near each other":
        both = cells.reshape(-1, 2).sum(1)
        assert np.abs(both / SphericalVoronoi(points[::2]).calculate_areas() - 1).max() < 1e-6


@settings(max_examples=100)
@given(
    places=st.sets(st.tuples(*[st.integers(-2, 2)] * 3).filter(any), min_size=1, max_size=20),
    grid=st.sampled_from(list(GRIDS.values())),
)
def test_points_that_lie_in_one_plane(places: set[tuple[int, int, int]], grid: Pixels) -> None:
    points = np.array(sorted(places), dtype=np.float64)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    _, first = np.unique(points.round(9), axis=0, return_index=True)
    _, cells, covered = overlap(given_points(points[first]), grid)
    assert np.abs(covered - 1).max() < 1e-10
    assert cells.min() > 0


@pytest.mark.slow
def test_many_points_take_no_memory_by_pairs() -> None:
    """On an icosphere, whose cells' number squared few machines hold, and on one circle."""
    gamma = np.arange(40_000) * 5e-5 * np.pi
    circle = unit_vectors(np.full(40_000, 1.0), gamma)
    for points in (Icosphere(size=6).base_points, circle):
        _, cells, covered = overlap(given_points(points), GRIDS["odd"])
        assert np.abs(covered - 1).max() < 1e-9
        assert cells.sum() == pytest.approx(4 * np.pi, rel=1e-10)


@pytest.mark.parametrize("name", ["odd", "half pixels at the poles", "uneven"])
@pytest.mark.parametrize("nside", [None, 1, 4])
def test_areas_are_those_of_counted_places(name: str, nside: int | None) -> None:
    """Those nearest to a point, or in a pixel of HEALPix."""
    grid, points = GRIDS[name], RANDOM[:40]
    beta, gamma, pixel = places_in(grid, 40)
    if nside is None:
        own, cell = given_points(points), (unit_vectors(beta, gamma) @ points.T).argmax(1)
    else:
        healpy = pytest.importorskip("astropy_healpix.healpy")
        own, cell = cells_of(f"healpix {nside}"), healpy.ang2pix(nside, beta, gamma, nest=True)
    counts = np.bincount(cell * grid.count + pixel, minlength=own[0] * grid.count)
    in_each = np.bincount(pixel, minlength=grid.count)  # equally many
    expected = counts.reshape(own[0], -1) / in_each * grid.areas.ravel()
    shared, *_ = overlap(own, grid)
    dense = shared.toarray()
    # Some 40 to 80 of 1600 places of a pixel are cut by a side.
    bound = 0.05 if name == "uneven" else 0.02
    assert (np.abs(dense - expected) / grid.areas.ravel()).max() < bound
    assert np.abs(dense - expected).sum() < bound / 2 * 4 * np.pi
