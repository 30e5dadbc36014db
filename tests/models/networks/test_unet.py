"""The network of segmentation: shapes, skips, training, channels, refusals."""

from functools import partial
from pathlib import Path

import pytest
import torch
from refusing import refused
from stores import pyramid_of

from cheblienet_graphs import GraphSpec
from cheblienet_models import Pyramid, Store, UNet, WideResNet, open_store
from cheblienet_models.networks.unet import default_channels


@pytest.mark.parametrize("name", ["r2", "torus", "s2", "icosahedral"])
def test_a_distribution_over_classes_at_each_base_point(symmetric_graphs: Path, name: str) -> None:
    """It differs from point to point, as none would after a global pooling at the end."""
    pyramid = open_store(symmetric_graphs)[name]
    network = UNet(pyramid, 3, 4, kernel_size=3, channels=(4, 5, 6)).eval()
    signal = torch.randn(2, 3, *pyramid.levels[0].grid[1:])
    y = network(signal)
    assert y.shape == (2, 4, *signal.shape[2:])
    assert torch.allclose(y.exp().sum(1), torch.ones(()), atol=1e-5)
    assert y.flatten(2).std(2).min() > 1e-2


def test_the_papers_network_on_six_levels(tmp_path: Path) -> None:
    """The channels of every block, on six levels of a plane that is quick to build."""
    network = UNet(pyramid_of(tmp_path, GraphSpec("r2", 64, levels=6)), 16, 3)
    down, up = (
        [(block.conv1.in_channels, block.conv1.out_channels) for block in blocks]
        for blocks in (network.down, network.up)
    )
    assert (network.conv.in_channels, network.conv.out_channels) == (16, 16)
    assert default_channels(8) == (16, 32, 64, 128, *[256] * 5)
    assert down == [(16, 32), (32, 64), (64, 128), (128, 256), (256, 256), (256, 256)]
    assert up == [(96, 32), (192, 64), (384, 128), (512, 256), (512, 256)]
    assert network.eval()(torch.zeros(1, 16, 64, 64)).shape == (1, 3, 64, 64)


def test_refusals(pyramid: Pyramid, symmetric_graphs: Path) -> None:
    arguments = {"in_channels": 1, "num_classes": 2, "channels": [2] * 3}
    for option, value, message in (
        ("channels", [4, 4], r"channels must be 3 .* 2 levels of torus@v001.*\(4, 4\)"),
        ("channels", [4, 0, 4], r"channels must be 3 numbers of at least 1.*\(4, 0, 4\)"),
        ("pool", "min", "pool must be .*Got 'min'"),
        ("unpool", "min", "unpool must be .*Got 'min'"),
        ("project", "random", "project must be .*Got 'random'"),
    ):
        refused(message, UNet, pyramid, **{**arguments, option: value})
    square = open_store(symmetric_graphs)["square"]
    refused(r"at least two levels\. square@v001 has 1", UNet, square, 1, 2)


def test_odd_sides_are_told_what_can_be_built(tmp_path: Path) -> None:
    odd = pyramid_of(tmp_path, GraphSpec("r2", (21, 18)))
    refused(
        "half of 18 x 21 is not whole: build one of 20 x 24, and give pad=True", UNet, odd, 1, 2
    )
    even = pyramid_of(tmp_path, GraphSpec("r2", (24, 20)))
    network = UNet(even, 1, 2, kernel_size=2, channels=(2, 2, 2), pad=True).eval()
    assert network(torch.zeros(1, 1, 18, 21)).shape == (1, 2, 18, 21)


def test_oriented_heads_turn_but_for_their_weights(gradient_graphs: Store) -> None:
    pyramid = gradient_graphs["arrows"]
    network = UNet(pyramid, 1, 2, 3, (2, 3, 4), operators="first-order", head="oriented").double()
    images = torch.randn(2, 1, 8, 8, dtype=torch.float64)
    network(images)  # so that running statistics are not at their start
    turn = partial(torch.rot90, k=-1, dims=(2, 3))
    with torch.no_grad():
        upright, turned = turn(network.eval()(images)), network(turn(images))
        assert (turned - upright).abs().max() > 1e-3
        weight = network.classify.weight
        weight.copy_(weight.view(2, 4, 3).roll(1, 1).flatten(1))
        assert (network(turn(images)) - upright).abs().max() <= 1e-12
    for name in ("plane", "turned"):
        message = f"{name}@v001, level . has no orientations that all"
        refused(message, WideResNet, gradient_graphs[name], 1, 2, depth=1, head="oriented")
