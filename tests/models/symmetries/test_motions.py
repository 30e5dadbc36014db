"""Symmetries of voxels against signed permutation matrices, and layers and networks on voxels."""

from pathlib import Path

import numpy as np
import pytest
import torch
from space_truth import voxels
from stores import pyramid_of

from cheblienet_graphs import GraphSpec
from cheblienet_models.symmetries import symmetries

Shape = tuple[int, int, int]

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
TRANSLATIONS = {"translation_x", "translation_y", "translation_z"}


def index_of(places: np.ndarray, shape: Shape) -> np.ndarray:
    """Of the voxels at (..., 3) x, y, z: ((k D + z) H + y) W + x with k = 0."""
    _, height, width = shape
    x, y, z = np.moveaxis(places, -1, 0)
    return (z * height + y) * width + x


@pytest.mark.parametrize(
    ("shape", "sides", "expected"),
    [
        ((3, 3, 3), (1, 1, 1), set(MATRICES)),
        ((3, 3, 3), (1, 1, 2), ALWAYS | {"rotation_90_z"}),
        ((3, 3, 3), (1, 2, 3), ALWAYS),
        ((2, 4, 4), (1, 1, 1), ALWAYS | {"rotation_90_z"}),
        ((4, 4, 3), (1, 1, 1), ALWAYS | {"rotation_90_x"}),
        ((4, 2, 4), (1, 1, 1), ALWAYS | {"rotation_90_y"}),
    ],
)
def test_motions_are_signed_permutations(
    tmp_path: Path, shape: Shape, sides: tuple[int, ...], expected: set[str]
) -> None:
    spec = GraphSpec("r3", shape[::-1], spacing=sides, levels=1)
    by_name = symmetries(pyramid_of(tmp_path, spec), [0])
    assert set(by_name) == expected
    center = (np.array(shape[::-1]) - 1) / 2
    for name, motion in by_name.items():
        turned = (voxels(shape) - center) @ np.array(MATRICES[name]).T + center
        assert motion[0].base.tolist() == index_of(turned, shape).tolist()
        assert torch.equal(motion[0].base, motion[0].vertices)
        assert motion[0].reflects == (np.linalg.det(MATRICES[name]) < 0)


@pytest.mark.parametrize("side", [2, 3])
def test_generators_make_the_group_of_the_cube(tmp_path: Path, side: int) -> None:
    motions = symmetries(pyramid_of(tmp_path, GraphSpec("r3", side, levels=1)), [0])
    generators = [tuple(motion[0].base.tolist()) for motion in motions.values()]
    group = {tuple(range(side**3))}
    new = group
    while new:
        new = {tuple(g[i] for i in h) for h in new for g in generators} - group
        group |= new
    assert len(group) == 48


def test_translations_are_by_a_voxel_of_the_coarsest_level(tmp_path: Path) -> None:
    shape = (6, 8, 10)
    pyramid = pyramid_of(tmp_path, GraphSpec("r3", shape[::-1], boundary="periodic", levels=2))
    for levels, step in (([0], 1), ([0, 1], 2)):
        by_name = symmetries(pyramid, levels)
        assert set(by_name) == ALWAYS | TRANSLATIONS
        for axis, name in enumerate(sorted(TRANSLATIONS)):
            moved = voxels(shape)
            moved[:, axis] = (moved[:, axis] + step) % shape[::-1][axis]
            assert by_name[name][0].base.tolist() == index_of(moved, shape).tolist()
