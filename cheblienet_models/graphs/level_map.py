"""Maps between the levels of a pyramid, as a fixed number of weighted sources a vertex."""

import torch
from torch import Tensor

from cheblienet_models.graphs.mapped import Mapped, Reopen
from cheblienet_models.store.csr import CsrArrays


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
        self.targets, self.origins = matrix.shape
        sources, weights = _padded(matrix)
        self.register_buffer("sources", sources, persistent=False)
        self.register_buffer("weights", weights, persistent=False)


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
