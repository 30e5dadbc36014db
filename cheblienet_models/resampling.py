"""Between images in latitude and longitude and the points of a sphere, as sparse matrices.

Degrees throughout: latitude 90 is the north pole, colatitude beta = 0; longitude grows eastwards
and is gamma, modulo 360. A signal on the sphere has one value a point: `Lift` repeats it over
orientations and `Project` reduces these.
"""

import math
from collections.abc import Callable
from typing import Any, Protocol, Self, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from cheblienet_models.graph import Pyramid, announce_beta_state
from cheblienet_models.layout import logical, never_below_float32, vertex_major
from cheblienet_models.resampling_matrices import Direction, Floats, Method, matrices

SPACING = 1e-3
"""Coordinates may be off by this share of the step between two longitudes."""


class DataArray(Protocol):
    """What is used of an xarray.DataArray; xarray itself is not imported."""

    @property
    def dims(self) -> tuple[Any, ...]:
        """Names of the axes."""

    @property
    def coords(self) -> Any:
        """From a name to coordinates that have `values`."""

    @property
    def values(self) -> npt.NDArray[Any]:
        """The field."""


def regular_grid(height: int, width: int, *, west: float) -> tuple[Tensor, Tensor]:
    """Centres of the pixels of an image of the whole sphere, north up.

    Args:
        height: rows, at least 2.
        width: columns, at least 2.
        west: longitude of the image's left edge, degrees: 0 for [0, 360), -180 for [-180, 180).

    Returns:
        (height,) latitudes, descending, and (width,) longitudes, ascending, degrees, float64.

    Raises:
        ValueError: a smaller image, or `west` outside [-360, 360].
    """
    if min(height, width) < 2:
        raise ValueError(f"A grid has at least 2 rows and 2 columns. Got {height} x {width}.")
    if not -360 <= west <= 360:
        raise ValueError(f"west must be in [-360, 360] degrees. Got {west}.")
    rows = torch.arange(height, dtype=torch.float64) + 0.5
    columns = torch.arange(width, dtype=torch.float64) + 0.5
    return 90 - rows * (180 / height), west + columns * (360 / width)


class _Resampler(nn.Module):
    """What both directions share: the grid, the points, the matrix and its transpose."""

    row_pointers: Tensor
    columns: Tensor
    values: Tensor
    transposed_row_pointers: Tensor
    transposed_columns: Tensor
    transposed_values: Tensor

    _direction: Direction

    def __init__(
        self,
        pyramid: Pyramid,
        latitudes: npt.ArrayLike | Tensor,
        longitudes: npt.ArrayLike | Tensor,
        method: Method = "bilinear",
        *,
        level: int = 0,
    ) -> None:
        super().__init__()
        points = _base_points(pyramid, level)
        self._latitudes, self._longitudes = _latitudes(latitudes), _longitudes(longitudes)
        if method not in {"bilinear", "conservative", "nearest"}:
            raise ValueError(
                f"method must be 'bilinear', 'conservative' or 'nearest'. Got {method!r}."
            )
        self.method = method
        self.label, self.num_points = pyramid.levels[level].label, len(points)
        arrays = (points, self._latitudes, self._longitudes)
        both = matrices(self._direction, method, *(array.tobytes() for array in arrays))
        for prefix, matrix in zip(("", "transposed_"), both, strict=True):
            for name, part in matrix._asdict().items():
                self.register_buffer(prefix + name, part, persistent=False)

    @classmethod
    def from_dataarray(
        cls, pyramid: Pyramid, array: DataArray, method: Method = "bilinear", *, level: int = 0
    ) -> Self:
        """The module for the grid of an xarray.DataArray, whose other dimensions do not matter.

        Raises:
            ValueError: it has no such dimensions or coordinates, or as for the constructor.
        """
        return cls(pyramid, *_coordinates(array), method, level=level)

    @property
    def latitudes(self) -> Tensor:
        """(lat,) float64, degrees, in the order of the image's rows."""
        return torch.from_numpy(self._latitudes.copy())

    @property
    def longitudes(self) -> Tensor:
        """(lon,) float64, degrees, ascending."""
        return torch.from_numpy(self._longitudes.copy())

    @property
    def shape(self) -> tuple[int, int]:
        """(lat, lon) of the image."""
        return len(self._latitudes), len(self._longitudes)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:  # noqa: FBT001, FBT002
        """Follow a network to other devices and to float64, but never below float32."""
        super()._apply(never_below_float32(fn), recurse)  # type: ignore[no-untyped-call]
        return self

    def _resampled(self, x: Tensor) -> Tensor:
        """(B, C, sources) -> (B, C, targets)."""
        name = type(self).__name__
        if x.is_complex():
            raise ValueError(f"{name} takes real fields. Got {x.dtype}: give both parts.")
        if not x.is_floating_point() and self.method != "nearest":
            raise ValueError(
                f"{name} with method={self.method!r} takes floating-point fields. Got {x.dtype}: "
                "use method='nearest' for labels, x.float() for numbers."
            )
        missing = int(x.isnan().sum()) if x.is_floating_point() else 0
        if missing:
            raise ValueError(
                f"{name} takes fields without NaN. Got {missing} NaN among {x.numel()} values: "
                "fill them first."
            )
        if self.method == "nearest":
            return x.index_select(2, self.columns)
        dtype = torch.promote_types(self.values.dtype, x.dtype)
        # A mean over a circle or a cell adds hundreds of values: in float32 a constant would drift.
        matrix = (self.row_pointers, self.columns, self.values.double())
        transposed = (
            self.transposed_row_pointers,
            self.transposed_columns,
            self.transposed_values.double(),
        )
        with torch.autocast(x.device.type, enabled=False):
            rows = vertex_major(x).double().flatten(1)
            found = cast("Tensor", _Product.apply(rows, *matrix, *transposed)).to(dtype)  # type: ignore[no-untyped-call]
        return logical(found.view(len(found), *x.shape[:2]))

    def extra_repr(self) -> str:
        """What print(module) shows."""
        rows, columns = self.shape
        return f"{self.label}, {rows} x {columns}, method={self.method!r}"


class LatLonToVertices(_Resampler):
    """From images in latitude and longitude to the points of a level.

    Methods: "bilinear" interpolates in latitude and longitude, across the seam too; from the last
    row to a pole, whose value is that row's mean. "conservative" takes the mean over a point's
    Voronoi cell of an image that is constant in each pixel, to within the cells' sampling: for
    grids finer than the points. It keeps integrals, those of points being sums with Graph.area.
    "nearest" takes the pixel that a point is in, of any dtype: for labels; on a border it takes
    either. All of them keep constants.

    Its matrix is built once a process for each combination of points, grid and method. Like a
    graph's Laplacian it is not saved with checkpoints, and stays float32 in networks of half
    precision.

    Args:
        pyramid: on the manifold s2 or so3.
        latitudes: (lat,) degrees in [-90, 90], from pole to pole, descending (north up) or
            ascending, as the image's rows are; not necessarily equally far apart. A pixel reaches
            halfway to the next latitudes, the outermost to the poles.
        longitudes: (lon,) degrees, ascending, 360/lon apart, from anywhere: [0, 360), [-180, 180).
        method: "bilinear", "conservative" or "nearest".
        level: of the pyramid, 0 the finest.

    Raises:
        ValueError: another manifold, level, method or grid; "conservative" from a grid that is
            coarser than the points.
    """

    _direction = "to points"

    def forward(self, x: Tensor | DataArray) -> Tensor:
        """(B, C, lat, lon) -> (B, C, points), differentiable.

        An xarray.DataArray may have its dimensions lat or latitude and lon or longitude, with the
        coordinates of this module, anywhere; others come first, in their order: (..., points).

        The result has the wider of x's dtype and the matrix's, of sums in float64; with "nearest"
        that of x. Fields are searched for NaN, in one pass, for which a GPU's queue has to be
        waited for.

        Raises:
            ValueError: x has another shape, other coordinates, NaN, or a dtype without fractions
                where averages are taken.
        """
        if not isinstance(x, Tensor):
            field = self._field(x)
            count = math.prod(field.shape[:-2])
            flat = self._resampled(field.reshape(1, count, math.prod(self.shape)))
            return flat.reshape(*field.shape[:-2], self.num_points)
        if x.ndim != 4 or tuple(x.shape[2:]) != self.shape:
            rows, columns = self.shape
            raise ValueError(
                f"LatLonToVertices takes (B, C, {rows}, {columns}), that is (batch, channels, "
                f"latitudes, longitudes), or an xarray.DataArray. Got {tuple(x.shape)}."
            )
        return self._resampled(x.flatten(2))

    def _field(self, array: DataArray) -> Tensor:
        """(..., lat, lon) on the module's device."""
        latitudes, longitudes = _coordinates(array)
        tolerance = SPACING * 360 / len(self._longitudes)
        for name, found, own in (
            ("latitudes", latitudes, self._latitudes),
            ("longitudes", longitudes, self._longitudes),
        ):
            if found.shape != own.shape or not np.abs(found - own).max() <= tolerance:
                raise ValueError(
                    f"The DataArray's {name} must be the module's, {_span(own)}. Got "
                    f"{_span(found)}: sort or shift it, or use LatLonToVertices.from_dataarray."
                )
        axes = [_axis(array, *names) for names in (LATITUDE, LONGITUDE)]
        values = np.moveaxis(np.asarray(array.values), axes, (-2, -1))
        return torch.tensor(values.astype(values.dtype.newbyteorder("="))).to(self.values.device)


class VerticesToLatLon(_Resampler):
    """From the points of a level to images in latitude and longitude.

    Methods: "bilinear" interpolates linearly on the facet of the points' convex hull that a pixel's
    centre is on: exact at the points, and nowhere above or below the corners. A facet that is no
    triangle, such as a rectangle of a lattice, is cut along all its diagonals, and the mean taken,
    which keeps the lattice's symmetries.
    "conservative" takes the mean over a pixel of a signal that is constant in each point's Voronoi
    cell, to within the cells' sampling, which keeps integrals. "nearest" takes the nearest point,
    of any dtype: for labels. All of them keep constants.

    Args:
        pyramid: on the manifold s2 or so3.
        latitudes: as of LatLonToVertices.
        longitudes: as of LatLonToVertices.
        method: "bilinear", "conservative" or "nearest".
        level: of the pyramid, 0 the finest.

    Raises:
        ValueError: another manifold, level, method or grid; "bilinear" from points that leave half
            of the sphere empty.
    """

    _direction = "to grid"

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, points) -> (B, C, lat, lon), differentiable.

        The result has the wider of x's dtype and the matrix's, of sums in float64; with "nearest"
        that of x. Fields are searched for NaN, in one pass, for which a GPU's queue has to be
        waited for.

        Raises:
            ValueError: x has another shape, NaN, or a dtype without fractions where averages are
                taken.
        """
        if not isinstance(x, Tensor) or x.ndim != 3 or x.shape[2] != self.num_points:
            found = tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
            raise ValueError(
                f"VerticesToLatLon takes (B, C, {self.num_points}), that is (batch, channels, "
                f"points of one orientation). Got {found}."
            )
        return self._resampled(x).view(*x.shape[:2], *self.shape)


class _Product(torch.autograd.Function):
    """A sparse matrix times (sources, n); the backward is the product with its transpose."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *parts: Tensor) -> Tensor:
        """(sources, n) -> (targets, n); `parts` are the matrix's three and its transpose's."""
        ctx.parts = parts
        announce_beta_state()
        pointers, columns, values = parts[:3]
        size = (len(pointers) - 1, len(x))
        matrix = torch.sparse_csr_tensor(
            pointers, columns, values, size=size, check_invariants=False
        )
        return matrix @ x

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """(targets, n) -> (sources, n), differentiable again."""
        parts = ctx.parts
        back = _Product.apply(grads[0].contiguous(), *parts[3:], *parts[:3])  # type: ignore[no-untyped-call]
        return (back, *(None for _ in parts))


LATITUDE, LONGITUDE = ("lat", "latitude"), ("lon", "longitude")


def _coordinates(array: DataArray) -> tuple[Floats, Floats]:
    """(lat,) and (lon,) of a DataArray."""
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
    found = []
    for names in (LATITUDE, LONGITUDE):
        name = array.dims[_axis(array, *names)]
        if name not in array.coords:
            raise ValueError(f"The DataArray's dimension {name!r} must have coordinates.")
        found.append(np.asarray(array.coords[name].values, dtype=np.float64))
    return found[0], found[1]


def _axis(array: DataArray, *names: str) -> int:
    axes = [axis for axis, name in enumerate(array.dims) if name in names]
    if len(axes) != 1:
        raise ValueError(
            f"The DataArray must have one dimension named {' or '.join(names)}. "
            f"Got {tuple(array.dims)}."
        )
    return axes[0]


def _span(values: Floats) -> str:
    if values.size == 0:
        return "none"
    return f"{values.size} from {values.flat[0]:g} to {values.flat[-1]:g}"


def _base_points(pyramid: Pyramid, level: int) -> Floats:
    """(points, 2) beta, gamma of one orientation."""
    if not isinstance(pyramid, Pyramid):
        raise ValueError(  # noqa: TRY004
            "The first argument is a pyramid, as a store gives it, and level one of its levels. "
            f"Got {type(pyramid).__name__}."
        )
    manifold = pyramid.spec.get("manifold")
    if manifold not in {"s2", "so3"}:
        raise ValueError(
            "Latitudes and longitudes are of the sphere: the pyramid must be on s2 or so3. "
            f"Got {pyramid.name}@{pyramid.version} on {manifold}."
        )
    levels = pyramid.levels
    if not 0 <= level < len(levels):
        raise ValueError(
            f"{pyramid.name}@{pyramid.version} has levels 0 to {len(levels) - 1}. Got {level}."
        )
    graph = levels[level]
    points = graph.coordinates[: graph.num_vertices // graph.orientations, -2:]
    return np.ascontiguousarray(points.cpu().numpy(), dtype=np.float64)


def _degrees(name: str, values: npt.ArrayLike | Tensor) -> Floats:
    held = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
    degrees = np.array(held, dtype=np.float64)
    if degrees.ndim != 1 or len(degrees) < 2 or not np.isfinite(degrees).all():
        raise ValueError(
            f"{name} must be at least 2 finite numbers, degrees. Got shape {degrees.shape}, "
            f"{np.count_nonzero(~np.isfinite(degrees))} of them not finite."
        )
    return degrees


def _latitudes(values: npt.ArrayLike | Tensor) -> Floats:
    """Checked: monotonic, within the poles, and reaching to both."""
    latitudes = _degrees("latitudes", values)
    steps = np.diff(latitudes) if latitudes[0] < latitudes[-1] else np.diff(latitudes[::-1])
    if steps.min() <= 0:
        raise ValueError(
            f"latitudes must descend (north up) or ascend. Got {_span(latitudes)}, in no order."
        )
    south, north = latitudes.min(), latitudes.max()
    if south < -90 or north > 90:
        raise ValueError(f"latitudes must be in [-90, 90] degrees. Got {_span(latitudes)}.")
    gaps = south + 90, 90 - north
    if gaps[0] > steps[0] * (1 + SPACING) or gaps[1] > steps[-1] * (1 + SPACING):
        raise ValueError(
            "latitudes must cover the sphere, in degrees: the outermost at most one step from the "
            f"poles. Got {_span(latitudes)}."
        )
    return latitudes


def _longitudes(values: npt.ArrayLike | Tensor) -> Floats:
    """Checked: ascending and equally spaced over the circle."""
    longitudes = _degrees("longitudes", values)
    step = 360 / len(longitudes)
    expected = longitudes[0] + step * np.arange(len(longitudes))
    if np.abs(longitudes - expected).max() > SPACING * step:
        raise ValueError(
            f"longitudes must ascend in steps of 360/{len(longitudes)} degrees, once around, the "
            f"first not repeated as the last. Got {_span(longitudes)}."
        )
    return longitudes
