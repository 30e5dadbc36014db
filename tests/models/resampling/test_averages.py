"""Conservative averages keep integrals."""

import numpy as np
import pytest
import torch
from sphere_fields import angles, harmonics, on_grid

from cheblienet_models import (
    LatLonToVertices,
    Pyramid,
    VerticesToLatLon,
    regular_grid,
)


def integral(image: torch.Tensor) -> torch.Tensor:
    """Means over the sphere of images of a regular grid, (B, C, lat, lon) -> (B, C)."""
    edges = torch.linspace(-90, 90, image.shape[2] + 1, dtype=torch.float64).deg2rad().sin()
    return (image.mean(3) * edges.diff() / 2).sum(2)


@pytest.mark.parametrize("name", ["icosahedral", "healpix", "equiangular", "random"])
@pytest.mark.parametrize("width", [240, 360])
def test_conservative_averages_keep_integrals(
    spheres: dict[str, Pyramid], name: str, width: int
) -> None:
    pyramid, grid = spheres[name], regular_grid(width // 2, width, west=-180)
    area = pyramid.levels[0].area.double()
    up = LatLonToVertices(pyramid, *grid, "conservative")
    image = 1.5 + harmonics(*on_grid(*grid), 4)
    assert torch.allclose((up(image) * area).mean(2), integral(image), rtol=1e-3, atol=0)
    down = VerticesToLatLon(pyramid, *grid, "conservative")
    on_points = 1.5 + harmonics(*angles(pyramid), 4)
    kept = integral(down(on_points))
    assert torch.allclose(kept, (on_points * area).mean(2), rtol=1e-3, atol=0)


def test_coarsening_to_images_keeps_integrals(spheres: dict[str, Pyramid]) -> None:
    pyramid, grid = spheres["icosahedral"], regular_grid(12, 24, west=0)
    down = VerticesToLatLon(pyramid, *grid, "conservative")
    torch.manual_seed(0)
    rough = 1 + torch.rand(1, 5, 10242)
    kept = (rough * pyramid.levels[0].area).double().mean(2)
    assert torch.allclose(integral(down(rough).double()), kept, rtol=1e-3, atol=0)


def test_conservative_averages_are_of_the_pixels_nearest_to_a_point(
    spheres: dict[str, Pyramid],
) -> None:
    """Against all pairs of points and pixels, on a grid fine enough that parts do not matter."""
    pyramid, grid = spheres["so3"], regular_grid(180, 360, west=0)
    beta, gamma = on_grid(*grid)
    torch.manual_seed(0)
    image = torch.rand(180, 360, dtype=torch.float64)
    pixels = np.stack([np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma), np.cos(beta)])
    b, g = angles(pyramid)
    points = np.stack([np.sin(b) * np.cos(g), np.sin(b) * np.sin(g), np.cos(b)])
    nearest = (points.T @ pixels.reshape(3, -1)).argmax(0)
    weight = np.sin(beta).ravel()
    total = np.bincount(nearest, weight, len(b))
    expected = np.bincount(nearest, weight * image.numpy().ravel(), len(b)) / total
    found = LatLonToVertices(pyramid, *grid, "conservative")(image[None, None])[0, 0].numpy()
    assert np.abs(found - expected).max() < 0.01
    labels = VerticesToLatLon(pyramid, *grid, "nearest")(torch.arange(len(b))[None, None])
    assert (labels.numpy().ravel() == nearest).mean() > 0.999
