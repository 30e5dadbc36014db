"""The rows of a level's Laplacian, whatever they come from; those that are searched or listed."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.assembly.level import LISTED, Level
from cheblienet_graphs.search.masked import InsideEngine
from cheblienet_graphs.search.rule import Lengths
from cheblienet_graphs.sparse import RowBlock, exact_sum, laplacian, rescaled
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.edges import KernelWeights, ListedEdges

if TYPE_CHECKING:
    from cheblienet_graphs.search.lists import MutualNeighbors, NeighborLists

Ends = npt.NDArray[np.signedinteger[Any]]
"""(rows + 1,) where each row begins, and where the last one ends."""


class Entries(NamedTuple):
    """The entries of some rows.

    Args:
        columns: (nnz,) ascending in each row.
        values: (nnz,) of the Laplacian.
        in_plane: how many keep the orientation, the diagonal left out.
    """

    columns: npt.NDArray[np.signedinteger[Any]]
    values: npt.NDArray[np.floating[Any]]
    in_plane: int


class Scaling(NamedTuple):
    """What the entries of a Laplacian are made from, besides weights.

    Args:
        lambda_max: by which entries are rescaled; None leaves them those of Delta.
        degree: (V,) D; copied rows, which have all they need, do without.
        inverse_root: (V,) N^-1/2; the same.
    """

    lambda_max: float | None
    degree: Floats = np.empty(0)
    inverse_root: Floats = np.empty(0)


class Rows(ABC):
    """The rows of a lattice, of a part of one, of a search or of listed edges.

    What is returned is the same to the bit however the rows are cut into blocks. Rows are made of a
    level, in any process, and kept there from block to block.

    Attributes:
        level: as far as its build has come.
        bandwidth: the kernel's t, None without a kernel.
    """

    level: Level
    bandwidth: float | None = None

    @property
    def dropped_edges(self) -> int:
        """How many were left out because their weight came out 0; none unless overridden."""
        return 0

    @abstractmethod
    def weighed(self, start: int, stop: int) -> tuple[Indices, Floats]:
        """(stop - start,) entries of each row, its diagonal among them, and sums of its weights."""

    @abstractmethod
    def entries(self, start: int, ends: Ends, scaling: Scaling) -> Entries:
        """The entries of some rows.

        Args:
            start: the first row.
            ends: of these rows.
            scaling: of all vertices.
        """


class BlockRows(Rows):
    """Rows that are computed one by one, a block at a time.

    Args:
        level: as far as its build has come.
    """

    def __init__(self, level: Level) -> None:
        self.level = level
        self._last: tuple[RowBlock, Floats] | None = None

    def weighed(self, start: int, stop: int) -> tuple[Indices, Floats]:
        """As `Rows.weighed`."""
        block, weights = self._weighed(start, stop)
        return np.diff(block.indptr), block.sums(weights)

    def entries(self, start: int, ends: Ends, scaling: Scaling) -> Entries:
        """As `Rows.entries`."""
        block, weights = self._weighed(start, start + len(ends) - 1)
        delta = laplacian(block, weights, scaling.degree, scaling.inverse_root).astype(np.float32)
        diagonal, scale = block.rows == block.columns, scaling.lambda_max
        values = delta if scale is None else rescaled(delta, diagonal, scale)
        points = self.level.sampling.num_points
        kept = np.count_nonzero(block.rows // points == block.columns // points)
        return Entries(block.columns, values, int(kept) - len(ends) + 1)

    def _weighed(self, start: int, stop: int) -> tuple[RowBlock, Floats]:
        """Some rows and their weights; the last ones are kept, as a level often is one block."""
        last = self._last  # another thread may replace it
        if last is None or (last[0].start, last[0].stop) != (start, stop):
            self._last = last = self._block(start, stop)
        return last

    @abstractmethod
    def _block(self, start: int, stop: int) -> tuple[RowBlock, Floats]:
        """Some rows, and (nnz,) their weights."""


class ListedRows(BlockRows):
    """Rows of edges that are listed with their weights; whoever lists them knows the rest."""

    @cached_property
    def _edges(self) -> ListedEdges:
        rows, columns, values = (self.level.scratch(name).mapped() for name in LISTED)
        return ListedEdges((rows, columns, values), self.level.num_vertices)

    def _block(self, start: int, stop: int) -> tuple[RowBlock, Floats]:
        block = self._edges.block(start, stop)
        return block, self._edges.weights(block)


class SearchedRows(BlockRows):
    """Rows of vertices that are searched for, with the weights of a kernel."""

    def __init__(self, level: Level) -> None:
        super().__init__(level)
        if level.mean is not None:
            self._kernel = KernelWeights.of_mean(level.spec, level.mean)
            self.bandwidth = self._kernel.bandwidth

    @cached_property
    def lists(self) -> "NeighborLists":
        """The search among the level's rings of images."""
        return self.level.neighbors.lists(self.level.rings)

    @cached_property
    def nearest(self) -> "MutualNeighbors":
        """The neighbors of all vertices by the rule, once they are listed."""
        # It needs torch, which edges of Voronoi cells do without.
        from cheblienet_graphs.search.lists import MutualNeighbors

        lists = self.level.scratch(self.level.lists_name).mapped()
        return MutualNeighbors(lists, self.level.full.num_points)

    @cached_property
    def lengths(self) -> Lengths:
        """The function that measures all edges."""
        return self.level.neighbors.lengths(self.lists)

    def measured(self, start: int, stop: int) -> tuple[int, int]:
        """The exact sum of d^2 over entries of rows of the whole sampling, and how many edges."""
        block = self.nearest.block(start, stop)
        squared = self.lengths.squared_distances(block.rows, block.columns)
        return exact_sum(block.sums(squared)), len(block.columns) - (stop - start)

    def _block(self, start: int, stop: int) -> tuple[RowBlock, Floats]:
        inside = self.level.inside
        engine = self.nearest if inside is None else InsideEngine(self.nearest, inside)
        block = engine.block(start, stop)
        rows, columns = block.rows, block.columns
        if inside is not None:
            rows, columns = inside.among_all(rows), inside.among_all(columns)
        return block, self._kernel.weights(block, self.lengths.squared_distances(rows, columns))
