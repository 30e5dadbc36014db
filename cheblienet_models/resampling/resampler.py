"""The base of both directions of resampling: a grid, the points of a level, and their matrices."""

import math
from functools import partial
from pathlib import Path
from typing import Self, get_args

import numpy.typing as npt
import torch
from torch import Tensor

from cheblienet_models.arguments import check_signal, choice, flag, integer, number
from cheblienet_models.graphs.connection import TRANSPOSED, Transport, check_pairs
from cheblienet_models.graphs.full_grid import check_fill
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.pyramid import Pyramid, level_of
from cheblienet_models.missing import has_values, looks_known, missing
from cheblienet_models.resampling.grids import (
    DataArray,
    check_degrees,
    checked_latitudes,
    checked_longitudes,
    field_coordinates,
    span,
)
from cheblienet_models.resampling.matrices import Direction, Method, matrices
from cheblienet_models.tensors import (
    Constants,
    csr_tensor,
    multiplied,
    save_npz,
    sparse_product,
)


class Resampler(Constants):
    """A grid, the points of a level, and the matrix from one to the other with its transpose.

    Its arguments are the same as of `LatLonToVertices`. It holds the two matrices' row pointers and
    columns, int32, and values, float32, or float64 in networks of double precision.

    Attributes:
        method: "bilinear", "conservative" or "nearest".
        label: of the level.
        num_points: of the level, without orientations.
        spin: of the fields, 0 of scalars.
        skipna: whether NaN and UNSEEN are left out of averages, else they are refused.
        fill: the value of what has no source; None where it is NaN.
    """

    row_pointers: Tensor
    columns: Tensor
    values: Tensor

    _direction: Direction

    def __init__(
        self,
        pyramid: Pyramid,
        latitudes: npt.ArrayLike | Tensor,
        longitudes: npt.ArrayLike | Tensor,
        method: Method = "bilinear",
        *,
        level: int = 0,
        skipna: bool = False,
        fill: float | None = None,
        spin: int = 0,
    ) -> None:
        super().__init__()
        graph = _graph_of(pyramid, level)
        self.spin = integer("spin", spin, 0)
        self._latitudes = checked_latitudes(latitudes)
        self._longitudes = checked_longitudes(longitudes)
        check_degrees(self._latitudes, self._longitudes)
        self.method = choice("method", method, get_args(Method))
        self.skipna = flag("skipna", skipna)
        self.fill = None if fill is None else number("fill", fill)
        self.label, self.num_points = graph.label, graph.num_points
        arrays = (self._latitudes.tobytes(), self._longitudes.tobytes())
        both = matrices(self._direction, method, graph.stored, *arrays)
        for prefix, matrix in zip(("", TRANSPOSED), both, strict=True):
            self._hold_matrix(prefix, matrix)
        self._transport = Transport(both, *self._ends(graph), spin) if spin else None
        self._sourceless = int((~self._has_source()).sum())
        self._check_reach()

    @classmethod
    def from_dataarray(
        cls,
        pyramid: Pyramid,
        array: DataArray,
        method: Method = "bilinear",
        *,
        level: int = 0,
        skipna: bool = False,
        fill: float | None = None,
        spin: int = 0,
    ) -> Self:
        """The module for the grid of an xarray.DataArray; its other dimensions do not matter.

        Raises:
            ValueError: it has no such dimensions or coordinates, or as for the constructor.
        """
        coordinates = field_coordinates(array)
        return cls(pyramid, *coordinates, method, level=level, skipna=skipna, fill=fill, spin=spin)

    def _ends(self, graph: Graph) -> tuple[Tensor, Tensor]:
        """Colatitudes and longitudes of the targets, (targets, 2), and of the sources."""
        points = graph.coordinates[: graph.num_points, -2:].cpu()
        beta, gamma = torch.deg2rad(90 - self.latitudes), torch.deg2rad(self.longitudes)
        pixels = torch.cartesian_prod(beta, gamma)
        return (points, pixels) if self._direction == "to points" else (pixels, points)

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

    def _resampled(self, x: Tensor, sizes: tuple[int, ...], words: str) -> Tensor:
        """(B, C, *sizes) -> (B, C, targets), or both without B; words say what x is."""
        one = isinstance(x, Tensor) and x.layout == torch.strided and not x.is_nested
        if one and x.ndim == 1 + len(sizes) and x.shape[1:] == sizes:
            return self._resampled(x[None], sizes, words)[0]
        name = type(self).__name__
        device = self.values.device
        check_signal(name, x, ("B", "C", *sizes), device, words=words, floating=False)
        check_pairs(name, x, self.spin)
        if not x.is_floating_point() and (self.spin or self.method != "nearest"):
            raise ValueError(
                f"{name} with method={self.method!r} takes floating-point fields. Got {x.dtype}: "
                "use method='nearest' without a spin for labels, x.float() for numbers."
            )
        searched = x.is_floating_point() and not self.skipna and has_values(x)
        count = int(missing(x).sum()) if searched and not looks_known(x) else 0
        if count:
            raise ValueError(
                f"{name} takes fields without NaN or UNSEEN. Got {count} of them among "
                f"{x.numel()} values: fill them first, or leave them out with skipna=True."
            )
        if self._sourceless:
            check_fill(x.dtype, self._fill_value)
        sources = x.flatten(2)
        picks = self.method == "nearest" and not self.spin
        return self._picked(sources) if picks else self._averaged(sources)

    @property
    def _fill_value(self) -> float:
        return math.nan if self.fill is None else self.fill

    def _has_source(self) -> Tensor:
        """(targets,) whether a row of the matrix has entries."""
        return self.row_pointers.diff() > 0

    def _picked(self, x: Tensor) -> Tensor:
        """(B, C, sources) -> (B, C, targets), each from its only source."""
        # Rows without an entry point at the next row's, or at the last one.
        entry = self.row_pointers[:-1].long().clamp(max=len(self.columns) - 1)
        taken = x.index_select(2, self.columns[entry])
        if self._sourceless:
            taken = torch.where(self._has_source(), taken, taken.new_full((), self._fill_value))
        if self.skipna and x.is_floating_point():
            taken = torch.where(missing(taken), taken.new_full((), self._fill_value), taken)
        return taken

    def _averaged(self, x: Tensor) -> Tensor:
        """(B, C, sources) -> (B, C, targets), sums in float64."""
        dtype = torch.promote_types(self.values.dtype, x.dtype)
        carried = self._transport or self._product
        has_source = self._has_source()
        if self.skipna:
            # Before the product: 0 times NaN would be NaN, there and in the gradient.
            valid = ~missing(x)
            if self.spin:
                valid = valid & valid.roll(x.shape[1] // 2, 1)
            total = self._product(valid.double())
            has_source = total > 0
            known = carried(torch.where(valid, x.double(), 0.0))
            values = known / torch.where(has_source, total, 1.0)
        else:
            values = carried(x.double())
        if self.skipna or self._sourceless:
            values = torch.where(has_source, values, self._fill_value)
        return values.to(dtype)

    def _product(self, x: Tensor) -> Tensor:
        """(B, C, sources) float64 -> (B, C, targets)."""
        # A mean over a circle or a cell adds hundreds of values: in float32 a constant would drift.
        matrices = self._matrix(), self._matrix(TRANSPOSED)
        return multiplied(x, torch.float64, partial(sparse_product, *matrices))

    def matrix(self) -> Tensor:
        """(targets, sources) sparse CSR tensor over the buffers, without a copy.

        Pixels count row by row, as in the image. Rows sum to 1; rows of targets without a source
        are empty, so that a product gives 0 there. With a spin it is (2 targets, 2 sources), the
        two components of each place in turn, in float64.
        """
        if self._transport is not None:
            return self._transport.matrix()
        return csr_tensor(self._matrix(), len(self._matrix(TRANSPOSED).row_pointers) - 1)

    def save_npz(self, path: str | Path) -> Path:
        """Write `matrix()` to a file that scipy.sparse.load_npz reads, as weather models do.

        Args:
            path: of the file; `.npz` is appended where it does not end so.

        Returns:
            Where the file is.

        Raises:
            OSError: it can't be written.
        """
        return save_npz(path, self.matrix())

    def _check_reach(self) -> None:
        """Check that there is something to take, and that what is left over has been thought of.

        Raises:
            ValueError: there is not.
        """
        targets = len(self.row_pointers) - 1
        grid = f"latitudes {span(self._latitudes)}, longitudes {span(self._longitudes)}"
        if self._sourceless == targets:
            raise ValueError(
                f"The grid and the {self.num_points} points of {self.label} have no place in "
                f"common. Got {grid}, degrees."
            )
        is_awaited = self.skipna or self.fill is not None or self._direction == "to grid"
        if self._sourceless and not is_awaited:
            raise ValueError(
                f"The grid must cover the points of {self.label}: {self._sourceless} of {targets} "
                f"are beyond its pixels. Got {grid}, degrees: skipna=True makes them "
                "NaN, fill=0 zero."
            )

    def extra_repr(self) -> str:
        """The line that print(module) shows."""
        rows, columns = self.shape
        extra = ", skipna=True" * self.skipna + f", fill={self.fill}" * (self.fill is not None)
        extra += f", spin={self.spin}" * (self.spin > 0)
        return f"{self.label}, {rows} x {columns}, method={self.method!r}{extra}"


def _graph_of(pyramid: Pyramid, level: int) -> Graph:
    """A level of a pyramid on the sphere.

    Raises:
        TypeError: it is no pyramid, or level no integer.
        ValueError: it is not on the sphere, or has no such level.
    """
    graph = level_of(pyramid, level)
    if graph.stored.spec.geometry.base.flat:
        raise ValueError(
            "Latitudes and longitudes are of the sphere: the pyramid must be on s2 or so3. "
            f"Got {pyramid.name}@{pyramid.version} on {pyramid.spec['manifold']}."
        )
    return graph
