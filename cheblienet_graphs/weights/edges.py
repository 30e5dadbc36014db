"""Weights of searched edges: the paper's kernels of lengths, and listed ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.search.rule import Engine
from cheblienet_graphs.sparse import RowBlock
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.edges import Kernel
from cheblienet_graphs.typing import Floats, Indices


@dataclass(frozen=True)
class KernelWeights:
    """A kernel of d^2 / (4 t).

    Args:
        kernel: weight from d^2 / (4 t).
        bandwidth: t.
    """

    kernel: Kernel
    bandwidth: float

    dropped_edges: ClassVar[int] = 0
    """None is left out, however small its weight."""

    @classmethod
    def of_mean(cls, spec: GraphSpec, mean: float) -> "KernelWeights":
        """The weights of a specification, whose t is a multiple of the mean of d^2.

        Args:
            spec: says which kernel, and which multiple.
            mean: of d^2 over all edges.
        """
        kernel, relative_bandwidth = spec.kernel_and_bandwidth
        return cls(kernel, relative_bandwidth * mean)

    def weights(self, block: RowBlock, squared: Floats) -> Floats:
        """(nnz,) weights of the entries of some rows with these d^2, (nnz,), 0 on the diagonal."""
        weights = self.of_squared_lengths(squared)
        weights[block.rows == block.columns] = 0
        return weights

    def of_squared_lengths(self, squared: Floats) -> Floats:
        """The weights of edges with these d^2, of any shape."""
        weights: Floats = self.kernel(array(squared / (4 * self.bandwidth))).view(np.ndarray)
        return weights


class ListedEdges(Engine):
    """A list of edges with their weights: an engine and its edge weights in one.

    Args:
        entries: (entries,) rows, columns and weights of both directions of each edge, ascending;
            may be mapped.
        vertices: V.
        bandwidth: t of the kernel whose weights are nearest.
        dropped: rows and columns of both directions of each edge left out because its weight came
            out 0.
    """

    def __init__(
        self,
        entries: tuple[Indices, Indices, Floats],
        vertices: int,
        bandwidth: float | None = None,
        dropped: tuple[Indices, Indices] = (np.empty(0, np.int64), np.empty(0, np.int64)),
    ) -> None:
        self.entries, self.dropped = entries, dropped
        rows, self._columns, self._values = entries
        self._starts = np.searchsorted(rows, np.arange(vertices + 1))
        self.bandwidth, self.dropped_edges = bandwidth, len(dropped[0]) // 2

    def pieces(self, start: int, stop: int) -> Iterator[tuple[Indices, Indices]]:
        """As `Engine.pieces`, all at once."""
        between = slice(self._starts[start], self._starts[stop])
        yield np.diff(self._starts[start : stop + 1]), self._columns[between]

    def weights(self, block: RowBlock) -> Floats:
        """(nnz,) weights of the entries of some rows, 0 on the diagonal."""
        weights = np.zeros(len(block.columns))
        between = slice(self._starts[block.start], self._starts[block.stop])
        weights[block.rows != block.columns] = self._values[between]
        return weights
