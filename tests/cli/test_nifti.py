"""Building within a mask from a NIfTI file, as a user meets it."""

from pathlib import Path

import nibabel
import numpy as np
import pytest
from failures import failing

from cheblienet_cli.main import run
from cheblienet_graphs import open_group

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


def test_refusals(mask: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["build", "r3s2", "--mask", mask.name, "--levels", "1", "--dry-run"]

    def refused(*more: str) -> str:
        return failing(capsys, *arguments, *more)[1]

    assert "--spacing must be 2,2,3, as of the mask, or left out" in refused("--spacing", "1,1,2")
    assert "of shape (8, 8, 8)" in refused("--size", "8")
    sheared = AFFINE.copy()
    sheared[0, 0] = 0.1
    nibabel.save(nibabel.Nifti1Image(BALL.astype(np.uint8), sheared), mask)
    assert "mask.nii.gz: its affine must be without shear" in refused()
    mask.write_bytes(mask.read_bytes()[:60])
    assert "mask.nii.gz can't be read as a NIfTI file" in refused()
