"""Images to points of the sphere and back: harmonics, loops over pixels, facets, integrals."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sphere_fields import angles, harmonics, on_grid
from stores import pyramid_of

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.points import unit_vectors
from cheblienet_models import LatLonToVertices, Store, VerticesToLatLon, regular_grid
from cheblienet_models.symmetries import symmetries


def interpolated(image: np.ndarray, lat: list, lon: list, latitude: float, longitude: float):
    """Bilinear interpolation written out: image (lat, lon), latitudes descending."""
    height, width = image.shape
    step = 360 / width
    ring = np.concatenate([[image[0].mean()] * width, *image, [image[-1].mean()] * width])
    ring = ring.reshape(height + 2, width)
    rows = [90.0, *lat, -90.0]
    above = max(i for i in range(height + 1) if rows[i] >= latitude)
    down = (rows[above] - latitude) / (rows[above] - rows[above + 1])
    place = ((longitude - lon[0]) % 360) / step
    left = math.floor(place)
    across = place - left
    left, right = left % width, (left + 1) % width
    upper = (1 - across) * ring[above, left] + across * ring[above, right]
    lower = (1 - across) * ring[above + 1, left] + across * ring[above + 1, right]
    return (1 - down) * upper + down * lower


@settings(max_examples=10)
@given(
    height=st.integers(2, 12),
    width=st.integers(2, 12),
    west=st.floats(-360, 360),
    seed=st.integers(0, 99),
)
def test_bilinear_agrees_with_a_loop(
    spheres: Store, height: int, width: int, west: float, seed: int
) -> None:
    pyramid, (lat, lon) = spheres["so3"], regular_grid(height, width, west=west)
    image = torch.rand(height, width, generator=torch.Generator().manual_seed(seed)).double()
    resampled = LatLonToVertices(pyramid, lat, lon).double()(image[None, None])[0, 0]
    ascending = LatLonToVertices(pyramid, lat.flip(0), lon).double()(image.flip(0)[None, None])
    assert torch.allclose(ascending[0, 0], resampled, atol=1e-6)
    for point, (beta, gamma) in enumerate(zip(*angles(pyramid), strict=True)):
        place = 90 - math.degrees(beta), math.degrees(gamma)
        expected = interpolated(image.numpy(), lat.tolist(), lon.tolist(), *place)
        assert resampled[point] == pytest.approx(expected, abs=1e-6)


def test_rows_on_the_poles_and_uneven_latitudes(spheres: Store) -> None:
    pyramid = spheres["icosahedral"]
    lon = np.arange(0, 360, 2.0)
    gaussian = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(90)[0]))
    for lat in (np.linspace(90, -90, 91), gaussian):
        image = harmonics(*on_grid(torch.from_numpy(lat), torch.from_numpy(lon)), 4)
        expected = harmonics(*angles(pyramid), 4)
        for method, bound in (("bilinear", 0.005), ("conservative", 0.03)):
            resampled = LatLonToVertices(pyramid, lat, lon, method)(image)
            assert (resampled - expected).abs().max() < bound
        down = VerticesToLatLon(pyramid, lat, lon)
        assert (down(expected) - image).abs().max() < 0.02


def test_interpolation_to_images_is_barycentric(spheres: Store) -> None:
    """Weights are from 0, of the corners of one facet of the hull, and place the pixel."""
    from scipy.spatial import ConvexHull

    for name, corners in (("healpix", 4), ("equiangular", 4), ("random", 3)):
        pyramid, grid = spheres[name], regular_grid(20, 40, west=0)
        down = VerticesToLatLon(pyramid, *grid)
        beta, gamma = angles(pyramid)
        points = unit_vectors(beta, gamma).T
        chords = down.double()(torch.from_numpy(points)[None])[0].flatten(1).numpy()
        pixels = unit_vectors(*(part.ravel() for part in on_grid(*grid))).T
        radius = np.linalg.norm(chords, axis=0)
        assert np.abs(chords / radius - pixels).max() < 1e-6
        assert down.values.min() >= 0
        assert down.row_pointers.diff().max() == corners
        # The hull's boundary is where the first facet's plane is met.
        facets = ConvexHull(points.T).equations
        height = facets[:, :3] @ pixels
        with np.errstate(divide="ignore"):
            reached = np.where(height > 0, -facets[:, 3:] / height, np.inf)
        assert np.abs(radius - reached.min(0)).max() < 1e-6
        plane = facets[reached.argmin(0)].repeat(down.row_pointers.diff(), 0)
        away = (plane[:, :3] * points.T[down.columns]).sum(1) + plane[:, 3]
        # A pixel on an edge may be on the facet beyond it, whose other corners count nothing.
        assert np.abs(away[down.values > 1e-6]).max() < 1e-6


MIRRORED = {  # what a symmetry of the sphere does to images of a whole number of quarter turns
    "reflection": lambda image: image.flip(3),
    "half_turn_x": lambda image: image.flip(2, 3),
    "half_turn_y": lambda image: image.flip(2, 3).roll(image.shape[3] // 2, 3),
    "half_turn_z": lambda image: image.roll(image.shape[3] // 2, 3),
    "quarter_turn_z": lambda image: image.roll(image.shape[3] // 4, 3),
}


@pytest.mark.parametrize("method", ["bilinear", "conservative"])
@pytest.mark.parametrize(
    "size", [{"bandlimit": 3}, {"nside": 4}, {"nside": 1}, {"subdivisions": 2}], ids=str
)
def test_resampling_commutes_with_symmetries(tmp_path: Path, size: dict, method: str) -> None:
    """The facets of a lattice's hull are no triangles: no diagonal may be preferred."""
    pyramid = pyramid_of(tmp_path, GraphSpec("s2", **size, levels=1))
    grid = regular_grid(32, 64, west=0)
    up = LatLonToVertices(pyramid, *grid, method)
    down = VerticesToLatLon(pyramid, *grid, method)
    motions = {n: m for n, m in symmetries(pyramid, [0]).items() if n in MIRRORED}
    assert len(motions) >= 4
    on_points, image = harmonics(*angles(pyramid), 4), harmonics(*on_grid(*grid), 4)
    for name, motion in motions.items():
        vertices = motion[0].vertices
        moved = torch.empty_like(on_points)
        moved[..., vertices] = on_points
        assert (down(moved) - MIRRORED[name](down(on_points))).abs().max() < 1e-6
        taken = torch.empty_like(on_points)
        taken[..., vertices] = up(image)
        assert (up(MIRRORED[name](image)) - taken).abs().max() < 1e-6


def integral(image: torch.Tensor) -> torch.Tensor:
    """Means over the sphere of images of a regular grid, (B, C, lat, lon) -> (B, C)."""
    edges = torch.linspace(-90, 90, image.shape[2] + 1, dtype=torch.float64).deg2rad().sin()
    return (image.mean(3) * edges.diff() / 2).sum(2)


@pytest.mark.parametrize("name", ["icosahedral", "healpix", "equiangular", "random", "pl"])
@pytest.mark.parametrize("width", [8, 240])
def test_conservative_averages_keep_integrals(spheres: Store, name: str, width: int) -> None:
    """From grids much coarser than the points, too, of which each value shows."""
    pyramid, grid = spheres[name], regular_grid(width // 2, width, west=-180)
    area = pyramid.levels[0].area.double()
    up = LatLonToVertices(pyramid, *grid, "conservative").double()
    image = 1 + torch.rand(1, 5, width // 2, width, dtype=torch.float64)
    assert torch.allclose((up(image) * area).mean(2), integral(image), rtol=1e-6, atol=0)
    down = VerticesToLatLon(pyramid, *grid, "conservative").double()
    on_points = 1 + torch.rand(1, 5, len(area), dtype=torch.float64)
    kept = (on_points * area).mean(2)
    assert torch.allclose(integral(down(on_points)), kept, rtol=1e-6, atol=0)
    assert (down(torch.ones_like(on_points)) - 1).abs().max() < 1e-6
    ascending = VerticesToLatLon(pyramid, grid[0].flip(0), grid[1], "conservative").double()
    assert torch.allclose(ascending(on_points).flip(2), down(on_points), atol=1e-6)
