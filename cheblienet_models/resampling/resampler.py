"""The base of both directions of resampling: a grid, the points of a level, and their matrices."""

from collections.abc import Callable
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from cheblienet_models.graphs.geometry import is_spherical
from cheblienet_models.graphs.pyramid import Pyramid
from cheblienet_models.resampling.dataarrays import DataArray, field_coordinates
from cheblienet_models.resampling.grids import checked_latitudes, checked_longitudes
from cheblienet_models.resampling.matrices import Direction, Floats, Method, matrices
from cheblienet_models.resampling.sparse_product import sparse_product
from cheblienet_models.tensors.layout import logical, vertex_major
from cheblienet_models.tensors.precision import never_below_float32


class Resampler(nn.Module):
    """A grid, the points of a level, and the matrix from one to the other with its transpose.

    Its arguments are those of `LatLonToVertices`. Buffers are the two matrices' row pointers and
    columns, int32, and values, float32, or float64 in networks of double precision.

    Attributes:
        method: "bilinear", "conservative" or "nearest".
        label: of the level.
        num_points: of the level, without orientations.
    """

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
        self._latitudes = checked_latitudes(latitudes)
        self._longitudes = checked_longitudes(longitudes)
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
        return cls(pyramid, *field_coordinates(array), method, level=level)

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
            found = sparse_product(matrix, transposed, rows).to(dtype)
        return logical(found.view(len(found), *x.shape[:2]))

    def extra_repr(self) -> str:
        """The line that print(module) shows."""
        rows, columns = self.shape
        return f"{self.label}, {rows} x {columns}, method={self.method!r}"


def _base_points(pyramid: Pyramid, level: int) -> Floats:
    """(points, 2) float64 beta and gamma of a level, radians, of one orientation.

    Raises:
        ValueError: there is no such pyramid on the sphere, or no such level.
    """
    if not isinstance(pyramid, Pyramid):
        raise ValueError(  # noqa: TRY004
            "The first argument is a pyramid, as a store gives it, and level one of its levels. "
            f"Got {type(pyramid).__name__}."
        )
    if not is_spherical(pyramid.spec):
        raise ValueError(
            "Latitudes and longitudes are of the sphere: the pyramid must be on s2 or so3. "
            f"Got {pyramid.name}@{pyramid.version} on {pyramid.spec.get('manifold')}."
        )
    levels = pyramid.levels
    if not 0 <= level < len(levels):
        raise ValueError(
            f"{pyramid.name}@{pyramid.version} has levels 0 to {len(levels) - 1}. Got {level}."
        )
    graph = levels[level]
    points = graph.coordinates[: graph.num_vertices // graph.orientations, -2:]
    return np.ascontiguousarray(points.cpu().numpy(), dtype=np.float64)
