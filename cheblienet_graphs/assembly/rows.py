"""The rows of a level's Laplacian, whatever they come from."""

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.assembly.copies import CopiedRows, Ends, Entries
from cheblienet_graphs.assembly.level_plan import LevelPlan
from cheblienet_graphs.search.rule import Lengths
from cheblienet_graphs.search.stencil import MaskedStencils
from cheblienet_graphs.sparse import (
    RowBlock,
    inverse_root,
    laplacian,
    rescaled,
    rows,
    with_diagonal,
)
from cheblienet_graphs.spectrum.lanczos import NORMALIZED, largest_possible
from cheblienet_graphs.store.staged import Result, cut
from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    from cheblienet_graphs.assembly.staged_level import StagedLevel
    from cheblienet_graphs.search.neighbor_lists import MutualNeighbors, NeighborLists
    from cheblienet_graphs.weights.kernel import Kernel
    from cheblienet_graphs.weights.lattice import LatticeWeights

SQUARED = "squared-lengths"
"""Scratch array of d^2 of all edges that a search lists, in their places there; nan for none."""
LISTED = ("listed-rows", "listed-columns", "listed-values")
"""Scratch arrays of edges that are listed with their weights."""
ROWS_AT_ONCE = 2**12
"""Rows that are made together, few enough to stay in a cache with usual numbers of neighbors."""
SCALES = "degree", "inverse-root-mass"
"""Scratch arrays of the vertices, D and N^-1/2, from which rows that are no copies are made."""


def totals(
    plan: LevelPlan, counts: Indices, degree: Floats, mass: Floats, times: Indices | int = 1
) -> Result:
    """Totals over some vertices, for the level's facts and refusals.

    Args:
        plan: of their level.
        counts: (V,) entries of each row, its diagonal among them.
        degree: (V,) sums of weights.
        mass: (V,) N.
        times: (V,) how often each one is there.
    """
    isolated = counts == 1
    vanished = (degree.astype(np.float32) == 0) & (counts > 1)
    normalized = plan.laplacian == "normalized"
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
    totals: Result | None = None
    """Totals over all vertices, where they are known at once; see `totals`."""

    def __init__(self, level: "StagedLevel") -> None:
        self.level = level
        self.plan = level.plan

    def counts(self, start: int, stop: int) -> Indices:
        """(stop - start,) entries of each row, its diagonal among them."""
        return self.level.scratch("counts").part(start, stop)

    def degrees(self, start: int, stop: int) -> Floats:
        """(stop - start,) sums of the weights of each vertex."""
        return self.level.scratch("degree").part(start, stop)

    @cached_property
    def _scales(self) -> list[npt.NDArray[Any]]:
        """D and N^-1/2 of all vertices, mapped."""
        return [self.level.scratch(name).mapped() for name in SCALES]

    def weighed(self, start: int, stop: int) -> tuple[Indices, Floats]:
        """(stop - start,) entries of each row, its diagonal among them, and sums of its weights."""
        counts = np.empty(stop - start, np.int64)
        sums = np.empty(stop - start)
        for lo, hi in cut([(start, stop)], ROWS_AT_ONCE):
            block, weights = self._block(lo, hi)
            counts[lo - start : hi - start] = np.diff(block.indptr)
            sums[lo - start : hi - start] = block.sums(weights)
        return counts, sums

    def entries(self, start: int, ends: Ends, lambda_max: float | None) -> Entries:
        """The entries of some rows.

        Args:
            start: the first one.
            ends: (rows + 1,) where each begins in the matrix, and where the last one ends.
            lambda_max: rescales them; None for the entries of Delta.
        """
        block, weights = self._block(start, start + len(ends) - 1)
        delta = laplacian(block, weights, *self._scales)
        diagonal = block.rows == block.columns
        stored = delta.astype(np.float32)
        values = stored if lambda_max is None else rescaled(stored, diagonal, lambda_max)
        points = self.plan.domain.num_points
        kept = np.count_nonzero(block.rows // points == block.columns // points)
        return Entries(block.columns, values, int(kept) - len(ends) + 1)

    @abstractmethod
    def _block(self, start: int, stop: int) -> tuple[RowBlock, Floats]:
        """Some rows, and (nnz,) their weights."""


class ListedRows(BlockRows):
    """Rows of edges that are listed with their weights."""

    @cached_property
    def _edges(self) -> tuple[Indices, Indices, Floats]:
        """(V + 1,) where the edges of each vertex begin, then their columns and weights."""
        rows, columns, values = (self.level.scratch(name).mapped() for name in LISTED)
        return np.searchsorted(rows, np.arange(self.plan.vertices + 1)), columns, values

    def _block(self, start: int, stop: int) -> tuple[RowBlock, Floats]:
        starts, columns, values = self._edges
        between = slice(starts[start], starts[stop])
        counts = np.diff(starts[start : stop + 1])
        return with_diagonal(start, counts, columns[between], values[between])


class SearchedRows(BlockRows):
    """Rows of vertices that are searched for, with the weights of a kernel."""

    def __init__(self, level: "StagedLevel") -> None:
        super().__init__(level)
        self._weighting = cast("Kernel", level.plan.spec.weighting)
        self.bandwidth = None if level.mean is None else self._weighting.width(level.mean)

    @cached_property
    def lists(self) -> "NeighborLists":
        """The search among the level's rings of images."""
        return self.plan.neighbors.lists(self.level.rings)

    @cached_property
    def nearest(self) -> "MutualNeighbors":
        """The neighbors of all vertices by the rule, once they are listed."""
        # It needs torch, which edges of Voronoi cells do without.
        from cheblienet_graphs.search.neighbor_lists import MutualNeighbors

        lists = self.level.scratch(self.level.lists_name).mapped()
        return MutualNeighbors(lists, self.plan.domain.full.num_points)

    @cached_property
    def lengths(self) -> Lengths:
        """The function that measures all edges."""
        return self.plan.neighbors.lengths(self.lists)

    def measured(self, start: int, stop: int) -> Floats:
        """(stop - start, K) d^2 of the edges of some of all vertices, as listed; nan for none."""
        measured = np.full((stop - start, self._weighting.count), np.nan)
        for some, (lists, mutual) in self.nearest.mutual(start, stop):
            own = np.repeat(np.arange(some.start, some.stop), mutual.sum(axis=1))
            squared = self.lengths(own, lists[mutual])
            measured[some.start - start : some.stop - start][mutual] = squared
        return measured

    def _block(self, start: int, stop: int) -> tuple[RowBlock, Floats]:
        level = self.level
        domain = self.plan.domain
        vertices = domain.among_all(np.arange(start, stop))
        squared = level.scratch(SQUARED).mapped()[vertices]
        edges = ~np.isnan(squared)
        columns = level.scratch(level.lists_name).mapped()[vertices][edges]
        row, columns, kept = domain.edges(np.repeat(vertices, edges.sum(axis=1)), columns)
        degrees = np.bincount(row - start, minlength=stop - start)
        weights = self._weighting.of_squared_lengths(squared[edges][kept], level.mean or 0.0)
        return with_diagonal(start, degrees, columns, weights)


class LatticeRows:
    """The rows of a whole lattice, by lines: runs of vertices along x, which no block cuts.

    Args:
        plan: of a level on it.
        of: the weights of the lattice's offsets.

    Attributes:
        totals: of all vertices; see `totals`.
    """

    def __init__(self, plan: LevelPlan, of: "LatticeWeights") -> None:
        self.bandwidth = of.bandwidth
        self._small = of.engine.small
        small = self._small.lattice
        block, weights = of.engine.rows_on_small(of.offset_values)
        self._block = replace(block, columns=block.columns.astype(np.int64))
        self._degree = block.sums(weights)
        mass = small.areas() if plan.laplacian == "combinatorial" else self._degree
        delta = laplacian(block, weights, self._degree, inverse_root(mass))
        self._values = delta.astype(np.float32)
        counts = np.diff(block.indptr)
        times = self._small.times
        self.totals = totals(plan, counts, self._degree, mass, times)
        self._scaled = lru_cache(1)(self._copied)

    def counts(self, start: int, stop: int) -> Indices:
        """The number of entries of each row, as `BlockRows.counts`."""
        return np.diff(self._block.indptr)[self._like(start, stop)]

    def degrees(self, start: int, stop: int) -> Floats:
        """The degrees of some vertices, as `BlockRows.degrees`."""
        return self._degree[self._like(start, stop)]

    def _like(self, start: int, stop: int) -> Indices:
        """The small lattice's vertices that some look like."""
        width = self._small.width
        skipped = start % width
        lines = (start // width * width, -(-stop // width) * width)
        like = self._small.vertices(self._small.like(*lines)).ravel()
        return like[skipped : skipped + stop - start]

    def entries(self, start: int, ends: Ends, lambda_max: float | None) -> Entries:
        """The entries of whole lines, as `BlockRows.entries`."""
        return self._scaled(lambda_max).entries(start, ends)

    def _copied(self, lambda_max: float | None) -> CopiedRows:
        """The rows of Delta, rescaled where there is a bound."""
        block, values = self._block, self._values
        if lambda_max is None:
            return CopiedRows(self._small, block, values)
        diagonal = block.rows == block.columns
        return CopiedRows(self._small, block, rescaled(values, diagonal, lambda_max))


class MaskedRows(BlockRows):
    """The rows of the vertices inside; edges have the weights of the whole lattice.

    Args:
        level: of a lattice with a mask.
        of: the weights of the lattice's offsets.
    """

    def __init__(self, level: "StagedLevel", of: "LatticeWeights") -> None:
        super().__init__(level)
        self._stencils = cast("MaskedStencils", self.plan.stencils_inside)
        self._at_edge = self.plan.edge_rows
        self._values, self.bandwidth = of.offset_values, of.bandwidth

    def _block(self, start: int, stop: int) -> tuple[RowBlock, Floats]:
        block, weights = self._stencils.rows(start, stop, self._values)
        if self._at_edge is None:
            return block, weights
        return _replaced(block, weights, rows(self._at_edge, start, stop))


def _replaced(
    block: RowBlock, weights: Floats, listed: scipy.sparse.csr_array
) -> tuple[RowBlock, Floats]:
    """Some rows with their weights, replaced by listed ones where there are any.

    Args:
        block: the rows.
        weights: (nnz,).
        listed: (rows, V), empty where none are.
    """
    counts = np.diff(block.indptr)
    there = np.diff(listed.indptr) > 0
    own = ~np.repeat(there, counts)
    counts = np.where(there, np.diff(listed.indptr), counts)
    others = np.repeat(there, counts)
    merged = np.empty(len(others), np.int64)
    values = np.empty(len(others))
    merged[~others] = block.columns[own]
    merged[others] = listed.indices
    values[~others] = weights[own]
    values[others] = listed.data
    return replace(block, indptr=np.append(0, np.cumsum(counts)), columns=merged), values
