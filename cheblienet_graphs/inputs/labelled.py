"""Arrays with named axes or columns, as of xarray and pandas: read by these names.

These libraries are not imported: objects are asked for their attributes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cheblienet_graphs.errors import SpecError, Unquoted, listed, quoted
from cheblienet_graphs.inputs.coordinates import (
    AXES,
    axis_of,
    has_coordinates,
    in_degrees,
    lat_lon_dimensions,
)
from cheblienet_graphs.inputs.files import SHORT, unmasked
from cheblienet_graphs.inputs.inside import Values, inside_of_field
from cheblienet_graphs.inputs.masks import LatLonMask, PointMask
from cheblienet_graphs.inputs.volumes import Volume
from cheblienet_graphs.manifolds import MANIFOLDS

SPACE = ("z", "y", "x")
"""Dimensions of images, the last two, and of volumes, in the order of their arrays."""
ANGLES = ("latitude", "longitude", "orientation", "theta")
"""Columns that may have a unit."""
TABLES = ("colnames", "column_names", "columns")
"""Attributes with the names of columns in astropy, Arrow, and in pandas and polars."""
EVEN = 1e-3
"""Coordinates of pixels may be off by this share of a step."""
VALUES = "Or give its values alone, as .to_numpy() does."


class Along(NamedTuple):
    """Coordinates along a dimension, and what they say of themselves."""

    values: Values
    attrs: Mapping[str, Any]


class Labelled(NamedTuple):
    """The part of an xarray.DataArray that is read.

    Args:
        dims: names of the axes.
        coords: along dimensions.
        values: the array.
        more: names of further coordinates that are latitudes or longitudes.
    """

    dims: tuple[str, ...]
    coords: dict[str, Along]
    values: Values
    more: list[str]

    def in_order(self, dims: Sequence[str]) -> Values:
        """The values with these dimensions, which are all that it has."""
        return self.values.transpose([self.dims.index(name) for name in dims])

    def without_single(self, dimension: int) -> "Labelled":
        """The same without dimensions of length 1 where there are more than `dimension`."""
        if self.values.ndim <= dimension:
            return self
        kept = [name for name, size in zip(self.dims, self.values.shape, strict=True) if size > 1]
        return self._replace(dims=tuple(kept), values=self.values.squeeze())


def labelled(value: Any) -> Labelled | None:
    """An xarray.DataArray, or a DataFrame or Series of pandas; None for values without names.

    Raises:
        SpecError: it is a Dataset, of several fields.
    """
    if hasattr(value, "data_vars"):
        names = listed(quoted(str(name)) for name in value.data_vars) or "none"
        raise SpecError(
            "mask", "one field", Unquoted(f"a Dataset of {names}"), "Choose one of them."
        )
    if has_coordinates(value):
        coords = {
            str(name): Along(np.asarray(value.coords[name].values), value.coords[name].attrs)
            for name in value.dims
            if name in value.coords
        }
        more = [
            str(name)
            for name, one in value.coords.items()
            if str(name) not in coords and len(one.dims) and axis_of(str(name), one.attrs)
        ]
        return Labelled(tuple(map(str, value.dims)), coords, np.asarray(value.values), more)
    # Columns of a table may have any name, so that types are asked.
    is_pandas = hasattr(type(value), "iloc") and not hasattr(type(value), "colnames")
    return _of_pandas(value) if is_pandas else None


def _of_pandas(value: Any) -> Labelled:
    """Its indices as dimensions; one without a name that only counts has no coordinates."""
    indices = [value.index, value.columns] if hasattr(type(value), "columns") else [value.index]
    dims = [f"dim_{n}" if one.name is None else str(one.name) for n, one in enumerate(indices)]
    labels = [np.asarray(one) for one in indices]
    named = zip(dims, labels, strict=True)
    coords = {name: Along(one, {}) for name, one in named if not _counts(one)}
    return Labelled(tuple(dims), coords, np.asarray(value), [])


def _counts(labels: Values) -> bool:
    """Check whether labels are 0, 1, 2, ..."""
    return bool(labels.dtype.kind in "iu" and (labels == np.arange(len(labels))).all())


def point_coordinates(value: Any) -> tuple[str, list[Any]] | None:
    """A dimension of points, and the latitudes and longitudes along it; None where there is none.

    cfgrib opens grids without rows of equal length so: along a dimension `values`.

    Args:
        value: an xarray.DataArray or Dataset, or anything else.
    """
    if not (hasattr(value, "coords") and hasattr(value, "dims")):
        return None
    found = {}
    for name, one in value.coords.items():
        axis = axis_of(str(name), one.attrs)
        if axis is not None and len(one.dims) == 1 and one.dims[0] != name:
            found[axis] = one
    if {*found} != {*AXES} or found["latitude"].dims != found["longitude"].dims:
        return None
    return str(found["latitude"].dims[0]), [found[axis] for axis in AXES]


def named_mask(mask: Any, manifold: Any) -> Any:
    """The mask in plain form, if its dimensions have names; anything else as it is.

    Args:
        mask: of any kind.
        manifold: the name of one, whatever was given as such.

    Returns:
        On the sphere, of latitudes and longitudes, a `LatLonMask`, or along one dimension with
        these a `PointMask`; in space, of coordinates, a `Volume`; else values, (points,), (H, W) or
        (D, H, W).

    Raises:
        SpecError: its dimensions or coordinates are others.
    """
    geometry = MANIFOLDS.get(manifold) if isinstance(manifold, str) else None
    if geometry is None or (one := labelled(mask)) is None:
        return mask
    if not geometry.base.flat and (points := point_coordinates(mask)) is not None:
        return _of_points(one, *points)
    one = one.without_single(geometry.base.dimension)
    axes = lat_lon_dimensions(one)
    if len(axes) == 2:
        return _on_the_sphere(one, axes)
    if axes or one.more:
        names = listed(map(quoted, [*axes.values(), *one.more]))
        found = Unquoted(f"dimensions {one.dims} with {names}")
        raise SpecError("mask", "on dimensions of latitudes and longitudes", found, VALUES)
    if one.values.ndim == 1:
        if not all(_counts(along.values) for along in one.coords.values()):
            accepted = "a value a point in the order of the sampling"
            found = Unquoted(f"one with labels {one.dims[0]!r} of its own")
            raise SpecError("mask", accepted, found, VALUES)
        return one.values
    return _of_pixels(one, geometry.base.dimension, flat=geometry.base.flat)


def _of_points(one: Labelled, dimension: str, coordinates: Sequence[Any]) -> PointMask:
    """A mask with a value for each point along a dimension; it has no other one."""
    long = {name: size for name, size in zip(one.dims, one.values.shape, strict=True) if size > 1}
    if {*long} != {dimension}:
        steps = Unquoted(f"dimensions {long}")
        raise SpecError(
            "mask", f"along {dimension!r} alone", steps, "Choose one step of the others."
        )
    return PointMask(inside_of_field(one.values.ravel()), *degrees_of("mask", coordinates))


def _on_the_sphere(one: Labelled, axes: Mapping[str, str]) -> LatLonMask:
    dims = [axes["latitude"], axes["longitude"]]
    missing = [name for name in dims if name not in one.coords]
    if missing or len(one.dims) > 2:
        accepted = "on latitudes and longitudes alone, each with coordinates"
        found = Unquoted(f"dimensions {one.dims}, coordinates {tuple(one.coords)}")
        raise SpecError("mask", accepted, found)
    inside = inside_of_field(one.in_order(dims))
    return LatLonMask(inside, *(one.coords[name].values for name in dims))


def _of_pixels(one: Labelled, dimension: int, *, flat: bool) -> Values | Volume:
    """Values of pixels or voxels, in order; voxels with their spacing."""
    wanted = SPACE[-dimension:]
    plain = tuple(f"dim_{n}" for n in range(dimension))
    dims = {name.lower(): name for name in one.dims}
    if one.dims == plain and not one.coords:
        return one.values
    if sorted(dims) != sorted(wanted) or (one.coords and not flat):
        accepted = f"of dimensions {', '.join(wanted)}" + ", or latitude, longitude" * (not flat)
        found = Unquoted(f"dimensions {one.dims} with coordinates {tuple(one.coords)}")
        raise SpecError("mask", accepted, found, VALUES)
    names = [dims[name] for name in wanted]
    steps = [_step(name, one.coords[name].values) for name in names if name in one.coords]
    values = one.in_order(names)
    if dimension == 3 and len(steps) == 3:
        return Volume(values, np.diag([*steps[::-1], 1.0]))
    if steps and max(steps) > min(steps) * (1 + EVEN):
        found = Unquoted("steps " + " and ".join(f"{step:g}" for step in steps))
        raise SpecError("mask", "of pixels as high as they are wide", found, VALUES)
    return values


def _step(name: str, places: Values) -> float:
    """Between coordinates of pixels, which ascend evenly, as the places of pixels do."""
    steps = np.diff(places) if places.dtype.kind in "iuf" else np.empty(0)
    step = float(steps.mean()) if len(steps) else 0.0
    if not (step > 0 and np.abs(steps - step).max() <= EVEN * step):
        accepted = f"of coordinates {name} that ascend evenly, as pixels do"
        found = Unquoted(
            "others, such as " + ", ".join(f"{place}" for place in places[:3].tolist())
        )
        raise SpecError("mask", accepted, found, VALUES)
    return step


def by_columns(field: str, value: Any, wanted: Sequence[str], area: str | None = None) -> Any:
    """The columns of a table in order, by their names; what has no names as it is.

    Args:
        field: of the table, for messages.
        value: a DataFrame, Table, structured array or DataArray with named columns, or anything.
        wanted: names of the columns; lat and lon are latitude and longitude.
        area: of one more that there may be.

    Returns:
        (N, columns) array, or the value itself.

    Raises:
        SpecError: it has other columns.
    """
    points = point_coordinates(value) if {*AXES} <= {*wanted} else None
    if points is not None:
        return np.column_stack(degrees_of(field, points[1]))
    if hasattr(value, "data_vars"):
        raise SpecError(field, "a table of points", Unquoted("a Dataset"), "Give .to_dataframe().")
    columns = _columns(value)
    if columns is None:
        return value
    names = [str(name).strip().lower() for name, _ in columns]
    names = [SHORT.get(name, name) for name in names]
    order = [*wanted, *[area] * (area in names)] if area else [*wanted]
    if sorted(names) != sorted(order):
        shown = listed(quoted(str(name)) for name, _ in columns)
        accepted = f"of columns {', '.join(wanted)}" + f", and {area} if there is one" * bool(area)
        raise SpecError(field, accepted, Unquoted(f"columns {shown}"), "Choose or rename them.")
    found = {name: column for name, (_, column) in zip(names, columns, strict=True)}
    return np.column_stack([_numbers(field, name, found[name]) for name in order])


def _numbers(field: str, name: str, column: Any) -> Values:
    """A column, of angles in degrees where it has a unit."""
    column = getattr(column, "quantity", column)  # of a table of astropy
    return unmasked(field, in_degrees(field, column) if name in ANGLES else column)


def degrees_of(field: str, coordinates: Sequence[Any]) -> list[Values]:
    """Latitudes and longitudes along a dimension of points, degrees.

    Args:
        field: of the points, for messages.
        coordinates: the two, as `point_coordinates` gives them.

    Raises:
        SpecError: they are not in degrees.
    """
    pairs = zip(AXES, coordinates, strict=True)
    return [unmasked(field, in_degrees(f"{axis}s", along)) for axis, along in pairs]


def _columns(value: Any) -> list[tuple[Any, Any]] | None:
    """Names and columns of a table; None where it has none, or only counts them."""
    structured = getattr(getattr(value, "dtype", None), "names", None)
    if has_coordinates(value):
        return _of_dataarray(value)
    known = [name for name in TABLES if hasattr(type(value), name)]
    names = structured or (list(getattr(value, known[0])) if known else None)
    if names is None or list(names) == list(range(len(names))):
        return None
    if known == ["columns"] and hasattr(value, "iloc"):
        return [(name, value.iloc[:, place]) for place, name in enumerate(names)]
    return [(name, value[name]) for name in names]


def _of_dataarray(value: Any) -> list[tuple[Any, Any]] | None:
    """Columns of (N, columns) with a labelled second dimension."""
    named = [n for n, dim in enumerate(value.dims) if dim in value.coords and n < 2]
    texts = [n for n in named if np.asarray(value.coords[value.dims[n]].values).dtype.kind in "OSU"]
    if not texts:
        return None
    values = np.moveaxis(np.asarray(value.values), texts[0], -1)
    labels = np.asarray(value.coords[value.dims[texts[0]]].values).tolist()
    return [(label, values[..., place]) for place, label in enumerate(labels)]
