"""The network: invariance, checkpoints, refusals."""

import io
from pathlib import Path

import pytest
import torch
from torch import nn

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import StoreError, WideResNet, load_weights, open_store


def trained(network: WideResNet, side: int) -> WideResNet:
    """A few steps on noise, so that no weight or statistic is at its initial value."""
    torch.manual_seed(0)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(5):
        images, labels = torch.randn(8, 3, side, side), torch.randint(10, (8,))
        loss = nn.functional.nll_loss(network(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network.eval()


@pytest.mark.parametrize("pool", ["max", "mean", "random"])
@pytest.mark.parametrize("name", ["se2-16x16x6", "torus"])
def test_invariant_under_quarter_turns(store: Path, name: str, pool: str) -> None:
    network = trained(
        WideResNet(open_store(store)[name], 3, 10, kernel_size=3, depth=1, widen=1, pool=pool), 16
    )
    images = torch.randn(4, 3, 16, 16)
    with torch.no_grad():
        upright = network(images)
        assert torch.allclose(upright.exp().sum(1), torch.ones(4), atol=1e-5)
        for turns in (1, 2, 3):
            turned = network(torch.rot90(images, turns, (2, 3)))
            assert (turned - upright).abs().max() <= 1e-4
        assert (network(images.flip(2)) - upright).abs().max() <= 1e-4
        assert (
            network(images.transpose(0, 1).roll(1, 0).transpose(0, 1)) - upright
        ).abs().max() > 1e-3


def test_not_invariant_with_an_odd_number_of_orientations(tmp_path: Path) -> None:
    build(GraphSpec("se2", 8, orientations=5), tmp_path / "g.zarr")
    pyramid = open_store(tmp_path / "g.zarr")["se2-8x8x5"]
    network = trained(WideResNet(pyramid, 3, 10, depth=1, widen=1), 8)
    images = torch.randn(4, 3, 8, 8)
    with torch.no_grad():
        change = (network(images) - network(torch.rot90(images, 1, (2, 3)))).abs().max()
    assert change > 1e-3


def test_accepts_images_and_lifted_signals(store: Path) -> None:
    network = WideResNet(open_store(store)["r2-24x16"], 3, 7, depth=1, widen=1).eval()
    images = torch.randn(2, 3, 16, 24)
    assert network(images).shape == (2, 7)
    assert torch.equal(network(images), network(images.flatten(2)))
    with pytest.raises(ValueError, match=r"\(B, \d, 16, 24\) or \(B, \d, 384\)"):
        network(images.transpose(2, 3))


def test_pools_while_there_are_levels(tmp_path: Path) -> None:
    for levels, poolings in ((1, 0), (2, 1), (3, 2), (4, 2)):
        build(GraphSpec("r2", 32, levels=levels), tmp_path / "g.zarr", name=f"l{levels}")
        network = WideResNet(open_store(tmp_path / "g.zarr")[f"l{levels}"], 1, 2, depth=1, widen=1)
        assert sum(not isinstance(pool, nn.Identity) for pool in network.pools) == poolings
        assert network(torch.zeros(2, 1, 32, 32)).shape == (2, 2)


def test_checkpoints(store: Path) -> None:
    opened = open_store(store)
    make = lambda name: WideResNet(opened[name], 1, 2, depth=1, widen=1)  # noqa: E731
    network, file = make("torus"), io.BytesIO()
    torch.save(network.state_dict(), file)
    weights = sum(p.numel() * p.element_size() for p in network.parameters())
    assert len(file.getvalue()) < weights + 40_000
    file.seek(0)
    state = torch.load(file, weights_only=True)
    extra = [key for key in state if key.endswith("_extra_state")]
    assert extra == ["_extra_state", "pyramid._extra_state"]
    assert all(state[key].dtype == torch.uint8 for key in extra)
    again = make("torus")
    again.load_state_dict(state)
    x = torch.randn(1, 1, 16, 16)
    assert torch.equal(again.eval()(x), network.eval()(x))
    with pytest.raises(StoreError, match=r"trained on torus@v001.*on se2-16x16x6@v001"):
        make("se2-16x16x6").load_state_dict(state)


def test_ddp_ignores_the_graphs(store: Path) -> None:
    network = WideResNet(open_store(store)["torus"], 1, 2, depth=1, widen=1)
    ignored = set(network._ddp_params_and_buffers_to_ignore)
    buffers = dict(network.named_buffers(remove_duplicate=False))
    graphs = {
        name
        for name in buffers
        if name.rpartition(".")[2] in {"row_pointers", "columns", "values", "sources", "weights"}
    }
    assert graphs == ignored
    assert any("running_mean" in name for name in set(buffers) - ignored)


def test_widths_between_whole_multiples(store: Path) -> None:
    network = WideResNet(open_store(store)["torus"], 1, 2, widen=0.4)
    assert [group[-1].conv2.weight.shape[2] for group in network.groups] == [6, 13, 26]


@pytest.mark.parametrize("widen", [0, -1, 0.01, float("nan"), float("inf")])
def test_refuses_widths_of_nothing(store: Path, widen: float) -> None:
    with pytest.raises(ValueError, match=rf"at least one, as 1 does\. Got {widen}\."):
        WideResNet(open_store(store)["torus"], 1, 2, widen=widen)


@pytest.mark.parametrize("numbers", [{"num_classes": 0}, {"depth": 0}])
def test_refusals(store: Path, numbers: dict[str, int]) -> None:
    arguments = {"in_channels": 1, "num_classes": 2} | numbers
    with pytest.raises(ValueError, match=r"must be at least 1\. Got 0"):
        WideResNet(open_store(store)["torus"], **arguments)


def test_a_later_first_level_is_a_network_on_smaller_images(tmp_path: Path) -> None:
    build(GraphSpec("r2", 16, levels=2), tmp_path / "g.zarr", name="whole")
    build(GraphSpec("r2", 8), tmp_path / "g.zarr", name="half")
    opened = open_store(tmp_path / "g.zarr")
    options = {"in_channels": 3, "num_classes": 10, "depth": 1, "widen": 1, "pool": "mean"}
    network = trained(WideResNet(opened["whole"], first_level=1, **options), 16)
    half = WideResNet(opened["half"], **options).eval()
    load_weights(half, network.state_dict(), allow_other_graph=True)
    images = torch.randn(2, 3, 16, 16)
    with torch.no_grad():
        expected = half(nn.functional.avg_pool2d(images, 2))
        assert torch.allclose(network(images), expected, atol=1e-5)


def test_a_later_first_level_keeps_the_invariance(tmp_path: Path) -> None:
    spec = GraphSpec("se2", 16, orientations=4, levels=2, weights="selling", directional=0.05)
    built = build(spec, tmp_path / "g.zarr")
    pyramid = open_store(tmp_path / "g.zarr")[built.name]
    options = {"lift": "cake", "operators": "directional", "depth": 1, "widen": 1}
    network = trained(WideResNet(pyramid, 3, 10, first_level=1, **options), 16)
    images = torch.randn(2, 3, 16, 16)
    with torch.no_grad():
        change = network(torch.rot90(images, 1, (2, 3))) - network(images)
    assert change.abs().max() <= 1e-4


@pytest.mark.parametrize("level", [-1, 2])
def test_refuses_a_first_level_that_is_not_there(store: Path, level: int) -> None:
    pyramid = open_store(store)["torus"]
    with pytest.raises(ValueError, match=rf"from 0 to 1, as torus@v001 has 2 levels\. Got {level}"):
        WideResNet(pyramid, 1, 2, first_level=level)
