"""Edges that are listed with their weights, on samplings without a lattice."""

import numpy as np

from cheblienet_graphs.sparse import RowBlock
from cheblienet_graphs.typing import Floats, Indices


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
        """(stop - start,) number of neighbours of each vertex."""
        return np.diff(self._starts[start : stop + 1])

    def columns(self, start: int, stop: int) -> Indices:
        """Neighbours of the vertices start..stop, vertex after vertex, ascending in each."""
        return self._columns[self._starts[start] : self._starts[stop]]

    def weights(self, block: RowBlock) -> Floats:
        """(nnz,) weights of the entries of some rows, 0 on the diagonal."""
        weights = np.zeros(len(block.columns))
        between = slice(self._starts[block.start], self._starts[block.stop])
        weights[block.rows != block.columns] = self._values[between]
        return weights
