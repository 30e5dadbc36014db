"""Masks from files: .npy, images, NetCDF, NIfTI.

Images are read through Pillow, NetCDF through xarray, NIfTI through nibabel; all three are extras.
"""

import itertools
import warnings
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cheblienet_graphs.errors import InputError, SpecError, listed, quoted
from cheblienet_graphs.inputs.coordinates import AXES, lat_lon_dimensions
from cheblienet_graphs.inputs.files import read_npy, reading
from cheblienet_graphs.inputs.inside import (
    TOLERANCE,
    Booleans,
    Values,
    ambiguous,
    inside_of_array,
    inside_of_field,
    inside_of_image,
    within,
)
from cheblienet_graphs.inputs.labelled import degrees_of, point_coordinates
from cheblienet_graphs.inputs.masks import LatLonMask, PointMask
from cheblienet_graphs.inputs.polygons import GEOJSON, Polygons, fractions_of_array, read_polygons
from cheblienet_graphs.inputs.steps import place_of
from cheblienet_graphs.inputs.volumes import NIFTI, Volume, inside_of_volume, is_nifti, read_nifti
from cheblienet_graphs.limits import MASK_EDGES, choice, file_path
from cheblienet_graphs.typing import Floats

if TYPE_CHECKING:
    import xarray as xr
    from PIL import Image

IMAGES = (".png", ".tif", ".tiff", ".bmp", ".gif", ".jpg", ".jpeg", ".pgm", ".pbm", ".webp")
FORMATS = ("PNG", "TIFF", "BMP", "GIF", "JPEG", "PPM", "WEBP")
"""Formats that Pillow may read. By default Pillow decides by the contents alone, and hands
PostScript to Ghostscript, which runs it, whatever the name of the file."""
GRAY = {"1", "L", "I;16", "I;16B", "I;16L", "I;16N"}
TRANSPARENT = {"LA", "La", "PA", "RGBA", "RGBa"}
REMEDY = 'Save it as 8-bit gray, as PIL.Image.open(FILE).convert("L") does'
NETCDF = (".nc", ".nc4", ".cdf")
SUFFIXES = (".npy", *IMAGES, *NETCDF, *NIFTI, *GEOJSON)
DIMENSIONS = (1, 2, 3)
ENGINES = {b"\x89HDF": "h5netcdf", b"CDF\x01": "scipy", b"CDF\x02": "scipy"}
"""Readers by the first bytes of a file: NetCDF 4, NetCDF 3 classic and with 64-bit offsets."""
CONVERTED = "NetCDF 4, classic and 64-bit offsets are read; `nccopy -k nc4` writes the first"


def read_mask(
    source: str | Path, edge: str = "pixels"
) -> Booleans | Floats | LatLonMask | PointMask | Polygons | Volume:
    """The mask in a file; the module `inside` says which values count as inside.

    - `.npy`: (points,) in the order of a sampling of the sphere, in HEALPix nested or ring;
      (height, width) of the plane, row 0 at y = 0, or of the whole sphere, as
      `LatLonMask.whole_sphere`; or (depth, height, width) of space.
    - Gray images of 8 or 16 bits, one frame: (height, width) as above, the top row first.
    - NetCDF: a variable on latitudes and longitudes, or on points with these.
    - NIfTI, .nii or .nii.gz, of one value a voxel: 0 outside, another one inside.
    - GeoJSON, .geojson or .json, of polygons in pixels of a lattice.

    Args:
        source: a path; of NetCDF also FILE:VARIABLE, where the file has several such variables,
            FILE:GROUP/VARIABLE in a group, and FILE:VARIABLE@STEP for one step along another
            dimension, from 0, or of time as a date, 2020-01-31 or the beginning of one; along two
            others @STEP,STEP.
        edge: "cut", on lattices, for the part of each pixel that is inside instead of a boolean:
            its share of the range of gray, or a number in [0, 1].

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
            of_voxels = fractions_of_array if cut and within(volume.values) else inside_of_volume
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
    with reading(file, "an image", "images"), warnings.catch_warnings():
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
        what = "has 32 bits a pixel" if image.mode in {"I", "F"} else "has colors"
        raise InputError(f"{file} {what} (mode {image.mode}). {REMEDY}.")
    return np.asarray(image)


def _split(source: str | Path) -> tuple[Path, str | None]:
    """FILE and VARIABLE; None for VARIABLE if a file of the whole name exists."""
    path = file_path("source", source)
    head, colon, variable = str(path).rpartition(":")
    in_group = Path(head).suffix.lower() in NETCDF
    if not colon or not variable or ("/" in variable and not in_group):
        return path, None
    with suppress(OSError):  # of too long a name
        if path.exists():
            return path, None
    return Path(head), variable


def read_field(file: Path, variable: str | None) -> LatLonMask | PointMask:
    """The mask in a variable on latitudes and longitudes, at one step of other dimensions.

    Coordinates are known by their units, degrees_north and degrees_east, by CF's standard names, or
    by their own names lat, latitude, lon, longitude.

    Args:
        file: NetCDF 3 or 4.
        variable: its name, after the path of its group, with @STEP where other dimensions are
            longer; None where the file has only one on latitudes and longitudes.

    Raises:
        InputError: the file can't be read, has no such variable or several, or names other files.
        SpecError: the variable is no mask.
        CheblienetError: xarray or what it reads such a file with is not installed.
    """
    with reading(file, "a NetCDF file", "netcdf"), file.open("rb") as opened:
        import xarray as xr  # an extra

        engine = ENGINES.get(opened.read(4))
        opened.seek(0)
        if engine is None:
            raise InputError(f"{file} is no NetCDF file, or of another kind. {CONVERTED}.")
        if engine == "h5netcdf":
            for library in (engine, "h5py"):
                import_module(library)  # xarray reports their absence less clearly
            _check_alone(file)
        source = file if engine == "h5netcdf" else opened  # else scipy leaves a map behind
        groups = _groups(file) if engine == "h5netcdf" else []
        group, _, name = (variable or "").strip("/").rpartition("/")
        if group not in ("", *groups):
            raise InputError(f"{file} has no group {group}; it has {listed(groups) or 'none'}.")
        how: Any = {"engine": engine, "decode_times": False, "mask_and_scale": False}
        outer: dict[Any, Any] = {}  # coordinates of enclosing groups, visible in it
        with ExitStack() as stack, warnings.catch_warnings():
            warnings.simplefilter("ignore", xr.SerializationWarning)  # of several fill values
            for path in _ancestry(group):
                raw = stack.enter_context(xr.open_dataset(source, group=path, **how))
                fits = [name for name in raw.sizes if name in outer and name not in raw.coords]
                fits = [name for name in fits if outer[name].sizes == {name: raw.sizes[name]}]
                raw = raw.assign_coords({name: outer[name] for name in fits})
                outer |= {name: raw[name] for name in raw.dims if name in raw.coords}
            decoded = xr.decode_cf(raw, decode_times=False)
            chosen, steps = _chosen(decoded, file, name or None, group, groups)
            where = f"{file}:{group}{'/' if group else ''}{chosen.name}"
            return _mask(chosen, raw[chosen.name], where, steps)


def _ancestry(group: str) -> list[str | None]:
    """Paths of the groups around a group, from the root, None, and its own path."""
    names = group.split("/") if group else []
    return [None, *("/".join(names[: depth + 1]) for depth in range(len(names)))]


def _check_alone(file: Path) -> None:
    """Check that a NetCDF 4 file, which is HDF5, holds all its values itself.

    HDF5 would read any file that this one names: by a link, as the storage of a variable, or as a
    part of a virtual variable.

    Raises:
        InputError: it names another file.
    """
    h5py: Any = import_module("h5py")  # an extra

    def elsewhere(name: bytes, link: Any) -> str | None:
        shown = quoted(name.decode(errors="replace"))
        if link.type not in {h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT}:
            return f"{shown} is a link to"
        opened = link.type == h5py.h5l.TYPE_HARD and h5py.h5o.open(whole.id, name)
        if not isinstance(opened, h5py.h5d.DatasetID):
            return None
        how = opened.get_create_plist()
        kept = how.get_external_count() or how.get_layout() == h5py.h5d.VIRTUAL
        return f"the values of {shown} are in" if kept else None

    with h5py.File(file, "r") as whole:
        found = whole.id.links.visit(elsewhere, info=True)
    if found is not None:
        raise InputError(
            f"{file} must hold all its values itself; {found} another file. Save it as one file, "
            "as xarray's load().to_netcdf() does."
        )


def _groups(file: Path) -> list[str]:
    """Paths of the groups of a NetCDF 4 file but for its root."""
    h5py: Any = import_module("h5py")  # an extra
    found: list[str] = []
    with h5py.File(file, "r") as whole:
        whole.visititems(lambda name, item: found.extend([name] * isinstance(item, h5py.Group)))
    return found


def _chosen(
    dataset: "xr.Dataset", file: Path, variable: str | None, group: str, groups: list[str]
) -> tuple["xr.DataArray", str | None]:
    """The variable of that name, or the only one on latitudes and longitudes; its @STEP, if any."""
    within_group = f"{group}/" if group else ""
    names = [str(name) for name in dataset.data_vars]
    placed = [len(_axes(dataset[n])) == len(AXES) or point_coordinates(dataset[n]) for n in names]
    suitable = list(itertools.compress(names, placed))
    if variable is None and len(suitable) == 1:
        variable = suitable[0]
    if variable in names:
        return dataset[variable], None
    name, at, steps = (variable or "").rpartition("@")
    if at and name in names:
        return dataset[name], steps
    if suitable and variable is None:
        which = f"Choose one, as {file}:{within_group}{suitable[0]}"
        raise InputError(f"{file} has several fields: {listed(suitable)}. {which}.")
    missing = (name if at else variable) or "on latitudes and longitudes in degrees"
    inner = f" The groups are {listed(groups)}, as {file}:GROUP/VARIABLE." if groups else ""
    raise InputError(
        f"{file} has no variable {within_group}{missing}; it has {listed(names) or 'none'}.{inner}"
    )


def _axes(field: "xr.DataArray") -> dict[str, str]:
    """Dimension by "latitude" and "longitude", as far as the field has them."""
    with suppress(SpecError):  # of coordinates of another kind
        axes = lat_lon_dimensions(field)
        numeric = [n for n in axes.values() if n in field.coords and field[n].dtype.kind in "iuf"]
        return {axis: str(name) for axis, name in axes.items() if name in numeric}
    return {}


def _mask(
    field: "xr.DataArray", raw: "xr.DataArray", where: str, steps: str | None
) -> LatLonMask | PointMask:
    """The mask from the values and coordinates of a field.

    Args:
        field: the variable, decoded by its attributes.
        raw: the same variable as stored, not decoded.
        where: FILE:VARIABLE, for messages.
        steps: one for each dimension besides latitudes and longitudes that is longer than 1.
    """
    axes = _axes(field)
    points = None if len(axes) == len(AXES) else point_coordinates(field)
    if len(axes) != len(AXES) and points is None:
        raise InputError(
            f"{where} must have latitudes and longitudes in degrees as dimensions, each with its "
            f"coordinates, or along one dimension. Got {dict(field.sizes)}."
        )
    order = [points[0]] if points else [axes["latitude"], axes["longitude"]]
    others = [str(name) for name in field.dims if name not in order]
    place = place_of(field, others, where, steps)
    plane, stored = (values.isel(place).transpose(*order) for values in (field, raw))
    values = _without_invalid(np.asarray(plane.values), np.asarray(stored.values), raw.attrs)
    labels = not {"flag_values", "flag_masks"}.isdisjoint(raw.attrs) or (
        stored.dtype.kind in "iu" and {"scale_factor", "add_offset", "units"}.isdisjoint(raw.attrs)
    )
    inside = inside_of_field(values, str(raw.attrs.get("units", "")), labels=labels)
    if points:
        return PointMask(inside, *degrees_of("mask", points[1]))
    return LatLonMask(inside, *(np.asarray(plane.coords[name].values) for name in order))


def _without_invalid(values: Values, stored: Values, attributes: Mapping[Any, Any]) -> Values:
    """Values, NaN where they are outside of what the variable's attributes call valid.

    By the conventions these limits apply to numbers as stored; for scaled integers, limits that are
    floats apply to the scaled values.

    Args:
        values: as they are read.
        stored: as they are stored.
        attributes: of the variable as it is stored.
    """
    names = ("valid_min", "valid_max")
    if "valid_range" in attributes:
        limits = dict(enumerate(np.ravel(attributes["valid_range"])))
    else:
        limits = {i: attributes[name] for i, name in enumerate(names) if name in attributes}
    ends = {i: np.asarray(limit) for i, limit in limits.items()}
    if not ends.keys() <= {0, 1} or any(end.dtype.kind not in "iuf" for end in ends.values()):
        raise ambiguous("has limits of valid values that are no two numbers; save booleans")
    scaled = stored.dtype.kind in "iu" and any(end.dtype.kind == "f" for end in ends.values())
    if attributes.get("_Unsigned") == "true" and stored.dtype.kind == "i" and not scaled:
        unsigned = np.dtype(stored.dtype.str.replace("i", "u"))
        stored, ends = stored.view(unsigned), {i: e.astype(unsigned) for i, e in ends.items()}
    compared = np.asarray(values if scaled else stored, np.float64)
    outside = np.zeros(values.shape, bool)
    for i, end in ends.items():
        slack = TOLERANCE * abs(end) if scaled else 0
        outside |= (compared > end + slack) if i else (compared < end - slack)
    return np.where(outside, np.nan, values) if outside.any() else values
