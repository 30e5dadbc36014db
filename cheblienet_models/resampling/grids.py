"""Grids of latitudes and longitudes: made, checked, or taken from xarray; their pixels."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cheblienet_graphs.inputs.coordinates import (
    PARTS,
    eastwards,
    hole_between_columns,
    hole_between_rows,
    in_degrees,
    in_radians,
    lat_lon_dimensions,
)
from cheblienet_graphs.typing import Flags, Floats, Indices
from cheblienet_models.arguments import integer, number, real_array

MOST = 2**24
"""Rows or columns of an image of the sphere."""
SPACING = 1e-3
"""Coordinates may be off by this share of the step between two of them."""


def regular_grid(height: int, width: int, *, west: float) -> tuple[Tensor, Tensor]:
    """Centers of the pixels of an image of the whole sphere, north up.

    Args:
        height: rows, at least 2, at most 2^24, of a meter each.
        width: columns, as many.
        west: longitude of the image's left edge, degrees: 0 for [0, 360), -180 for [-180, 180).

    Returns:
        (height,) latitudes, descending, and (width,) longitudes, ascending, degrees, float64.

    Raises:
        ValueError: a smaller or larger image, or `west` outside [-360, 360].
    """
    integer("height", height, 2, MOST)
    integer("width", width, 2, MOST)
    if not -360 <= number("west", west) <= 360:
        raise ValueError(f"west must be in [-360, 360] degrees. Got {west}.")
    rows = torch.arange(height, dtype=torch.float64) + 0.5
    columns = torch.arange(width, dtype=torch.float64) + 0.5
    return 90 - rows * (180 / height), west + columns * (360 / width)


def _degrees(name: str, values: npt.ArrayLike | Tensor) -> Floats:
    """(n,) float64, n at least 2, all finite."""
    degrees = real_array(name, in_degrees(name, values))
    if degrees.ndim != 1 or len(degrees) < 2 or not np.isfinite(degrees).all():
        raise ValueError(
            f"{name} must be at least 2 finite numbers, degrees. Got shape {degrees.shape}, "
            f"{np.count_nonzero(~np.isfinite(degrees))} of them not finite."
        )
    return degrees


def checked_latitudes(values: npt.ArrayLike | Tensor) -> Floats:
    """(lat,) latitudes, degrees, monotonic, in [-90, 90].

    Raises:
        ValueError: they are not.
    """
    latitudes = _degrees("latitudes", values)
    steps = np.diff(latitudes) if latitudes[0] < latitudes[-1] else np.diff(latitudes[::-1])
    if steps.min() <= 0:
        raise ValueError(
            f"latitudes must descend (north up) or ascend. Got {span(latitudes)}, in no order."
        )
    if latitudes.min() < -90 or latitudes.max() > 90:
        raise ValueError(f"latitudes must be in [-90, 90] degrees. Got {span(latitudes)}.")
    if hole := hole_between_rows(np.sort(latitudes)):
        raise ValueError(f"latitudes must be without a hole. Got {hole}. {PARTS}")
    return latitudes


def checked_longitudes(values: npt.ArrayLike | Tensor) -> Floats:
    """(lon,) longitudes, degrees, ascending, at most once around.

    Raises:
        ValueError: they are not.
    """
    longitudes = _degrees("longitudes", values)
    if np.diff(longitudes).min() <= 0:
        raise ValueError(
            "longitudes must ascend, across the date line as 170, ..., 190. "
            f"Got {span(longitudes)}, which do not: sort them, or add 360 to those east of it."
        )
    if longitudes[-1] - longitudes[0] >= 360 * (1 - SPACING / len(longitudes)):
        raise ValueError(
            "longitudes must go at most once around, the first not repeated as the last. "
            f"Got {span(longitudes)}."
        )
    if hole := hole_between_columns(longitudes):
        raise ValueError(f"longitudes must be without several holes. Got {hole}. {PARTS}")
    return longitudes


def check_degrees(latitudes: Floats, longitudes: Floats) -> None:
    """Refuse a grid of the whole sphere with latitudes or longitudes in radians.

    Raises:
        ValueError: they are.
    """
    if in_radians(latitudes, longitudes):
        raise ValueError(
            "latitudes and longitudes must be in degrees; a grid that is to cover the sphere, in "
            f"degrees, has other numbers. Got latitudes {span(latitudes)}, longitudes "
            f"{span(longitudes)}, as in radians: use numpy.degrees."
        )


def span(values: Floats) -> str:
    """The number of coordinates, the first and the last, for messages."""
    if values.size == 0:
        return "none"
    return f"{values.size} from {values.flat[0]:g} to {values.flat[-1]:g}"


class DataArray(Protocol):
    """The part of an xarray.DataArray that is used; xarray itself is not imported."""

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
    for name in _dimensions(array):
        if name not in array.coords:
            raise ValueError(f"The DataArray's dimension {name!r} must have coordinates.")
        coordinates.append(np.asarray(array.coords[name].values, dtype=np.float64))
    return coordinates[0], coordinates[1]


def field_axes(array: DataArray) -> tuple[int, int]:
    """The axes of a DataArray that have latitudes and longitudes.

    Raises:
        ValueError: it has none of that kind, or several.
    """
    latitude, longitude = (array.dims.index(name) for name in _dimensions(array))
    return latitude, longitude


def _dimensions(array: DataArray) -> tuple[Any, Any]:
    """The dimensions of latitudes and longitudes, by their names and by their coordinates."""
    found = lat_lon_dimensions(array)
    for axis in ("latitude", "longitude"):
        if axis not in found:
            raise ValueError(
                f"The DataArray must have one dimension named {axis[:3]} or {axis}, or with that "
                f"standard_name. Got {tuple(array.dims)}."
            )
    return found["latitude"], found["longitude"]


ASIDE = 1e-11
"""Radians by which points are moved, so that points on a border are east of it, despite
rounding."""


@dataclass(frozen=True)
class Pixels:
    """A grid with a pixel about each pair of a latitude and a longitude.

    Between two coordinates pixels meet halfway. Once around, the last longitude's pixels meet the
    first one's, and the outermost latitudes, where they are at most one step from a pole, reach to
    it. Elsewhere a grid ends half a step beyond its outermost coordinates.

    Args:
        latitudes: (lat,) ascending, degrees.
        longitudes: (lon,) ascending, degrees, less than a circle, from the western end of a region.
    """

    latitudes: Floats
    longitudes: Floats

    @property
    def columns(self) -> int:
        """The number of longitudes."""
        return len(self.longitudes)

    @property
    def count(self) -> int:
        """Pixels."""
        return len(self.latitudes) * len(self.longitudes)

    @cached_property
    def is_around(self) -> bool:
        """Check whether the longitudes leave no hole."""
        return eastwards(self.longitudes)[1]

    @cached_property
    def poles(self) -> tuple[bool, bool]:
        """Two flags: the grid reaches the south pole, and the north, beyond half a step."""
        steps = np.diff(self.latitudes)[[0, -1]] * (1 + SPACING)
        south = self.latitudes[0] + 90 <= steps[0]
        north = 90 - self.latitudes[-1] <= steps[1]
        return self.is_around and bool(south), self.is_around and bool(north)

    @cached_property
    def row_edges(self) -> Floats:
        """(lat + 1,) latitudes between the rows, ascending, degrees."""
        edges = _edges(self.latitudes).clip(-90, 90)
        if self.poles[0]:
            edges[0] = -90
        if self.poles[1]:
            edges[-1] = 90
        return edges

    @cached_property
    def column_edges(self) -> Floats:
        """(lon + 1,) longitudes between the columns, ascending, degrees."""
        edges = _edges(self.longitudes)
        if self.is_around:
            edges[0] = (self.longitudes[0] + self.longitudes[-1] - 360) / 2
            edges[-1] = edges[0] + 360
        return edges

    @cached_property
    def areas(self) -> Floats:
        """(lat, lon) of the pixels, steradians."""
        rows, columns = np.radians(self.row_edges), np.radians(self.column_edges)
        heights = 2 * np.sin(np.diff(rows) / 2) * np.cos((rows[1:] + rows[:-1]) / 2)
        return heights[:, None] * np.diff(columns)

    def reaches(self, beta: Floats, gamma: Floats) -> Flags:
        """(n,) whether points of colatitude beta and longitude gamma, radians, are in a pixel.

        Points on the grid's own edge are, to within rounding of its coordinates.
        """
        latitude = 90 - np.degrees(beta)
        longitude = self.unrolled(gamma)
        rows, columns = self.row_edges, self.column_edges
        slack = SPACING * np.diff(rows)[[0, -1]]
        inside: Flags = (latitude >= rows[0] - slack[0]) & (latitude <= rows[-1] + slack[1])
        slack = SPACING * np.diff(columns)[[0, -1]]
        across = (longitude >= columns[0] - slack[0]) & (longitude <= columns[-1] + slack[1])
        return inside if self.is_around else inside & across

    def unrolled(self, gamma: Floats) -> Floats:
        """(n,) longitudes, radians, in degrees: from the grid's western edge, once around.

        On a part of the circle the turn begins in the middle of what the grid leaves out.
        """
        start = self.column_edges[0]
        if not self.is_around:
            start -= (360 - np.ptp(self.column_edges[[0, -1]])) / 2
        degrees: Floats = (np.degrees(gamma) - start) % 360 + start
        return degrees

    def containing(self, beta: Floats, gamma: Floats) -> Indices:
        """(n,) the pixel that each point is in, or is nearest to."""
        row = np.searchsorted(self.row_edges[1:-1], 90 - np.degrees(beta))
        column = np.searchsorted(self.column_edges[1:-1], self.unrolled(gamma + ASIDE))
        return (row * self.columns + column).astype(np.int64)


def grid_of(latitudes: Floats, longitudes: Floats) -> tuple[Pixels, Indices]:
    """The grid of ascending coordinates, and (lon,) places of its columns among them.

    Of a region that a seam cuts, as 0, 10, 20, 350 does, the columns begin at its western end.
    """
    order, _ = eastwards(longitudes)
    turned = longitudes[order]
    return Pixels(latitudes, turned - 360 * (turned > turned[-1])), order


def _edges(centers: Floats) -> Floats:
    """(n + 1,) halfway between centers, and half a step beyond the outermost."""
    middles = (centers[1:] + centers[:-1]) / 2
    return np.concatenate([[2 * centers[0] - middles[0]], middles, [2 * centers[-1] - middles[-1]]])
