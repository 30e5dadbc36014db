"""The example of fibers runs on a user's own NIfTI files, and makes bundles clearer."""

import runpy
import sys
from pathlib import Path

import nibabel
import numpy as np
import pytest
import torch

from cheblienet_models import harmonics_matrix

EXAMPLE = Path(__file__).parents[1] / "examples" / "enhance_fibers.py"
TURN = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
AFFINE = np.eye(4)
AFFINE[:3, :3] = TURN @ np.diag([2.0, 2.0, 2.5])


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    monkeypatch.syspath_prepend(EXAMPLE.parent)  # as Python does for a script
    monkeypatch.setattr(sys, "argv", [EXAMPLE.name, *map(str, arguments)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")


def crossing() -> np.ndarray:
    """(i, j, k, 15) of two bundles along i and j, in directions of the world."""
    axes = torch.eye(3).double()[:2] @ torch.from_numpy(TURN).T
    lobes = harmonics_matrix(axes, 4, "tournier07").numpy()
    i, j, k = np.indices((8, 7, 5)) - np.array([3.5, 3, 2])[:, None, None, None]
    along_i, along_j = (np.hypot(beside, k) < 1.2 for beside in (j, i))
    return along_i[..., None] * lobes[0] + along_j[..., None] * lobes[1]


@pytest.mark.slow
def test_enhance_fibers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = crossing()
    noise = 0.4 * np.random.default_rng(0).standard_normal(truth.shape)
    mask = np.ones(truth.shape[:3], np.uint8)
    mask[:, :, 0] = 0
    files = [tmp_path / name for name in ("fod.nii.gz", "mask.nii.gz", "out.nii.gz")]
    nibabel.save(nibabel.Nifti1Image(np.float32(truth + noise), AFFINE), files[0])
    nibabel.save(nibabel.Nifti1Image(mask, AFFINE), files[1])
    run(monkeypatch, *files, "--basis", "tournier07", "--time", "1")
    image = nibabel.load(files[2])
    np.testing.assert_allclose(image.affine, AFFINE, atol=1e-6)
    found = np.asarray(image.dataobj)
    assert found.shape == truth.shape
    assert not found[:, :, 0].any()

    def alike(values: np.ndarray) -> float:
        return float(np.corrcoef(values[:, :, 1:].ravel(), truth[:, :, 1:].ravel())[0, 1])

    turned = tmp_path / "turned.nii.gz"
    options = "--basis", "tournier07", "--time", "1", "--voxel-directions"
    run(monkeypatch, *files[:2], turned, *options)
    wrong = np.asarray(nibabel.load(turned).dataobj)
    assert alike(found) > alike(truth + noise) + 0.05
    assert alike(found) > alike(wrong) + 0.01


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fod, mask = tmp_path / "fod.nii", tmp_path / "mask.nii"
    nibabel.save(nibabel.Nifti1Image(np.zeros((3, 3, 3, 7), np.float32), AFFINE), fod)
    nibabel.save(nibabel.Nifti1Image(np.ones((3, 3, 3), np.uint8), np.eye(4)), mask)
    with pytest.raises(SystemExit, match=r"mask.nii: its affine must be that of the other volume"):
        run(monkeypatch, fod, mask, "out.nii", "--basis", "tournier07")
    with pytest.raises(SystemExit, match=r"mask.nii must be 4-D, several values a voxel"):
        run(monkeypatch, mask, mask, "out.nii", "--basis", "tournier07")
    nibabel.save(nibabel.Nifti1Image(np.ones((3, 3, 3), np.uint8), AFFINE), mask)
    with pytest.raises(SystemExit, match="has 7 coefficients; even degrees"):
        run(monkeypatch, fod, mask, "out.nii", "--basis", "tournier07")
