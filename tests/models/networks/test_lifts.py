"""Networks that lift images by line filters, and signals that have orientations."""

import copy
import io
import json
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from cheblienet_models import (
    Lift,
    OrientedLift,
    Pyramid,
    StoreError,
    UNet,
    WideResNet,
    ignore_graphs_in_ddp,
    load_weights,
    open_store,
    portable,
)
from cheblienet_models.testing import assert_equivariant


def networks(pyramid: Pyramid, lift: object = "repeat", in_channels: int = 2) -> list[nn.Module]:
    torch.manual_seed(0)
    return [
        WideResNet(pyramid, in_channels, 3, kernel_size=3, depth=1, widen=1, lift=lift).eval(),
        UNet(pyramid, in_channels, 3, kernel_size=3, channels=(3, 4, 5), lift=lift).eval(),
    ]


def saved(network: nn.Module) -> dict[str, Tensor]:
    file = io.BytesIO()
    torch.save(network.state_dict(), file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@pytest.mark.parametrize("lift", ["cake", "gabor"])
def test_a_lift_by_name_is_that_layer(pyramid: Pyramid, lift: str) -> None:
    images, graph = torch.randn(2, 2, 16, 16), pyramid.levels[0]
    for named, given in zip(
        networks(pyramid, lift), networks(pyramid, OrientedLift(graph, lift)), strict=True
    ):
        scores = OrientedLift(graph, lift)(images)
        expected = named(images)
        for other in (images.flatten(2), scores, scores.view(2, 2, 4, 16, 16)):
            assert torch.allclose(named(other), expected, atol=1e-6)
        assert torch.equal(given(images), expected)
        assert not torch.allclose(named(Lift(graph)(images)), expected, atol=1e-3)


def test_scales_are_channels(pyramid: Pyramid) -> None:
    images, lift = torch.randn(2, 2, 16, 16), OrientedLift(pyramid.levels[0], scales=3)
    for network in networks(pyramid, lift):
        assert network.conv.in_channels == network.lifted_channels == 6
        assert network.in_channels == 2
        expected = network(images)
        assert torch.allclose(network(lift(images)), expected, atol=1e-6)
        assert torch.allclose(network(lift(images).view(2, 6, 4, 16, 16)), expected, atol=1e-6)
        assert len(assert_equivariant(network, pyramid)) == 5
    with pytest.raises(
        ValueError,
        match=r"\(B, 2, 16, 16\) or \(B, 2, 256\) or \(B, 6, 4, 16, 16\) or \(B, 6, 1024\)\. Got",
    ):
        network(torch.zeros(1, 6, 16, 16))


@pytest.mark.parametrize("lift", ["repeat", "cake", "gabor"])
def test_networks_are_equivariant(pyramid: Pyramid, lift: str) -> None:
    for network in networks(pyramid, lift):
        for signal in (torch.randn(2, 2, 16, 16), None):
            found = assert_equivariant(network, pyramid, signal)
            assert {"rotation_90", "flip", "translation_x"} <= set(found)


def test_signals_that_have_orientations_are_not_repeated(pyramid: Pyramid) -> None:
    for network in networks(pyramid):
        fibers = torch.randn(2, 2, 4, 16, 16)
        expected = network(fibers.flatten(2))
        assert torch.equal(network(fibers), expected)
        turned = torch.rot90(fibers, -1, (3, 4)).roll(2, 2)
        if isinstance(network, UNet):
            expected = torch.rot90(expected, -1, (2, 3))
        assert torch.allclose(network(turned), expected, atol=1e-4)
        fibers[1, 0, 2, 3, 4] = math.nan
        vertex = (2 * 16 + 3) * 16 + 4
        with pytest.raises(ValueError, match=rf"first in sample 1, channel 0, vertex {vertex}:"):
            network(fibers)


def test_modules_of_ones_own(pyramid: Pyramid) -> None:
    class Doubled(nn.Module):
        """An image and its square on every orientation."""

        num_scales = 2

        def __init__(self) -> None:
            super().__init__()
            self.lift = Lift(pyramid.levels[0])

        def forward(self, x: Tensor) -> Tensor:
            return self.lift(torch.cat([x, x**2], dim=1))

    for network in networks(pyramid, Doubled()):
        images = torch.randn(2, 2, 16, 16)
        both = Lift(pyramid.levels[0])(torch.cat([images, images**2], dim=1))
        assert torch.equal(network(images), network(both))


def test_networks_train_with_line_filters(pyramid: Pyramid) -> None:
    for network in networks(pyramid, "cake"):
        images = torch.randn(2, 2, 16, 16, requires_grad=True)
        network.train()(images).sum().backward()
        assert images.grad.isfinite().all()
        for parameter in network.parameters():
            assert parameter.grad is not None
        filters = network.lift.wavelets
        ignored = set(network._ddp_params_and_buffers_to_ignore)
        held = {f"lift.wavelets.{name}" for name, _ in filters.named_buffers()}
        assert len(held) == 6
        assert held <= ignored
        ignore_graphs_in_ddp(network)
        assert set(network._ddp_params_and_buffers_to_ignore) == ignored
        again = copy.deepcopy(network)
        assert torch.equal(again.eval()(images), network.eval()(images))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec:FutureWarning")
def test_networks_with_line_filters_leave_the_process(pyramid: Pyramid) -> None:
    batch = torch.export.Dim("batch", min=1, max=64)
    for network in networks(pyramid, OrientedLift(pyramid.levels[0], scales=2))[:1]:
        images, other = torch.randn(2, 2, 16, 16), torch.randn(5, 2, 16, 16)
        program = torch.export.export(network, (images,), dynamic_shapes=({0: batch},))
        compiled = torch.compile(network, fullgraph=True, backend="aot_eager")
        with torch.no_grad():
            for exported in (program.module(), portable(program).module(), compiled):
                assert torch.allclose(exported(other), network(other), atol=1e-4)


def test_with_a_mask(masked_graphs: Path) -> None:
    pyramid = open_store(masked_graphs)["ring"]
    graph, images = pyramid.levels[0], torch.randn(1, 2, 16, 16)
    for network in networks(pyramid, "cake"):
        expected = network(images)
        fibers = graph.to_grid(network.lift(images))
        assert fibers.isnan().any()
        assert torch.equal(network(fibers).nan_to_num(), expected.nan_to_num())
        assert len(assert_equivariant(network, pyramid)) >= 2
        images[0, 1, 0, 0] = math.nan  # outside, where the filters see it
        with pytest.raises(ValueError, match=r"first in sample 0, channel 1, pixel \(0, 0\)"):
            network(images)
        images[0, 1, 0, 0] = 0


def test_weights_know_of_their_lift(pyramid: Pyramid) -> None:
    """Loading any other is refused, before anything is loaded by load_weights."""
    graph, images = pyramid.levels[0], torch.randn(1, 2, 16, 16)
    lifts = ["repeat", "cake", "gabor", OrientedLift(graph, "cake", (8.0,))]
    for trained in lifts:
        for kind in (0, 1):
            network = networks(pyramid, trained)[kind]
            state = saved(network)
            for lift in lifts:
                other = networks(pyramid, lift)[kind]
                nn.init.zeros_(other.conv.weight)
                if lift is trained:
                    for leave in (False, True):
                        assert load_weights(other, state, allow_other_graph=leave) == ()
                    other.load_state_dict(state)
                    assert torch.equal(other(images), network(images))
                    continue
                with pytest.raises((StoreError, RuntimeError), match=r"kind=|lift\._extra_state"):
                    other.load_state_dict(state)
                nn.init.zeros_(other.conv.weight)
                for leave in (False, True):
                    with pytest.raises((StoreError, ValueError), match="kind=") as caught:
                        load_weights(other, state, allow_other_graph=leave)
                    assert "\n" not in str(caught.value)
                assert not other.conv.weight.any()


def test_what_is_said_of_another_lift(pyramid: Pyramid) -> None:
    (repeat, _), (cake, _), (gabor, _) = (
        networks(pyramid, lift) for lift in ("repeat", "cake", "gabor")
    )
    trained = r"The checkpoint was trained with OrientedLift\(kind='cake', scales=\[4.0\]\); this "
    with pytest.raises(StoreError, match=rf"{trained}network has .*kind='gabor', scales=\[4.0\]"):
        load_weights(gabor, saved(cake))
    with pytest.raises(
        StoreError, match=r"trained without OrientedLift\(kind='cake', scales=\[4.0"
    ):
        load_weights(cake, saved(repeat))
    with pytest.raises(
        ValueError, match=r"'lift' was trained with kind='cake', scales=\[4.0\], wh"
    ):
        load_weights(repeat, saved(cake))


@pytest.mark.parametrize("text", ["null", "[]", "{", '{"kind": "cake\\n"}', "[" * 9999])
def test_hostile_settings_are_refused(pyramid: Pyramid, text: str) -> None:
    network = networks(pyramid, "cake")[0]
    state = saved(network)
    many = json.dumps({str(n): "x\n" * 99 for n in range(999)})
    for written in (text, many):
        bad = torch.frombuffer(bytearray(written.encode()), dtype=torch.uint8)
        for load in (network.load_state_dict, lambda state: load_weights(network, state)):
            with pytest.raises(StoreError, match=r"Lift was set|trained with Oriented") as caught:
                load({**state, "lift._extra_state": bad})
            assert "\n" not in str(caught.value)
            assert len(str(caught.value)) < 1000
    with pytest.raises(ValueError, match=r"'lift\._extra_state' is not the network's"):
        load_weights(networks(pyramid)[0], {**state, "lift._extra_state": torch.zeros(3)})


def test_other_lifts_are_refused(pyramid: Pyramid, symmetric_graphs: Path) -> None:
    for make in (WideResNet, UNet):
        with pytest.raises(ValueError, match="lift must be 'repeat', 'cake', 'gabor' or a module"):
            make(pyramid, 1, 2, lift="wavelet")
        for name in ("r2", "icosahedral"):
            with pytest.raises(ValueError, match=r"OrientedLift is for SE\(2\) on a lattice"):
                make(open_store(symmetric_graphs)[name], 1, 2, lift="cake")
