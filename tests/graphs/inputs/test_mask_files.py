"""Masks from files: each form, its conventions, and one line for whatever is wrong."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import nibabel
import numpy as np
import pytest
import xarray as xr
from failures import refusal_by
from PIL import Image

from cheblienet_graphs import CheblienetError
from cheblienet_graphs.inputs.mask_files import read_mask
from cheblienet_graphs.inputs.masks import LatLonMask

RNG = np.random.default_rng(0)
INSIDE = RNG.random((5, 7)) < 0.5
GRAY = np.where(INSIDE, 128, 127).astype(np.uint8)
DEEP = np.where(INSIDE, 32768, 32767).astype(np.uint16)
LATITUDES, LONGITUDES = np.linspace(60, -60, 5), np.linspace(0, 300, 7)
of_image = Image.fromarray
refusal = partial(refusal_by, read_mask)


def field(values: np.ndarray) -> xr.DataArray:
    """A variable on latitudes and longitudes that are known by their units alone."""
    coordinates = {
        "y": ("y", LATITUDES, {"units": "degrees_north"}),
        "x": ("x", LONGITUDES, {"units": "degrees_east"}),
    }
    return xr.DataArray(values, dims=("y", "x"), coords=coordinates)


def written(file: Path, value: Any) -> Path:
    """A file of an array, an image, a volume, or variables: NetCDF 4, or 3 where it is .cdf."""
    if isinstance(value, np.ndarray):
        np.save(file, value, allow_pickle=True)
    elif isinstance(value, Image.Image):
        value.save(file)
    elif isinstance(value, nibabel.Nifti1Image):
        nibabel.save(value, file)
    else:
        variables = {"m": value} if isinstance(value, xr.DataArray) else value
        engine = "scipy" if file.suffix == ".cdf" else "h5netcdf"
        xr.Dataset(variables).to_netcdf(file, engine=engine)
    return file


def test_arrays(tmp_path: Path) -> None:
    for values in (INSIDE, INSIDE.astype(np.float32), GRAY, DEEP.astype(">u2")):
        for shape in (np.ravel, np.asfortranarray, lambda pixels: np.stack([pixels, pixels[::-1]])):
            inside = read_mask(written(tmp_path / "m.npy", shape(values)))
            assert inside.dtype == bool
            assert np.array_equal(inside, shape(INSIDE))


@pytest.mark.parametrize(
    ("name", "image"),
    [
        *((f"m.{kind}", of_image(GRAY)) for kind in ("PNG", "tif", "bmp", "gif")),
        *((f"m.{kind}", of_image(INSIDE)) for kind in ("png", "pbm")),
        *((f"m.{kind}", of_image(DEEP)) for kind in ("png", "tif")),
        ("m.png", of_image(GRAY).convert("P")),
    ],
)
def test_images(tmp_path: Path, name: str, image: Image.Image) -> None:
    assert np.array_equal(read_mask(written(tmp_path / name, image)), INSIDE)


def inside_of(source: Path | str) -> np.ndarray:
    """The pixels of a mask that must be on the latitudes and longitudes above."""
    mask = read_mask(source)
    assert isinstance(mask, LatLonMask)
    assert np.array_equal(mask.latitudes, LATITUDES)
    assert np.array_equal(mask.longitudes, LONGITUDES)
    return mask.inside


def test_booleans_and_packed_values_are_decoded(tmp_path: Path) -> None:
    packed = field(np.where(INSIDE, 285.5, np.nan))
    scaled = {"scale_factor": 0.01, "add_offset": 273.0}
    packed.encoding = {"dtype": "int16", "_FillValue": -1, **scaled}
    file = written(tmp_path / "m.nc", {"land": field(INSIDE), "sst": packed})
    for name in ("land", "sst"):
        assert np.array_equal(inside_of(f"{file}:{name}"), INSIDE)


def test_which_variable(tmp_path: Path) -> None:
    one, other = field(INSIDE.astype(np.int8)), field((~INSIDE).astype(np.int8))
    file = written(tmp_path / "m.nc", {"ocean": one, "land": other})
    assert f"several fields: ocean, land. Choose one, as {file}:ocean" in refusal(file)
    assert np.array_equal(inside_of(f"{file}:land"), ~INSIDE)
    assert "no variable ice; it has ocean, land" in refusal(f"{file}:ice")
    bounds = xr.DataArray(np.ones((5, 2)), dims=("y", "bounds"))
    alone = written(tmp_path / "n.nc", {"m": one, "b": bounds})
    (tmp_path / "a:b.nc").write_bytes(alone.read_bytes())
    assert np.array_equal(inside_of(tmp_path / "a:b.nc"), INSIDE)


def naming(file: h5py.File, how: str, other: Path) -> None:
    """Have "m" show the values of another file, on the coordinates that are there."""
    stored = {"shape": (5, 7), "dtype": "f8"}
    if how == "link":
        file["m"] = h5py.ExternalLink(other, "m")
    elif how == "deep link":
        file["group/of/one"] = h5py.ExternalLink("absent.nc", "/")
    elif how == "storage":
        file.create_dataset("m", **stored, external=[(other, 0, h5py.h5f.UNLIMITED)])
    else:
        layout = h5py.VirtualLayout(**stored)
        layout[...] = h5py.VirtualSource(other, "m", (5, 7))
        file.create_virtual_dataset("m", layout)
    for dimension, name in enumerate("yx") if how in {"storage", "virtual"} else ():
        file["m"].dims[dimension].attach_scale(file[name])


@pytest.mark.parametrize("how", ["link", "deep link", "storage", "virtual"])
def test_a_file_reaches_no_other(tmp_path: Path, how: str) -> None:
    """HDF5 would read any that it names: here a mask, or the bytes of one."""
    one, other = field(INSIDE * 1.0), tmp_path / "other"
    file = written(tmp_path / "m.nc", {"own": one})
    if how == "storage":
        other.write_bytes(INSIDE.astype("f8").tobytes())
    else:
        written(other, one)
    with h5py.File(file, "a") as opened:
        naming(opened, how, other)
    name = "group/of/one" if how == "deep link" else "m"
    for source in (file, f"{file}:m", f"{file}:own"):
        message = refusal(source)
        assert "must hold all its values itself; " in message
        assert f"'{name}' " in message
    with h5py.File(file, "a") as opened:
        del opened["m" if how != "deep link" else "group"]
        opened["again"] = h5py.SoftLink("/own")
    assert np.array_equal(inside_of(f"{file}:own"), INSIDE)


volume = partial(nibabel.Nifti1Image, affine=np.eye(4))
COLORED = RNG.integers(0, 256, (5, 7, 3)).astype(np.uint8)
NOISE = RNG.integers(0, 256, (6, 40, 50)).astype(np.uint8)
RGB = [(color, "u1") for color in "RGB"]
BARE = xr.DataArray(INSIDE * 1.0, dims=("lat", "lon"))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("m.npy", np.array([0.0, np.nan]), "holds NaN"),
        ("m.npy", np.array([0, 2]), "int64 values other than 0 and 1"),
        *(("m.npy", np.ones(s, bool), "must have shape") for s in ((), (2, 2, 2, 2), (0, 3))),
        ("m.npy", np.zeros(3, "f8,i4"), "save booleans"),
        ("m.npy", GRAY // 128 * 3, "holds 0 to 3 of a range to 255, of which above half is inside"),
        ("m.png", of_image(GRAY // 128 * 100), "holds 0 to 100 of a range to 255"),
        ("m.tif", of_image(np.where(INSIDE, 4095, 0).astype("u2")), "holds 0 to 4095 of a range"),
        ("m.npy", np.array([0, 0.25, 7]), "values other than 0 and 1, 0 to 7; save booleans"),
        ("m.nii", volume(NOISE), "besides 0, or NaN: 0 to 255; save"),
        ("m.png", of_image(COLORED).convert("RGBA"), "transparent pixels (mode RGBA)"),
        ("m.npy", np.array([{}], dtype=object), "Python objects"),
        ("m.png", of_image(np.stack([GRAY] * 3, axis=-1)), "has colors (mode RGB)"),
        ("m.gif", of_image(COLORED).quantize(9), "has colors (mode P)"),
        ("m.tif", of_image(INSIDE.astype(np.float32)), "has 32 bits a pixel (mode F)"),
        (
            "m.png",
            of_image(INSIDE.astype(np.uint8)),
            "holds 0 to 1 of a range to 255, of which above half is",
        ),
        ("m.nc:m", field(np.full((5, 7), 280.0)), "nothing says what is inside"),
        ("m.nc", BARE, "no variable on latitudes and longitudes"),
        ("m.nii", volume(NOISE), "holds more than one value besides 0"),
        ("m.nii", volume(np.ones((4, 5, 6, 3))), "must be 3-D, one value a voxel. Got 4 x 5 x 6 x"),
        ("m.nii", volume(np.zeros((4, 5, 6), RGB)), "must hold numbers"),
        (
            "m.nii",
            volume(np.ones((4, 5, 6)), affine=np.eye(4) + 0.02 * np.eye(4, k=1)),
            "its affine must be without shear",
        ),
    ],
)
def test_files_that_are_no_masks(tmp_path: Path, name: str, value: Any, message: str) -> None:
    written(tmp_path / name.partition(":")[0], value)
    assert message in refusal(f"{tmp_path}/{name}")


HEADER = b"\x93NUMPY\x01\x00v\x00{'descr': '|b1', 'fortran_order': False, 'shape': (%s,), }"


@pytest.mark.parametrize("number", [b"9", b"99999999999999", b"-1"])
def test_arrays_that_are_shorter_than_they_say(tmp_path: Path, number: bytes) -> None:
    (tmp_path / "m.npy").write_bytes((HEADER % number).ljust(127) + b"\n\x01")
    refusal(tmp_path / "m.npy")


def test_files_that_are_none(tmp_path: Path) -> None:
    for name, why in (("absent", "does not exist"), ("x" * 300, "File name too long")):
        assert why in refusal(tmp_path / f"{name}.png")
        assert why in refusal(f"{tmp_path}/{name}.nc:mask")
    (tmp_path / "five.nc").write_bytes(b"CDF\x05" + bytes(60))
    assert "of another kind. NetCDF 4, classic and" in refusal(tmp_path / "five.nc")
    (tmp_path / "folder.npy").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    for name in ("folder.npy", "pipe.png"):
        assert "is not a file" in refusal(tmp_path / name)
    (tmp_path / "m.txt").write_text("1 0")
    assert "must be one of .npy, .png" in refusal(tmp_path / "m.txt")
    with (tmp_path / "m.npy").open("wb") as file:
        np.savez(file, inside=INSIDE)
    assert "several arrays" in refusal(tmp_path / "m.npy")
    assert "no NetCDF file" in refusal(f"{tmp_path}/m.npy:mask")


def test_postscript_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow would have Ghostscript run it, here one that leaves a trace."""
    monkeypatch.setattr("PIL.EpsImagePlugin.gs_binary", None)  # it remembers whether there is one
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    ghostscript, trace = tmp_path / "gs", tmp_path / "trace"
    ghostscript.write_text(f'#!/bin/sh\n[ "$1" = --version ] || touch "{trace}"\n')
    ghostscript.chmod(0o755)
    file = tmp_path / "m.png"
    header = "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\n%\n"
    file.write_text(f"{header}%ImageData: 8 8 8 1 0 1 1 x\n%%EOF\n")  # gray, as masks must be
    message = refusal(file)
    assert not trace.exists()
    assert "read as an image" in message


def test_images_of_several_frames(tmp_path: Path) -> None:
    frames = [of_image(GRAY), of_image(255 - GRAY)]
    for name in ("m.gif", "m.tif"):
        frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:])
        assert "must have one frame. Got 2" in refusal(tmp_path / name)


def test_too_large_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path / "m.jpg", of_image(np.full((30, 40), 255, np.uint8)))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 700)  # Pillow warns
    assert np.asarray(read_mask(file)).all()
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 500)  # Pillow refuses
    assert "save it as .npy" in refusal(file)


WHOLE = {
    "m.npy": NOISE,
    **dict.fromkeys(("m.png", "m.tif", "m.gif", "m.jpg", "m.bmp"), of_image(NOISE[0])),
    **dict.fromkeys(("m.nc", "m.cdf"), field(INSIDE * 1.0)),
    **dict.fromkeys(("m.nii", "m.nii.gz"), volume(NOISE)),
}


@pytest.mark.parametrize("name", WHOLE)
def test_damaged_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    file = written(tmp_path / name, WHOLE[name])
    whole = file.read_bytes()
    half = whole[: len(whole) // 2]
    for contents in (b"", b"CDF", b"no image" * 99, whole[:4], whole[:20], whole[:200], half):
        file.write_bytes(contents)
        refusal(file)
    assert not capsys.readouterr().err  # nibabel's own log would be a second line


@pytest.mark.parametrize("library", ["PIL", "xarray", "h5netcdf", "h5py"])
def test_a_missing_library_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    extra, name = ("images", "m.png") if library == "PIL" else ("netcdf", "m.nc")
    file = written(tmp_path / name, WHOLE[name])
    monkeypatch.setitem(sys.modules, library, None)
    needed = rf"needs {library}, .* pip install 'cheblienet\[{extra}\]'"
    with pytest.raises(CheblienetError, match=needed):
        read_mask(file)
