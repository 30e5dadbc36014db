"""Volumes in NIfTI files, through nibabel, which is an extra."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np

from cheblienet_graphs.errors import InputError, SpecError, needing
from cheblienet_graphs.inputs.files import reading
from cheblienet_graphs.inputs.masks import Values
from cheblienet_graphs.inputs.volumes import Volume
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.values import file_path

NIFTI = (".nii", ".nii.gz")
FORM = "a NIfTI file"
WRITTEN = {"f": (4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8)}
"""Bytes of the numbers that are written, by kind."""


def is_nifti(file: Path) -> bool:
    """Whether a file's name says that it is NIfTI."""
    return file.name.lower().endswith(NIFTI)


def read_nifti(
    source: str | Path, dimensions: Literal[3, 4], *, like: Volume | None = None
) -> Volume:
    """The image in a NIfTI file, 1 or 2, compressed or not.

    A file has x first, (i, j, k) or (i, j, k, c); arrays here have it last, as tensors have. Axes
    are neither flipped nor put in another order: `Volume.rotation` says how they lie in the world.

    Args:
        source: path of a file .nii or .nii.gz.
        dimensions: 3, one value a voxel, or 4, several, such as the coefficients of spherical
            harmonics. Further axes of the file must be of length 1.
        like: a volume on the grid that the image must have.

    Returns:
        Values (D, H, W) or (C, D, H, W), in the file's dtype, or float64 where it scales them; its
        affine is that of the sform, else of the qform, else of the spacing, x flipped, as nibabel
        has it.

    Raises:
        InputError: there is no such file, it can't be read, has other dimensions, an affine with
            shear, or another grid.
        CheblienetError: nibabel is not installed.
    """
    file = file_path("source", source)
    nibabel = _nibabel(file)
    with reading(file, FORM), _without_log():
        image = nibabel.load(file, mmap=False)
        if not isinstance(image, nibabel.Nifti1Image):  # NIfTI 2 is a kind of it
            raise InputError(f"{file} is {type(image).__name__}, no plain NIfTI image.")
        shape = _shape(file, image.shape, dimensions)
        values = np.asanyarray(image.dataobj)
    if values.dtype.kind not in "biuf":
        raise InputError(f"{file} must hold numbers. Got {values.dtype}.")
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    try:
        volume = Volume(native.reshape(shape, order="F").T, image.affine)
        if like is not None:
            volume.check_grid(like)
    except SpecError as error:
        raise InputError(f"{file}: its {error.field} {error.complaint}") from error
    return volume


def write_nifti(target: str | Path, values: Values, affine: Floats) -> None:
    """Write an image, replacing the file that is there.

    Args:
        target: path of a file .nii, or .nii.gz, which is compressed.
        values: (D, H, W) or (C, D, H, W); booleans become 8-bit integers.
        affine: (4, 4), from voxels (i, j, k, 1) to the world, in millimeters.

    Raises:
        SpecError: a shape or dtype that can't be written, an affine with shear.
        InputError: the file can't be written, or its name is another.
        CheblienetError: nibabel is not installed.
    """
    file = file_path("target", target)
    nibabel = _nibabel(file)
    volume = Volume(values, affine)
    array = volume.values.astype(np.uint8) if volume.values.dtype == bool else volume.values
    if array.dtype.itemsize not in WRITTEN.get(array.dtype.kind, ()):
        accepted = "booleans, integers, or floating-point numbers of 32 or 64 bits"
        raise SpecError("values", accepted, array.dtype)
    image: Any = nibabel.Nifti1Image(array.T, volume.affine, dtype=array.dtype)
    image.header.set_xyzt_units("mm")
    image.set_qform(volume.affine, "aligned")  # readers that know no sform need it
    try:
        image.to_filename(file)
    except OSError as error:
        raise InputError(f"{file} can't be written: {error.strerror or error}.") from error


def _shape(file: Path, found: tuple[int, ...], dimensions: int) -> tuple[int, ...]:
    """The file's shape, x first, without axes of length 1 beyond the dimensions.

    A fourth axis of length 1 before a fifth one is time, where the fifth has the values of a voxel.
    """
    shape = tuple(map(int, found))
    if dimensions == 4 and len(shape) == 5 and shape[3] == 1:
        shape = (*shape[:3], shape[4])
    while len(shape) > dimensions and shape[-1] == 1:
        shape = shape[:-1]
    if len(shape) == dimensions:
        return shape
    wanted = {3: "3-D, one value a voxel", 4: "4-D, several values a voxel"}[dimensions]
    raise InputError(f"{file} must be {wanted}. Got {' x '.join(map(str, found))}.")


@contextmanager
def _without_log() -> Iterator[None]:
    """Keep nibabel from logging what it would mend of a damaged header: one line is enough."""
    logger = logging.getLogger("nibabel.global")
    others = logging.Filter("others")
    logger.addFilter(others)
    try:
        yield
    finally:
        logger.removeFilter(others)


def _nibabel(file: Path) -> ModuleType:
    """The library that reads and writes a file."""
    if not is_nifti(file):
        raise InputError(f"{file} must be one of {', '.join(NIFTI)}.")
    with needing(f"{file} is {FORM}; this", "volumes"):
        return import_module("nibabel")  # an extra
