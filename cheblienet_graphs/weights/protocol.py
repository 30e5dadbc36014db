"""The interface of edge weights."""

from typing import Protocol

from cheblienet_graphs.sparse import RowBlock
from cheblienet_graphs.typing import Floats


class EdgeWeights(Protocol):
    """Weights of edges, immutable: all that they depend on was found before."""

    @property
    def bandwidth(self) -> float | None:
        """The kernel's t that they are nearest to; None where there is none."""

    @property
    def dropped_edges(self) -> int:
        """How many edges were left out because their weight came out 0."""

    def weights(self, block: RowBlock) -> Floats:
        """(nnz,) weights of the entries of some rows, 0 on the diagonal; symmetric to the bit."""
