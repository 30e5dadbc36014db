"""Masks from files: .npy; gray images, through Pillow, which is an extra; NetCDF; NIfTI."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cheblienet_graphs.errors import InputError, SpecError, needing
from cheblienet_graphs.inputs.files import read_npy, reading
from cheblienet_graphs.inputs.fractions import fractions_of_array
from cheblienet_graphs.inputs.masks import (
    Booleans,
    LatLonMask,
    Values,
    inside_of_array,
    inside_of_image,
)
from cheblienet_graphs.inputs.netcdf import NETCDF, read_field
from cheblienet_graphs.inputs.nifti import NIFTI, is_nifti, read_nifti
from cheblienet_graphs.inputs.polygons import GEOJSON, Polygons, read_polygons
from cheblienet_graphs.inputs.volumes import Volume, inside_of_volume
from cheblienet_graphs.limits import MASK_EDGES
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.values import choice, file_path

if TYPE_CHECKING:
    from PIL import Image

IMAGES = (".png", ".tif", ".tiff", ".bmp", ".gif", ".jpg", ".jpeg", ".pgm", ".pbm", ".webp")
FORMATS = ("PNG", "TIFF", "BMP", "GIF", "JPEG", "PPM", "WEBP")
"""What Pillow may take a file for. By itself it goes by the contents alone, and hands PostScript to
Ghostscript, which runs it, whatever the file is called."""
FORM = "an image"
GRAY = {"1", "L", "I;16", "I;16B", "I;16L", "I;16N"}
TRANSPARENT = {"LA", "La", "PA", "RGBA", "RGBa"}
REMEDY = 'Save it as 8-bit gray, as PIL.Image.open(FILE).convert("L") does'
SUFFIXES = (".npy", *IMAGES, *NETCDF, *NIFTI, *GEOJSON)
DIMENSIONS = (1, 2, 3)


def read_mask(
    source: str | Path, edge: str = "pixels"
) -> Booleans | Floats | LatLonMask | Polygons | Volume:
    """The mask in a file: which values are inside stands in `inside`.

    - `.npy`: (points,) in the order of a sampling of the sphere, in HEALPix nested or ring;
      (height, width) of the plane, row 0 at y = 0, or of the whole sphere, as
      `LatLonMask.whole_sphere`; or (depth, height, width) of space.
    - Gray images of 8 or 16 bits, one frame: (height, width) as above, the top row first.
    - NetCDF: a variable on latitudes and longitudes.
    - NIfTI, .nii or .nii.gz, of one value a voxel: 0 outside, another one inside.
    - GeoJSON, .geojson or .json, of polygons in pixels of a lattice.

    Args:
        source: a path; of NetCDF also FILE:VARIABLE, where the file has several such variables.
        edge: "cut" for the part of each pixel, of lattices, in place of which are inside: shares of
            the range of gray, numbers in [0, 1].

    Returns:
        Booleans, or parts in [0, 1]; a mask on latitudes and longitudes where the file is NetCDF; a
        volume (depth, height, width) of these with its affine where it is NIfTI; polygons where it
        is GeoJSON.

    Raises:
        InputError: there is no such file, it can't be read, or what it holds is no mask.
        CheblienetError: the library that reads it is not installed.
    """
    cut = choice("edge", edge, MASK_EDGES) == "cut"
    file, variable = _split(source)
    suffix = file.suffix.lower()
    try:
        if suffix in NETCDF:
            return read_field(file, variable)
        if variable is not None:
            raise InputError(f"{file} is no NetCDF file, so it has no variable {variable}.")
        if is_nifti(file):
            volume = read_nifti(file, 3)
            of_voxels = fractions_of_array if cut and _between(volume.values) else inside_of_volume
            return Volume(of_voxels(volume.values), volume.affine)
        if suffix in IMAGES:
            return (fractions_of_array if cut else inside_of_image)(_image(file))
        if suffix in GEOJSON:
            return read_polygons(file)
        if suffix == ".npy":
            return (fractions_of_array if cut else inside_of_array)(_array(file))
    except SpecError as error:
        raise InputError(f"{source} {error.complaint}") from error
    raise InputError(f"{file} must be one of {', '.join(SUFFIXES)}.")


def _between(values: Values) -> bool:
    """Whether numbers are all in [0, 1]."""
    return bool(((values >= 0) & (values <= 1)).all())


def _array(file: Path) -> Values:
    values = read_npy(file)
    if values.ndim not in DIMENSIONS or values.size == 0:
        raise InputError(
            f"{file} must have shape (points,), (height, width) or (depth, height, width). "
            f"Got {values.shape}."
        )
    return values


def _image(file: Path) -> Values:
    """The pixels of a gray image of one frame.

    Returns:
        (height, width) bool, uint8 or uint16, the top row first.
    """
    what = f"{file} is {FORM}; this"
    with reading(file, FORM), needing(what, "images"), warnings.catch_warnings():
        from PIL import Image  # an extra

        # Beyond a limit Pillow warns, beyond twice as much it refuses; the latter is enough.
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        try:
            with Image.open(file, formats=FORMATS) as image:
                return _gray(image, file)
        except Image.DecompressionBombError as error:
            raise InputError(f"{file} is too large for an image; save it as .npy.") from error


def _gray(image: "Image.Image", file: Path) -> Values:
    frames: Any = getattr(image, "n_frames", 1)
    if frames != 1:
        raise InputError(f"{file} must have one frame. Got {frames}; save one as its own file.")
    if image.mode in TRANSPARENT or "transparency" in image.info:
        raise InputError(f"{file} has transparent pixels (mode {image.mode}). {REMEDY}.")
    if image.mode == "P":
        colors = np.asarray(image.convert("RGB"))
        if (colors == colors[..., :1]).all():
            return np.asarray(colors[..., 0])
    if image.mode not in GRAY:
        what = "is not of 8 bits" if image.mode in {"I", "F"} else "has colors"
        raise InputError(f"{file} {what} (mode {image.mode}). {REMEDY}.")
    return np.asarray(image)


def _split(source: str | Path) -> tuple[Path, str | None]:
    """FILE and VARIABLE; a file whose name has a colon is that file."""
    path = file_path("source", source)
    head, colon, variable = str(path).rpartition(":")
    if not colon or path.exists() or not variable or "/" in variable:
        return path, None
    return Path(head), variable
