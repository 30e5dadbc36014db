"""Published graphs on the sphere: symmetries and pooling."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial import KDTree
from scipy.spatial.transform import Rotation

from cheblienet_graphs import GraphSpec, build, inspect, open_group
from cheblienet_graphs.store.reader import mapped_csr

HALF_TURNS = {
    "e": np.eye(3),
    "x": np.diag([1.0, -1, -1]),
    "y": np.diag([-1.0, 1, -1]),
    "z": np.diag([-1.0, -1, 1]),
}


def frames(points: np.ndarray) -> np.ndarray:
    """(V, 3, 3) rotation matrices of (alpha, beta, gamma)."""
    return Rotation.from_euler("ZYZ", points[:, ::-1]).as_matrix()


def permutation(points: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Where a rotation of the sphere sends each vertex, orientations modulo pi."""
    before = frames(points)
    after = turn @ before
    flipped = before @ np.diag([-1.0, -1.0, 1.0])
    tree = KDTree(np.concatenate([before, flipped]).reshape(-1, 9))
    gap, image = tree.query(after.reshape(-1, 9))
    assert gap.max() < 1e-9
    return image % len(points)


@pytest.mark.parametrize("orientations", [5, 6])
@pytest.mark.parametrize("subdivisions", [2, 3])
def test_half_turns_leave_the_icosphere_alone(
    tmp_path: Path, subdivisions: int, orientations: int
) -> None:
    spec = GraphSpec("so3", subdivisions=subdivisions, orientations=orientations, levels=1)
    build(spec, tmp_path / "g.zarr", name="g")
    stored = mapped_csr(tmp_path / "g.zarr/g/v001/levels/0/laplacian")
    points = open_group(tmp_path / "g.zarr", "g")["levels/0/coordinates"][:]
    for turn in HALF_TURNS.values():
        moved = permutation(points, turn)
        assert abs(stored[moved][:, moved] - stored).max() <= 1e-6
    found = inspect(tmp_path / "g.zarr", "g", eigenvalues=0).levels[0].equivariance
    exact = {name: error for name, error in found.items() if "approximate" not in name}
    assert set(exact) == {"half_turn_x", "half_turn_y", "half_turn_z", "reflection"}
    assert max(exact.values()) <= 1e-6
    approximate = [error for name, error in found.items() if "approximate" in name]
    assert len(approximate) == 2
    assert min(approximate) > 1e-3


SIZES = [{"subdivisions": 2}, {"nside": 4}, {"bandlimit": 4}]


@pytest.mark.parametrize("size", SIZES)
def test_pooling_keeps_integrals_and_constants(tmp_path: Path, size: dict[str, int]) -> None:
    build(GraphSpec("so3", **size, orientations=3, levels=2), tmp_path / "g.zarr", name="g")
    group = open_group(tmp_path / "g.zarr", "g")

    def matrix(path: str) -> scipy.sparse.csr_array:
        parts = tuple(group[path][part][:] for part in ("data", "indices", "indptr"))
        return scipy.sparse.csr_array(parts, shape=tuple(group[path].attrs["shape"]))

    pool, unpool = matrix("pooling/0to1"), matrix("unpooling/1to0")
    assert np.allclose(pool @ np.ones(pool.shape[1]), 1)
    assert np.allclose(unpool @ np.ones(unpool.shape[1]), 1)
    points = [group[f"levels/{level}/coordinates"][:] for level in range(2)]
    height = [np.cos(p[:, 1]) for p in points]  # the harmonic of degree 1
    assert np.abs(pool @ height[0] - height[1]).max() < 0.12
    assert np.abs(unpool @ height[1] - height[0]).max() < 0.5
    same_orientation = points[1][:, None, 0] == points[0][None, :, 0]
    assert (pool.toarray()[~same_orientation] == 0).all()
