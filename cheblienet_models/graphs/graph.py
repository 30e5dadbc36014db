"""One level of a pyramid: a graph as a module, with its Laplacian and Fourier transform."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from torch import Tensor

from cheblienet_graphs.store.layout import DIRECTIONAL
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_models.arguments import check_signal, flag, instance
from cheblienet_models.errors import MissingEigenpairsError
from cheblienet_models.graphs import exports, filters
from cheblienet_models.graphs.connection import Connection, Turned, kept
from cheblienet_models.graphs.edges import EdgeList, Neighbors, neighbors_of
from cheblienet_models.graphs.families import warn_of_family
from cheblienet_models.graphs.full_grid import SMALL, FullGrid, Order, small_pixels
from cheblienet_models.graphs.gradients import Gradients
from cheblienet_models.graphs.identity import Identity
from cheblienet_models.graphs.mapped import Directional, Mapped, Reopen
from cheblienet_models.graphs.polynomials import Function, Polynomial, approximated, heat
from cheblienet_models.tensors import CsrParts, csr_tensor, multiplied, shared

if TYPE_CHECKING:
    from torch_geometric.data import Data


class Graph(Mapped):
    """One level of a pyramid: a sampled manifold, its edges, its Laplacian.

    All layers of a level share the same Graph, so the Laplacian is in memory once: `row_pointers`
    (V + 1,), `columns` and `values` (nnz,) are 2 Delta / lambda_max - I in CSR form. `eigenvectors`
    are (V, M), or None where none are stored. Tensors follow a network with `.to()`, and are not
    saved with checkpoints.

    Args:
        reopen: how to open it again.
        stored: its arrays, as the store has them.

    Attributes:
        label: name@version, level.
        identity: what checkpoints say of layers on it.
        grid: (orientations, *base shape): (n_o, height, width) or (n_o, depth, height, width) on a
            lattice, (n_o, points) on the sphere and where points are random, (n_o, colatitudes,
            longitudes) where it is sampled equiangularly. Of all points, whatever a mask left out.
        base_index: (num_points,) int32 or int64, ascending: the place of each among all points,
            with a mask; else None.
        fraction: (*base shape) float32 in [0, 1], the part of each pixel in a domain that cuts
            them, else None. Pixels with less than a fifth inside are no points; `to_grid` shows the
            nearest there.
        sampling: "lattice", "icosahedral", "healpix", ...
        boundary: "open" or "periodic"; None on the sphere.
        period: of orientations, pi of lines or 2 pi of arrows, radians; of no meaning without.
        num_vertices: V, n_o times `num_points`; vertices are ordered orientation-major.
        num_edges: undirected.
        spec: of the pyramid, as JSON types.
        laplacian_kind: "normalized", Delta = I - D^-1/2 W D^-1/2, or "combinatorial",
            Delta = A^-1/2 (D - W) A^-1/2; D the degrees, A the areas, W the edge weights.
        lambda_max: upper bound of the spectrum of Delta.
        eigenvalue_scale: factor from Delta's eigenvalues to the eigenvalues of the operator
            -(d_forward^2 + eps^2 d_sideways^2 + xi^-2 d_rotation^2); None where the build did not
            measure it.
        degree, area: (V,) weighted degrees; areas with mean 1; in the dtype of the Laplacian.
        eigenvalues: (M,) float64, too, ascending; None where no eigenpairs are stored.
        gradients: first derivatives along the frame, of the whole graph also where a random
            sub-graph is drawn; None where it was built without.
        subgraph: (nnz,) values of a random sub-graph that `sample_edges` drew, which each layer
            uses while it is itself in training mode; None for the whole graph.
        subgraph_degree: (V,) weighted degrees of that sub-graph where its Laplacian is normalized
            by them, else None.
    """

    identity: Identity
    row_pointers: Tensor
    columns: Tensor
    values: Tensor
    base_index: Tensor | None
    degree: Tensor
    area: Tensor
    eigenvectors: Tensor | None
    eigenvalues: Tensor | None
    subgraph: Tensor | None
    subgraph_degree: Tensor | None
    fraction: Tensor | None

    def __init__(self, reopen: Reopen, stored: LevelFolder) -> None:
        super().__init__(reopen)
        self.stored = instance("stored", stored, LevelFolder)
        spec, facts = stored.spec, stored.of_level
        self.label, self.grid, self.sampling = stored.label, facts.grid, spec.sampling
        self.boundary, self.spec = spec.boundary, spec.to_dict()
        self.period = 2 * math.pi if spec.period == "2pi" else math.pi
        self.laplacian_kind = spec.laplacian
        self.lambda_max, self.eigenvalue_scale = facts.lambda_max, facts.eigenvalue_scale
        self.num_vertices, self.num_edges = facts.vertices, facts.edges
        self._hold_matrix("", CsrParts.of(stored.matrix("laplacian")))
        self._scales = {k: one.lambda_max for k, one in (facts.directional or {}).items()}
        for name in self._scales:
            self._hold_matrix(f"{name}_", CsrParts.of(stored.matrix(f"{DIRECTIONAL}/{name}")))
        self._hold("eigenvectors", shared(stored.eigenvectors))
        self.gradients = Gradients(reopen, stored) if spec.gradients else None
        self.adopt_parts()
        self._edges: EdgeList | None = None
        self._turned: dict[tuple[type, int], Turned] = {}
        self._hold("degree", shared(stored.degree))
        self._hold("area", shared(stored.area))
        for name in ("subgraph", "subgraph_degree"):
            self._hold(name, None)
        # In float32 symmetries could no longer be found.
        self._hold("_coordinates", shared(stored.mapped("coordinates")), exact=True)
        self._hold("eigenvalues", shared(stored.eigenvalues), exact=True)
        self._hold("base_index", shared(stored.base_index), exact=True)
        parts = stored.fraction.reshape(self.grid[1:]) if spec.cuts_pixels else None
        self._hold("fraction", shared(parts), exact=True)
        for name, part in zip(SMALL, small_pixels(stored), strict=True):
            self._hold(name, part, exact=True)
        self._grids = {"nested": FullGrid(self, "nested")}  # no child: it has what the graph has

    @property
    def orientations(self) -> int:
        """n_o; 1 where the manifold has none."""
        return self.grid[0]

    @property
    def num_points(self) -> int:
        """Base points that the graph has, the vertices of one orientation."""
        return self.num_vertices // self.grid[0]

    @property
    def coordinates(self) -> Tensor:
        """(V, d) float64, whatever the dtype of the Laplacian."""
        return self.finite("_coordinates")

    @property
    def mass(self) -> Tensor:
        """(V,) m by which Delta_ij = -w_ij / sqrt(m_i m_j), the degrees or the areas."""
        return self.degree if self.laplacian_kind == "normalized" else self.area

    def laplacian_parts(self, *, training: bool = False) -> CsrParts:
        """Row pointers, columns and values of the rescaled Laplacian.

        Args:
            training: whether to give the random sub-graph's, if one is drawn. A layer gives its own
                mode: networks share the graph, so it has no mode of its own.
        """
        sampled = self.subgraph if flag("training", training) else None
        values = self.finite("values") if sampled is None else sampled
        return CsrParts(self.row_pointers, self.columns, values)

    def operator(self, *, training: bool = False) -> filters.Operator:
        """The Laplacian with its spectrum within [-1, 1], as `filter` and `diffuse` apply it.

        Eigenvalues of a random sub-graph that is normalized by its own degrees may be larger than
        lambda_max: it is rescaled with 2, the bound of all. `training` is as of `laplacian_parts`.
        """
        pointers, columns, values = self.laplacian_parts(training=training)
        largest, mass = self.lambda_max, self.mass
        if training and self.subgraph_degree is not None:
            share, largest, mass = largest / 2, 2.0, self.subgraph_degree
            values = values * share
            values[self.edges.diagonal] += share - 1
        return filters.Operator(self.label, CsrParts(pointers, columns, values), largest, mass)

    @property
    def directional(self) -> dict[str, Directional]:
        """The Laplacians along "forward", "sideways" and "rotation"; empty where it has none."""
        return {
            name: Directional(*self._finite_matrix(f"{name}_"), scale)
            for name, scale in self._scales.items()
        }

    @property
    def edges(self) -> EdgeList:
        """The undirected edges, found on first use."""
        self._edges = self._edges or EdgeList(self.operator())
        return self._edges

    def connection(self, spin: int) -> Connection:
        """The Laplacian of fields of spin 1, such as winds, 2, polarization, or more, on s2 and r2.

        The second component is a quarter turn from the first, south toward east: (south, east),
        (east, north), COSMO's (Q, U); the IAU's U has the other sign. Made once for all layers.

        Raises:
            ValueError: spin is below 1, or the manifold another.
        """
        return kept(self, Connection, spin)

    def neighbors(self, vertex: int) -> Neighbors:
        """The edges of a vertex in [0, V), else a ValueError: `Neighbors` has shapes and dtypes."""
        return neighbors_of(self.operator(), self.coordinates, vertex)

    def to_pyg(self) -> "Data":
        """The edges of the whole graph for PyTorch Geometric, named as `clg export` does.

        `edge_index` (2, E) int64, sources, targets, both directions, targets ascending;
        `edge_weight` (E,); `edge_attr` (E, dim), log g^-1 h along the frame, h the source and g the
        target, of the smallest rotation; `pos`, (V, d) `coordinates`, not copied.

        Raises:
            ModuleNotFoundError: torch_geometric is not installed.
        """
        return exports.pyg_data(self.stored.spec, self.operator(), self.coordinates)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:  # noqa: FBT001, FBT002
        super()._apply(fn, recurse)
        self._edges, self._grids = None, {"nested": FullGrid(self, "nested")}  # moved or cast
        return self

    @property
    def laplacian(self) -> Tensor:
        """(V, V) sparse CSR tensor 2 Delta / lambda_max - I, without a copy."""
        return csr_tensor(self.laplacian_parts(), self.num_vertices)

    @property
    def eigenpairs(self) -> tuple[Tensor, Tensor]:
        """The M smallest eigenvalues (M,) of Delta, ascending, and their vectors (V, M), Phi.

        In the dtype and on the device of the Laplacian; of the whole graph, also in training mode.

        Raises:
            StoreError: none are stored.
        """
        if self.eigenvalues is None or self.eigenvectors is None:
            raise AttributeError  # of which __getattr__ makes the error
        vectors = self.finite("eigenvectors")
        return self.eigenvalues.to(vectors), vectors

    def __getattr__(self, name: str) -> Any:
        """An attribute, as of torch's modules, which would hide our message behind their own."""
        if name == "eigenpairs":
            raise MissingEigenpairsError(
                f"{self.label} has no stored eigenpairs; build it with `eigenpairs=M`."
            )
        return super().__getattr__(name)

    def fourier(self, x: Tensor) -> Tensor:
        """The graph Fourier transform Phi^T x, (B, C, V) -> (B, C, M), differentiable.

        Computed in the wider of x's dtype and the graph's, also under autocast.

        Raises:
            ValueError, StoreError: x has another shape, or no eigenpairs are stored.
        """
        vectors = self.eigenpairs[1]
        check_signal(f"fourier on {self.label}", x, ("B", "C", len(vectors)), vectors.device)
        return multiplied(x, vectors.dtype, lambda rows: vectors.T.to(rows) @ rows)

    def inverse_fourier(self, x_hat: Tensor) -> Tensor:
        """Phi x_hat, (B, C, M) -> (B, C, V), differentiable.

        The inverse of `fourier` where all V eigenpairs are stored; else after `fourier` it is the
        projection to the M lowest frequencies.

        Raises:
            ValueError, StoreError: x_hat has another shape, or no eigenpairs are stored.
        """
        vectors, name = self.eigenpairs[1], f"inverse_fourier on {self.label}"
        sizes, words = ("B", "C", vectors.shape[1]), "(batch, channels, eigenpairs)"
        check_signal(name, x_hat, sizes, vectors.device, words=words)
        return multiplied(x_hat, vectors.dtype, lambda rows: vectors.to(rows) @ rows)

    def convolve(self, x: Tensor, y: Tensor) -> Tensor:
        """The paper's convolution of two signals (B, C, V), Phi (Phi^T x * Phi^T y).

        Differentiable; it has frequencies among the M stored ones. Batch and channels broadcast, so
        that (1, 1, V) is one filter for all.

        Raises:
            ValueError, StoreError: shapes differ or do not broadcast, or no eigenpairs are stored.
        """
        x_hat, y_hat = self.fourier(x), self.fourier(y)
        if any(a != b and 1 not in {a, b} for a, b in zip(x.shape[:2], y.shape[:2], strict=True)):
            raise ValueError(
                "convolve takes signals whose batches and channels are equal or 1. "
                f"Got {tuple(x.shape)} and {tuple(y.shape)}."
            )
        return self.inverse_fourier(x_hat * y_hat)

    def polynomial(self, function: Function, tolerance: float = 1e-6) -> Polynomial:
        """The polynomial that `filter` applies, with its degree and bound; arguments as there."""
        return approximated(function, self.lambda_max, tolerance)

    def diffusion_polynomial(self, t: float | Tensor, tolerance: float = 1e-6) -> Polynomial:
        """The polynomial that `diffuse` applies, with its degree and its proven bound.

        `filter` takes it instead of a function; times are constants then. Arguments are the same as
        of `diffuse`.
        """
        return heat(filters.times_of(t), self.lambda_max, tolerance)

    def filter(
        self,
        x: Tensor,
        function: Function | Polynomial,
        tolerance: float = 1e-6,
        *,
        training: bool = False,
    ) -> Tensor:
        """Apply a function of Delta, f(Delta) x, differentiable in x.

        By a Chebyshev polynomial p with |p - f| <= tolerance max |f| on [0, lambda_max], so the
        error in the 2-norm is at most tolerance max |f| times that of x; `polynomial` gives its
        degree, the number of sparse products, and its bound. Rounding in float32 adds up to 3e-6
        times the norm of x (1e-6 on most graphs); beyond degree 64 float64 is used within.

        f is a function of Delta's eigenvalues. `eigenvalue_scale` times these estimates the
        operator's, so a function of the operator's eigenvalues is applied by `graph.filter(x,
        lambda e: f(graph.eigenvalue_scale * e))`.

        Args:
            x: (B, C, V), of any floating point dtype; under autocast it is not cast.
            function: from eigenvalues, (N,) float64 on the CPU, to (N,) float64, called on all of
                [0, lambda_max]; or what `polynomial` made of one, which spares making it again, and
                serves where a program is exported or compiled.
            tolerance: in [1e-12, 1), in units of max |f|; not used where a polynomial is given.
            training: whether to filter on the random sub-graph, if one is drawn.

        Returns:
            (B, C, V) in the dtype of x, computed in the wider of x's and the graph's.

        Raises:
            ValueError: x has another shape, dtype or device; the function is not finite, not smooth
                enough, needs gradients, or returns another shape or dtype; the tolerance is out of
                range; a polynomial is for another lambda_max.
        """
        operator = self.operator(training=training)
        if not isinstance(function, Polynomial):
            function = approximated(function, operator.lambda_max, tolerance)
        return filters.apply_polynomial(operator, x, function)

    def diffuse(
        self,
        x: Tensor,
        t: float | Tensor,
        *,
        density: bool = False,
        tolerance: float = 1e-6,
        training: bool = False,
    ) -> Tensor:
        """Diffuse for a time t, exp(-t Delta) x, differentiable in x and t, any number of times.

        Delta is the symmetric operator of `ChebConv`, which keeps sum(sqrt(N) x), N = `mass`, the
        areas or degrees. With `density` it is N^-1/2 exp(-t Delta) N^1/2 x instead, which leaves
        constants constant, keeps sum(N x), and, as weights are not negative, leaves values between
        the smallest and the largest; vertices without neighbors keep their values. The last holds
        to the tolerance. Constants and the sum stay to rounding, whatever t lambda_max.

        For a time t of the operator, with eigenvalues `eigenvalue_scale` times Delta's, diffuse for
        `t * graph.eigenvalue_scale`: off by some percent where `Diffusion` says, and the first call
        warns.

        Args:
            x: (B, C, V), of any floating point dtype; under autocast it is not cast.
            t: at least 0; a number, a tensor of one, or (C,), one for each channel. 0 changes
                nothing.
            density: as above.
            tolerance: in [1e-12, 1): a proven bound of the error's 2-norm, in units of that of x
                (of N^1/2 x with `density`, weighted likewise). The degree is about sqrt(t
                lambda_max log(4 / tolerance)); `diffusion_polynomial` gives it. Rounding comes on
                top, as of `filter`; float64 is used within where float32 would round by more than
                the tolerance.
            training: whether to diffuse on the random sub-graph, if one is drawn.

        Returns:
            (B, C, V) in the dtype of x, computed in the wider of x's and the graph's.

        Raises:
            ValueError: x or t has another shape or dtype, x is on another device; t is negative,
                not finite, or so long that the degree would exceed 65,536; the tolerance is out of
                range.
        """
        warn_of_family("diffuse", self)
        operator = self.operator(training=training)
        return filters.diffuse(operator, x, t, tolerance, density=flag("density", density))

    def to_grid(self, x: Tensor, fill: float = math.nan, *, order: Order = "nested") -> Tensor:
        """Put a signal back on the full sampling, differentiable: the opposite of `Lift`.

        Args:
            x: (B, C, num_points), such as from `Project`, or (B, C, V); of any dtype.
            fill: the value of the points that a mask left out.
            order: of HEALPix maps, "nested" or "ring".

        Returns:
            (B, C, *base shape), or of (B, C, V) with n_o > 1 (B, C, n_o, *base shape), the base
            shape being `grid[1:]`; in the dtype of x. Without a mask nothing is filled; pixels that
            are cut and no points show the mean of the nearest.

        Raises:
            ValueError: x has another shape, fill is none of its dtype, or there is no such order.
        """
        if (grid := self._grids.get(str(order))) is None:
            grid = self._grids[order] = FullGrid(self, order)
        return grid.filled(x, fill)

    def extra_repr(self) -> str:
        """The line that print(graph) shows."""
        masked = "" if self.base_index is None else f", {self.num_points} points inside"
        return f"{self.label}, grid={self.grid}{masked}, edges={self.num_edges}"
