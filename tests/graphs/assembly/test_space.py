"""Stored graphs of volumes: spectra, symmetries, pooling, coordinates, bytes."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from moments import stored
from space_truth import cube_symmetries, voxels

from cheblienet_graphs import GraphSpec, inspect
from cheblienet_graphs.store.reader import mapped_array, mapped_csr

WEIGHTS = ["kernel", "selling", "matched"]


@pytest.mark.parametrize("weights", ["selling", "matched"])
def test_spectra_converge_at_second_order(weights: str, tmp_path: Path) -> None:
    """Against 4 pi^2 |k|^2: 0, 6, 12, 8 and 6 times."""
    exact = 4 * np.pi**2 * np.repeat([0, 1, 2, 3, 4], [1, 6, 12, 8, 6])[:27]
    errors = []
    for size in (8, 16, 32):
        spec = GraphSpec("r3", size, weights=weights, boundary="periodic", levels=1)
        stored(spec, tmp_path)
        (level,) = inspect(tmp_path / "g.zarr", eigenvalues=27).levels
        assert level.consistency == "consistent"
        assert level.exact_eigenvalues == pytest.approx(exact, abs=1e-9)
        found = np.array(level.eigenvalues) * level.eigenvalue_scale
        errors.append(abs(found[1:] / exact[1:] - 1).max())
    assert errors[2] < 0.01
    for coarse, fine in itertools.pairwise(errors):
        assert np.log2(coarse / fine) > 1.9


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_all_symmetries_of_a_cube(weights: str, boundary: str, tmp_path: Path) -> None:
    version, _ = stored(GraphSpec("r3", 8, weights=weights, boundary=boundary), tmp_path)
    for level, side in enumerate((8, 4)[: len(list((version / "levels").glob("[0-9]")))]):
        laplacian = mapped_csr(version / f"levels/{level}/laplacian")
        assert abs(laplacian - laplacian.T).max() == 0
        moved = cube_symmetries(side)
        assert len({tuple(p.tolist()) for p in moved}) == 48
        for permutation in moved:
            assert abs(laplacian[permutation][:, permutation] - laplacian).max() == 0


def test_blocks_of_eight_are_pooled(tmp_path: Path) -> None:
    version, _ = stored(GraphSpec("r3", "8x4x6", levels=2), tmp_path)
    down = mapped_csr(version / "pooling/0to1").toarray()
    up = mapped_csr(version / "unpooling/1to0").toarray()
    fine, coarse = voxels((6, 4, 8)), voxels((3, 2, 4))
    inside = (fine // 2 == coarse[:, None]).all(axis=2)
    assert (down == inside / 8).all()
    assert (up == inside.T).all()


def test_coordinates_are_x_y_z(tmp_path: Path) -> None:
    version, _ = stored(GraphSpec("r3", "6x4x2", levels=1), tmp_path)
    assert (mapped_array(version / "levels/0/coordinates") == voxels((2, 4, 6)) / 6).all()
    assert (mapped_array(version / "levels/0/area") == 1).all()
