"""Values on a grid of voxels, and where these are in the world; in NIfTI files.

These are read and written through nibabel, which is an extra.
"""

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np

from cheblienet_graphs.errors import InputError, SpecError, Unquoted, needing
from cheblienet_graphs.inputs.coordinates import has_coordinates
from cheblienet_graphs.inputs.files import reading, reals, unmasked
from cheblienet_graphs.inputs.inside import Booleans, Values, ambiguous, spread
from cheblienet_graphs.limits import file_path
from cheblienet_graphs.typing import Floats

SHEAR = 1e-3
"""Largest cosine between two directions of the voxels: 0.06 degrees off a right angle."""
DIGITS = 6
"""Significant digits of a spacing: what an affine in single precision says of it."""
EQUAL = 1e-5
"""Sides of voxels are equal where they differ by at most so much of themselves."""
APART = 1e-2
"""Grids are one where their corners are at most so many voxels apart."""
NIFTI = (".nii", ".nii.gz")
FORM = "a NIfTI file"
WRITTEN = {"f": (4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8)}
"""Bytes of the numbers that are written, by kind."""


@dataclass(frozen=True, eq=False)
class Volume:
    """Values on voxels, and the affine that takes these to the world.

    Voxel (i, j, k) is at i + W (j + H k): i runs along x, which is the tensor's last axis.

    Args:
        values: (D, H, W), or (C, D, H, W) with several values a voxel; of any dtype.
        affine: (4, 4), from (i, j, k, 1) to (x, y, z, 1) in the world. Its directions must be at
            right angles; flips, rotations and other orders of axes are welcome.

    Raises:
        SpecError: values are of another shape, or the affine has shear, is singular or not finite.
    """

    values: Values
    affine: Floats

    def __post_init__(self) -> None:
        given: Any = self.values
        if has_coordinates(given):
            dims = tuple(str(name).lower() for name in given.dims)[-3:]
            if dims != ("z", "y", "x") and not all(name.startswith("dim_") for name in dims):
                found = Unquoted(f"dimensions {tuple(given.dims)}")
                raise SpecError("values", "of dimensions z, y, x", found, "Transpose them.")
        object.__setattr__(self, "values", unmasked("values", self.values))
        object.__setattr__(self, "affine", _checked(reals("affine", self.affine)))
        if self.values.ndim not in (3, 4) or not self.values.size:
            shape = self.values.shape
            raise SpecError("values", "of shape (D, H, W) or (C, D, H, W), not empty", shape)

    def __repr__(self) -> str:
        """Size, values and spacing in a line, without the values."""
        several = f"{len(self.values)} x " if self.values.ndim == 4 else ""
        sides = " x ".join(f"{side:g}" for side in self.spacing)
        return f"Volume({_by(self.size)} voxels, {several}{self.values.dtype}, spacing {sides})"

    @property
    def size(self) -> tuple[int, int, int]:
        """(W, H, D) voxels along i, j and k."""
        depth, height, width = self.values.shape[-3:]
        return width, height, depth

    @property
    def spacing(self) -> tuple[float, float, float]:
        """Distance of neighboring voxels along i, j and k, in the world's unit; of 6 digits.

        Sides that differ by less than 1e-5 of themselves are equal: headers are rounded.
        """
        sides: list[float] = []
        for length in np.linalg.norm(self.affine[:3, :3], axis=0):
            equal = (side for side in sides if math.isclose(side, length, rel_tol=EQUAL))
            sides.append(next(equal, length))
        along_i, along_j, along_k = (float(f"{side:.{DIGITS}g}") for side in sides)
        return along_i, along_j, along_k

    @property
    def rotation(self) -> Floats:
        """(3, 3), orthogonal; column a is the direction of the world in which index a grows.

        An axis n of a graph, which is a direction of the voxels, is rotation @ n in the world; a
        function f of the world's directions is f(rotation @ n) on the graph. A flip, or axes in
        another order, are in it, so its determinant may be -1.
        """
        matrix = self.affine[:3, :3]
        left, _, right = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=0))
        rotation: Floats = left @ right
        return rotation

    def check_grid(self, like: "Volume") -> None:
        """Refuse a grid that is not another one's.

        Args:
            like: the other one. Corners may be 0.01 voxels apart, as headers are rounded.

        Raises:
            SpecError: the number of voxels differs, or the place of any.
        """
        if not isinstance(like, Volume):
            raise SpecError("like", "a Volume", like)
        if self.size != like.size:
            accepted = f"{_by(like.size)} voxels, as of the other volume"
            raise SpecError("size", accepted, Unquoted(_by(self.size)))
        corners = np.indices((2, 2, 2)).reshape(3, -1) * (np.array(self.size)[:, None] - 1)
        places = np.vstack([corners, np.ones(8)])
        apart = float(np.abs((self.affine - like.affine) @ places).max())
        if apart > APART * min(like.spacing):
            accepted = "that of the other volume"
            raise SpecError(
                "affine", accepted, Unquoted(f"one by which corners are {apart:.3g} off")
            )


def inside_of_volume(values: Values) -> Booleans:
    """Inside is where a mask is not 0, of which it has one value besides, such as 1 or 255.

    Args:
        values: of any shape; bool or numbers.

    Raises:
        SpecError: it has more than one besides 0, as labels and probabilities have, or NaN.
    """
    inside: Booleans = values != 0
    others = values[inside]
    if others.size and not (others == others[0]).all():  # which NaN is not
        held = f"holds more than one value besides 0, or NaN: {spread(values)}"
        raise ambiguous(f"{held}; save 0 and 1")
    return inside


def _checked(affine: Floats) -> Floats:
    """An affine with directions at right angles."""
    if affine.shape != (4, 4):
        raise SpecError("affine", "of shape (4, 4)", affine.shape)
    lengths = np.linalg.norm(affine[:3, :3], axis=0)
    if not np.isfinite(affine).all() or not (lengths > 0).all():
        found = Unquoted("one with a spacing of 0 or without numbers")
        raise SpecError("affine", "finite, with voxels of a size", found)
    directions = affine[:3, :3] / lengths
    cosine = float(np.abs(directions.T @ directions - np.eye(3)).max())
    if cosine > SHEAR:
        angle = math.degrees(math.acos(min(cosine, 1.0)))
        raise SpecError(
            "affine",
            "without shear, its directions at right angles",
            Unquoted(f"{angle:.4g} degrees between two"),
            "Resample the image onto a grid without shear.",
        )
    return affine


def _by(size: tuple[int, ...]) -> str:
    return " x ".join(map(str, size))


def is_nifti(file: Path) -> bool:
    """True if a file's name says that it is NIfTI."""
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
