"""One level of a pyramid: a graph as a module, with its Laplacian and Fourier transform."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from cheblienet_models.errors import MissingEigenpairsError
from cheblienet_models.graphs import fourier
from cheblienet_models.graphs.edges import EdgeList, edge_list
from cheblienet_models.graphs.full_grid import Order, checked_order, on_grid, places_in_map
from cheblienet_models.graphs.mapped import Mapped, Reopen
from cheblienet_models.store.levels import LaplacianKind, Level
from cheblienet_models.tensors.precision import never_below_float32
from cheblienet_models.tensors.sparse import csr_tensor

PARTS = ("row_pointers", "columns", "values")
"""Buffers of a Laplacian; those of a directional one begin with its name."""


class Directional(NamedTuple):
    """A Laplacian along one direction, combinatorial: 2 Delta / lambda_max - I in CSR form.

    Args:
        row_pointers: (V + 1,).
        columns: (nnz,).
        values: (nnz,).
        lambda_max: its own upper bound of the spectrum of Delta.
    """

    row_pointers: Tensor
    columns: Tensor
    values: Tensor
    lambda_max: float


class Graph(Mapped):
    """One level of a pyramid: a sampled manifold, its edges, its Laplacian.

    All layers of a level share the same Graph, so the Laplacian is in memory once. Its buffers
    `row_pointers` (V + 1,), `columns` and `values` (nnz,) are the rescaled Laplacian
    2 Delta / lambda_max - I in CSR form; `eigenvectors`, (V, M) or None where none are stored, are
    those of Delta's smallest `eigenvalues`; `eigenpairs` gives both. These and the tensors below
    follow a network with `.to()`; none is saved with checkpoints.

    Args:
        reopen: how to open it again.
        stored: its arrays.

    Attributes:
        label: name@version, level.
        grid: (orientations, *base shape): (n_o, height, width) or (n_o, depth, height, width) on a
            lattice, (n_o, points) on the sphere and where points are random, (n_o, colatitudes,
            longitudes) where the sphere is sampled equiangularly. Of the full sampling, also where
            a mask left some of its points out.
        base_index: (num_points,) int32 or int64, ascending: the place of each point among those of
            the full sampling, where the graph was built with a mask; else None.
        sampling: "lattice", "icosahedral", "healpix", ...; None where it is not known.
        num_vertices: V, n_o times `num_points`; vertices are ordered orientation-major.
        num_edges: undirected.
        laplacian_kind: "normalized", Delta = I - D^-1/2 W D^-1/2, or "combinatorial",
            Delta = A^-1/2 (D - W) A^-1/2; D the degrees, A the areas, W the edge weights.
        lambda_max: upper bound of the spectrum of Delta.
        degree: (V,) weighted degrees, in the dtype of the Laplacian.
        area: (V,) vertex areas with mean 1, in the dtype of the Laplacian.
        coordinates: (V, d) float64, whatever the dtype of the Laplacian.
        eigenvalues: (M,) float64, too, ascending; None where no eigenpairs are stored.
        subgraph: (nnz,) values of a random sub-graph, which each layer uses instead while the layer
            itself is in training mode; None for the whole graph. See `sample_edges`.
    """

    row_pointers: Tensor
    columns: Tensor
    values: Tensor
    eigenvectors: Tensor | None

    def __init__(self, reopen: Reopen, stored: Level) -> None:
        super().__init__(reopen)
        self.label, self.grid, self.sampling = stored.label, stored.grid, stored.sampling
        self.laplacian_kind: LaplacianKind = stored.laplacian_kind
        self.lambda_max = stored.lambda_max
        self.num_vertices, self.num_edges = stored.num_vertices, stored.num_edges
        matrix, eigenpairs = stored.laplacian, stored.eigenpairs
        self.register_buffer("row_pointers", torch.from_numpy(matrix.indptr), persistent=False)
        self.register_buffer("columns", torch.from_numpy(matrix.indices), persistent=False)
        self.register_buffer("values", torch.from_numpy(matrix.data), persistent=False)
        vectors = eigenpairs.vectors if eigenpairs else None
        self.register_buffer("eigenvectors", vectors, persistent=False)
        for name, operator in stored.directional.items():
            arrays = operator.laplacian
            for part, array in zip(
                PARTS, (arrays.indptr, arrays.indices, arrays.data), strict=True
            ):
                self.register_buffer(f"{name}_{part}", torch.from_numpy(array), persistent=False)
        self._scales = {name: of.lambda_max for name, of in stored.directional.items()}
        self.subgraph: Tensor | None = None
        self._edges: EdgeList | None = None
        # No buffers, or every exported program would hold what no layer computes with.
        self.degree, self.area = stored.degree, stored.area
        self.coordinates, self.base_index = stored.coordinates, stored.base_index
        self.eigenvalues = eigenpairs.values if eigenpairs else None

    @property
    def orientations(self) -> int:
        """n_o; 1 where the manifold has none."""
        return self.grid[0]

    @property
    def num_points(self) -> int:
        """Base points that the graph has: vertices of one orientation."""
        return self.num_vertices // self.grid[0]

    @property
    def mass(self) -> Tensor:
        """(V,) m by which Delta_ij = -w_ij / sqrt(m_i m_j): the degrees or the areas."""
        return self.degree if self.laplacian_kind == "normalized" else self.area

    def laplacian_parts(self, *, training: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        """Row pointers, columns and values of the rescaled Laplacian.

        Args:
            training: whether to give those of the random sub-graph, if one is drawn. A layer gives
                its own mode: the graph, which networks share, has none that could be told apart.
        """
        sampled = self.subgraph if training else None
        return self.row_pointers, self.columns, self.values if sampled is None else sampled

    @property
    def directional(self) -> dict[str, Directional]:
        """The Laplacians along "forward", "sideways" and "rotation", over the buffers.

        Empty where the graph was built without `directional`.
        """
        parts = iter(self.directional_parts())
        return {
            name: Directional(next(parts), next(parts), next(parts), scale)
            for name, scale in self._scales.items()
        }

    def directional_parts(self) -> list[Tensor]:
        """Row pointers, columns and values of each directional Laplacian, one after the other."""
        return [getattr(self, f"{name}_{part}") for name in self._scales for part in PARTS]

    @property
    def edges(self) -> EdgeList:
        """The undirected edges, found on first use."""
        if self._edges is None:
            parts = (self.row_pointers, self.columns, self.values)
            self._edges = edge_list(*parts, self.mass, self.lambda_max)
        return self._edges

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:  # noqa: FBT001, FBT002
        super()._apply(fn, recurse)
        kept = never_below_float32(fn)
        self.degree, self.area = kept(self.degree), kept(self.area)
        self.subgraph = None if self.subgraph is None else kept(self.subgraph)
        self._edges = None  # of another dtype or device
        # To other devices, but not to float32, in which symmetries could no longer be told.
        device = self.values.device
        self.coordinates = self.coordinates.to(device)
        self.eigenvalues = None if self.eigenvalues is None else self.eigenvalues.to(device)
        self.base_index = None if self.base_index is None else self.base_index.to(device)
        return self

    @property
    def laplacian(self) -> Tensor:
        """(V, V) sparse CSR tensor 2 Delta / lambda_max - I over the buffers, without a copy."""
        shape = (self.num_vertices, self.num_vertices)
        return csr_tensor(self.row_pointers, self.columns, self.values, shape)

    @property
    def eigenpairs(self) -> tuple[Tensor, Tensor]:
        """The M smallest eigenvalues (M,) of Delta, ascending, and their vectors (V, M), Phi.

        In the dtype and on the device of the Laplacian; of the whole graph, also in training mode.

        Raises:
            StoreError: none are stored.
        """
        if self.eigenvalues is None or self.eigenvectors is None:
            raise self._missing_eigenpairs()
        return self.eigenvalues.to(self.eigenvectors), self.eigenvectors

    def _missing_eigenpairs(self) -> MissingEigenpairsError:
        return MissingEigenpairsError(
            f"{self.label} has no stored eigenpairs; build it with `eigenpairs=M`."
        )

    def __getattr__(self, name: str) -> Any:
        """As torch's modules, which would put a message of their own for ours."""
        if name == "eigenpairs":
            raise self._missing_eigenpairs()
        return super().__getattr__(name)

    def fourier(self, x: Tensor) -> Tensor:
        """The graph Fourier transform Phi^T x, (B, C, V) -> (B, C, M), differentiable.

        Computed in the wider of x's dtype and the graph's, also under autocast.

        Raises:
            ValueError: x has another shape.
            StoreError: the graph has no stored eigenpairs.
        """
        return fourier.transformed(self.label, self.eigenpairs[1], x)

    def inverse_fourier(self, x_hat: Tensor) -> Tensor:
        """Phi x_hat, (B, C, M) -> (B, C, V), differentiable.

        The inverse of `fourier` where all V eigenpairs are stored; else after `fourier` it is the
        projection to the M lowest frequencies.

        Raises:
            ValueError: x_hat has another shape.
            StoreError: the graph has no stored eigenpairs.
        """
        return fourier.inverse_transformed(self.label, self.eigenpairs[1], x_hat)

    def convolve(self, x: Tensor, y: Tensor) -> Tensor:
        """The paper's convolution of two signals, Phi (Phi^T x * Phi^T y), differentiable.

        Args:
            x: (B, C, V).
            y: (B, C, V); batch and channels broadcast, so (1, 1, V) is one filter for all.

        Returns:
            (B, C, V), with frequencies among the M stored ones.

        Raises:
            ValueError: a signal has another shape, or they do not broadcast.
            StoreError: the graph has no stored eigenpairs.
        """
        return fourier.convolved(self.label, self.eigenpairs[1], x, y)

    def to_grid(self, x: Tensor, fill: float = math.nan, *, order: Order = "nested") -> Tensor:
        """Put a signal back on the full sampling, differentiable: the opposite of `Lift`.

        Args:
            x: (B, C, num_points), such as from `Project`, or (B, C, V); of any dtype.
            fill: the value of the points that a mask left out.
            order: of HEALPix maps, "nested" or "ring".

        Returns:
            (B, C, *base shape), or of (B, C, V) with n_o > 1 (B, C, n_o, *base shape), the base
            shape being `grid[1:]`; in the dtype of x. Without a mask nothing is filled.

        Raises:
            ValueError: x has another shape; fill, where there is anything to fill, is no value of
                its dtype, as NaN is none of integers; another order, or "ring" where the sampling
                is not HEALPix.
        """
        checked_order(self.label, self.sampling, self.grid, order)
        places = places_in_map(self.grid, self.base_index, order)
        return on_grid(self.label, self.grid, self.num_points, places, x, fill)

    def extra_repr(self) -> str:
        """The line that print(graph) shows."""
        masked = "" if self.base_index is None else f", {self.num_points} points inside"
        return f"{self.label}, grid={self.grid}{masked}, edges={self.num_edges}"
