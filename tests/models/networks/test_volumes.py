"""Networks on published graphs of volumes, under the symmetries of a cube."""

from pathlib import Path

import pytest
import torch

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Lift, Pyramid, SpatialPool, UNet, WideResNet, open_store
from cheblienet_models.testing import assert_equivariant

CUBE = {
    *(f"{motion}_{axis}" for motion in ("rotation_90", "rotation_180") for axis in "xyz"),
    *(f"reflection_{axis}" for axis in "xyz"),
    "rotation_120",
}


@pytest.fixture(scope="module", params=["kernel", "selling"])
def volumes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pyramid:
    store = tmp_path_factory.mktemp("volumes") / "g.zarr"
    build(GraphSpec("r3", 8, weights=request.param, levels=2), store, name="g")
    return open_store(store, verify=True)["g"]


def test_lift_takes_volumes(volumes: Pyramid) -> None:
    x = torch.randn(2, 3, 8, 8, 8)
    lifted = Lift(volumes.levels[0])(x)
    assert torch.equal(lifted, x.flatten(2))
    pooled = SpatialPool(volumes, 0, "mean")(lifted)
    expected = torch.nn.functional.avg_pool3d(x, 2).flatten(2)
    assert torch.allclose(pooled, expected, atol=1e-6)


def test_wide_resnet_is_invariant_under_the_cube(volumes: Pyramid) -> None:
    torch.manual_seed(0)
    network = WideResNet(volumes, in_channels=2, num_classes=4)
    found = assert_equivariant(network, volumes, torch.randn(2, 2, 8, 8, 8))
    assert found.keys() == CUBE
    assert max(found.values()) < 1e-4


def test_unet_is_equivariant_under_the_cube(volumes: Pyramid) -> None:
    torch.manual_seed(0)
    network = UNet(volumes, in_channels=2, num_classes=3)
    found = assert_equivariant(network, volumes, torch.randn(1, 2, 8, 8, 8), output="base")
    assert found.keys() == CUBE
    assert max(found.values()) < 1e-4


def test_a_box_open_in_depth(tmp_path: Path) -> None:
    build(GraphSpec("r3", "8x6x4", levels=1), tmp_path / "g.zarr", name="g")
    graph = open_store(tmp_path / "g.zarr")["g"].levels[0]
    assert graph.grid == (1, 4, 6, 8)
    with pytest.raises(ValueError, match=r"\(B, C, 4, 6, 8\)"):
        Lift(graph)(torch.zeros(1, 1, 8, 6, 4))
