"""Symmetries of stored graphs: those of the sampling that leave mask and Laplacian as they are."""

from pathlib import Path

import numpy as np
import pytest
import torch
from masked import GRAPHS
from masks import disc
from space_truth import voxels
from stores import pyramid_of
from symmetric import PLANE, SPECS, SQUARE, TRANSLATIONS

from cheblienet_graphs import GraphSpec
from cheblienet_models import ChebConv, open_store
from cheblienet_models.symmetries import symmetries
from cheblienet_models.testing import assert_equivariant

EXPECTED = {
    "r2": PLANE,
    "square": SQUARE,
    "open": SQUARE,
    "odd": PLANE,
    "arrows": SQUARE | TRANSLATIONS,
    "even-arrows": PLANE,
    "odd-arrows": {"flip"} | TRANSLATIONS,
    "torus": SQUARE | TRANSLATIONS,
    "selling": SQUARE | TRANSLATIONS,
    "matched": SQUARE,
}

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


def index_of(places: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Of the voxels at (..., 3) x, y, z: ((k D + z) H + y) W + x with k = 0."""
    _, height, width = shape
    x, y, z = np.moveaxis(places, -1, 0)
    return (z * height + y) * width + x


@pytest.mark.parametrize(
    ("shape", "sides", "expected"),
    [
        ((3, 3, 3), (1, 1, 1), set(MATRICES)),
        ((3, 3, 3), (1, 1, 2), ALWAYS | {"rotation_90_z"}),
        ((2, 4, 4), (1, 1, 1), ALWAYS | {"rotation_90_z"}),
        ((4, 4, 3), (1, 1, 1), ALWAYS | {"rotation_90_x"}),
        ((4, 2, 4), (1, 1, 1), ALWAYS | {"rotation_90_y"}),
    ],
)
def test_motions_are_signed_permutations(
    tmp_path: Path, shape: tuple[int, ...], sides: tuple[int, ...], expected: set[str]
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


@pytest.mark.parametrize("name", [n for n in SPECS if "random" not in n])
def test_symmetries_are_those_of_the_sampling(symmetric_graphs: Path, name: str) -> None:
    """Level by level all of those; with orientations points go where those of the base go."""
    pyramid, spec = open_store(symmetric_graphs)[name], SPECS[name]
    for level in range(spec.levels):
        exact = {s for s, _ in spec.full_sampling(level).symmetries() if "approximate" not in s}
        by_name = symmetries(pyramid, [level])
        if name in EXPECTED:
            assert set(by_name) == EXPECTED[name]
        else:
            assert len(by_name) >= 3
        assert exact <= set(by_name)
        for motions in by_name.values():
            points = len(motions[level].base)
            assert torch.equal(motions[level].vertices[:points] % points, motions[level].base)
        # On so3 it maps points to each other, but not their orientations.
        assert ("rotation_120" in by_name) == (name == "s2")


def test_a_changed_laplacian_has_fewer_symmetries(symmetric_graphs: Path) -> None:
    graph = (pyramid := open_store(symmetric_graphs)["open"]).levels[0]
    assert set(symmetries(pyramid, [0, 1])) == SQUARE
    corner = graph.row_pointers[1] - 1
    graph.values[corner] += 1e-3
    assert symmetries(pyramid, [0, 1]) == {}
    assert set(symmetries(pyramid, [1])) == SQUARE
    assert assert_equivariant(ChebConv(1, 1, 2, pyramid.levels[1]), pyramid, level=1)


PLANE = {"rotation_90", "rotation_180", "flip"}
KEPT = {
    "ring": PLANE,
    "crescent": set(),
    "half": set(),
    "all": PLANE,
    "healpix": {"half_turn_z", "quarter_turn_z", "reflection"},
    "equiangular": {"half_turn_z", "reflection", "longitude_step"},
    "icosahedral": {"half_turn_z", "reflection"},
}


@pytest.mark.parametrize("name", GRAPHS)
def test_symmetries_are_those_that_the_mask_keeps(masked_graphs: Path, name: str) -> None:
    store = open_store(masked_graphs)
    for level in range(len(store[name].levels)):
        whole = symmetries(store[f"whole-{name}"], [level])
        by_name = symmetries(store[name], [level])
        assert set(by_name) <= set(whole)
        if name in KEPT and level == 0:
            assert KEPT[name] <= set(by_name)
            assert set(by_name) - KEPT[name] <= {"quarter_turn_z"}
        inside = store[name].levels[level].base_index.long()
        for symmetry, motions in by_name.items():
            # Where points of the full sampling go is where those inside go.
            full, own = whole[symmetry][level].base, motions[level].base
            assert torch.equal(full[inside], inside[own])
        if name == "ball":
            assert set(by_name) == set(whole)


def test_masks_that_break_some_symmetries(tmp_path: Path) -> None:
    """No disc is moved onto itself by translations."""
    spec = GraphSpec("r2", mask=disc(8), boundary="periodic", levels=1)
    assert set(symmetries(pyramid_of(tmp_path, spec), [0])) == PLANE
