"""Conservative averages keep integrals."""

import pytest
import torch

from cheblienet_models import LatLonToVertices, Store, VerticesToLatLon, regular_grid


def integral(image: torch.Tensor) -> torch.Tensor:
    """Means over the sphere of images of a regular grid, (B, C, lat, lon) -> (B, C)."""
    edges = torch.linspace(-90, 90, image.shape[2] + 1, dtype=torch.float64).deg2rad().sin()
    return (image.mean(3) * edges.diff() / 2).sum(2)


SAMPLINGS = ["icosahedral", "healpix", "equiangular", "random"]


@pytest.mark.parametrize("name", SAMPLINGS)
@pytest.mark.parametrize("width", [8, 240])
def test_conservative_averages_keep_integrals(spheres: Store, name: str, width: int) -> None:
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
