"""Volumes in NIfTI files: order of axes, affines, masks, and one line for whatever is wrong."""

import gzip
import math
import sys
from pathlib import Path

import nibabel
import numpy as np
import pytest

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


@pytest.mark.parametrize("name", ["v.nii", "v.nii.gz", "V.NII.GZ"])
@pytest.mark.parametrize("kind", [nibabel.Nifti1Image, nibabel.Nifti2Image])
def test_images_are_read_with_x_last(tmp_path: Path, name: str, kind: type) -> None:
    nibabel.save(kind(FILE, AFFINE), tmp_path / name)
    volume = read_nifti(tmp_path / name, 4)
    assert volume.values.shape == (3, 6, 5, 4)
    assert volume.values.dtype == np.float32
    assert volume.size == (4, 5, 6)
    for i, j, k, c in ((0, 0, 0, 0), (3, 1, 2, 1), (1, 4, 5, 2)):
        assert volume.values[c, k, j, i] == FILE[i, j, k, c]
    np.testing.assert_array_equal(volume.affine, AFFINE)
    assert read_nifti(saved(tmp_path / "one.nii", FILE[..., 0]), 3).values.shape == (6, 5, 4)


def test_axes_of_length_one_do_not_count(tmp_path: Path) -> None:
    assert read_nifti(saved(tmp_path / "v.nii", FILE[..., :1]), 3).values.shape == (6, 5, 4)
    vectors = saved(tmp_path / "v.nii", FILE[:, :, :, None])
    np.testing.assert_array_equal(read_nifti(vectors, 4).values, FILE.T)
    assert read_nifti(saved(tmp_path / "v.nii", FILE[..., :1, None]), 3).values.shape == (6, 5, 4)


def test_scaled_and_big_endian_numbers(tmp_path: Path) -> None:
    image = nibabel.Nifti1Image(FILE[..., 0], AFFINE)
    image.header.set_data_dtype(np.int16)
    nibabel.save(image, tmp_path / "scaled.nii")
    scaled = read_nifti(tmp_path / "scaled.nii", 3).values
    np.testing.assert_allclose(scaled, FILE[..., 0].T, atol=1e-3)
    header = nibabel.Nifti1Header(endianness=">")
    header.set_data_dtype(">f4")
    nibabel.save(nibabel.Nifti1Image(FILE.astype(">f4"), AFFINE, header), tmp_path / "big.nii")
    big = read_nifti(tmp_path / "big.nii", 4).values
    assert big.dtype.isnative
    np.testing.assert_array_equal(big, FILE.T)


@pytest.mark.parametrize("name", ["v.nii", "v.nii.gz"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float32", "float64"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str, dtype: str) -> None:
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
        assert image.shape == written.T.shape
        np.testing.assert_allclose(image.get_qform(coded=True)[0], affine, atol=1e-4)
        assert image.header.get_xyzt_units()[0] == "mm"


def test_what_can_not_be_written(tmp_path: Path) -> None:
    for values, message in (
        (FILE[0, 0], r"values must be of shape \(D, H, W\)"),
        (FILE.astype(np.float16), "values must be booleans, integers, or .* Got dtype"),
        (FILE.astype(complex), "values must be booleans"),
    ):
        with pytest.raises(SpecError, match=message):
            write_nifti(tmp_path / "v.nii", values, AFFINE)
    with pytest.raises(InputError, match=r"v.txt must be one of .nii, .nii.gz\."):
        write_nifti(tmp_path / "v.txt", FILE.T, AFFINE)
    with pytest.raises(InputError, match="can't be written: No such file or directory"):
        write_nifti(tmp_path / "absent" / "v.nii", FILE.T, AFFINE)


PERMUTED = np.diag([1.0, -1.0, 1.0])[[2, 0, 1]]


@pytest.mark.parametrize(
    "rotation",
    [np.eye(3), turned(0.4), np.diag([-1.0, 1, 1]), PERMUTED, turned(0.4) @ PERMUTED],
    ids=["upright", "oblique", "flipped", "permuted", "all"],
)
def test_spacing_and_rotation_of_an_affine(rotation: np.ndarray) -> None:
    affine = np.eye(4)
    affine[:3, :3] = rotation @ np.diag([2.0, 2.5, 3.0])
    volume = Volume(np.zeros((6, 5, 4)), affine.astype(np.float32))
    assert volume.spacing == (2, 2.5, 3)  # although the header's numbers are rounded
    np.testing.assert_allclose(volume.rotation, rotation, atol=1e-6)
    np.testing.assert_allclose(volume.rotation @ volume.rotation.T, np.eye(3), atol=1e-14)
    # Column a is where the world's place moves as index a grows.
    step = affine[:3, :3] @ [0, 1, 0]
    np.testing.assert_allclose(volume.rotation[:, 1], step / np.linalg.norm(step), atol=1e-6)


SHEARED = AFFINE.copy()
SHEARED[0, 1] = 0.02
FLAT = AFFINE * (1, 0, 1, 1)


@pytest.mark.parametrize(
    ("affine", "message"),
    [
        (SHEARED, "affine must be without shear, .*Got 89.54 degrees between two. Resample"),
        (FLAT, "affine must be finite, with voxels of a size"),
        (AFFINE * (1, np.nan, 1, 1), "affine must be finite"),
        (AFFINE[:3, :3], r"affine must be of shape \(4, 4\). Got \(3, 3\)"),
    ],
)
def test_affines_that_are_refused(tmp_path: Path, affine: np.ndarray, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Volume(np.zeros((6, 5, 4)), affine)
    if affine is SHEARED:
        with pytest.raises(InputError, match=r"v\.nii: its affine must be without shear"):
            read_nifti(saved(tmp_path / "v.nii", FILE, affine), 4)


def test_another_grid_than_asked_for(tmp_path: Path) -> None:
    like = read_nifti(saved(tmp_path / "field.nii", FILE), 4)
    mask = saved(tmp_path / "mask.nii", np.ones((4, 5, 6), np.uint8), AFFINE + 1e-4)
    assert read_nifti(mask, 3, like=like).values.all()
    saved(mask, np.ones((4, 6, 5), np.uint8))
    with pytest.raises(InputError, match=r"size must be 4 x 5 x 6 voxels, .* Got 4 x 6 x 5"):
        read_nifti(mask, 3, like=like)
    moved = AFFINE.copy()
    moved[2, 2] += 0.1
    saved(mask, np.ones((4, 5, 6), np.uint8), moved)
    with pytest.raises(
        InputError, match=r"affine must be that of .* by which corners are 0\.5 off"
    ):
        read_nifti(mask, 3, like=like)


INSIDE = RNG.random((4, 5, 6)) < 0.5


@pytest.mark.parametrize(
    "values",
    [
        INSIDE.astype(np.uint8),
        255 * INSIDE.astype(np.uint8),
        INSIDE.astype(np.float32),
        7 * INSIDE.astype(np.int16),
    ],
    ids=["0 and 1", "255", "float", "a label"],
)
def test_masks(tmp_path: Path, values: np.ndarray) -> None:
    mask = read_mask(saved(tmp_path / "m.nii.gz", values))
    assert isinstance(mask, Volume)
    assert mask.values.dtype == bool
    np.testing.assert_array_equal(mask.values, INSIDE.T)
    assert mask.spacing == (2, 2.5, 3)


def refusal(file: Path) -> str:
    """The one line that a mask is refused with, which begins with its name."""
    with pytest.raises(InputError) as refused:
        read_mask(file)
    message = str(refused.value)
    assert message.startswith(str(file))
    assert "\n" not in message
    assert message.endswith(".")
    return message


def test_files_that_are_no_masks(tmp_path: Path) -> None:
    file = tmp_path / "m.nii.gz"
    several = "holds more than one value besides 0"
    assert several in refusal(saved(file, np.arange(120.0).reshape(4, 5, 6)))
    assert several in refusal(saved(file, np.where(INSIDE, np.nan, 0)))
    assert "must be 3-D, one value a voxel. Got 4 x 5 x 6 x 3" in refusal(saved(file, FILE))
    assert "must be 3-D" in refusal(saved(file, FILE[:, :, 0, 0]))
    assert "shear" in refusal(saved(file, INSIDE.astype(np.uint8), SHEARED))
    colored = np.zeros((4, 5, 6), [("R", "u1"), ("G", "u1"), ("B", "u1")])
    assert "must hold numbers" in refusal(saved(file, colored))
    with pytest.raises(InputError, match=r"must be 4-D, several values a voxel. Got 4 x 5 x 6"):
        read_nifti(saved(file, INSIDE.astype(np.uint8)), 4)
    with pytest.raises(InputError, match=r"m.mgz must be one of .nii, .nii.gz\."):
        read_nifti(tmp_path / "m.mgz", 3)
    file.unlink()
    assert "does not exist" in refusal(file)
    assert "no variable x" in refusal_of_variable(saved(file, INSIDE.astype(np.uint8)))


def refusal_of_variable(file: Path) -> str:
    with pytest.raises(InputError) as refused:
        read_mask(f"{file}:x")
    return str(refused.value)


HUGE = np.array([3, 32767, 32767, 32767, 1, 1, 1, 1], "<i2").tobytes()


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("damage", ["empty", "text", "header", "values", "dtype", "huge", "bytes"])
def test_damaged_files(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str, compressed: bool
) -> None:
    whole = saved(tmp_path / "whole.nii", INSIDE.astype(np.uint8)).read_bytes()
    damaged = {
        "empty": b"",
        "text": b"not an image" * 100,
        "header": whole[:200],
        "values": whole[:360],
        "dtype": whole[:70] + b"\xff\x01" + whole[72:],
        "huge": whole[:40] + HUGE + whole[56:],
        "bytes": whole[:40] + b"\xff" * 16 + whole[56:],
    }[damage]
    file = tmp_path / ("m.nii.gz" if compressed else "m.nii")
    file.write_bytes(gzip.compress(damaged) if compressed else damaged)
    refusal(file)
    assert not caplog.records  # nibabel's own log would be a second line


def test_half_a_compressed_file(tmp_path: Path) -> None:
    whole = saved(tmp_path / "m.nii.gz", FILE[..., 0]).read_bytes()
    (tmp_path / "m.nii.gz").write_bytes(whole[: len(whole) // 2])
    refusal(tmp_path / "m.nii.gz")


def test_a_folder_is_no_image(tmp_path: Path) -> None:
    (tmp_path / "m.nii").mkdir()
    assert "is not a file" in refusal(tmp_path / "m.nii")


def test_without_nibabel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = saved(tmp_path / "m.nii.gz", INSIDE.astype(np.uint8))
    monkeypatch.setitem(sys.modules, "nibabel", None)
    for work in (
        lambda: read_mask(file),
        lambda: read_nifti(file, 3),
        lambda: write_nifti(file, INSIDE.T, AFFINE),
    ):
        with pytest.raises(CheblienetError, match=r"pip install 'cheblienet\[volumes\]'"):
            work()


def test_a_mask_gives_a_volume_its_size() -> None:
    volume = Volume(INSIDE.T, np.diag([2.0, 2, 2, 1]))
    spec = GraphSpec("r3", mask=volume, levels=1)
    assert spec.size == (4, 5, 6)
    assert spec == GraphSpec("r3", mask=INSIDE.T, levels=1)
    assert spec.sha256 == GraphSpec("r3", mask=INSIDE.T, levels=1).sha256
    with pytest.raises(SpecError, match=r"mask must be of shape \(H, W\) on se2. Got \(6, 5, 4\)"):
        GraphSpec("se2", mask=volume)
    with pytest.raises(SpecError, match=r"mask must be of shape .* Got \(6, 5, 4\)"):
        GraphSpec("s2", mask=volume, subdivisions=2)
    with pytest.raises(SpecError, match=r"mask must be of shape \(8, 8, 8\).* Got \(6, 5, 4\)"):
        GraphSpec("r3", 8, mask=volume)


def test_a_mask_gives_the_spacing() -> None:
    upright = np.diag([1.5, 1.5, 3.0, 1])
    oblique = upright.copy()
    oblique[:3, :3] = turned(0.3) @ np.diag([-1.5, 1.5, 3])
    for affine in (upright, oblique.astype(np.float32)):
        volume = Volume(INSIDE.T, affine)
        for manifold in ("r3", "r3s2"):
            spec = GraphSpec(manifold, mask=volume, levels=1)
            assert spec.spacing == (1, 1, 2)
            given = GraphSpec(manifold, mask=INSIDE.T, spacing=(1, 1, 2), levels=1)
            assert spec.sha256 == given.sha256
            assert GraphSpec(manifold, mask=volume, spacing="3,3,6", levels=1).sha256 == spec.sha256
    oblique[:3, :3] = 1.7 * turned(0.3)
    cubic = Volume(INSIDE.T, oblique.astype(np.float32))
    assert cubic.spacing == (1.7,) * 3
    assert GraphSpec("r3s2", mask=cubic, levels=1).spacing is None
    with pytest.raises(
        SpecError, match=r"spacing must be 1.7,1.7,1.7, as of the mask, or left out"
    ):
        GraphSpec("r3s2", mask=cubic, spacing=(1, 1, 2), levels=1)


def test_nearly_equal_sides_are_equal() -> None:
    """1.718745 is where 6 digits round up or down."""
    affine = np.diag([1.7187449, 1.7187451, 1.71875, 1])
    assert len(set(Volume(INSIDE.T, affine).spacing)) == 1
    assert len(set(Volume(INSIDE.T, affine * (1, 1, 1.001, 1)).spacing)) == 2
