"""clg in space, on positions and axes, within masks from NIfTI files, too."""

import json
import re
from pathlib import Path

import nibabel
import numpy as np
import pytest

from cheblienet_cli.main import run
from cheblienet_graphs import open_group


def test_build_and_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "g.zarr")
    np.save(tmp_path / "m.npy", np.indices((4, 6, 6)).sum(0) < 12)
    how = ["--axes", "6", "--eps-squared", "0.1", "--spacing", "1,1,2", "--levels", "1"]
    how += ["--mask", str(tmp_path / "m.npy"), "--store", store]
    assert run(["build", "r3s2", *how, "--verbose"]) == 0
    printed = capsys.readouterr()
    assert re.fullmatch(r"r3s2-6x6x4x6-masked-[0-9a-f]{8}@v001\n", printed.out)
    voxels = "6 x 6 x 4 voxels (width x height x depth) x 6 axes, sides of a voxel 1 : 1 : 2"
    assert voxels in printed.err
    assert "along (along, across, across, tilt, tilt)" in printed.err
    assert run(["inspect", "--store", store, "--json", "--eigenvalues", "0"]) == 0
    (level,) = json.loads(capsys.readouterr().out)["levels"]
    assert level["grid"] == [6, 4, 6, 6]
    assert run(["verify", "--store", store]) == 0
    folder = tmp_path / "out"
    assert run(["export", "--to", "npz", "--output", str(folder), "--store", store]) == 0
    assert np.load(folder / "coordinates-0.npy").shape[1] == 6


BALL = (
    np.linalg.norm(np.indices((6, 7, 5)) - np.array([3, 3, 2])[:, None, None, None], axis=0) < 2.5
)
"""(i, j, k), as in the file."""
AFFINE = np.array([[0, -2.0, 0, 9], [2, 0, 0, -4], [0, 0, 3, 1], [0, 0, 0, 1]])
"""Turned by 90 degrees."""


@pytest.fixture
def mask(here: Path) -> Path:
    nibabel.save(nibabel.Nifti1Image(BALL.astype(np.uint8), AFFINE), here / "mask.nii.gz")
    return here / "mask.nii.gz"


@pytest.mark.parametrize("arguments", ["r3 --neighbors 6", "r3s2 --axes 3 --neighbors 12"])
def test_size_and_spacing_are_those_of_the_mask(mask: Path, arguments: str) -> None:
    built = ["build", *arguments.split(), "--mask", mask.name, "--levels", "1", "--quiet"]
    assert run([*built, "--name", "g"]) == 0
    assert run(["verify", "--quiet"]) == 0
    group = open_group("graphs.zarr", "g")["levels/0"]
    k, j, i = np.nonzero(BALL.T)
    points = len(k)
    np.testing.assert_array_equal(group["base_index"], np.flatnonzero(BALL.T))
    places = np.asarray(group["coordinates"])[:points, :3]
    np.testing.assert_allclose(places, np.stack([i, j, 1.5 * k], axis=1) / 6, atol=1e-12)
