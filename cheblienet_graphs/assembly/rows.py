"""The rows of a level's Laplacian, whatever they come from; those that are searched or listed."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.assembly.level import LISTED, SQUARED, Level
from cheblienet_graphs.search.rule import Lengths
from cheblienet_graphs.sparse import RowBlock, laplacian, rescaled, with_diagonal
from cheblienet_graphs.spectrum.lanczos import NORMALIZED, largest_possible
from cheblienet_graphs.store.staged import Result, cut
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.edges import KernelWeights, ListedEdges

if TYPE_CHECKING:
    from cheblienet_graphs.search.lists import MutualNeighbors, NeighborLists

ROWS_AT_ONCE = 2**12
"""Rows that are made together, few enough to stay in a cache with usual numbers of neighbors."""
SCALES = "degree", "inverse-root-mass"
"""Scratch arrays of the vertices, D and N^-1/2, from which rows that are no copies are made."""
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


def totals(
    level: Level, counts: Indices, degree: Floats, mass: Floats, times: Indices | int = 1
) -> Result:
    """What a level's facts, and its refusals, need of some vertices.

    Args:
        level: of them.
        counts: (V,) entries of each row, its diagonal among them.
        degree: (V,) sums of weights.
        mass: (V,) N.
        times: (V,) how often each one is there.
    """
    isolated, vanished = counts == 1, (degree.astype(np.float32) == 0) & (counts > 1)
    normalized = level.laplacian == "normalized"
    return {
        "entries": int((times * counts).sum()),
        "isolated": int((times * isolated).sum()),
        "vanished": int((times * vanished).sum()),
        "largest": NORMALIZED if normalized else largest_possible(degree, mass),
    }


class BlockRows(ABC):
    """Rows that are computed one by one, whenever they are asked for.

    Args:
        level: as far as its build has come.
    """

    bandwidth: float | None = None

    def __init__(self, level: Level) -> None:
        self.level = level

    def counts(self, start: int, stop: int) -> Indices:
        """As `Rows.counts`."""
        return self.level.scratch("counts").part(start, stop)

    def degrees(self, start: int, stop: int) -> Floats:
        """As `Rows.degrees`."""
        return self.level.scratch("degree").part(start, stop)

    @cached_property
    def _scales(self) -> list[npt.NDArray[Any]]:
        """D and N^-1/2 of all vertices, mapped."""
        return [self.level.scratch(name).mapped() for name in SCALES]

    def weighed(self, start: int, stop: int) -> tuple[Indices, Floats]:
        """(stop - start,) entries of each row, its diagonal among them, and sums of its weights."""
        counts, sums = np.empty(stop - start, np.int64), np.empty(stop - start)
        for lo, hi in cut([(start, stop)], ROWS_AT_ONCE):
            block, weights = self._block(lo, hi)
            counts[lo - start : hi - start] = np.diff(block.indptr)
            sums[lo - start : hi - start] = block.sums(weights)
        return counts, sums

    def entries(self, start: int, ends: Ends, lambda_max: float | None) -> Entries:
        """As `Rows.entries`."""
        block, weights = self._block(start, start + len(ends) - 1)
        delta, diagonal = laplacian(block, weights, *self._scales), block.rows == block.columns
        stored = delta.astype(np.float32)
        values = stored if lambda_max is None else rescaled(stored, diagonal, lambda_max)
        points = self.level.sampling.num_points
        kept = np.count_nonzero(block.rows // points == block.columns // points)
        return Entries(block.columns, values, int(kept) - len(ends) + 1)

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
        return self._edges.rows(start, stop)


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

    def measured(self, start: int, stop: int) -> Floats:
        """(stop - start, K) d^2 of the edges of some of all vertices, as listed; nan for none."""
        measured = np.full((stop - start, self.level.spec.searched_neighbors), np.nan)
        for rows, (lists, mutual) in self.nearest.mutual(start, stop):
            own = np.repeat(np.arange(rows.start, rows.stop), mutual.sum(axis=1))
            squared = self.lengths.squared_distances(own, lists[mutual])
            measured[rows.start - start : rows.stop - start][mutual] = squared
        return measured

    def _block(self, start: int, stop: int) -> tuple[RowBlock, Floats]:
        level, inside = self.level, self.level.inside
        vertices = (
            np.arange(start, stop) if inside is None else inside.among_all(np.arange(start, stop))
        )
        squared = level.scratch(SQUARED).mapped()[vertices]
        edges = ~np.isnan(squared)
        columns = level.scratch(level.lists_name).mapped()[vertices][edges]
        rows, squared = np.repeat(vertices, edges.sum(axis=1)), squared[edges]
        if inside is not None:
            rows, columns, kept = inside.edges(rows, columns)
            squared = squared[kept]
        degrees = np.bincount(rows - start, minlength=stop - start)
        return with_diagonal(start, degrees, columns, self._kernel.of_squared_lengths(squared))
