"""Rows of the Laplacian of a lattice, or of a part of one, by stencils.

The metric is left-invariant, so all rows far from the boundary are one row, shifted: a lattice of
any size is a small one of which the middle place along each axis stands for as many as it takes.
Rows are computed on the small one and written down for the large one.

In a part of a lattice rows are looked up, few at a time.
"""

import itertools
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.assembly.rows import BlockRows, Ends, Entries, totals
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.search.stencil import MaskedStencils, OffsetValues, nearest_image
from cheblienet_graphs.sparse import (
    RowBlock,
    exact_sum,
    inverse_root,
    laplacian,
    rescaled,
    rounded,
    rows,
)
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.edges import KernelWeights

KEPT_LINES = 4


def _like(size: int, margin: int) -> Indices:
    """(size,) the places of a small side that those of a large one look like.

    Args:
        size: of the large one.
        margin: how many places from a side are places of their own.
    """
    place = np.arange(size)
    return place - np.clip(place - margin, 0, max(0, size - 2 * margin - 1))


class SmallLattice:
    """A small lattice whose vertices stand for those of a large one, line by line.

    Args:
        large: the large one.
        margins: by axis, how many places from a side are places of their own.

    Attributes:
        lattice: the small one.
    """

    def __init__(self, large: Lattice, margins: Iterable[int]) -> None:
        self.large, self._axes = large, tuple(map(_like, large.shape, margins))
        self.lattice = replace(large, shape=tuple(int(like[-1]) + 1 for like in self._axes))

    @cached_property
    def times(self) -> Indices:
        """How many vertices each one of the small lattice stands for."""
        times = np.ones(1, np.int64)
        for like in self._axes:
            times = np.multiply.outer(times, np.bincount(like)).ravel()
        return np.tile(times, self.lattice.orientations)

    def like(self, start: int, stop: int) -> Indices:
        """The small lattice's lines that whole lines of vertices look like."""
        lines = np.arange(start // self.large.width, stop // self.large.width)
        *outer, _ = self._axes
        orientation, places = replace(self.large, shape=self.large.shape[:-1]).decode(lines)
        like = [axis[place] for axis, place in zip(outer, places, strict=True)]
        return replace(self.lattice, shape=self.lattice.shape[:-1]).encode(orientation, like)

    def vertices(self, lines: Indices | int) -> Indices:
        """(..., width) what the vertices of lines look like, by what the lines do."""
        return np.multiply.outer(lines, self.lattice.width)[..., None] + self._axes[-1]

    def steps(self, rows: Indices, columns: Indices) -> Indices:
        """Steps on the large lattice from rows to columns of the small one, (N,)."""
        small, large = self.lattice, self.large
        k, places = small.decode(rows)
        other, others = small.decode(columns)
        steps = []
        for here, there, near, far in zip(places, others, small.shape, large.shape, strict=True):
            step = there - here
            if large.periodic:  # a step across the seam goes back by the whole side
                inner = nearest_image(step, near)
                step = inner + (step - inner) // near * far
            steps.append(step)
        return large.encode(other - k, steps)


class CopiedRows:
    """Rows of a matrix on a lattice that are copies of those on a small one.

    Args:
        small: the small lattice.
        block: all rows there.
        values: (nnz,) float32.
    """

    def __init__(
        self, small: SmallLattice, block: RowBlock, values: npt.NDArray[np.floating[Any]]
    ) -> None:
        self._small, self.block, self._values = small, block, values
        self._counts = np.diff(block.indptr)
        self._line = lru_cache(KEPT_LINES)(self._made_line)

    def counts(self, start: int, stop: int) -> Indices:
        """(stop - start,) entries of each row of whole lines."""
        return self._counts[self._small.vertices(self._small.like(start, stop)).ravel()]

    def entries(self, start: int, ends: Ends) -> Entries:
        """The entries of whole lines; see `Rows.entries`."""
        width = self._small.large.width
        starts = ends[::width] - ends[0]
        columns = np.empty(int(starts[-1]), ends.dtype)
        values = np.empty(len(columns), np.float32)
        kinds = self._small.like(start, start + len(ends) - 1)
        first, in_plane = np.flatnonzero(np.diff(kinds, prepend=-1)), 0
        for lo, hi in itertools.pairwise([*first.tolist(), len(kinds)]):
            line = self._line(int(kinds[lo]))
            part, shape = slice(int(starts[lo]), int(starts[hi])), (hi - lo, -1)
            offsets = (start + np.arange(lo, hi) * width).astype(columns.dtype)[:, None]
            np.add(offsets, line.columns.astype(columns.dtype), out=columns[part].reshape(shape))
            values[part].reshape(shape)[:] = line.values
            in_plane += (hi - lo) * line.in_plane
        return Entries(columns, values, in_plane)

    @cached_property
    def _steps(self) -> Indices:
        return self._small.steps(self.block.rows, self.block.columns)

    def _made_line(self, small: int) -> Entries:
        """Those of a line of the small lattice, columns counted from the line's first vertex.

        The last ones are kept, as most blocks have few of them.
        """
        vertices, block = self._small.vertices(small), self.block
        starts, counts = block.indptr[vertices], self._counts[vertices]
        ends = np.cumsum(counts)
        entry = np.arange(ends[-1]) + np.repeat(starts - ends + counts, counts)
        rows, points = np.repeat(np.arange(len(vertices)), counts), self._small.lattice.num_points
        row, column = block.rows[entry] // points, block.columns[entry] // points
        in_plane = int((row == column).sum()) - len(vertices)
        return Entries(self._steps[entry] + rows, self._values[entry], in_plane)


class LatticeRows:
    """The rows of a lattice's level, by lines: runs of vertices along x, which no block cuts.

    Args:
        level: of a lattice.

    Attributes:
        level: with all that was computed of it.
        values: weights of the lattice's offsets, wherever a vertex is.
        totals: of all vertices; see `rows.totals`.
    """

    def __init__(self, level: Level) -> None:
        engine = level.stencils
        self.level = level
        # A row depends on its neighbors' neighbors.
        self._small = SmallLattice(engine.lattice, (2 * reach for reach in engine.reach))
        small = self._small.lattice
        stencils = MaskedStencils(engine.on(small), np.arange(small.num_points))
        self.values, self.bandwidth = self._weights(stencils)
        block, weights = stencils.rows(0, small.num_vertices, self.values)
        self._block = replace(block, columns=block.columns.astype(np.int64))
        self._degree = block.sums(weights)
        mass = small.areas() if level.laplacian == "combinatorial" else self._degree
        delta = laplacian(block, weights, self._degree, inverse_root(mass))
        self._values = delta.astype(np.float32)
        counts, times = np.diff(block.indptr), self._small.times
        self.totals = totals(level, counts, self._degree, mass, times)
        self._scaled = lru_cache(1)(self._copied)

    def counts(self, start: int, stop: int) -> Indices:
        """As `Rows.counts`."""
        return np.diff(self._block.indptr)[self._like(start, stop)]

    def degrees(self, start: int, stop: int) -> Floats:
        """As `Rows.degrees`."""
        return self._degree[self._like(start, stop)]

    def _like(self, start: int, stop: int) -> Indices:
        """The small lattice's vertices that some look like."""
        width = self._small.large.width
        skipped, lines = start % width, (start // width * width, -(-stop // width) * width)
        like = self._small.vertices(self._small.like(*lines)).ravel()
        return like[skipped : skipped + stop - start]

    def entries(self, start: int, ends: Ends, lambda_max: float | None) -> Entries:
        """As `Rows.entries`, of whole lines."""
        return self._scaled(lambda_max).entries(start, ends)

    def _copied(self, lambda_max: float | None) -> CopiedRows:
        """The rows rescaled by a bound, or those of Delta."""
        block, values = self._block, self._values
        if lambda_max is None:
            return CopiedRows(self._small, block, values)
        diagonal = block.rows == block.columns
        return CopiedRows(self._small, block, rescaled(values, diagonal, lambda_max))

    def _weights(self, stencils: MaskedStencils) -> tuple[OffsetValues, float | None]:
        """The weights of the offsets, and the kernel's t, by the small lattice's stencils."""
        level = self.level
        if level.offset_weights is not None:
            return level.offset_weights.offset_values, level.offset_weights.bandwidth
        lengths = level.neighbors.rule.squared_lengths
        every = [[squared] for squared in lengths]
        block, squared = stencils.rows(0, self._small.lattice.num_vertices, every)
        total = rounded(exact_sum(block.sums(squared), self._small.times))
        kernel = KernelWeights.of_mean(level.spec, total / level.stencils.total_degree)
        return [[kernel.of_squared_lengths(squared)] for squared in lengths], kernel.bandwidth


class MaskedRows(BlockRows):
    """The rows of the vertices inside; the weights of edges are those of the whole lattice.

    Args:
        level: of a lattice with a mask.
    """

    def __init__(self, level: Level) -> None:
        super().__init__(level)
        self._stencils = cast("MaskedStencils", level.stencils_inside)
        self._at_edge = level.edge_rows
        whole = LatticeRows(level)
        self._values, self.bandwidth = whole.values, whole.bandwidth

    def _block(self, start: int, stop: int) -> tuple[RowBlock, Floats]:
        block, weights = self._stencils.rows(start, stop, self._values)
        if self._at_edge is None:
            return block, weights
        return _replaced(block, weights, rows(self._at_edge, start, stop))


def _replaced(
    block: RowBlock, weights: Floats, listed: scipy.sparse.csr_array
) -> tuple[RowBlock, Floats]:
    """Some rows with their weights, by those that are listed where any are.

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
    merged, values = np.empty(len(others), np.int64), np.empty(len(others))
    merged[~others], merged[others] = block.columns[own], listed.indices
    values[~others], values[others] = weights[own], listed.data
    return replace(block, indptr=np.append(0, np.cumsum(counts)), columns=merged), values
