"""Networks on published graphs of positions and axes, under the rotations of the cube."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import (
    Lift,
    OrientedLift,
    Project,
    Pyramid,
    SpatialPool,
    UNet,
    WideResNet,
    open_store,
)
from cheblienet_models.symmetries import symmetries
from cheblienet_models.testing import assert_equivariant

CUBE = {
    *(f"{motion}_{axis}" for motion in ("rotation_90", "rotation_180") for axis in "xyz"),
    *(f"reflection_{axis}" for axis in "xyz"),
    "rotation_120",
}
TETRAHEDRON = CUBE - {f"rotation_90_{axis}" for axis in "xyz"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("axes") / "g.zarr"
    build(GraphSpec("r3s2", 8, levels=2), store, name="cube")
    build(GraphSpec("r3s2", 4, axes="ico6", levels=1), store, name="icosphere")
    build(GraphSpec("r3s2", "4x4x6", axes=7, spacing=(1, 1, 2), levels=1), store, name="scan")
    z, y, x = np.indices((6, 6, 6)) - 2.5
    ball = x**2 + y**2 + z**2 < 7
    build(GraphSpec("r3s2", axes=6, mask=ball, laplacian="combinatorial"), store, name="ball")
    return store


@pytest.fixture(scope="module")
def cube(folder: Path) -> Pyramid:
    return open_store(folder, verify=True)["cube"]


def rotations() -> Iterator[tuple[np.ndarray, tuple[int, ...], list[int]]]:
    """The 24 signed permutation matrices by x, y, z; axes of arrays (z, y, x), those reversed."""
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1, -1), repeat=3):
            matrix = np.zeros((3, 3))
            matrix[range(3), order] = signs
            if np.linalg.det(matrix) > 0:
                sources = tuple(2 - order[2 - axis] for axis in range(3))
                yield matrix, sources, [axis for axis in range(3) if signs[2 - axis] < 0]


def rotated(x: Tensor, sources: tuple[int, ...], reversed_axes: list[int]) -> Tensor:
    """A field (..., D, H, W) turned: its place along an axis comes from along another."""
    start = x.ndim - 3
    turned = x.permute(*range(start), *(start + source for source in sources))
    return turned.flip([start + axis for axis in reversed_axes])


def images(axes: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """(n_o,) where each axis goes."""
    alignment = abs(axes @ matrix.T @ axes.T)
    assert alignment.max(axis=1) == pytest.approx(1)
    return alignment.argmax(axis=1)


def test_lift_takes_volumes_and_fields_of_axes(cube: Pyramid) -> None:
    graph = cube.levels[0]
    assert graph.grid == (12, 8, 8, 8)
    x = torch.randn(2, 3, 8, 8, 8)
    lifted = Lift(graph)(x)
    assert torch.equal(lifted, x.flatten(2).repeat(1, 1, 12))
    fields = torch.randn(2, 3, 12, 8, 8, 8)
    assert torch.equal(Lift(graph)(fields), fields.flatten(2))
    assert torch.equal(graph.to_grid(fields.flatten(2)), fields)
    assert torch.equal(graph.to_grid(Project(graph)(lifted)), x)
    pooled = SpatialPool(cube, 0, "mean")(fields.flatten(2))
    expected = torch.nn.functional.avg_pool3d(fields.flatten(1, 2), 2).flatten(1)
    assert torch.allclose(pooled.flatten(1), expected, atol=1e-6)


def test_coordinates_and_columns(cube: Pyramid) -> None:
    """Index ((k D + z) H + y) W + x: x, y, z in widths, then the axis."""
    coordinates = cube.levels[0].coordinates.reshape(12, 8, 8, 8, 6)
    steps = torch.arange(8, dtype=torch.float64) / 8
    z, y, x = torch.meshgrid(steps, steps, steps, indexing="ij")
    assert torch.equal(coordinates[..., :3], torch.stack([x, y, z], -1).expand(12, -1, -1, -1, -1))
    axes = coordinates[:, 0, 0, 0, 3:]
    assert torch.equal(coordinates[..., 3:], axes[:, None, None, None].expand(-1, 8, 8, 8, -1))
    assert axes.norm(dim=1) == pytest.approx(torch.ones(12, dtype=torch.float64))


def test_log_probabilities_are_invariant_under_24_rotations(cube: Pyramid) -> None:
    torch.manual_seed(0)
    network = WideResNet(cube, in_channels=2, num_classes=4).eval()
    volumes = torch.randn(1, 2, 8, 8, 8)
    fields = torch.randn(1, 2, 12, 8, 8, 8)
    axes = cube.levels[0].coordinates[::512, 3:].numpy()
    with torch.no_grad():
        expected = network(volumes), network(fields)
        found = []
        for matrix, *how in rotations():
            moved = torch.empty_like(fields)
            moved[:, :, images(axes, matrix)] = rotated(fields, *how)
            for of, x in zip(expected, (rotated(volumes, *how), moved), strict=True):
                found.append(float((network(x) - of).abs().max()))
    assert len(found) == 48
    assert max(found) < 1e-4


def test_unet_is_equivariant(cube: Pyramid) -> None:
    torch.manual_seed(0)
    network = UNet(cube, in_channels=1, num_classes=3)
    found = assert_equivariant(network, cube, torch.randn(1, 1, 8, 8, 8), output="base")
    assert found.keys() == CUBE
    assert max(found.values()) < 1e-4


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cube", CUBE),
        ("icosphere", TETRAHEDRON),
        ("scan", CUBE - {"rotation_120", "rotation_90_x", "rotation_90_y"}),
        ("ball", CUBE),
    ],
)
def test_symmetries(folder: Path, name: str, expected: set[str]) -> None:
    pyramid = open_store(folder)[name]
    found = symmetries(pyramid, range(len(pyramid.levels)))
    assert found.keys() == expected
    for motions in found.values():
        for level, motion in motions.items():
            graph = pyramid.levels[level]
            assert torch.equal(motion.vertices.sort().values, torch.arange(graph.num_vertices))
            assert torch.equal(graph.area[motion.vertices], graph.area)


def test_areas_are_those_of_axes(folder: Path) -> None:
    """Those of the cube's faces and of its corners differ; their mean is 1."""
    graph = open_store(folder)["scan"].levels[0]
    areas = graph.area.reshape(7, -1)
    assert torch.equal(areas, areas[:, :1].expand_as(areas))
    assert areas[:, 0].unique().numel() == 2
    assert float(graph.area.double().mean()) == pytest.approx(1, abs=1e-7)


def test_oriented_lifts_are_of_the_plane(cube: Pyramid) -> None:
    with pytest.raises(ValueError, match="OrientedLift is for SE"):
        OrientedLift(cube.levels[0])
