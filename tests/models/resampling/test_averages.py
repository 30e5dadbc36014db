"""Conservative averages keep integrals."""

import numpy as np
import pytest
import torch
from sphere_fields import angles, on_grid

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


SAMPLINGS = ["icosahedral", "healpix", "equiangular", "random"]


@pytest.mark.parametrize("name", SAMPLINGS)
@pytest.mark.parametrize("width", [8, 240, 360])
def test_conservative_averages_keep_integrals(
    spheres: dict[str, Pyramid], name: str, width: int
) -> None:
    """From grids much coarser than the points, too, of which each value shows."""
    pyramid, grid = spheres[name], regular_grid(width // 2, width, west=-180)
    area = pyramid.levels[0].area.double()
    up = LatLonToVertices(pyramid, *grid, "conservative").double()
    torch.manual_seed(0)
    image = 1 + torch.rand(1, 5, width // 2, width, dtype=torch.float64)
    assert torch.allclose((up(image) * area).mean(2), integral(image), rtol=1e-6, atol=0)
    down = VerticesToLatLon(pyramid, *grid, "conservative").double()
    on_points = 1 + torch.rand(1, 5, len(area), dtype=torch.float64)
    kept = (on_points * area).mean(2)
    assert torch.allclose(integral(down(on_points)), kept, rtol=1e-6, atol=0)
    assert (down(torch.ones_like(on_points)) - 1).abs().max() < 1e-6


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
    resampled = LatLonToVertices(pyramid, *grid, "conservative")(image[None, None])[0, 0].numpy()
    assert np.abs(resampled - expected).max() < 0.01
    labels = VerticesToLatLon(pyramid, *grid, "nearest")(torch.arange(len(b))[None, None])
    assert (labels.numpy().ravel() == nearest).mean() > 0.999
