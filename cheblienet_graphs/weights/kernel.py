"""The paper's weights: a kernel of the lengths of the edges."""

import math

import numpy as np

from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.neighbours.protocols import Lengths
from cheblienet_graphs.neighbours.stencil import Stencils
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.sparse.blocks import RowBlock
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.typing import Floats


class KernelWeights:
    """A kernel of d^2 / (4 t), where t is a multiple of the mean of d^2 over all edges.

    Args:
        spec: says which kernel, and which multiple.
        lengths: what measures edges, kept as an attribute.

    Attributes:
        bandwidth: t; nan until the mean has been set.
        dropped_edges: none.
    """

    def __init__(self, spec: GraphSpec, lengths: Lengths) -> None:
        self._spec = spec
        self._kernel, self._relative_bandwidth = spec.kernel_and_bandwidth
        self.lengths = lengths
        self._last: tuple[RowBlock, Floats] | None = None
        self.bandwidth: float | None = math.nan
        self.dropped_edges = 0

    def on(self, lattice: Lattice) -> "KernelWeights":
        """The same on a lattice of another size, with the lengths of this one; no mean yet."""
        if not isinstance(self.lengths, Stencils):
            raise TypeError("these edges are on no lattice")
        return KernelWeights(self._spec, self.lengths.on(lattice))

    def squared_distances(self, block: RowBlock) -> Floats:
        """(nnz,) d^2 of the entries of some rows; those of the last block are kept."""
        last = self._last  # another thread may replace it
        if last is None or last[0] is not block:
            self._last = last = block, self.lengths.squared_distances(block.rows, block.columns)
        return last[1]

    def set_mean(self, mean: float) -> None:
        """Tell the mean of d^2 over all edges."""
        self.bandwidth = self._relative_bandwidth * mean

    def weights(self, block: RowBlock) -> Floats:
        """(nnz,) weights of the entries of some rows, 0 on the diagonal."""
        scaled = self.squared_distances(block) / (4 * (self.bandwidth or math.nan))
        weights: Floats = self._kernel(array(scaled)).view(np.ndarray)
        weights[block.rows == block.columns] = 0
        return weights
