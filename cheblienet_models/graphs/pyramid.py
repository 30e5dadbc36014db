"""Pyramids of graphs, which know which published version they are, and the maps between levels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from cheblienet_models.arguments import instance, integer
from cheblienet_models.errors import StoreError
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.identity import Identity
from cheblienet_models.graphs.mapped import Mapped, Reopen
from cheblienet_models.store.csr import CsrArrays
from cheblienet_models.tensors import Csr, csr_tensor, save_npz


class LevelMap(Mapped):
    """A map between levels: each target vertex has up to m weighted sources.

    Its buffers `sources` (targets, m), int32 or int64, and `weights` (targets, m) float32 sum to 1
    over m; rows with fewer sources repeat their first one with weight 0.

    Args:
        reopen: how to open it again.
        matrix: (targets, origins), at least one entry in each row.

    Attributes:
        targets, origins: numbers of vertices.
    """

    sources: Tensor
    weights: Tensor

    def __init__(self, reopen: Reopen, matrix: CsrArrays) -> None:
        super().__init__(reopen)
        self.targets, self.origins = instance("matrix", matrix, CsrArrays).shape
        sources, weights = _padded(matrix)
        self.register_buffer("sources", sources, persistent=False)
        self.register_buffer("weights", weights, persistent=False)

    def matrix(self) -> Tensor:
        """(targets, origins) sparse CSR tensor of the means that "mean" pooling takes, a copy.

        Rows sum to 1. On the device and in the dtype of `weights`.
        """
        held = self.weights > 0
        rows = held.sum(1, dtype=self.sources.dtype)
        pointers = torch.cat([rows.new_zeros(1), rows.cumsum(0, dtype=rows.dtype)])
        return csr_tensor(Csr(pointers, self.sources[held], self.weights[held]), self.origins)

    def save_npz(self, path: str | Path) -> Path:
        """Write `matrix()` to a file that scipy.sparse.load_npz reads.

        Args:
            path: of the file; `.npz` is appended where it does not end so.

        Returns:
            Where the file is.

        Raises:
            OSError: it can't be written.
        """
        return save_npz(path, self.matrix())


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


class Identified(Mapped):
    """Constants of a published version. Checkpoints say which, and are compared with it.

    Args:
        reopen: how to open it again.
        identity: of the version, its specification included.

    Attributes:
        name, version: where it was opened from.
        spec: what it was built from, as JSON types.
        spec_sha256: its digest.
        identity: all of these, as checkpoints say them.
    """

    def __init__(self, reopen: Reopen, identity: Identity) -> None:
        super().__init__(reopen)
        self.identity = instance("identity", identity, Identity)
        self.name, self.version = identity.name, identity.version
        self.spec_sha256 = identity.spec_sha256
        self.spec: dict[str, Any] = identity.spec or {}

    def get_extra_state(self) -> Tensor:
        """(n,) uint8: its identity."""
        return self.identity.encoded()

    def set_extra_state(self, state: Tensor) -> None:
        """Compare a checkpoint's graph or map with this one.

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
        """The line that print(pyramid) shows."""
        return f"{self.name}@{self.version}"


class Pyramid(Identified):
    """The graphs of a published version, finest first, and the maps between them.

    A network that registers its pyramid saves the graph's identity in checkpoints, and refuses one
    that was trained on another graph.

    Args:
        reopen: how to open it again.
        identity: of the version, its specification included.
        levels: n graphs, finest first.
        poolings: n - 1 maps from each level to the next coarser one.
        unpoolings: n - 1 maps to each level from the next coarser one.
    """

    def __init__(
        self,
        reopen: Reopen,
        identity: Identity,
        levels: Sequence[Graph],
        poolings: Sequence[LevelMap],
        unpoolings: Sequence[LevelMap],
    ) -> None:
        super().__init__(reopen, identity)
        for kind, modules in (("level", levels), ("pool", poolings), ("unpool", unpoolings)):
            for number, module in enumerate(modules):
                self.add_module(f"{kind}{number}", module)
        self._num_levels = len(levels)
        self.adopt_parts()

    @property
    def levels(self) -> tuple[Graph, ...]:
        """The graphs, finest first."""
        return tuple(
            cast("Graph", self.get_submodule(f"level{n}")) for n in range(self._num_levels)
        )

    def pooling(self, level: int) -> LevelMap:
        """The map from a level to the next coarser one.

        Raises:
            TypeError: level is no integer.
            ValueError: there is none.
        """
        return self._map("pool", level)

    def unpooling(self, level: int) -> LevelMap:
        """The map to a level from the next coarser one.

        Raises:
            TypeError: level is no integer.
            ValueError: there is none.
        """
        return self._map("unpool", level)

    def _map(self, kind: str, fine: int) -> LevelMap:
        if not 0 <= integer("level", fine) < self._num_levels - 1:
            raise ValueError(
                f"{self.name}@{self.version} has levels 0 to {self._num_levels - 1}; there is no "
                f"map between levels {fine} and {fine + 1}."
            )
        return cast("LevelMap", self.get_submodule(f"{kind}{fine}"))
