"""Networks on graphs of volumes and of positions and axes, under the rotations of the cube."""

import numpy as np
import pytest
import torch
from axes_truth import cube_permutations
from space_truth import ROTATIONS, moved_voxels
from stores import store_of

from cheblienet_graphs import GraphSpec
from cheblienet_models import Store, UNet, WideResNet
from cheblienet_models.symmetries import symmetries
from cheblienet_models.testing import assert_equivariant

TURNS = {f"rotation_90_{axis}" for axis in "xyz"}
TETRAHEDRON = {f"{motion}_{axis}" for motion in ("rotation_180", "reflection") for axis in "xyz"}
TETRAHEDRON.add("rotation_120")
CUBE = TETRAHEDRON | TURNS
BALL = ((np.indices((6, 6, 6)) - 2.5) ** 2).sum(0) < 7
GRAPHS = {
    "cube": (GraphSpec("r3s2", 8, levels=2), CUBE),
    "selling": (GraphSpec("r3", 8, weights="selling", levels=2), CUBE),
    "icosphere": (GraphSpec("r3s2", 4, axes="ico6", levels=1), TETRAHEDRON),
    "scan": (
        GraphSpec("r3s2", "4x4x6", axes=7, spacing=(1, 1, 2), levels=1),
        CUBE - {"rotation_120", "rotation_90_x", "rotation_90_y"},
    ),
    "ball": (GraphSpec("r3s2", axes=6, mask=BALL, laplacian="combinatorial"), CUBE),
}


opened = store_of({name: spec for name, (spec, _) in GRAPHS.items()}, opened=True)


@pytest.mark.slow
def test_log_probabilities_are_invariant_under_24_rotations(opened: Store) -> None:
    """Without the package's own idea of a symmetry."""
    cube = opened["cube"]
    network = WideResNet(cube, in_channels=2, num_classes=4).eval()
    axes = cube.levels[0].coordinates[::512, 3:].numpy()
    places = [moved_voxels(8, matrix) for matrix in ROTATIONS], cube_permutations(8, axes)
    for permutations, points in zip(places, (512, 12 * 512), strict=True):
        signal = torch.randn(1, 2, points)
        expected = network(signal)
        for permutation in permutations:
            turned = torch.empty_like(signal)
            turned[..., permutation] = signal
            assert (network(turned) - expected).abs().max() < 1e-4


@pytest.mark.parametrize("name", ["cube", "selling"])
def test_networks_are_equivariant(opened: Store, name: str) -> None:
    pyramid, volume = opened[name], torch.randn(1, 2, 8, 8, 8)
    for network in (WideResNet(pyramid, 2, 3, widen=0.5), UNet(pyramid, 2, 3, channels=(4, 5, 6))):
        assert assert_equivariant(network, pyramid, volume).keys() == CUBE


@pytest.mark.parametrize("name", GRAPHS)
def test_symmetries(opened: Store, name: str) -> None:
    pyramid = opened[name]
    known = symmetries(pyramid, range(len(pyramid.levels)))
    assert known.keys() == GRAPHS[name][1]
    for motions in known.values():
        for level, motion in motions.items():
            graph = pyramid.levels[level]
            assert torch.equal(motion.vertices.sort().values, torch.arange(graph.num_vertices))
            assert torch.equal(graph.area[motion.vertices], graph.area)
