"""Rows of the Laplacian of a lattice, or of a part of one, by stencils.

The metric is left-invariant, so all rows far from the boundary are one row, shifted: a lattice of
any size is a small one of which the middle place along each axis stands for as many as it takes.
Rows are computed on the small one and written down for the large one.

In a part of a lattice rows are looked up, few at a time. Those that lack no neighbor all have the
same number of entries and degree.
"""

import itertools
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np

from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.assembly.rows import BlockRows, Ends, Entries, Rows, Scaling
from cheblienet_graphs.search.masked import MaskedStencils
from cheblienet_graphs.search.stencil import nearest_image
from cheblienet_graphs.sparse import (
    RowBlock,
    ascending_sums,
    exact_sum,
    inverse_root,
    laplacian,
    rescaled,
    rounded,
)
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.edges import KernelWeights

if TYPE_CHECKING:
    from cheblienet_graphs.weights.lattice import LatticeWeights

KEPT_LINES = 4


class Axis:
    """Places along one side of a lattice, and those of a small one that they look like.

    Args:
        size: of the large one.
        reach: of the stencils. A row depends on its neighbors' neighbors.
    """

    def __init__(self, size: int, reach: int) -> None:
        self.size, self.margin = size, 2 * reach
        self.small = min(size, 2 * self.margin + 1)
        place = np.arange(size)
        self.like = place - np.clip(place - self.margin, 0, size - self.small)
        self.times: Indices = np.bincount(self.like)


class LatticeRows(Rows):
    """The rows of a lattice's level, by lines: runs of vertices along x, which no block cuts.

    Args:
        level: of a lattice.

    Attributes:
        level: with all that was computed of it.
        lattice: the level's.
        weights: of its edges.
    """

    def __init__(self, level: Level) -> None:
        engine = level.stencils
        self.level, self.lattice = level, engine.lattice
        self._axes = tuple(map(Axis, self.lattice.shape, engine.reach))
        self._small = replace(self.lattice, shape=tuple(axis.small for axis in self._axes))
        self._block = engine.on(self._small).block(0, self._small.num_vertices)
        self._counts = np.diff(self._block.indptr)
        self.weights, values = self._weighed(level)
        self._degree = self._block.sums(values)
        mass = self._small.areas() if level.laplacian == "combinatorial" else self._degree
        self._values = laplacian(self._block, values, self._degree, inverse_root(mass)).astype(
            np.float32
        )
        self.bandwidth = self.weights.bandwidth
        self._line = lru_cache(KEPT_LINES)(self._made_line)

    @property
    def dropped_edges(self) -> int:
        """Those that the weights know of."""
        return self.weights.dropped_edges

    def weighed(self, start: int, stop: int) -> tuple[Indices, Floats]:
        """As `Rows.weighed`, of whole lines."""
        like = self._vertices(self._like(self._lines_of(start, stop))).ravel()
        return self._counts[like], self._degree[like]

    def entries(self, start: int, ends: Ends, scaling: Scaling) -> Entries:
        """As `Rows.entries`, of whole lines."""
        width = self.lattice.width
        starts = ends[::width] - ends[0]
        columns = np.empty(int(starts[-1]), ends.dtype)
        values = np.empty(len(columns), np.float32)
        kinds = self._like(self._lines_of(start, start + len(ends) - 1))
        first, in_plane = np.flatnonzero(np.diff(kinds, prepend=-1)), 0
        for lo, hi in itertools.pairwise([*first.tolist(), len(kinds)]):
            line = self._line(int(kinds[lo]), scaling.lambda_max)
            part, shape = slice(int(starts[lo]), int(starts[hi])), (hi - lo, -1)
            offsets = (start + np.arange(lo, hi) * width).astype(columns.dtype)[:, None]
            np.add(offsets, line.columns.astype(columns.dtype), out=columns[part].reshape(shape))
            values[part].reshape(shape)[:] = line.values
            in_plane += (hi - lo) * line.in_plane
        return Entries(columns, values, in_plane)

    def _lines_of(self, start: int, stop: int) -> Indices:
        return np.arange(start // self.lattice.width, stop // self.lattice.width)

    def _vertices(self, small: Indices | int) -> Indices:
        """(..., width) what the vertices of lines look like, by what the lines do."""
        along = self._axes[-1]
        return np.multiply.outer(small, along.small)[..., None] + along.like

    def _like(self, lines: Indices) -> Indices:
        """The small lattice's lines that these look like."""
        *outer, _ = self._axes
        orientation, places = replace(self.lattice, shape=self.lattice.shape[:-1]).decode(lines)
        like = [axis.like[place] for axis, place in zip(outer, places, strict=True)]
        return replace(self._small, shape=self._small.shape[:-1]).encode(orientation, like)

    def _weighed(self, level: Level) -> "tuple[KernelWeights | LatticeWeights, Floats]":
        """The weights, and (small nnz,) those of the small lattice's entries."""
        block = self._block
        if level.offset_weights is not None:
            given = replace(level.offset_weights, lattice=self._small)
            return given, given.weights(block)
        lengths = replace(level.neighbors.rule, lattice=self._small)
        squared = lengths.squared_distances(block.rows, block.columns)
        total = rounded(exact_sum(block.sums(squared), self._times))
        mean = total / level.stencils.total_degree
        weights = KernelWeights.of_mean(level.spec, mean)
        return weights, weights.weights(block, squared)

    @cached_property
    def _times(self) -> Indices:
        """How many vertices each one of the small lattice stands for."""
        times = np.ones(1, np.int64)
        for axis in self._axes:
            times = np.multiply.outer(times, axis.times).ravel()
        return np.tile(times, self.lattice.orientations)

    @cached_property
    def _steps(self) -> Indices:
        """(small nnz,) from row to column on the large lattice."""
        small, large = self._small, self.lattice
        k, places = small.decode(self._block.rows)
        other, others = small.decode(self._block.columns)
        steps = []
        for here, there, near, far in zip(places, others, small.shape, large.shape, strict=True):
            step = there - here
            if large.periodic:  # a step across the seam goes back by the whole side
                inner = nearest_image(step, near)
                step = inner + (step - inner) // near * far
            steps.append(step)
        return large.encode(other - k, steps)

    def _made_line(self, small: int, lambda_max: float | None) -> Entries:
        """Those of a line of the small lattice, columns counted from the line's first vertex.

        The last ones are kept, as most blocks have few of them.
        """
        vertices, block = self._vertices(small), self._block
        starts, counts = block.indptr[vertices], self._counts[vertices]
        ends = np.cumsum(counts)
        entry = np.arange(ends[-1]) + np.repeat(starts - ends + counts, counts)
        rows = np.repeat(np.arange(len(vertices)), counts)
        columns, values = self._steps[entry] + rows, self._values[entry]
        if lambda_max is not None:
            values = rescaled(values, rows == columns, lambda_max)
        ends_of = (part[entry] // self._small.num_points for part in (block.rows, block.columns))
        return Entries(columns, values, int(np.equal(*ends_of).sum()) - len(vertices))


class MaskedRows(BlockRows):
    """The rows of the vertices inside; the weights of edges are those of the whole lattice.

    Args:
        level: of a lattice with a mask.
    """

    def __init__(self, level: Level) -> None:
        super().__init__(level)
        self._stencils = cast("MaskedStencils", level.stencils_inside)
        whole, given = LatticeRows(level).weights, level.offset_weights
        self.bandwidth = whole.bandwidth
        if isinstance(whole, KernelWeights):
            lengths = level.neighbors.rule.squared_lengths
            self._values = [[whole.of_squared_lengths(squared)] for squared in lengths]
        else:
            self._values = given.offset_values if given else []

    @property
    def dropped_edges(self) -> int:
        """Edges between vertices inside that are left out because their weight came out 0."""
        given, inside = self.level.offset_weights, self._stencils
        if given is None or not given.united:
            return 0
        united = MaskedStencils(given.with_left_out, inside.places)
        return (united.total_degree - inside.total_degree) // 2

    def weighed(self, start: int, stop: int) -> tuple[Indices, Floats]:
        """As `Rows.weighed`; rows that lack nothing all have the same, and are not looked up."""
        pieces = [self._weighed_piece(*piece) for piece in self._stencils.pieces(start, stop)]
        counts, degrees = map(np.concatenate, zip(*pieces, strict=True))
        return counts, degrees

    def _weighed_piece(self, k: int, numbers: Indices) -> tuple[Indices, Floats]:
        stencils, (everywhere, *_) = self._stencils, self._values[k]
        cut = stencils.cut(k, numbers)
        counts = np.full(len(numbers), np.count_nonzero(stencils.neighborhoods[k].everywhere) + 1)
        degrees = np.full(len(numbers), ascending_sums(everywhere[None].copy())[0])
        counts[cut], columns, weights = stencils.look_up(k, numbers[cut], self._values[k])
        block = RowBlock(0, len(cut), np.append(0, np.cumsum(counts[cut])), columns)
        degrees[cut] = block.sums(weights)
        return counts, degrees

    def _block(self, start: int, stop: int) -> tuple[RowBlock, Floats]:
        pieces = [
            self._stencils.look_up(k, numbers, self._values[k])
            for k, numbers in self._stencils.pieces(start, stop)
        ]
        counts, columns, weights = map(np.concatenate, zip(*pieces, strict=True))
        return RowBlock(start, stop, np.append(0, np.cumsum(counts)), columns), weights
