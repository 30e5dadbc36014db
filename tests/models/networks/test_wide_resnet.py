"""The network of classification: invariance, levels and widths, refusals."""

import math
from pathlib import Path

import pytest
import torch
from refusing import refused
from stores import pyramid_of
from torch import nn

from cheblienet_graphs import GraphSpec
from cheblienet_models import Pyramid, Store, UNet, WideResNet, load_weights, open_store
from cheblienet_models.testing import assert_equivariant

SMALL = {"depth": 1, "widen": 1}


def trained(network: WideResNet, side: int) -> WideResNet:
    """A few steps on noise, so that no weight or statistic is at its initial value."""
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(5):
        images, labels = torch.randn(8, 3, side, side), torch.randint(10, (8,))
        loss = nn.functional.nll_loss(network(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network.eval()


@pytest.mark.parametrize(
    ("name", "pool"), [("se2-16x16x6", "max"), ("torus", "mean"), ("torus", "random")]
)
def test_invariant_under_quarter_turns(store: Path, name: str, pool: str) -> None:
    network = trained(WideResNet(open_store(store)[name], 3, 10, 3, pool=pool, **SMALL), 16)
    images = torch.randn(4, 3, 16, 16)
    upright = network(images)
    assert torch.allclose(upright.exp().sum(1), torch.ones(4), atol=1e-5)
    for moved in (*(torch.rot90(images, turns, (2, 3)) for turns in (1, 2, 3)), images.flip(2)):
        assert (network(moved) - upright).abs().max() <= 1e-4
    assert (network(images.roll(1, 1)) - upright).abs().max() > 1e-3


@pytest.mark.parametrize("pool", ["max", "mean"])
def test_oriented_heads_roll_with_the_image(gradient_graphs: Store, pool: str) -> None:
    """By a step for a quarter turn, four orientations being a whole one; so weights may instead."""
    pyramid, kind = gradient_graphs["arrows"], {"operators": "first-order", "pool": pool, **SMALL}
    kind["low_pass"] = pool == "max"
    network = trained(WideResNet(pyramid, 3, 10, 3, head="oriented", **kind), 8).double()
    images, weight = torch.randn(4, 3, 8, 8, dtype=torch.float64), network.classify.weight
    turned = torch.rot90(images, -1, (2, 3))  # x, to the right, to y, down
    with torch.no_grad():
        rolled, upright = network.features(images).roll(1, 2), network(images)
        assert (network.features(turned) - rolled).abs().max() <= 1e-12
        assert (network(turned) - upright).abs().max() > 1e-3
        weight.copy_(weight.view(10, 64, 4).roll(1, 2).flatten(1))
        assert (network(turned) - upright).abs().max() <= 1e-12
    network.forward = network.features
    kept = assert_equivariant(network, pyramid, images, output="orientations", tolerance=1e-12)
    assert kept.keys() == {"rotation_90", "rotation_180"}


def test_pools_while_there_are_levels(tmp_path: Path) -> None:
    for levels, poolings in ((1, 0), (2, 1), (4, 2)):
        pyramid = pyramid_of(tmp_path, GraphSpec("r2", 16, levels=levels))
        network = WideResNet(pyramid, 1, 2, **SMALL)
        assert sum(not isinstance(pool, nn.Identity) for pool in network.pools) == poolings
        assert network(torch.zeros(2, 1, 16, 16)).shape == (2, 2)


def test_widths_between_whole_multiples(pyramid: Pyramid) -> None:
    network = WideResNet(pyramid, 1, 2, widen=0.4)
    assert [group[-1].conv2.weight.shape[2] for group in network.groups] == [6, 13, 26]


def test_refusals(pyramid: Pyramid) -> None:
    for widen in (0, -1, 0.01, math.nan, math.inf):
        refused(rf"at least one, .* Got {widen}\.", WideResNet, pyramid, 1, 2, widen=widen)
    refused(r"must be at least 1\. Got 0", WideResNet, pyramid, 1, 2, depth=0)
    for level in (-1, 2):
        refused("first_level must be in", WideResNet, pyramid, 1, 2, first_level=level)
    refused("pool must be .* Got 'avg'", WideResNet, pyramid, 1, 2, pool="avg")


def test_a_later_first_level_is_a_network_on_smaller_images(tmp_path: Path) -> None:
    specs = GraphSpec("r2", 16, levels=2), GraphSpec("r2", 8)
    whole, half = (pyramid_of(tmp_path, spec) for spec in specs)
    network = trained(WideResNet(whole, 3, 10, pool="mean", first_level=1, **SMALL), 16)
    half = WideResNet(half, 3, 10, pool="mean", **SMALL).eval()
    load_weights(half, network.state_dict(), allow_other_graph=True)
    images = torch.randn(2, 3, 16, 16)
    expected = half(nn.functional.avg_pool2d(images, 2))
    assert torch.allclose(network(images), expected, atol=1e-5)


NETWORKS = [
    ("arrows", WideResNet, {"operators": "first-order", "low_pass": True, "head": "oriented"}),
    ("arrows", WideResNet, {"lift": "cake"}),
    ("sphere", UNet, {"operators": "first-order"}),
]


@pytest.mark.parametrize(("name", "kind", "settings"), NETWORKS)
def test_made_without_memory_and_filled_later(
    gradient_graphs: Store, name: str, kind: type[nn.Module], settings: dict
) -> None:
    """As large networks are loaded: on "meta", then `.to_empty()`, which leaves constants alone."""
    pyramid = gradient_graphs[name]
    network = kind(pyramid, 1, 2, **settings).eval()
    x = torch.randn(2, 1, *pyramid.levels[0].grid[1:])
    expected = network(x)
    with torch.device("meta"):
        later = kind(pyramid, 1, 2, **settings)
    later.to_empty(device="cpu").load_state_dict(network.state_dict())
    for each in (later.eval(), network):
        assert torch.equal(each(x), expected)
    assert network.to_empty(device="cpu").state_dict().keys() == later.state_dict().keys()
    network.load_state_dict(later.state_dict())
    assert torch.equal(network(x), expected)
