"""Networks on masked graphs: full images in, and nothing else changes."""

import copy
import math
from pathlib import Path

import pytest
import torch
from masked import GRAPHS
from torch import nn

from cheblienet_models import (
    UNet,
    WideResNet,
    load_weights,
    open_store,
    portable,
    sample_edges,
    sample_vertices,
)
from cheblienet_models.testing import assert_equivariant

pytestmark = pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec:FutureWarning")
SEVERAL = [name for name in GRAPHS if name != "all"]


def networks(masked_graphs: Path, name: str) -> list[nn.Module]:
    pyramid = open_store(masked_graphs)[name]
    torch.manual_seed(0)
    found: list[nn.Module] = [WideResNet(pyramid, 2, 3, kernel_size=3, depth=1, widen=1)]
    if len(pyramid.levels) > 1:
        found.append(UNet(pyramid, 2, 3, kernel_size=3, channels=(3, 4, 5)))
    return found


def images_on(network: nn.Module, count: int = 2) -> torch.Tensor:
    """Noise with NaN outside."""
    graph = network.pyramid.levels[0]
    images = torch.randn(count, 2, *graph.grid[1:])
    outside = torch.ones(images[0, 0].numel(), dtype=torch.bool)
    outside[graph.base_index] = False
    images.flatten(2)[..., outside] = math.nan
    return images


@pytest.mark.parametrize("name", GRAPHS)
def test_networks_train_on_what_is_inside(masked_graphs: Path, name: str) -> None:
    for network in networks(masked_graphs, name):
        images, graph = images_on(network), network.pyramid.levels[0]
        y = network(images)
        if isinstance(network, UNet):
            assert y.shape == (2, 3, *graph.grid[1:])
            assert torch.equal(y[:, 0].isnan(), images[:, 0].isnan())
            labels = torch.randint(3, (2, *graph.grid[1:]))
            loss = nn.functional.nll_loss(y, labels.masked_fill(y[:, 0].isnan(), -100))
        else:
            assert y.shape == (2, 3)
            loss = nn.functional.nll_loss(y, torch.tensor([0, 1]))
        loss.backward()
        assert loss.isfinite()
        for parameter in network.parameters():
            assert parameter.grad.isfinite().all()
        network.eval()
        inside = images.flatten(2)[..., graph.base_index]
        given = [images.nan_to_num(9), images.flatten(2), inside]
        if graph.num_vertices != math.prod(graph.grid[1:]):
            given.append(network.lift(inside))
        for other in given:
            assert torch.equal(network(other).nan_to_num(), network(images).nan_to_num())


@pytest.mark.parametrize("name", ["ring", "ball", "healpix", "equiangular", "icosahedral"])
def test_networks_have_the_symmetries_that_the_mask_keeps(masked_graphs: Path, name: str) -> None:
    for network in networks(masked_graphs, name):
        for images in (None, torch.randn(2, 2, *network.pyramid.levels[0].grid[1:])):
            assert len(assert_equivariant(network, network.pyramid, images)) >= 2


def test_masks_without_symmetries_claim_none(masked_graphs: Path) -> None:
    for network in networks(masked_graphs, "crescent"):
        with pytest.raises(ValueError, match="have no symmetry that could be tested"):
            assert_equivariant(network, network.pyramid)


def test_a_signal_as_long_as_the_full_sampling_is_one_on_it(masked_graphs: Path) -> None:
    """Half of the points inside, two orientations: as many vertices as pixels."""
    for network in networks(masked_graphs, "half"):
        network.eval()
        images = torch.randn(2, 2, 8, 8)
        assert network.pyramid.levels[0].num_vertices == 64
        expected = network(images).nan_to_num()
        assert torch.equal(network(images.flatten(2)).nan_to_num(), expected)


def test_nan_inside_is_refused(masked_graphs: Path) -> None:
    for network in networks(masked_graphs, "ring"):
        images = images_on(network)
        images[1, 1, 8, 1] = math.nan
        vertex = int((network.pyramid.levels[0].base_index == 8 * 16 + 1).nonzero())
        with pytest.raises(ValueError, match=rf"first in sample 1, channel 1, vertex {vertex}:"):
            network(images)


def test_random_subgraphs_and_broadcasts(masked_graphs: Path) -> None:
    for network in networks(masked_graphs, "ring"):
        images, pyramid = images_on(network), network.pyramid
        sample_edges(pyramid, 0.5)
        assert network.train()(images).nan_to_num().isfinite().all()
        sample_vertices(pyramid, 0.5)
        assert network(images).nan_to_num().isfinite().all()
        sample_vertices(pyramid, 1)
        ignored = set(network._ddp_params_and_buffers_to_ignore)
        assert "lift.grid_places.places" in ignored
        others = {name for name, _ in network.named_buffers(remove_duplicate=False)} - ignored
        assert all("norm" in name for name in others)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "which"), [("ring", 1), ("healpix", 0)])
def test_exported(masked_graphs: Path, name: str, which: int) -> None:
    network = networks(masked_graphs, name)[which].eval()
    images = images_on(network)
    batch = torch.export.Dim("batch", min=1, max=64)
    program = torch.export.export(network, (images,), dynamic_shapes=({0: batch},))
    modules = [kind.module() for kind in (program, portable(program))]
    for count in (1, 3):
        images = images_on(network, count)
        with torch.no_grad():
            expected = network(images)
            for module in modules:
                assert torch.allclose(module(images), expected, atol=1e-5, equal_nan=True)


@pytest.mark.slow
def test_compiled(masked_graphs: Path) -> None:
    """One in training and the other in evaluation: their blocks are the same."""
    evaluated, network = networks(masked_graphs, "ring")
    twin = copy.deepcopy(network)
    compiled = torch.compile(twin, fullgraph=True, backend="aot_eager")
    images = images_on(network)
    for module in (network, compiled):
        (module(images).nan_to_num() ** 2).sum().backward()
    for mine, other in zip(network.parameters(), twin.parameters(), strict=True):
        largest = mine.grad.abs().max()
        assert torch.allclose(mine.grad, other.grad, rtol=1e-3, atol=1e-3 * largest)
    with torch.no_grad():
        whole = torch.compile(evaluated.eval(), fullgraph=True, backend="aot_eager")
        assert torch.allclose(whole(images), evaluated(images), atol=1e-4, equal_nan=True)


def test_weights_go_from_whole_samplings_to_masked_ones(masked_graphs: Path) -> None:
    for name in SEVERAL:
        for whole, part in zip(
            networks(masked_graphs, f"whole-{name}"), networks(masked_graphs, name), strict=True
        ):
            found = load_weights(part, whole.state_dict(), allow_other_graph=True)
            assert [(d.name, d.trained) for d in found] == [("mask", None)]
