"""Turns of frames by symmetries against 3-D rotations, and by any angle on images."""

import math

import numpy as np
import pytest
import spin_truth as truth
import torch
from refusing import refused
from torch import Tensor, nn

from cheblienet_models import ChebConv, Gradient, Store
from cheblienet_models.symmetries import frame_turns, symmetries
from cheblienet_models.testing import assert_equivariant, equivariance_error, turned_image


class Swapped(nn.Module):
    """A pair of the other sense, taken for one of ours."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x.flip(1)).flip(1)


@pytest.mark.parametrize("name", ["healpix", "icosphere", "octahedral"])
def test_frames_turn_as_vectors_move(spin_graphs: Store, name: str) -> None:
    """A rotation or reflection of space takes each south to where frames say."""
    pyramid = spin_graphs[name]
    graph = pyramid.levels[0]
    frames = truth.frames(graph.coordinates.numpy())
    for of in symmetries(pyramid, [0]).values():
        image = of[0].base.numpy()
        places, there = frames[:, :, 2], frames[image][:, :, 2]
        matrix = np.linalg.lstsq(places, there, rcond=None)[0].T
        assert np.linalg.det(matrix) == pytest.approx(-1 if of[0].reflects else 1)
        moved = frames[:, :, 0] @ matrix.T
        chi = frame_turns(graph, of[0]).numpy()
        south, east = frames[image][:, :, 0], frames[image][:, :, 1]
        wanted = np.cos(chi)[:, None] * south + np.sin(chi)[:, None] * east
        np.testing.assert_allclose(moved, wanted, atol=1e-12)


def test_pairs_of_the_other_sense_are_found_out(spin_graphs: Store) -> None:
    """Where symmetries turn frames by more than half turns, as the icosahedron's do."""
    pyramid = spin_graphs["icosphere"]
    layer = ChebConv(1, 1, 4, pyramid.levels[0], spin=1)
    x = torch.randn(1, 2, pyramid.levels[0].num_vertices)
    assert_equivariant(layer, pyramid, x, spin=(1, 1))
    for wrong, spin in ((layer, (0, 0)), (layer, (1, 2)), (Swapped(layer), (1, 1))):
        with pytest.raises(AssertionError, match="is not equivariant under"):
            assert_equivariant(wrong, pyramid, x, spin=spin)


def test_translations_turn_nothing(gradient_graphs: Store) -> None:
    """Of a scalar the gradient is moved as it is, across the sides of a torus too."""
    pyramid = gradient_graphs["torus"]
    gradient, x = Gradient(pyramid.levels[0]), torch.randn(1, 1, 144)
    found = assert_equivariant(gradient, pyramid, x, spin=(0, 1))
    assert {"translation_x", "translation_y", "rotation_90"} <= found.keys()
    with pytest.raises(AssertionError, match="under rotation_90"):
        assert_equivariant(gradient, pyramid, x)


def test_refusals(spin_graphs: Store, gradient_graphs: Store) -> None:
    pyramid, x = spin_graphs["healpix"], torch.randn(1, 2, 768)
    refused("spin=1 needs pairs", assert_equivariant, nn.Identity(), pyramid, x[:, :1], spin=(1, 1))
    refused(
        "spin must be two", assert_equivariant, nn.Identity(), pyramid, x, spin=1, error=TypeError
    )
    refused(
        "Got one that is invariant",
        assert_equivariant, nn.Identity(), pyramid, x, spin=(1, 1), output="invariant",
    )  # fmt: skip
    arrows = gradient_graphs["arrows"]
    signal = torch.randn(1, 2, arrows.levels[0].num_vertices)
    refused(
        "Got vertices of se2",
        assert_equivariant, nn.Identity(), arrows, signal, spin=(1, 1),
    )  # fmt: skip
    space = gradient_graphs["space"]
    voxels = torch.randn(1, 2, space.levels[0].num_vertices)
    refused("Got vertices of r3", assert_equivariant, nn.Identity(), space, voxels, spin=(1, 1))
    refused(
        "spin is of images, which are turned here",
        equivariance_error, nn.Identity(), torch.ones(1, 2, 8, 8), [0], turn=turned_image,
        spin=(1, 1),
    )  # fmt: skip
    refused(
        "The output: spin=1 needs pairs",
        equivariance_error, nn.Conv2d(2, 1, 1), torch.randn(1, 2, 8, 8), [0], spin=(1, 1),
    )  # fmt: skip


class Gradients(nn.Module):
    """Central differences along x and y, downward: of a scalar a field of spin 1."""

    def forward(self, x: Tensor) -> Tensor:
        padded = nn.functional.pad(x, [1] * 4)
        along = padded[:, :, 1:-1, 2:] - padded[:, :, 1:-1, :-2]
        down = padded[:, :, 2:, 1:-1] - padded[:, :, :-2, 1:-1]
        return torch.cat([along, down], 1)


class Divergence(Gradients):
    """Of a field of spin 1 a scalar."""

    def forward(self, x: Tensor) -> Tensor:
        first, second = (super(Divergence, self).forward(part) for part in x.chunk(2, 1))
        return first.chunk(2, 1)[0] + second.chunk(2, 1)[1]


@pytest.mark.parametrize("angle", [90.0, 37.0, 180.0])
def test_components_turn_with_images(angle: float) -> None:
    """Of a smooth image; without the turn of components errors are of the order of 1."""
    steps = torch.arange(48, dtype=torch.float64) - 23.5
    x, y = steps[None], steps[:, None]
    image = torch.exp(-((x - 3) ** 2 + 2 * (y + 2) ** 2) / 60)[None, None]
    (found,) = equivariance_error(Gradients(), image, [angle], spin=(0, 1)).errors
    assert found < (1e-9 if angle % 90 == 0 else 0.02)
    (wrong,) = equivariance_error(Gradients(), image, [angle]).errors
    assert wrong > 0.4
    vectors = Gradients()(image)
    back = equivariance_error(Divergence(), vectors, [angle], spin=(1, 0), output="signal")
    assert back.errors[0] < (1e-9 if angle % 90 == 0 else 0.03)
    assert back.floors[0] < 0.01
    assert math.isfinite(back.output_floors[0])
