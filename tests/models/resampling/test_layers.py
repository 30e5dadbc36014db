"""Resampling as layers: gradients, dtypes, checkpoints, refusals."""

import torch
from refusing import refused
from sphere_fields import EVERY_METHOD, LAT, LON

from cheblienet_models import LatLonToVertices, Store, VerticesToLatLon, regular_grid


@EVERY_METHOD
def test_gradients(spheres: Store, method: str) -> None:
    grid = regular_grid(6, 12, west=0)
    for kind, shape in ((LatLonToVertices, (2, 1, 6, 12)), (VerticesToLatLon, (1, 1, 162))):
        layer = kind(spheres["so3"], *grid, method).double()
        x = torch.rand(shape, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(layer, x)
    if method == "bilinear":
        assert torch.autograd.gradgradcheck(lambda x: layer(x) ** 2, x)


def test_labels_keep_their_dtype(spheres: Store) -> None:
    pyramid, grid = spheres["so3"], regular_grid(90, 180, west=0)
    up = LatLonToVertices(pyramid, *grid, "nearest")
    down = VerticesToLatLon(pyramid, *grid, "nearest")
    for dtype in (torch.int64, torch.uint8, torch.bool, torch.float16):
        labels = torch.randint(0, 2, (1, 1, 162)).to(dtype)
        assert down(labels).dtype == dtype
        assert torch.equal(up(down(labels)), labels)


def test_other_levels(spheres: Store) -> None:
    grid = regular_grid(20, 40, west=0)
    coarse = LatLonToVertices(spheres["icosahedral"], *grid, level=1)
    assert coarse(torch.ones(1, 1, 20, 40)).shape == (1, 1, 642)


def test_matrices_are_shared(spheres: Store) -> None:
    grid = regular_grid(20, 40, west=0)
    first, second = (LatLonToVertices(spheres["so3"], *grid) for _ in range(2))
    assert first.values.data_ptr() == second.values.data_ptr()
    assert first.double()(torch.ones(1, 1, 20, 40)).dtype == torch.float64
    assert second.values.dtype == torch.float32
    assert torch.equal(second.latitudes, grid[0])
    assert torch.equal(second.longitudes, grid[1])
    assert "20 x 40, method='bilinear'" in repr(second)


def test_refusals(spheres: Store) -> None:
    so3, few = spheres["so3"], spheres["few"]
    refused("Got plane@v001 on se2", LatLonToVertices, spheres["plane"], LAT, LON)
    refused("method must be .* Got 'cubic'", VerticesToLatLon, so3, LAT, LON, "cubic")
    refused("these 3 leave about half of it ", VerticesToLatLon, few, LAT, LON)
    down, labels = VerticesToLatLon(so3, LAT, LON), torch.ones(1, 1, 162).long()
    refused("floating-point fields. Got torch.int64: ", down, labels)
    assert VerticesToLatLon(few, LAT, LON, "nearest").shape == (6, 12)


def test_they_are_transforms_of_one_sample(spheres: Store) -> None:
    """As those of torchvision, which come before samples are batched."""
    grid = regular_grid(12, 24, west=0)
    up, down = LatLonToVertices(spheres["so3"], *grid), VerticesToLatLon(spheres["so3"], *grid)
    batch = torch.rand(3, 2, 12, 24)
    for layer, fields in ((up, batch), (down, up(batch))):
        assert torch.equal(torch.stack([layer(one) for one in fields]), layer(fields))
    refused("Got .12, 24.", up, batch[0, 0])
