"""Graphs and pyramids of graphs, as modules whose tensors are mapped from a store."""

import copy
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from cheblienet_models.csr import CsrArrays
from cheblienet_models.eigenpairs import Eigenpairs
from cheblienet_models.errors import MissingEigenpairsError, StoreError
from cheblienet_models.identity import Identity
from cheblienet_models.layout import multiplied, never_below_float32

Reopen = tuple[Callable[..., Any], tuple[Any, ...]]
"""What pickle stores of a graph: how to open it again, never its data."""

LaplacianKind = Literal["normalized", "combinatorial"]
LAPLACIANS: tuple[LaplacianKind, ...] = ("normalized", "combinatorial")


class _Mapped(nn.Module):
    """A module of constants. Pickled as a handle, with its dtype; copies share the tensors."""

    def __init__(self, reopen: Reopen) -> None:
        super().__init__()
        self._reopen = reopen
        self._owner: weakref.ref[Pyramid] | None = None
        self._place = ""

    def __reduce__(self) -> tuple[Any, ...]:
        owner = self._owner() if self._owner is not None else None
        if owner is None:
            return (*self._reopen, self._dtype())
        # Through the pyramid, which pickle stores once, so that what is shared stays shared.
        return _part, (owner, self._place), self._dtype()

    def __setstate__(self, dtype: torch.dtype | None) -> None:
        if dtype is not None:
            self.to(dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Mapped":
        clone = type(self).__new__(type(self))
        clone.__dict__.update(self.__dict__)
        memo[id(self)] = clone
        clone._buffers = dict(self._buffers)  # noqa: SLF001
        clone._modules = copy.deepcopy(self._modules, memo)  # noqa: SLF001
        return clone

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "_Mapped":  # noqa: FBT001, FBT002
        """Follow a network to other devices and to float64, but never below float32."""
        super()._apply(never_below_float32(fn), recurse)  # type: ignore[no-untyped-call]
        return self

    def _dtype(self) -> torch.dtype | None:
        kinds = [buffer.dtype for buffer in self.buffers() if buffer.is_floating_point()]
        return kinds[0] if kinds else None


def _part(pyramid: "Pyramid", place: str) -> nn.Module:
    return pyramid.get_submodule(place)


@dataclass(frozen=True)
class EdgeList:
    """The undirected edges of a graph, and where the Laplacian holds them.

    Args:
        first, second: (edges,) end points, first < second.
        weights: (edges,) in the dtype of the Laplacian.
        upper, lower: (edges,) entry of (first, second) and of (second, first).
        diagonal: (V,) entries.
    """

    first: Tensor
    second: Tensor
    weights: Tensor
    upper: Tensor
    lower: Tensor
    diagonal: Tensor


class Graph(_Mapped):
    """One level of a pyramid: a sampled manifold, its edges, its Laplacian.

    All layers of a level share the same Graph, so the Laplacian is in memory once. Its buffers
    `row_pointers` (V + 1,), `columns` and `values` (nnz,) are the rescaled Laplacian
    2 Delta / lambda_max - I in CSR form; `eigenvectors`, (V, M) or None where none are stored, are
    those of Delta's smallest `eigenvalues`; `eigenpairs` gives both. These and the tensors below
    follow a network with `.to()`; none is saved with checkpoints.

    Attributes:
        label: name@version, level.
        grid: (orientations, *base shape): (n_o, height, width) on a lattice, (n_o, points) on the
            sphere, (n_o, colatitudes, longitudes) where it is sampled equiangularly.
        num_vertices: V, the product of `grid`; vertices are ordered orientation-major.
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

    def __init__(
        self,
        reopen: Reopen,
        label: str,
        grid: tuple[int, ...],
        laplacian: CsrArrays,
        laplacian_kind: LaplacianKind,
        lambda_max: float,
        points: dict[str, Tensor],
        eigenpairs: Eigenpairs | None = None,
    ) -> None:
        super().__init__(reopen)
        self.label, self.grid = label, grid
        self.laplacian_kind, self.lambda_max = laplacian_kind, lambda_max
        self.num_vertices = laplacian.shape[0]
        self.num_edges = (len(laplacian.data) - self.num_vertices) // 2
        self.register_buffer("row_pointers", torch.from_numpy(laplacian.indptr), persistent=False)
        self.register_buffer("columns", torch.from_numpy(laplacian.indices), persistent=False)
        self.register_buffer("values", torch.from_numpy(laplacian.data), persistent=False)
        vectors = eigenpairs.vectors if eigenpairs else None
        self.register_buffer("eigenvectors", vectors, persistent=False)
        self.subgraph: Tensor | None = None
        self._edges: EdgeList | None = None
        # No buffers, or every exported program would hold what no layer computes with.
        self.degree, self.area = points["degree"], points["area"]
        self.coordinates = points["coordinates"]
        self.eigenvalues = eigenpairs.values if eigenpairs else None

    @property
    def orientations(self) -> int:
        """n_o; 1 where the manifold has none."""
        return self.grid[0]

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
    def edges(self) -> EdgeList:
        """The undirected edges, found on first use."""
        if self._edges is None:
            self._edges = self._edge_list()
        return self._edges

    def _edge_list(self) -> EdgeList:
        columns = self.columns.long()
        vertices = torch.arange(self.num_vertices, device=columns.device)
        rows = vertices.repeat_interleave(self.row_pointers.long().diff())
        # The pattern is symmetric: by columns its entries are those by rows, transposed.
        mirror = torch.empty_like(rows)
        mirror[columns.argsort(stable=True)] = torch.arange(len(rows), device=rows.device)
        upper = (rows < columns).nonzero()[:, 0]
        first, second = rows[upper], columns[upper]
        root = self.mass.to(self.values).sqrt()
        return EdgeList(
            first,
            second,
            -self.values[upper] * (self.lambda_max / 2) * root[first] * root[second],
            upper,
            mirror[upper],
            (rows == columns).nonzero()[:, 0],
        )

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "_Mapped":  # noqa: FBT001, FBT002
        super()._apply(fn, recurse)
        kept = never_below_float32(fn)
        self.degree, self.area = kept(self.degree), kept(self.area)
        self.subgraph = None if self.subgraph is None else kept(self.subgraph)
        self._edges = None  # of another dtype or device
        # To other devices, but not to float32, in which symmetries could no longer be told.
        device = self.values.device
        self.coordinates = self.coordinates.to(device)
        self.eigenvalues = None if self.eigenvalues is None else self.eigenvalues.to(device)
        return self

    @property
    def laplacian(self) -> Tensor:
        """(V, V) sparse CSR tensor 2 Delta / lambda_max - I over the buffers, without a copy."""
        return csr_tensor(self.row_pointers, self.columns, self.values, self.num_vertices)

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
        """What torch's modules do, which would put a message of its own for ours."""
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
        _, vectors = self.eigenpairs
        self._check("fourier", x, "V", len(vectors))
        return multiplied(vectors.T, x)

    def inverse_fourier(self, x_hat: Tensor) -> Tensor:
        """Phi x_hat, (B, C, M) -> (B, C, V), differentiable.

        The inverse of `fourier` where all V eigenpairs are stored; else after `fourier` it is the
        projection to the M lowest frequencies.

        Raises:
            ValueError: x_hat has another shape.
            StoreError: the graph has no stored eigenpairs.
        """
        _, vectors = self.eigenpairs
        self._check("inverse_fourier", x_hat, "M", vectors.shape[1])
        return multiplied(vectors, x_hat)

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
        x_hat, y_hat = self.fourier(x), self.fourier(y)
        if any(a != b and 1 not in {a, b} for a, b in zip(x.shape[:2], y.shape[:2], strict=True)):
            raise ValueError(
                "convolve takes signals whose batches and channels are equal or 1. "
                f"Got {tuple(x.shape)} and {tuple(y.shape)}."
            )
        return self.inverse_fourier(x_hat * y_hat)

    def _check(self, method: str, x: Tensor, name: str, size: int) -> None:
        if x.ndim != 3 or x.shape[2] != size:
            raise ValueError(
                f"{method} on {self.label} takes (B, C, {size}), that is (batch, channels, "
                f"{name}). Got {tuple(x.shape)}."
            )

    def extra_repr(self) -> str:
        """What print(graph) shows."""
        return f"{self.label}, grid={self.grid}, edges={self.num_edges}"


class LevelMap(_Mapped):
    """A map between levels: each target vertex has up to m weighted sources.

    Its buffers `sources` (targets, m) and `weights` (targets, m) float32 sum to 1 over m; rows with
    fewer sources repeat their first one with weight 0.
    """

    sources: Tensor
    weights: Tensor

    def __init__(self, reopen: Reopen, matrix: CsrArrays) -> None:
        super().__init__(reopen)
        self.targets, self.origins = matrix.shape
        sources, weights = _padded(matrix)
        self.register_buffer("sources", sources, persistent=False)
        self.register_buffer("weights", weights, persistent=False)


class Pyramid(_Mapped):
    """The graphs of a published version, finest first, and the maps between them.

    A network that registers its pyramid saves the graph's identity in checkpoints, and refuses one
    that was trained on another graph.

    Attributes:
        name, version: where it was opened from.
        spec: what it was built from, as JSON types.
        spec_sha256: its digest.
    """

    def __init__(
        self,
        reopen: Reopen,
        identity: dict[str, str],
        spec: dict[str, Any],
        levels: list[Graph],
        poolings: list[LevelMap],
        unpoolings: list[LevelMap],
    ) -> None:
        super().__init__(reopen)
        self.name, self.version = identity["name"], identity["version"]
        self.spec_sha256 = identity["spec_sha256"]
        self.spec = spec
        for kind, modules in (("level", levels), ("pool", poolings), ("unpool", unpoolings)):
            for number, module in enumerate(modules):
                self.add_module(f"{kind}{number}", module)
        self._counts = len(levels)
        self._adopt()

    def _adopt(self) -> None:
        """Let the parts know whose they are; weakly, so that a level can be kept alone."""
        for place, part in self.named_children():
            if isinstance(part, _Mapped):
                part._owner, part._place = weakref.ref(self), place  # noqa: SLF001

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Mapped":
        clone = super().__deepcopy__(memo)
        cast("Pyramid", clone)._adopt()  # noqa: SLF001
        return clone

    @property
    def levels(self) -> tuple[Graph, ...]:
        """The graphs, finest first."""
        return tuple(cast("Graph", self.get_submodule(f"level{n}")) for n in range(self._counts))

    def pooling(self, level: int) -> LevelMap:
        """The map from a level to the next coarser one.

        Raises:
            ValueError: there is none.
        """
        return self._map("pool", level, level + 1)

    def unpooling(self, level: int) -> LevelMap:
        """The map to a level from the next coarser one.

        Raises:
            ValueError: there is none.
        """
        return self._map("unpool", level, level + 1)

    @property
    def identity(self) -> Identity:
        """What checkpoints say of it."""
        return Identity(self.name, self.version, self.spec_sha256, self.spec)

    def get_extra_state(self) -> Tensor:
        """(n,) uint8: the graph's identity."""
        return self.identity.encoded()

    def set_extra_state(self, state: Tensor) -> None:
        """Compare a checkpoint's graph with this one.

        Raises:
            StoreError: they differ, or the state is not one of ours.
        """
        trained = Identity.decoded(state)
        if trained.spec_sha256 != self.spec_sha256:
            raise StoreError(
                f"The checkpoint was trained on {trained} (spec {trained.spec_sha256[:12]}); this "
                f"network is on {self.identity} (spec {self.spec_sha256[:12]}). Open the graph it "
                "was trained on, or use load_weights(network, state, allow_other_graph=True)."
            )

    def extra_repr(self) -> str:
        """What print(pyramid) shows."""
        return f"{self.name}@{self.version}"

    def _map(self, kind: str, fine: int, coarse: int) -> LevelMap:
        if not 0 <= fine < self._counts - 1:
            raise ValueError(
                f"{self.name}@{self.version} has levels 0 to {self._counts - 1}; there is no map "
                f"between levels {fine} and {coarse}."
            )
        return cast("LevelMap", self.get_submodule(f"{kind}{fine}"))


def ignore_graphs_in_ddp(module: nn.Module) -> None:
    """Keep DistributedDataParallel from broadcasting the graphs in a module.

    Every rank maps the same files; a broadcast would write to each page and so make it private.
    """
    ignored = [
        f"{prefix}.{name}" if prefix else name
        for prefix, child in module.named_modules(remove_duplicate=False)
        if isinstance(child, _Mapped)
        for name, _ in child.named_buffers(recurse=False)
    ]
    module._ddp_params_and_buffers_to_ignore = ignored  # type: ignore[assignment]  # noqa: SLF001


def csr_tensor(row_pointers: Tensor, columns: Tensor, values: Tensor, size: int) -> Tensor:
    """A (size, size) sparse CSR tensor over existing parts."""
    announce_beta_state()
    parts = (row_pointers, columns, values)
    return torch.sparse_csr_tensor(*parts, size=(size, size), check_invariants=False)


@cache
def announce_beta_state() -> None:
    """Let torch give its one warning that sparse CSR is in beta where nobody has to read it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
        torch.sparse_csr_tensor([0, 1], [0], [1.0], size=(1, 1), check_invariants=False)


def _padded(matrix: CsrArrays) -> tuple[Tensor, Tensor]:
    """(targets, m) sources and weights; a view of the file where all rows are equally long.

    Every row has at least one entry.
    """
    indptr, rows = torch.from_numpy(matrix.indptr).long(), matrix.shape[0]
    indices, data = torch.from_numpy(matrix.indices), torch.from_numpy(matrix.data)
    counts = indptr.diff()
    width = int(counts.max())
    if bool((counts == width).all()):
        return indices.view(rows, width), data.view(rows, width)
    position = torch.arange(width)
    missing = position >= counts[:, None]
    entry = indptr[:-1, None] + position.masked_fill(missing, 0)
    return indices[entry], data[entry].masked_fill(missing, 0)
