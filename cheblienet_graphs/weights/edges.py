"""Weights of searched edges: their interface, the paper's kernels of lengths, and listed ones."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.search.rule import Lengths
from cheblienet_graphs.sparse import RowBlock
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.edges import Kernel
from cheblienet_graphs.typing import Floats, Indices


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


def kernel_weights(spec: GraphSpec, squared: Floats) -> tuple[Floats, float]:
    """The kernel's weights of edges with these d^2, (N,), and t, a multiple of their mean."""
    kernel, relative_bandwidth = spec.kernel_and_bandwidth
    bandwidth = relative_bandwidth * float(squared.mean())
    return kernel(array(squared / (4 * bandwidth))).view(np.ndarray), bandwidth


class ListedEdges:
    """A list of edges with their weights: an engine and its edge weights in one.

    Args:
        entries: (entries,) rows, columns and weights of both directions of each edge, ascending;
            may be mapped.
        vertices: V.
        points: vertices of one orientation.
        bandwidth: t of the kernel whose weights are nearest.
        dropped: rows and columns of both directions of each edge left out because its weight came
            out 0.
    """

    def __init__(
        self,
        entries: tuple[Indices, Indices, Floats],
        vertices: int,
        points: int,
        bandwidth: float | None = None,
        dropped: tuple[Indices, Indices] = (np.empty(0, np.int64), np.empty(0, np.int64)),
    ) -> None:
        self.entries, self.dropped = entries, dropped
        self._rows, self._columns, self._values = entries
        self._starts = np.searchsorted(self._rows, np.arange(vertices + 1))
        self._points = points
        self.bandwidth, self.dropped_edges = bandwidth, len(dropped[0]) // 2

    @property
    def total_degree(self) -> int:
        """Twice the number of edges."""
        return len(self._rows)

    @property
    def in_plane_degree(self) -> int:
        """The part of `total_degree` that stays within one orientation."""
        return int((self._rows // self._points == self._columns // self._points).sum())

    def degrees(self, start: int, stop: int) -> Indices:
        """(stop - start,) number of neighbors of each vertex."""
        return np.diff(self._starts[start : stop + 1])

    def columns(self, start: int, stop: int) -> Indices:
        """Neighbors of the vertices start..stop, vertex after vertex, ascending in each."""
        return self._columns[self._starts[start] : self._starts[stop]]

    def weights(self, block: RowBlock) -> Floats:
        """(nnz,) weights of the entries of some rows, 0 on the diagonal."""
        weights = np.zeros(len(block.columns))
        between = slice(self._starts[block.start], self._starts[block.stop])
        weights[block.rows != block.columns] = self._values[between]
        return weights
