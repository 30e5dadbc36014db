"""Symmetries of voxels against signed permutation matrices, and layers and networks on voxels."""

import numpy as np
import pytest
import torch
from torch import nn
from voxels import Shape, places, pyramid_of_voxels

from cheblienet_models import (
    ChebConv,
    Lift,
    Project,
    SpatialPool,
    SpatialUnpool,
    UNet,
    WideResNet,
)
from cheblienet_models.symmetries import symmetries
from cheblienet_models.testing import assert_equivariant

MATRICES = {  # of (x, y, z) about the center of the box
    "rotation_180_x": [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
    "rotation_180_y": [[-1, 0, 0], [0, 1, 0], [0, 0, -1]],
    "rotation_180_z": [[-1, 0, 0], [0, -1, 0], [0, 0, 1]],
    "rotation_90_x": [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
    "rotation_90_y": [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
    "rotation_90_z": [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
    "rotation_120": [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
    "reflection_x": [[-1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "reflection_y": [[1, 0, 0], [0, -1, 0], [0, 0, 1]],
    "reflection_z": [[1, 0, 0], [0, 1, 0], [0, 0, -1]],
}
ALWAYS = {name for name in MATRICES if name.startswith(("rotation_180", "reflection"))}
QUARTERS = {"rotation_90_x", "rotation_90_y", "rotation_90_z"}
TRANSLATIONS = {"translation_x", "translation_y", "translation_z"}


def index_of(voxels: np.ndarray, shape: Shape) -> np.ndarray:
    """Of the voxels at (..., 3) x, y, z: ((k D + z) H + y) W + x with k = 0."""
    _, height, width = shape
    x, y, z = np.moveaxis(voxels, -1, 0)
    return (z * height + y) * width + x


@pytest.mark.parametrize(
    ("shape", "weights", "expected"),
    [
        ((3, 3, 3), (1, 1, 1), set(MATRICES)),
        ((4, 4, 4), (1, 1, 1), set(MATRICES)),
        ((3, 3, 3), (1, 1, 2), ALWAYS | {"rotation_90_z"}),
        ((3, 3, 3), (1, 2, 3), ALWAYS),
        ((2, 4, 4), (1, 1, 1), ALWAYS | {"rotation_90_z"}),
        ((4, 4, 3), (1, 1, 1), ALWAYS | {"rotation_90_x"}),
        ((4, 2, 4), (1, 1, 1), ALWAYS | {"rotation_90_y"}),
        ((2, 3, 4), (1, 1, 1), ALWAYS),
    ],
)
def test_motions_are_signed_permutations(
    shape: Shape, weights: tuple[int, ...], expected: set[str]
) -> None:
    by_name = symmetries(pyramid_of_voxels(shape, weights), [0])
    assert set(by_name) == expected
    center = (np.array(shape[::-1]) - 1) / 2
    for name, motion in by_name.items():
        turned = (places(shape) - center) @ np.array(MATRICES[name]).T + center
        assert motion[0].base.tolist() == index_of(turned, shape).tolist()
        assert torch.equal(motion[0].base, motion[0].vertices)


@pytest.mark.parametrize("side", [2, 3])
def test_generators_make_the_group_of_the_cube(side: int) -> None:
    motions = symmetries(pyramid_of_voxels((side, side, side)), [0])
    generators = [tuple(motion[0].base.tolist()) for motion in motions.values()]
    group = {tuple(range(side**3))}
    new = group
    while new:
        new = {tuple(g[i] for i in h) for h in new for g in generators} - group
        group |= new
    assert len(group) == 48


def test_translations_are_by_a_voxel_of_the_coarsest_level() -> None:
    shape = (6, 8, 10)
    pyramid = pyramid_of_voxels(shape, periodic=True, levels=2)
    for levels, step in (([0], 1), ([0, 1], 2)):
        by_name = symmetries(pyramid, levels)
        assert set(by_name) == ALWAYS | TRANSLATIONS
        for axis, name in enumerate(sorted(TRANSLATIONS)):
            moved = places(shape)
            moved[:, axis] = (moved[:, axis] + step) % shape[::-1][axis]
            assert by_name[name][0].base.tolist() == index_of(moved, shape).tolist()


def test_layers_and_networks_on_voxels() -> None:
    shape = (8, 8, 8)
    pyramid = pyramid_of_voxels(shape, periodic=True, levels=2)
    graph = pyramid.levels[0]
    volume = torch.randn(2, 3, *shape)
    lifted = Lift(graph)(volume)
    for same in (volume.flatten(2), Lift(graph)(volume.flatten(2)), Project(graph)(lifted)):
        assert torch.equal(lifted, same)
    pooled = SpatialPool(pyramid, 0, "mean")(lifted).view(2, 3, 4, 4, 4)
    assert torch.allclose(pooled, nn.functional.avg_pool3d(volume, 2), atol=1e-6)
    unpooled = SpatialUnpool(pyramid, 0)(pooled.flatten(2)).view(volume.shape)
    assert torch.equal(unpooled, nn.functional.interpolate(pooled, scale_factor=2))
    for module in (
        nn.Sequential(Lift(graph), ChebConv(3, 2, 3, graph)),
        WideResNet(pyramid, 3, 5, depth=1, widen=1),
        UNet(pyramid, 3, 4, channels=(4, 4, 4)),
    ):
        differences = assert_equivariant(module, pyramid, volume)
        assert set(differences) == set(MATRICES) | TRANSLATIONS
    assert module(volume).shape == (2, 4, *shape)
