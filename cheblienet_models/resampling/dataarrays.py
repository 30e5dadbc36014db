"""Fields of xarray, taken by their names of dimensions and coordinates without importing it."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cheblienet_models.resampling.grids import Floats

LATITUDE, LONGITUDE = ("lat", "latitude"), ("lon", "longitude")
"""Names that the dimensions of a field may have."""


class DataArray(Protocol):
    """The part of an xarray.DataArray that is used."""

    @property
    def dims(self) -> tuple[Any, ...]:
        """Names of the axes."""

    @property
    def coords(self) -> Any:
        """From a name to coordinates that have `values`."""

    @property
    def values(self) -> npt.NDArray[Any]:
        """The field."""


def field_coordinates(array: DataArray) -> tuple[Floats, Floats]:
    """(lat,) and (lon,) float64 coordinates of a DataArray.

    Raises:
        ValueError: it is something else, or has no such dimensions or coordinates.
    """
    if hasattr(array, "data_vars"):
        variables = [f"{str(name)!r:.40}" for name in array.data_vars] or ["none"]
        shown = ", ".join(variables[:8]) + ", ..." * (len(variables) > 8)
        raise ValueError(
            f"Fields are taken one at a time. Got a Dataset with the variables {shown}: give one "
            f"of them, dataset[{variables[0]}], or all with dataset.to_dataarray()."
        )
    # Not by isinstance, which may ask for the values and so load them from a file.
    if not (hasattr(array, "dims") and hasattr(array, "coords")):
        raise ValueError(
            "Fields are torch tensors or xarray.DataArrays with dims, coords and values. "
            f"Got {type(array).__name__}."
        )
    coordinates = []
    for name in (array.dims[axis] for axis in field_axes(array)):
        if name not in array.coords:
            raise ValueError(f"The DataArray's dimension {name!r} must have coordinates.")
        coordinates.append(np.asarray(array.coords[name].values, dtype=np.float64))
    return coordinates[0], coordinates[1]


def field_axes(array: DataArray) -> tuple[int, int]:
    """The axes of a DataArray that have latitudes and longitudes.

    Raises:
        ValueError: it has none of such a name, or several.
    """
    return _axis(array, LATITUDE), _axis(array, LONGITUDE)


def _axis(array: DataArray, names: tuple[str, ...]) -> int:
    """That which has one of these names."""
    axes = [axis for axis, name in enumerate(array.dims) if name in names]
    if len(axes) != 1:
        raise ValueError(
            f"The DataArray must have one dimension named {' or '.join(names)}. "
            f"Got {tuple(array.dims)}."
        )
    return axes[0]
