"""What checkpoints say of a network that no weight tells of: its poolings and its first level."""

import io
import json
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from cheblienet_models import Pyramid, StoreError, UNet, WideResNet, load_weights

EXTRA = "_extra_state"


def wide(pyramid: Pyramid, **settings: Any) -> WideResNet:
    return WideResNet(pyramid, 1, 2, kernel_size=2, depth=1, widen=0.25, **settings).eval()


def unet(pyramid: Pyramid, **settings: Any) -> UNet:
    return UNet(pyramid, 1, 2, kernel_size=2, channels=(2, 3, 4), **settings).eval()


def saved(network: nn.Module) -> dict[str, Tensor]:
    file = io.BytesIO()
    torch.save(network.state_dict(), file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@pytest.mark.parametrize(
    ("make", "trained", "here", "said"),
    [
        (wide, {"first_level": 1}, {}, r"first_level=1, pool='max'.*first_level=0, pool='max'"),
        (wide, {}, {"pool": "mean"}, "pool='max'.*pool='mean'"),
        (unet, {"pool": "mean"}, {}, "pool='mean'.*pool='max'"),
        (unet, {}, {"unpool": "max"}, "unpool='mean'.*unpool='max'"),
        (unet, {}, {"project": "mean"}, "project='max'.*project='mean'"),
    ],
)
def test_weights_of_other_settings_are_refused(
    pyramid: Pyramid, make: Any, trained: dict[str, Any], here: dict[str, Any], said: str
) -> None:
    """They fit by their shapes, and would be another function."""
    images, network = torch.randn(2, 1, 16, 16), make(pyramid, **trained)
    state = saved(network)
    for load in (
        lambda other: other.load_state_dict(state),
        lambda other: load_weights(other, state),
        lambda other: load_weights(other, state, allow_other_graph="first_level" not in trained),
    ):
        other = make(pyramid, **here)
        before = other(images)
        with pytest.raises(StoreError, match=rf"was trained with \w+Net\(.*{said}") as caught:
            load(other)
        assert str(caught.value).endswith(": make it as the trained one was.")
        assert torch.equal(other(images), before)
    again = make(pyramid, **trained)
    again.load_state_dict(state)
    assert torch.equal(again(images), network(images))


@pytest.mark.parametrize("make", [wide, unet])
def test_older_checkpoints_load(pyramid: Pyramid, make: Any) -> None:
    """They say nothing of a network's settings."""
    images, network = torch.randn(2, 1, 16, 16), make(pyramid)
    state = saved(network)
    del state[EXTRA]
    for leave in (False, True):
        other = make(pyramid)
        assert load_weights(other, state, allow_other_graph=leave) == ()
        assert torch.equal(other(images), network(images))
    inside = nn.Sequential(make(pyramid))
    inside.load_state_dict({f"0.{name}": value for name, value in state.items()})
    assert torch.equal(inside(images), network(images))
    missing = dict(state)
    del missing["classify.bias"]
    with pytest.raises(RuntimeError, match=r"Missing key.*classify\.bias"):
        make(pyramid).load_state_dict(missing)


def test_another_first_level_is_another_resolution(pyramid: Pyramid) -> None:
    """With leave to take another graph it is returned beside what the graphs differ in."""
    network, other = wide(pyramid, first_level=1), nn.Sequential(wide(pyramid))
    state = {f"0.{name}": value for name, value in saved(network).items()}
    (found,) = load_weights(other, state, allow_other_graph=True)
    assert str(found) == "first_level: 1 in training, 0 here"
    assert torch.equal(other[0].conv.weight, network.conv.weight)
    with pytest.raises(StoreError, match="pool='mean'"):
        load_weights(wide(pyramid, pool="mean"), saved(network), allow_other_graph=True)


@pytest.mark.parametrize("content", [b"{", b"[]", json.dumps(None).encode()])
def test_settings_that_can_not_be_read(pyramid: Pyramid, content: bytes) -> None:
    state = saved(wide(pyramid))
    state[EXTRA] = torch.frombuffer(bytearray(content), dtype=torch.uint8)
    for load in (wide(pyramid).load_state_dict, lambda state: load_weights(wide(pyramid), state)):
        with pytest.raises(StoreError, match="does not say how its WideResNet was set"):
            load(state)
