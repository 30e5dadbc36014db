"""Fields on latitudes and longitudes in NetCDF, through xarray, which is an extra."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cheblienet_graphs.errors import InputError, needing
from cheblienet_graphs.inputs.files import reading
from cheblienet_graphs.inputs.masks import LatLonMask, inside_of_field
from cheblienet_graphs.quoting import listed

if TYPE_CHECKING:
    import xarray as xr

NETCDF = (".nc", ".nc4", ".cdf")
FORM = "a NetCDF file"
ENGINES = {b"\x89HDF": "h5netcdf", b"CDF\x01": "scipy", b"CDF\x02": "scipy"}
"""What reads a file, by its first bytes: NetCDF 4, NetCDF 3 classic and with 64-bit offsets."""
AXES = {
    "latitude": ("lat", "latitude", "degrees_north", "degree_north", "degrees_n", "degree_n"),
    "longitude": ("lon", "longitude", "degrees_east", "degree_east", "degrees_e", "degree_e"),
}
"""Names and units of coordinates, in lower case, by CF's standard name."""


def read_field(file: Path, variable: str | None) -> LatLonMask:
    """The mask in a variable on latitudes and longitudes, other dimensions being of length 1.

    Coordinates are known by their units, degrees_north and degrees_east, by CF's standard names, or
    by their own names lat, latitude, lon, longitude.

    Args:
        file: NetCDF 3 or 4.
        variable: its name; None where the file has only one on latitudes and longitudes.

    Raises:
        InputError: the file can't be read, has no such variable or several.
        SpecError: the variable is no mask.
        CheblienetError: xarray or what it reads such a file with is not installed.
    """
    with (
        reading(file, FORM),
        needing(f"{file} is {FORM}; this", "netcdf"),
        file.open("rb") as opened,
    ):
        import xarray as xr  # an extra

        engine = ENGINES.get(opened.read(4))
        opened.seek(0)
        if engine is None:
            raise InputError(f"{file} is no NetCDF file.")
        if engine == "h5netcdf":
            for library in (engine, "h5py"):
                import_module(library)  # their absence xarray says less clearly
        source = file if engine == "h5netcdf" else opened  # else scipy leaves a map behind
        with xr.open_dataset(source, engine=engine, decode_times=False) as dataset:
            return _mask(_chosen(dataset, file, variable), file)


def _chosen(dataset: "xr.Dataset", file: Path, variable: str | None) -> "xr.DataArray":
    """The variable of that name, or the only one on latitudes and longitudes."""
    names = [str(name) for name in dataset.data_vars]
    suitable = [name for name in names if len(_axes(dataset[name])) == len(AXES)]
    if variable is None and len(suitable) == 1:
        variable = suitable[0]
    if variable in names:
        return dataset[variable]
    if suitable and variable is None:
        which = f"Choose one, as {file}:{suitable[0]}"
        raise InputError(f"{file} has several fields: {listed(suitable)}. {which}.")
    missing = variable or "on latitudes and longitudes in degrees"
    raise InputError(f"{file} has no variable {missing}; it has {listed(names)}.")


def _axes(field: "xr.DataArray") -> dict[str, str]:
    """Dimension by "latitude" and "longitude", those that the field has."""
    return {
        axis: str(dimension)
        for dimension in field.dims
        for axis, words in AXES.items()
        if dimension in field.coords and _is_axis(field.coords[dimension], axis, words)
    }


def _is_axis(coordinate: "xr.DataArray", axis: str, words: tuple[str, ...]) -> bool:
    units = str(coordinate.attrs.get("units", "")).lower()
    if "rad" in units or coordinate.dtype.kind not in "iuf":
        return False
    name, standard = str(coordinate.name).lower(), coordinate.attrs.get("standard_name")
    return name in words or units in words or standard == axis


def _mask(field: "xr.DataArray", file: Path) -> LatLonMask:
    """The mask that a field is."""
    axes = _axes(field)
    where = f"{file}:{field.name}"
    if len(axes) != len(AXES):
        raise InputError(
            f"{where} must have latitudes and longitudes in degrees as dimensions, each with its "
            f"coordinates. Got {dict(field.sizes)}."
        )
    others = {name: size for name, size in field.sizes.items() if name not in axes.values()}
    if any(size != 1 for size in others.values()):
        sizes = ", ".join(f"{name} ({size})" for name, size in others.items())
        raise InputError(
            f"{where} must have latitudes and longitudes alone. It has {sizes} too; select one, as "
            "xarray's isel does, and save it."
        )
    plane = field.squeeze(list(others)).transpose(axes["latitude"], axes["longitude"])
    latitudes, longitudes = (np.asarray(plane.coords[name].values) for name in plane.dims)
    return LatLonMask(inside_of_field(np.asarray(plane.values)), latitudes, longitudes)
