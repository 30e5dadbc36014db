"""Maps from the vertices of one graph to another's, and back along the same edges."""

from functools import partial
from operator import attrgetter
from pathlib import Path

import torch
from torch import Tensor

from cheblienet_graphs.store.map_reader import MapArrays
from cheblienet_models.arguments import check_signal, instance
from cheblienet_models.graphs.connection import TRANSPOSED, Transport, check_pairs, check_spin
from cheblienet_models.graphs.identity import Identity
from cheblienet_models.graphs.mapped import Identified, Reopen, recipe_of
from cheblienet_models.missing import check_known
from cheblienet_models.tensors import CsrParts, csr_tensor, multiplied, save_npz, sparse_product


class VertexMap(Identified):
    """A sparse matrix from signals on the sources to signals on the targets: y_i = sum_j w_ij x_j.

    The weights of a target are not negative and sum to exactly 1, so constants stay as they are.
    Its transpose `map.T` goes back along the same edges; its rows sum to whatever they sum to. Both
    are mapped from the store, and the backward of one is the other. A network that registers it
    saves the map's identity in checkpoints, and refuses one that was trained on another map.

    Args:
        reopen: how to open it again.
        identity: of the version, its specification included.
        stored: its arrays.

    Attributes:
        check_finite: True; whether signals are searched for missing and infinite values, which
            would spread. On a GPU each call then waits for its queue: set it to False where
            something before has looked, as networks do.
        num_sources, num_targets: of the matrix.
        source_grid, target_grid: shapes of signals, orientations first, as of `Graph.grid`.
        source_coordinates, target_coordinates: (num_sources, d) and (num_targets, d) float64,
            pixels at their centers.
        row_pointers, columns, values: the matrix; the transpose's have its prefix.
    """

    entries = "matrix"
    check_finite: bool = True
    row_pointers: Tensor
    columns: Tensor
    values: Tensor
    source_coordinates: Tensor
    target_coordinates: Tensor
    _transports: dict[int, Transport] = {}  # noqa: RUF012 -- replaced, never changed

    def __init__(self, reopen: Reopen, identity: Identity, stored: MapArrays) -> None:
        super().__init__(reopen, identity)
        sizes = instance("stored", stored, MapArrays).facts.sizes
        self.num_targets, self.num_sources = sizes.targets, sizes.sources
        self.source_grid, self.target_grid = sizes.source_grid, sizes.target_grid
        self._hold_matrix("", CsrParts.of(stored.matrix))
        self._hold_matrix(TRANSPOSED, CsrParts.of(stored.transposed))
        sides = (stored.mapped_coordinates(side) for side in ("source", "target"))
        self._hold_coordinates(*map(torch.from_numpy, sides))

    @property
    def matrix(self) -> Tensor:
        """(num_targets, num_sources) sparse CSR tensor without a copy."""
        return csr_tensor(self._finite_matrix(), self.num_sources)

    @property
    def T(self) -> "VertexMap":  # noqa: N802
        """The transpose, (num_sources, num_targets), over the same tensors.

        Until one of them is moved or cast: registered in a network that is, both hold their own.
        """
        other = VertexMap.__new__(VertexMap)
        Identified.__init__(other, recipe_of(self.handle, attrgetter("T")), self.identity)
        other.num_targets, other.num_sources = self.num_sources, self.num_targets
        other.source_grid, other.target_grid = self.target_grid, self.source_grid
        other._hold_coordinates(self.target_coordinates, self.source_coordinates)  # noqa: SLF001
        other._hold_matrix("", self._matrix(TRANSPOSED))  # noqa: SLF001
        other._hold_matrix(TRANSPOSED, self._matrix())  # noqa: SLF001
        return other

    def forward(self, x: Tensor, spin: int = 0) -> Tensor:
        """(B, C, num_sources) -> (B, C, num_targets), differentiable twice.

        In the wider of x's dtype and the map's, also under autocast.

        Args:
            x: the signal; of a field of spin (B, 2 C, num_sources), the first components of all C
                fields, then the second ones, which turn with the frames between source and target.
                These are a quarter turn from the first, south toward east, as in (south, east) and
                (east, north); other pairs are silently wrong.
            spin: of the signal, on s2 and r2, 0 of scalars; winds have 1, Q and U of COSMO 2.

        Raises:
            TypeError: x is no tensor, or spin no integer.
            ValueError: x has another shape or device, or no floating-point dtype, or spin is below
                0 or not of this manifold.
            StoreError: weights are not finite.
        """
        name = f"{self.identity.name}@{self.identity.version}"
        check_signal(name, x, ("B", "C", self.num_sources), self.values.device)
        if self.check_finite:
            check_known(name, x)
        manifold = self.spec["source"]["manifold"]
        if check_spin(name, manifold, spin):
            check_pairs(name, x, spin)
            wide = x.to(torch.promote_types(self.values.dtype, x.dtype))
            return self._transport(spin * (manifold == "s2")).forward(wide)
        matrices = self._finite_matrix(), self._finite_matrix(TRANSPOSED)
        return multiplied(x, self.values.dtype, partial(sparse_product, *matrices))

    def __matmul__(self, x: Tensor) -> Tensor:
        """The same as calling it: `map @ x`."""
        mapped: Tensor = self(x)
        return mapped

    def save_npz(self, path: str | Path) -> Path:
        """Write `matrix` to a file that scipy.sparse.load_npz reads.

        Args:
            path: of the file; `.npz` is appended where it does not end so.

        Returns:
            Where the file is.

        Raises:
            OSError: it can't be written.
        """
        return save_npz(path, self.matrix)

    def extra_repr(self) -> str:
        """The line that print(map) shows."""
        return f"{super().extra_repr()}, {self.num_sources} -> {self.num_targets}"

    def _transport(self, spin: int) -> Transport:
        """The matrix of fields of spin, made on first use."""
        one = self._transports.get(spin)
        if one is None or one.values.device != self.values.device:
            ends = self.target_coordinates, self.source_coordinates
            with torch.inference_mode(mode=False):
                matrices = self._finite_matrix(), self._finite_matrix(TRANSPOSED)
                one = Transport(matrices, *ends, spin)
            self._transports = {**self._transports, spin: one}
        return one

    def _hold_coordinates(self, source: Tensor, target: Tensor) -> None:
        self._hold("source_coordinates", source, exact=True)
        self._hold("target_coordinates", target, exact=True)
