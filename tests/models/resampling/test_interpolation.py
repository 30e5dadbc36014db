"""Images to points of the sphere and back: against harmonics and loops over pixels."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sphere_fields import EVERY_METHOD, METHODS, angles, harmonics, on_grid

from cheblienet_models import LatLonToVertices, Store, VerticesToLatLon, regular_grid


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


# Degree 4: half the error, h^2 l^2 / 8, of degree 8. Random points leave wide gaps.
@pytest.mark.parametrize(
    ("name", "degree", "bound"),
    [
        pytest.param("fine", 8, 0.02, marks=pytest.mark.slow),
        ("healpix", 4, 0.02),
        ("equiangular", 4, 0.04),
        ("random", 4, 0.12),
    ],
)
def test_harmonics_survive_round_trips(
    spheres: Store, name: str, degree: int, bound: float
) -> None:
    pyramid, grid = spheres[name], regular_grid(180, 360, west=-180)
    on_points, image = harmonics(*angles(pyramid), degree), harmonics(*on_grid(*grid), degree)
    for method in METHODS:
        up, down = (kind(pyramid, *grid, method) for kind in (LatLonToVertices, VerticesToLatLon))
        error = bound if method == "bilinear" else 8 * bound
        assert (up(image) - on_points).abs().max() < error
        assert (down(on_points) - image).abs().max() < error
        assert (up(down(on_points)) - on_points).abs().max() < error


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
    assert resampled.shape == (162,)
    for point, (beta, gamma) in enumerate(zip(*angles(pyramid), strict=True)):
        place = 90 - math.degrees(beta), math.degrees(gamma)
        expected = interpolated(image.numpy(), lat.tolist(), lon.tolist(), *place)
        assert resampled[point] == pytest.approx(expected, abs=1e-6)


@EVERY_METHOD
def test_order_of_latitudes_and_start_of_longitudes_do_not_matter(
    spheres: Store, method: str
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


@pytest.mark.slow
def test_rows_on_the_poles_and_uneven_latitudes(spheres: Store) -> None:
    pyramid = spheres["fine"]
    lon = np.arange(0, 360, 2.0)
    gaussian = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(90)[0]))
    for lat in (np.linspace(90, -90, 91), gaussian):
        image = harmonics(*on_grid(torch.from_numpy(lat), torch.from_numpy(lon)), 4)
        expected = harmonics(*angles(pyramid), 4)
        for method, bound in (("bilinear", 0.005), ("conservative", 0.03)):
            resampled = LatLonToVertices(pyramid, lat, lon, method)(image)
            assert (resampled - expected).abs().max() < bound
        down = VerticesToLatLon(pyramid, lat, lon)
        assert (down(expected) - image).abs().max() < 0.005
