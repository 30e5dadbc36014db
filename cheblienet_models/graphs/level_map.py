"""Maps between the levels of a pyramid, as a fixed number of weighted sources a vertex."""

from pathlib import Path

import torch
from torch import Tensor

from cheblienet_models.arguments import instance
from cheblienet_models.graphs.mapped import Mapped, Reopen
from cheblienet_models.store.csr import CsrArrays
from cheblienet_models.tensors.sparse import csr_tensor, save_npz


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
        shape = (self.targets, self.origins)
        return csr_tensor(pointers, self.sources[held], self.weights[held], shape)

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
