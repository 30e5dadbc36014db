"""What both networks share: lifts, signals with orientations and masks, symmetries, checkpoints."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from masked import images_on
from refusing import refused
from torch import nn

from cheblienet_models import (
    Lift,
    OrientedLift,
    Pyramid,
    StoreError,
    UNet,
    WideResNet,
    load_weights,
    open_store,
    sample_vertices,
)
from cheblienet_models.testing import assert_equivariant

EXTRA = "_extra_state"
Make = Callable[..., nn.Module]


def wide(pyramid: Pyramid, **settings: Any) -> WideResNet:
    return WideResNet(pyramid, 2, 3, kernel_size=2, depth=1, widen=0.25, **settings).eval()


def unet(pyramid: Pyramid, **settings: Any) -> UNet:
    channels = [*range(2, 3 + len(pyramid.levels))]
    return UNet(pyramid, 2, 3, kernel_size=2, channels=channels, **settings).eval()


MAKE = pytest.mark.parametrize("make", [wide, unet])


@MAKE
@pytest.mark.parametrize("kind", ["cake", "gabor"])
def test_a_lift_by_name_is_that_layer(pyramid: Pyramid, make: Make, kind: str) -> None:
    images, lift = torch.randn(2, 2, 16, 16), OrientedLift(pyramid.levels[0], kind)
    named, given = make(pyramid, lift=kind), make(pyramid, lift=lift)
    given.load_state_dict(named.state_dict())
    expected, scores = named(images), lift(images)
    assert torch.equal(given(images), expected)
    for other in (images.flatten(2), scores, scores.view(2, 2, 4, 16, 16)):
        assert torch.allclose(named(other), expected, atol=1e-6)
    assert not torch.allclose(named(Lift(pyramid.levels[0])(images)), expected, atol=1e-3)


@MAKE
def test_scales_are_channels(pyramid: Pyramid, make: Make) -> None:
    images, lift = torch.randn(2, 2, 16, 16), OrientedLift(pyramid.levels[0], scales=3)
    network = make(pyramid, lift=lift)
    assert network.conv.in_channels == network.lifted_channels == 6
    assert torch.allclose(network(lift(images)), network(images), atol=1e-6)
    taken = r"\(B, 2, 16, 16\) or \(B, 2, 256\) or \(B, 6, 4, 16, 16\) or \(B, 6, 1024\)\. Got"
    refused(taken, network, torch.zeros(1, 6, 16, 16))


@MAKE
def test_modules_of_ones_own_lift(pyramid: Pyramid, make: Make) -> None:
    """An image and its square on every orientation."""
    repeat = Lift(pyramid.levels[0])
    lift = nn.Sequential(repeat)
    lift.num_scales, lift.forward = 2, lambda x: repeat(torch.cat([x, x**2], dim=1))
    network, images = make(pyramid, lift=lift), torch.randn(2, 2, 16, 16)
    assert torch.equal(network(images), network(lift(images)))


@MAKE
def test_signals_that_have_orientations_turn_with_them(pyramid: Pyramid, make: Make) -> None:
    """Without the package's own idea of a symmetry: orientation k becomes k + n_o / 2."""
    network, fibers = make(pyramid), torch.randn(2, 2, 4, 16, 16)
    expected = network(fibers.flatten(2))
    assert torch.equal(network(fibers), expected)
    turned = network(torch.rot90(fibers, -1, (3, 4)).roll(2, 2))
    wanted = torch.rot90(expected, -1, (2, 3)) if make is unet else expected
    assert torch.allclose(turned, wanted, atol=1e-4)
    unequal = network(torch.rot90(fibers, -1, (3, 4)))
    assert not torch.allclose(unequal, wanted, atol=1e-3)


SYMMETRIC = [
    (wide, "symmetric_graphs", "torus", "cake"),
    (unet, "symmetric_graphs", "torus", "gabor"),
    *((wide, "symmetric_graphs", n, "repeat") for n in ("r2", "arrows", "icosahedral", "s2")),
    *((unet, "symmetric_graphs", n, "repeat") for n in ("open", "rotations", "equiangular")),
    *((wide, "masked_graphs", n, "repeat") for n in ("ball", "healpix")),
    *((unet, "masked_graphs", n, "repeat") for n in ("ring", "icosahedral")),
]


@pytest.mark.parametrize(("make", "graphs", "name", "lift"), SYMMETRIC)
def test_networks_are_equivariant(
    request: pytest.FixtureRequest, make: Make, graphs: str, name: str, lift: str
) -> None:
    """Trained for a step, so that no weight or statistic is at its initial value."""
    pyramid = open_store(request.getfixturevalue(graphs))[name]
    network = make(pyramid, lift=lift, pool="mean" if make is unet else "max").train()
    images = torch.randn(2, 2, *pyramid.levels[0].grid[1:])
    network(images).nan_to_num().square().sum().backward()
    torch.optim.SGD(network.parameters(), lr=1e-3).step()
    output = "base" if make is unet else "invariant"
    of_images = assert_equivariant(network, pyramid, images, output=output)
    assert len(of_images) >= 2
    assert assert_equivariant(network, pyramid, output=output).keys() == of_images.keys()
    if name == "torus":
        assert {"rotation_90", "flip", "translation_x"} <= of_images.keys()


@MAKE
@pytest.mark.parametrize("name", ["ring", "ball", "healpix", "icosahedral"])
def test_networks_train_on_what_is_inside(masked_graphs: Path, make: Make, name: str) -> None:
    pyramid = open_store(masked_graphs)[name]
    network, graph = make(pyramid).train(), pyramid.levels[0]
    images = images_on(pyramid)
    y = network(images)
    if make is unet:
        assert torch.equal(y[:, 0].isnan(), images[:, 0].isnan())
        labels = torch.randint(3, images[:, 0].shape).masked_fill(y[:, 0].isnan(), -100)
    else:
        labels = torch.tensor([0, 1])
    nn.functional.nll_loss(y, labels).backward()
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters())
    expected, inside = network.eval()(images).nan_to_num(), images.flatten(2)[..., graph.base_index]
    given = [images.nan_to_num(9), images.flatten(2), inside]
    if graph.num_vertices != math.prod(graph.grid[1:]):  # else it is a signal on all pixels
        given.append(network.lift(inside))
    for other in given:
        assert torch.equal(network(other).nan_to_num(), expected)
    whole = make(open_store(masked_graphs)[f"whole-{name}"])
    differing = load_weights(network, whole.state_dict(), allow_other_graph=True)
    assert [(d.name, d.trained) for d in differing] == [("mask", None)]


@MAKE
def test_masks_and_what_filters_see_of_them(masked_graphs: Path, make: Make) -> None:
    pyramid = open_store(masked_graphs)["ring"]
    network = make(pyramid)
    images = images_on(pyramid)
    sample_vertices(pyramid, 0.5)
    assert network.train()(images).nan_to_num().isfinite().all()
    sample_vertices(pyramid, 1)
    images[1, 1, 8, 1] = math.nan
    vertex = int((pyramid.levels[0].base_index == 8 * 16 + 1).nonzero())
    refused(f"first in sample 1, channel 1, vertex {vertex}:", network, images)
    network, images = make(pyramid, lift="cake"), torch.randn(1, 2, 16, 16)
    fibers = pyramid.levels[0].to_grid(network.lift(images))
    assert fibers.isnan().any()
    assert torch.equal(network(fibers).nan_to_num(), network(images).nan_to_num())
    assert len(assert_equivariant(network, pyramid)) >= 2
    images[0, 1, 0, 0] = math.nan  # outside, where the filters see it
    refused(r"first in sample 0, channel 1, pixel \(0, 0\)", network, images)


def of_scale(pyramid: Pyramid) -> OrientedLift:
    return OrientedLift(pyramid.levels[0], "cake", (8.0,))


OTHER_SETTINGS = [
    (wide, {"first_level": 1}, {}, r"first_level=1, pool='max'.*first_level=0, pool='max'"),
    (wide, {}, {"pool": "mean"}, "pool='max'.*pool='mean'"),
    (unet, {"pool": "mean"}, {}, "pool='mean'.*pool='max'"),
    (unet, {}, {"unpool": "max"}, "unpool='mean'.*unpool='max'"),
    (unet, {}, {"project": "mean"}, "project='max'.*project='mean'"),
    (wide, {"lift": "cake"}, {"lift": "gabor"}, r"'cake', scales=\[4.0\].*'gabor', scales=\[4.0"),
    (wide, {}, {"lift": "cake"}, r"trained without OrientedLift\(kind='cake', scales=\[4.0"),
    (unet, {"lift": "cake"}, {}, r"'lift' was trained with kind='cake', scales=\[4.0\], wh"),
    (unet, {"lift": "cake"}, {"lift": of_scale}, r"scales=\[4.0\].*scales=\[8.0\]"),
]


@pytest.mark.parametrize(("make", "trained", "here", "message"), OTHER_SETTINGS)
def test_weights_of_other_settings_are_refused(
    pyramid: Pyramid, make: Make, trained: dict[str, Any], here: dict[str, Any], message: str
) -> None:
    """They fit by their shapes, and would be another function; nothing is loaded."""
    here = {key: value(pyramid) if callable(value) else value for key, value in here.items()}
    images, network = torch.randn(2, 2, 16, 16), make(pyramid, **trained)
    state, leave = network.state_dict(), "first_level" not in trained
    for allow in (False, leave):
        other = make(pyramid, **here)
        before = other(images)
        errors = StoreError, ValueError
        refused(message, load_weights, other, state, allow_other_graph=allow, error=errors)
        assert torch.equal(other(images), before)
    with pytest.raises((StoreError, RuntimeError), match=rf"{message}|kind=|lift\.{EXTRA}"):
        make(pyramid, **here).load_state_dict(state)
    for allow in (False, True):
        again = make(pyramid, **trained)
        assert load_weights(again, state, allow_other_graph=allow) == ()
        assert torch.equal(again(images), network(images))


def test_another_first_level_is_another_resolution(pyramid: Pyramid) -> None:
    """With leave to take another graph it is returned beside what the graphs differ in."""
    network, other = wide(pyramid, first_level=np.int64(1)), nn.Sequential(wide(pyramid))
    state = {f"0.{name}": value for name, value in network.state_dict().items()}
    (difference,) = load_weights(other, state, allow_other_graph=True)
    assert str(difference) == "first_level: 1 in training, 0 here"
    assert torch.equal(other[0].conv.weight, network.conv.weight)
    mean, state = wide(pyramid, pool="mean"), network.state_dict()
    refused("pool='mean'", load_weights, mean, state, allow_other_graph=True, error=StoreError)


@MAKE
def test_older_checkpoints_load(pyramid: Pyramid, make: Make) -> None:
    """These name the graph once, and say nothing of a network's settings."""
    images, network = torch.randn(2, 2, 16, 16), make(pyramid)
    state = {
        key: value
        for key, value in network.state_dict().items()
        if not key.endswith(EXTRA) or key == f"pyramid.{EXTRA}"
    }
    for allow in (False, True):
        other = make(pyramid)
        assert load_weights(other, state, allow_other_graph=allow) == ()
        assert torch.equal(other(images), network(images))
    inside = nn.Sequential(make(pyramid))
    inside.load_state_dict({f"0.{name}": value for name, value in state.items()})
    assert torch.equal(inside(images), network(images))


@MAKE
def test_refusals(pyramid: Pyramid, make: Make) -> None:
    network = make(pyramid)
    state = {**network.state_dict(), f"lift.{EXTRA}": torch.zeros(3)}
    refused(r"'lift\._extra_state' is not the network's", load_weights, network, state)
    refused("lift must be 'repeat', 'cake', 'gabor' or a module", make, pyramid, lift="wavelet")
    other, message = Lift(pyramid.levels[1]), "lift must be onto .* Got one onto "
    refused(message, make, pyramid, lift=other)


@MAKE
def test_images_smaller_than_the_graph_are_padded(pyramid: Pyramid, make: Make) -> None:
    """The torus has 16 x 16 pixels: 13 lack one before and two after, 15 one after."""
    images = torch.randn(2, 2, 13, 15)
    full = torch.zeros(2, 2, 16, 16)
    full[:, :, 1:14, :15] = images
    padded, plain = make(pyramid, pad=True), make(pyramid)
    plain.load_state_dict(padded.state_dict())
    expected, found = plain(full), padded(images)
    expected = expected if expected.dim() == 2 else expected[:, :, 1:14, :15]
    assert torch.equal(found, expected)
    assert torch.equal(padded(full), plain(full))
    lifted = Lift(pyramid.levels[0])(full)
    assert torch.equal(padded(lifted), plain(lifted))
    refused(r"16, 16\).* Got \(2, 2, 13, 15\)\. Construct it with pad=True", plain, images)
    refused(r"takes .* Got \(2, 2, 13, 17\)\.$", padded, torch.randn(2, 2, 13, 17))
    refused(r"takes .* Got \(2, 1, 13, 15\)\.", padded, torch.randn(2, 1, 13, 15))
    refused(r"takes a torch\.Tensor", padded, images.numpy(), error=TypeError)
    refused("pad must be True or False", make, pyramid, pad=1, error=TypeError)


@MAKE
def test_points_without_sides_are_not_padded(symmetric_graphs: Path, make: Make) -> None:
    sphere = open_store(symmetric_graphs)["s2"]
    refused("pad=True takes a lattice, .* has icosahedral points", make, sphere, pad=True)
