"""The paper's weights: a kernel of the lengths of the edges."""

from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.neighbours.protocols import Lengths
from cheblienet_graphs.sparse.blocks import RowBlock
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.edges import Kernel
from cheblienet_graphs.typing import Floats


@dataclass(frozen=True)
class KernelWeights:
    """A kernel of d^2 / (4 t).

    Args:
        kernel: weight from d^2 / (4 t).
        bandwidth: t.
        lengths: measure the edges.
    """

    kernel: Kernel
    bandwidth: float
    lengths: Lengths

    @classmethod
    def of_mean(cls, spec: GraphSpec, mean: float, lengths: Lengths) -> "KernelWeights":
        """The weights of a specification, whose t is a multiple of the mean of d^2.

        Args:
            spec: says which kernel, and which multiple.
            mean: of d^2 over all edges.
            lengths: measured them.
        """
        kernel, relative_bandwidth = spec.kernel_and_bandwidth
        return cls(kernel, relative_bandwidth * mean, lengths)

    @property
    def dropped_edges(self) -> int:
        """None: no edge is left out, however small its weight."""
        return 0

    def weights(self, block: RowBlock) -> Floats:
        """(nnz,) weights of the entries of some rows, 0 on the diagonal."""
        return self.of_lengths(block, self.lengths.squared_distances(block.rows, block.columns))

    def of_lengths(self, block: RowBlock, squared: Floats) -> Floats:
        """The same where the (nnz,) d^2 of the entries are known already."""
        weights = self.of_squared_lengths(squared)
        weights[block.rows == block.columns] = 0
        return weights

    def of_squared_lengths(self, squared: Floats) -> Floats:
        """The weights of edges with these d^2, of any shape."""
        weights: Floats = self.kernel(array(squared / (4 * self.bandwidth))).view(np.ndarray)
        return weights
