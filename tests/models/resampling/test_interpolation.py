"""Images to points of the sphere and back: against harmonics and loops over pixels."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sphere_fields import EVERY_METHOD, EVERY_SAMPLING, angles, harmonics, on_grid

from cheblienet_models import (
    LatLonToVertices,
    Pyramid,
    VerticesToLatLon,
    regular_grid,
)


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


@EVERY_SAMPLING
@EVERY_METHOD
def test_constants_stay(spheres: dict[str, Pyramid], name: str, method: str) -> None:
    pyramid, grid = spheres[name], regular_grid(110, 220, west=0)
    up = LatLonToVertices(pyramid, *grid, method)
    down = VerticesToLatLon(pyramid, *grid, method)
    points = len(angles(pyramid)[0])
    on_points = up(torch.full((2, 3, 110, 220), 7.0))
    assert on_points.shape == (2, 3, points)
    assert torch.allclose(on_points, torch.tensor(7.0), rtol=1e-6, atol=0)
    image = down(torch.full((2, 3, points), 7.0))
    assert image.shape == (2, 3, 110, 220)
    assert torch.allclose(image, torch.tensor(7.0), rtol=1e-6, atol=0)


@pytest.mark.slow
def test_harmonics_survive_round_trips(spheres: dict[str, Pyramid]) -> None:
    pyramid, grid = spheres["fine"], regular_grid(180, 360, west=-180)
    up, down = LatLonToVertices(pyramid, *grid), VerticesToLatLon(pyramid, *grid)
    on_points, image = harmonics(*angles(pyramid)), harmonics(*on_grid(*grid))
    assert (up(image) - on_points).abs().max() < 0.004
    assert (down(on_points) - image).abs().max() < 0.02
    assert (up(down(on_points)) - on_points).abs().max() < 0.02
    assert (down(up(image)) - image).abs().max() < 0.02


# Degree 4: the same error, h^2 l^2 / 8, at half of the resolution. Random points leave wide gaps.
@pytest.mark.parametrize(
    ("name", "bound"), [("healpix", 0.02), ("equiangular", 0.04), ("random", 0.12)]
)
def test_harmonics_survive_on_other_samplings(
    spheres: dict[str, Pyramid], name: str, bound: float
) -> None:
    pyramid, grid = spheres[name], regular_grid(90, 180, west=0)
    up, down = LatLonToVertices(pyramid, *grid), VerticesToLatLon(pyramid, *grid)
    on_points, image = harmonics(*angles(pyramid), 4), harmonics(*on_grid(*grid), 4)
    assert (up(down(on_points)) - on_points).abs().max() < bound
    assert (down(up(image)) - image).abs().max() < bound


@settings(max_examples=10)
@given(
    height=st.integers(2, 12),
    width=st.integers(2, 12),
    west=st.floats(-360, 360),
    seed=st.integers(0, 99),
)
def test_bilinear_agrees_with_a_loop(
    spheres: dict[str, Pyramid], height: int, width: int, west: float, seed: int
) -> None:
    pyramid, (lat, lon) = spheres["so3"], regular_grid(height, width, west=west)
    image = torch.rand(height, width, generator=torch.Generator().manual_seed(seed)).double()
    found = LatLonToVertices(pyramid, lat, lon).double()(image[None, None])[0, 0]
    assert found.shape == (162,)
    for point, (beta, gamma) in enumerate(zip(*angles(pyramid), strict=True)):
        place = 90 - math.degrees(beta), math.degrees(gamma)
        expected = interpolated(image.numpy(), lat.tolist(), lon.tolist(), *place)
        assert found[point] == pytest.approx(expected, abs=1e-6)


@EVERY_METHOD
def test_order_of_latitudes_and_start_of_longitudes_do_not_matter(
    spheres: dict[str, Pyramid], method: str
) -> None:
    pyramid = spheres["so3"]
    lat, lon = regular_grid(18, 36, west=0)
    image = torch.rand(1, 2, 18, 36)
    up = LatLonToVertices(pyramid, lat, lon, method)
    flipped = LatLonToVertices(pyramid, lat.flip(0), lon, method)
    assert torch.allclose(up(image), flipped(image.flip(2)), atol=1e-6)
    shifted = LatLonToVertices(pyramid, lat, regular_grid(18, 36, west=-180)[1], method)
    assert torch.allclose(up(image), shifted(image.roll(18, 3)), atol=1e-6)
    x = torch.rand(1, 2, 162)
    down = VerticesToLatLon(pyramid, lat, lon, method)
    flipped = VerticesToLatLon(pyramid, lat.flip(0), lon, method)
    assert torch.allclose(down(x), flipped(x).flip(2), atol=1e-6)


@EVERY_METHOD
def test_north_is_up_and_east_is_gamma(spheres: dict[str, Pyramid], method: str) -> None:
    pyramid, (lat, lon) = spheres["fine"], regular_grid(90, 180, west=-180)
    beta, gamma = angles(pyramid)
    image = torch.stack(
        [
            lat[:, None].expand(90, 180),
            lon.deg2rad().cos().expand(90, 180),
            lon.deg2rad().sin().expand(90, 180),
        ]
    )[None]
    north, cosine, sine = LatLonToVertices(pyramid, lat, lon, method)(image)[0].numpy()
    near_equator = np.abs(beta - math.pi / 2) < 1
    assert np.abs(north - (90 - np.degrees(beta)))[near_equator].max() < 1.5
    assert np.abs(cosine - np.cos(gamma))[near_equator].max() < 0.05
    assert np.abs(sine - np.sin(gamma))[near_equator].max() < 0.05
    axes = torch.from_numpy(np.stack([np.cos(beta), np.sin(beta) * np.sin(gamma)]))[None]
    z, y = VerticesToLatLon(pyramid, lat, lon, method)(axes)[0]
    assert (z - lat.deg2rad().sin()[:, None]).abs().max() < 0.04
    assert (y - lat.deg2rad().cos()[:, None] * lon.deg2rad().sin()).abs().max() < 0.04


def test_poles_and_seam(spheres: dict[str, Pyramid]) -> None:
    """Points at the poles take the last row's mean; those about the seam both sides' values."""
    pyramid = spheres["icosahedral"]
    lat, lon = regular_grid(10, 20, west=-180)
    up = LatLonToVertices(pyramid, lat, lon).double()
    torch.manual_seed(0)
    image = torch.rand(1, 1, 10, 20, dtype=torch.float64)
    beta, gamma = angles(pyramid)
    found = up(image)[0, 0].numpy()
    nearly = np.flatnonzero(beta < 0.03)
    assert len(nearly) > 0
    assert np.abs(found[nearly] - image[0, 0, 0].mean().item()).max() < 0.03 / math.radians(9)
    at_seam = np.flatnonzero((np.abs(gamma) > math.pi - 0.002) & (np.abs(beta - 1.5) < 1))
    assert len(at_seam) > 5
    between = LatLonToVertices(pyramid, lat, lon + 18).double()(image.roll(-1, 3))[0, 0].numpy()
    assert np.abs(found - between).max() < 1e-6
    both = (image[0, 0, :, 0] + image[0, 0, :, -1]).numpy()[::-1] / 2
    expected = np.interp(90 - np.degrees(beta[at_seam]), lat.numpy()[::-1], both)
    assert np.abs(found[at_seam] - expected).max() < 0.01


@pytest.mark.slow
def test_rows_on_the_poles_and_uneven_latitudes(spheres: dict[str, Pyramid]) -> None:
    pyramid = spheres["fine"]
    lon = np.arange(0, 360, 2.0)
    gaussian = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(90)[0]))
    for lat in (np.linspace(90, -90, 91), gaussian):
        image = harmonics(*on_grid(torch.from_numpy(lat), torch.from_numpy(lon)), 4)
        expected = harmonics(*angles(pyramid), 4)
        for method, bound in (("bilinear", 0.005), ("conservative", 0.03)):
            found = LatLonToVertices(pyramid, lat, lon, method)(image)
            assert (found - expected).abs().max() < bound
        down = VerticesToLatLon(pyramid, lat, lon)
        assert (down(expected) - image).abs().max() < 0.005
