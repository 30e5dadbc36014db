"""Volumes in NIfTI files: order of axes, affines, masks, and one line for whatever is wrong."""

import gzip
import math
import sys
from pathlib import Path

import nibabel
import numpy as np
import pytest
import torch
from failures import refusal_by
from refusing import refused

from cheblienet_graphs import (
    CheblienetError,
    GraphSpec,
    SpecError,
    Volume,
    read_mask,
    read_nifti,
    write_nifti,
)
from cheblienet_graphs.errors import InputError

RNG = np.random.default_rng(0)
FILE = RNG.standard_normal((4, 5, 6, 3)).astype(np.float32)
"""As nibabel has it: (i, j, k, c)."""
AFFINE = np.array([[-2.0, 0, 0, 90], [0, 2.5, 0, -126], [0, 0, 3, -72], [0, 0, 0, 1]])


def saved(file: Path, array: np.ndarray, affine: np.ndarray = AFFINE) -> Path:
    nibabel.save(nibabel.Nifti1Image(array, affine), file)
    return file


def turned(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


@pytest.mark.parametrize("name", ["v.nii", "V.NII.GZ"])
@pytest.mark.parametrize("kind", [nibabel.Nifti1Image, nibabel.Nifti2Image])
def test_images_are_read_with_x_last(tmp_path: Path, name: str, kind: type) -> None:
    nibabel.save(kind(FILE, AFFINE), tmp_path / name)
    volume = read_nifti(tmp_path / name, 4)
    assert volume.values.dtype == np.float32
    np.testing.assert_array_equal(volume.values, np.moveaxis(FILE, (3, 2, 1, 0), (0, 1, 2, 3)))
    assert volume.size == (4, 5, 6)
    np.testing.assert_array_equal(volume.affine, AFFINE)


def test_axes_of_length_one_do_not_count(tmp_path: Path) -> None:
    for image in (FILE[..., 0], FILE[..., :1], FILE[..., :1, None]):
        one = saved(tmp_path / "v.nii", image)
        np.testing.assert_array_equal(read_nifti(one, 3).values, FILE[..., 0].T)
    one = saved(tmp_path / "v.nii", FILE[..., 0])
    refused("must be 4-D, several values .* Got 4 x 5 x 6", read_nifti, one, 4, error=InputError)
    vectors = saved(tmp_path / "v.nii", FILE[:, :, :, None])
    np.testing.assert_array_equal(read_nifti(vectors, 4).values, FILE.T)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float64"])
def test_what_is_written_is_read_again(tmp_path: Path, dtype: str) -> None:
    name = "v.nii" if dtype == "int16" else "v.nii.gz"
    values = (10 * RNG.standard_normal((3, 6, 5, 4))).astype(dtype)
    affine = AFFINE.copy()
    affine[:3, :3] = turned(0.3) @ AFFINE[:3, :3]
    for written in (values, values[0]):
        write_nifti(tmp_path / name, written, affine)
        volume = read_nifti(tmp_path / name, 3 if written.ndim == 3 else 4)
        np.testing.assert_array_equal(volume.values, written)
        assert volume.values.dtype == (np.uint8 if dtype == "bool" else dtype)
        np.testing.assert_allclose(volume.affine, affine, rtol=1e-6)
        image = nibabel.load(tmp_path / name)
        np.testing.assert_allclose(image.get_qform(coded=True)[0], affine, atol=1e-4)
        assert image.header.get_xyzt_units()[0] == "mm"


SHEARED = AFFINE.copy()
SHEARED[0, 1] = 0.02
FLAT = AFFINE * (1, 0, 1, 1)
SQUARE = AFFINE[:3, :3]


@pytest.mark.parametrize(
    ("name", "values", "affine", "message"),
    [
        ("v.nii", FILE[0, 0], AFFINE, r"values must be of shape \(D, H, W\)"),
        ("v.nii", FILE.astype(np.float16), AFFINE, "values must be booleans, .* Got dtype"),
        ("v.nii", FILE.T, SHEARED, "without shear, .*Got 89.54 degrees between two. Resample"),
        ("v.nii", FILE.T, FLAT, "affine must be finite, with voxels of a size"),
        ("v.nii", FILE.T, SQUARE, r"affine must be of shape \(4, 4\). Got \(3, 3\)"),
        ("v.txt", FILE.T, AFFINE, r"v.txt must be one of .nii, .nii.gz\."),
        ("absent/v.nii", FILE.T, AFFINE, "can't be written: No such file or directory"),
    ],
)
def test_what_can_not_be_written(
    tmp_path: Path, name: str, values: np.ndarray, affine: np.ndarray, message: str
) -> None:
    error = SpecError if name == "v.nii" else InputError
    refused(message, write_nifti, tmp_path / name, values, affine, error=error)
    assert not (tmp_path / name).exists()


def test_tensors_are_written_where_numpy_takes_them(tmp_path: Path) -> None:
    values, affine = torch.from_numpy(FILE.T), torch.from_numpy(AFFINE)
    write_nifti(tmp_path / "v.nii", values, affine)
    np.testing.assert_array_equal(nibabel.load(tmp_path / "v.nii").get_fdata(), FILE)
    for wrong, said in (
        (values.clone().requires_grad_(), r"requires grad\. Use tensor.detach"),
        (values.to("meta"), "can't convert meta device type tensor"),
    ):
        message = rf"^values must be an array\. Got Tensor\. numpy says: .*{said}"
        refused(message, write_nifti, tmp_path / "w.nii", wrong, affine, error=SpecError)
    assert not (tmp_path / "w.nii").exists()


def test_spacing_and_rotation_of_an_affine() -> None:
    """Oblique, flipped, and with its axes in another order."""
    affine, rotation = np.eye(4), turned(0.4) @ np.diag([1, -1, 1])[[2, 0, 1]]
    affine[:3, :3] = rotation @ np.diag([2.0, 2.5, 3.0])
    volume = Volume(np.zeros((6, 5, 4)), affine.astype(np.float32))
    assert volume.spacing == (2, 2.5, 3)  # although the header's numbers are rounded
    np.testing.assert_allclose(volume.rotation, rotation, atol=1e-6)


def test_another_grid_than_asked_for(tmp_path: Path) -> None:
    like = read_nifti(saved(tmp_path / "field.nii", FILE), 4)
    ones, moved = np.ones((4, 5, 6), np.uint8), AFFINE.copy()
    moved[2, 2] += 0.1
    mask = saved(tmp_path / "mask.nii", ones, AFFINE + 1e-4)
    assert read_nifti(mask, 3, like=like).values.all()
    for other, affine, message in (
        (ones.reshape(4, 6, 5), AFFINE, r"size must be 4 x 5 x 6 voxels, .* Got 4 x 6 x 5"),
        (ones, moved, r"affine must be that of .* by which corners are 0\.5 off"),
    ):
        refused(message, read_nifti, saved(mask, other, affine), 3, like=like, error=InputError)


INSIDE = RNG.random((4, 5, 6)) < 0.5


@pytest.mark.parametrize(("value", "kind"), [(1, "u1"), (255, "u1"), (1, "f4"), (7, "i2")])
def test_masks(tmp_path: Path, value: int, kind: str) -> None:
    mask = read_mask(saved(tmp_path / "m.nii.gz", value * INSIDE.astype(kind)))
    assert isinstance(mask, Volume)
    assert mask.values.dtype == bool
    np.testing.assert_array_equal(mask.values, INSIDE.T)
    assert mask.spacing == (2, 2.5, 3)


HUGE = np.array([3, 32767, 32767, 32767, 1, 1, 1, 1], "<i2").tobytes()
DAMAGED = [(40, HUGE), (40, b"\xff" * 16), (70, b"\xff\x01"), (360, b"")]
"""Place and bytes that are others there; without any, all from there on is missing."""


@pytest.mark.parametrize(("place", "damage"), DAMAGED)
def test_damaged_contents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: int, damage: bytes
) -> None:
    contents = bytearray(saved(tmp_path / "m.nii", INSIDE.astype(np.uint8)).read_bytes())
    contents[place : place + len(damage) if damage else None] = damage
    (tmp_path / "m.nii").write_bytes(contents)
    (tmp_path / "m.nii.gz").write_bytes(gzip.compress(contents))
    for name in ("m.nii", "m.nii.gz"):
        refusal_by(read_mask, tmp_path / name)
    assert not capsys.readouterr().err  # nibabel's own log would be a second line


def test_without_nibabel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = saved(tmp_path / "m.nii.gz", INSIDE.astype(np.uint8))
    monkeypatch.setitem(sys.modules, "nibabel", None)
    for call, *given in ((read_mask,), (read_nifti, 3), (write_nifti, INSIDE.T, AFFINE)):
        refused(r"pip install 'cheblienet\[volumes\]'", call, file, *given, error=CheblienetError)


def test_a_mask_gives_size_and_spacing() -> None:
    upright = np.diag([1.5, 1.5, 3.0, 1])
    oblique = upright.copy()
    oblique[:3, :3] = turned(0.3) @ np.diag([-1.5, 1.5, 3])
    for affine in (upright, oblique.astype(np.float32)):
        volume = Volume(INSIDE.T, affine)
        for manifold in ("r3", "r3s2"):
            spec = GraphSpec(manifold, mask=volume, levels=1)
            assert (spec.size, spec.spacing) == ((4, 5, 6), (1, 1, 2))
            assert spec == GraphSpec(manifold, mask=INSIDE.T, spacing=(1, 1, 2), levels=1)
            assert spec == GraphSpec(manifold, mask=volume, spacing="3,3,6", levels=1)
    oblique[:3, :3] = 1.7 * turned(0.3)
    cubic = Volume(INSIDE.T, oblique.astype(np.float32))
    assert cubic.spacing == (1.7,) * 3
    assert GraphSpec("r3s2", mask=cubic, levels=1) == GraphSpec("r3s2", mask=INSIDE.T, levels=1)


def test_nearly_equal_sides_are_equal() -> None:
    """1.718745 is where 6 digits round up or down."""
    affine = np.diag([1.7187449, 1.7187451, 1.71875, 1])
    assert len(set(Volume(INSIDE.T, affine).spacing)) == 1
    assert len(set(Volume(INSIDE.T, affine * (1, 1, 1.001, 1)).spacing)) == 2
