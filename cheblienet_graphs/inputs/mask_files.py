"""Masks from files: .npy, images, NetCDF, NIfTI."""

from pathlib import Path

from cheblienet_graphs.errors import InputError
from cheblienet_graphs.inputs.files import read_npy
from cheblienet_graphs.inputs.images import IMAGES, read_image
from cheblienet_graphs.inputs.inside import (
    AmbiguousError,
    Booleans,
    inside_of_array,
    inside_of_image,
)
from cheblienet_graphs.inputs.masks import LatLonMask
from cheblienet_graphs.inputs.netcdf import NETCDF, read_field
from cheblienet_graphs.inputs.nifti import NIFTI, is_nifti, read_mask_volume
from cheblienet_graphs.inputs.volumes import Volume
from cheblienet_graphs.values import file_path

SUFFIXES = (".npy", *IMAGES, *NETCDF, *NIFTI)
DIMENSIONS = (1, 2, 3)


def read_mask(source: str | Path) -> Booleans | LatLonMask | Volume:
    """The mask in a file: which values are inside stands in `inside`.

    - `.npy`: (points,) in the order of a sampling of the sphere, in HEALPix nested or ring;
      (height, width) of the plane, row 0 at y = 0, or of the whole sphere, as
      `LatLonMask.whole_sphere`; or (depth, height, width) of space.
    - Grey images of 8 or 16 bits, one frame: (height, width) as above, the top row first.
    - NetCDF: a variable on latitudes and longitudes.
    - NIfTI, .nii or .nii.gz, of one value a voxel: 0 outside, another one inside.

    Args:
        source: a path; of NetCDF also FILE:VARIABLE, where the file has several such variables.

    Returns:
        Booleans; a mask on latitudes and longitudes where the file is NetCDF; a volume (depth,
        height, width) of booleans with its affine where it is NIfTI.

    Raises:
        InputError: there is no such file, it can't be read, or what it holds is no mask.
        CheblienetError: the library that reads it is not installed.
    """
    file, variable = _split(source)
    suffix = file.suffix.lower()
    try:
        if suffix in NETCDF:
            return read_field(file, variable)
        if variable is not None:
            raise InputError(f"{file} is no NetCDF file, so it has no variable {variable}.")
        if is_nifti(file):
            return read_mask_volume(file)
        if suffix in IMAGES:
            return inside_of_image(read_image(file))
        if suffix == ".npy":
            return _array(file)
    except AmbiguousError as error:
        raise InputError(f"{file} {error}.") from error
    raise InputError(f"{file} must be one of {', '.join(SUFFIXES)}.")


def _array(file: Path) -> Booleans:
    values = read_npy(file)
    if values.ndim not in DIMENSIONS or values.size == 0:
        raise InputError(
            f"{file} must have shape (points,), (height, width) or (depth, height, width). "
            f"Got {values.shape}."
        )
    return inside_of_array(values)


def _split(source: str | Path) -> tuple[Path, str | None]:
    """FILE and VARIABLE; a file whose name has a colon is that file."""
    path = file_path("source", source)
    head, colon, variable = str(path).rpartition(":")
    if not colon or path.exists() or not variable or "/" in variable:
        return path, None
    return Path(head), variable
