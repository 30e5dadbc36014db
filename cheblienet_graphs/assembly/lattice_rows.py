"""Rows of a lattice's Laplacian by stencils.

The metric is left-invariant, so all rows far from the boundary are one row, shifted: a lattice of
any size is a small one of which the middle place along each axis stands for as many as it takes.
Rows are computed on the small one and written down for the large one.
"""

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.assembly.job import Job
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.neighbours.sides import longest
from cheblienet_graphs.neighbours.stencil import StencilEngine, nearest_image
from cheblienet_graphs.sparse.blocks import RowBlock, with_diagonal
from cheblienet_graphs.sparse.laplacian import inverse_root, laplacian, rescaled
from cheblienet_graphs.sparse.sums import exact_sum, rounded
from cheblienet_graphs.spectrum.bound import largest_possible
from cheblienet_graphs.store.staged import Writer
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.kernel import KernelWeights
from cheblienet_graphs.weights.protocol import EdgeWeights

KEPT_LINES = 4


class Line(NamedTuple):
    """The rows of the vertices of one orientation that differ in x alone.

    Args:
        ends: (width,) where each row ends, counted from the line's first entry.
        columns: (nnz,) counted from the line's first vertex.
        values: (nnz,) entries of Delta.
        degree: (width,) of the vertices.
    """

    ends: Indices
    columns: Indices
    values: npt.NDArray[np.float32]
    degree: Floats


class Axis:
    """Places along one side of a lattice, and those of a small one that they look like.

    Args:
        size: of the large one.
        reach: of the stencils. A row depends on its neighbours' neighbours.
    """

    def __init__(self, size: int, reach: int) -> None:
        self.size, self.margin = size, 2 * reach
        self.small = min(size, 2 * self.margin + 1)
        place = np.arange(size)
        self.like = place - np.clip(place - self.margin, 0, size - self.small)
        self.times: Indices = np.bincount(self.like)


class LatticeRows:
    """The rows of a lattice's level, by lines: runs of vertices along x.

    Args:
        job: the level.

    Attributes:
        lattice: the level's.
        weights: of its edges.
        bandwidth: the kernel's t, None without a kernel.
        dropped_edges: left out because their weight came out 0.
        edges: undirected.
        in_plane: entries that keep the orientation, diagonal left out.
        largest_possible: what the spectrum of Delta can't exceed.
    """

    def __init__(self, job: Job) -> None:
        level = job.level()
        engine = level.neighbours.by_stencils
        self._job, self.lattice = job, engine.lattice
        self._axes = tuple(map(Axis, self.lattice.shape, longest(engine.neighbourhoods)))
        self._small = replace(self.lattice, shape=tuple(axis.small for axis in self._axes))
        self._block = self._rows(engine.on(self._small))
        self.weights, values = self._weighed(level)
        self._degree = self._block.sums(values)
        combinatorial = job.laplacian == "combinatorial"
        mass = self._small.areas() if combinatorial else self._degree
        self._values = laplacian(self._block, values, self._degree, inverse_root(mass)).astype(
            np.float32
        )
        self.largest_possible = largest_possible(self._degree, mass) if combinatorial else 2.0
        self.bandwidth, self.dropped_edges = self.weights.bandwidth, self.weights.dropped_edges
        self.edges, self.in_plane = engine.total_degree // 2, engine.in_plane_degree
        self._lines: dict[int, Line] = {}

    @property
    def isolated(self) -> int:
        """Vertices without neighbours."""
        return int(self._times[np.diff(self._block.indptr) == 1].sum())

    @property
    def vanished(self) -> int:
        """Vertices with neighbours whose degree is 0 in float32."""
        vanished = (self._degree.astype(np.float32) == 0) & (np.diff(self._block.indptr) > 1)
        return int(self._times[vanished].sum())

    @cached_property
    def _starts(self) -> Indices:
        """(lines + 1,) first entry of each line."""
        along, lines = self._axes[-1], self.lattice.num_vertices // self.lattice.width
        small = (np.diff(self._block.indptr).reshape(-1, along.small) * along.times).sum(axis=1)
        return np.concatenate([[0], np.cumsum(small[self._like(np.arange(lines))])])

    def _like(self, lines: Indices) -> Indices:
        """The small lattice's lines that these look like."""
        *outer, _ = self._axes
        orientation, places = replace(self.lattice, shape=self.lattice.shape[:-1]).decode(lines)
        like = [axis.like[place] for axis, place in zip(outer, places, strict=True)]
        return replace(self._small, shape=self._small.shape[:-1]).encode(orientation, like)

    @property
    def nnz(self) -> int:
        """Stored entries."""
        return int(self._starts[-1])

    def _rows(self, engine: StencilEngine) -> RowBlock:
        """The small lattice's rows."""
        vertices = self._small.num_vertices
        return with_diagonal(0, engine.degrees(0, vertices), engine.columns(0, vertices))

    def _weighed(self, level: Level) -> tuple[EdgeWeights, Floats]:
        """The weights, and (small nnz,) those of the small lattice's entries."""
        block = self._block
        if level.offset_weights is not None:
            given = level.offset_weights.on(self._small)
            return given, given.weights(block)
        lengths = level.neighbours.rule.on(self._small)
        squared = lengths.squared_distances(block.rows, block.columns)
        total = rounded(exact_sum(block.sums(squared), self._times))
        mean = total / level.neighbours.by_stencils.total_degree
        weights = KernelWeights.of_mean(level.spec, mean, lengths)
        return weights, weights.of_lengths(block, squared)

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

    def _line(self, small: int) -> Line:
        """A line of the small lattice; the last ones are kept, as most blocks have few of them."""
        if small not in self._lines:
            while len(self._lines) >= KEPT_LINES:
                self._lines.pop(next(iter(self._lines)))
            self._lines[small] = self._made_line(small)
        return self._lines[small]

    def _made_line(self, small: int) -> Line:
        vertices = small * self._small.width + self._axes[-1].like
        starts, degrees = self._block.indptr[vertices], np.diff(self._block.indptr)[vertices]
        ends = np.cumsum(degrees)
        entry = np.arange(ends[-1]) + np.repeat(starts - ends + degrees, degrees)
        columns = self._steps[entry] + np.repeat(np.arange(len(vertices)), degrees)
        return Line(ends, columns, self._values[entry], self._degree[vertices])

    def _pieces(self, start: int, stop: int) -> list[tuple[int, int, Line]]:
        """First line, how many, and what they look like, of each run of equal lines."""
        kinds = self._like(np.arange(start, stop))
        first = np.flatnonzero(np.diff(kinds, prepend=-1))
        counts = np.diff(np.append(first, stop - start))
        return [
            (start + int(lo), int(count), self._line(int(kinds[lo])))
            for lo, count in zip(first, counts, strict=True)
        ]

    def write_structure(self, out: Writer, start: int, stop: int) -> None:
        """Write all of some lines but the entries."""
        width, base = self.lattice.width, int(self._starts[start])
        csr, pieces = self._job.csr, self._pieces(start, stop)
        kind = csr.indices.kind
        columns = np.empty(int(self._starts[stop]) - base, kind)
        ends = np.empty((stop - start, width), kind)
        degree = np.empty((stop - start, width), np.float32)
        for first, count, line in pieces:
            lines = slice(first - start, first - start + count)
            begin, end = self._starts[first] - base, self._starts[first + count] - base
            offsets = (np.arange(first, first + count) * width).astype(kind)[:, None]
            target = columns[begin:end].reshape(count, -1)
            np.add(offsets, line.columns.astype(kind), out=target)
            ends[lines] = self._starts[first : first + count, None] + line.ends
            degree[lines] = line.degree
        vertices = slice(start * width, stop * width)
        if start == 0:
            out.write(csr.indptr, 0, [0])
        out.write(csr.indptr, vertices.start + 1, ends.ravel())
        out.write(csr.indices, base, columns)
        if self._job.direction is not None:  # the metric's Laplacian comes with the points
            return
        out.write(self._job.dense("degree"), vertices.start, degree.ravel())
        for name, values in (
            ("area", self.lattice.areas(vertices.start, vertices.stop)),
            ("coordinates", self.lattice.coordinates(vertices.start, vertices.stop)),
        ):
            out.write(self._job.dense(name), vertices.start, values)

    def write_values(self, out: Writer, start: int, stop: int, lambda_max: float | None) -> None:
        """Write the entries of some lines: of Delta, aside, where there is no lambda_max yet."""
        base = int(self._starts[start])
        values = np.empty(int(self._starts[stop]) - base, np.float32)
        for first, count, line in self._pieces(start, stop):
            begin, end = self._starts[first] - base, self._starts[first + count] - base
            values[begin:end].reshape(count, -1)[:] = (
                line.values if lambda_max is None else self._rescaled(line, lambda_max)
            )
        target = self._job.scratch("unscaled") if lambda_max is None else self._job.csr.data
        out.write(target, base, values)

    def _rescaled(self, line: Line, lambda_max: float) -> Floats:
        rows = np.repeat(np.arange(len(line.ends)), np.diff(line.ends, prepend=0))
        return rescaled(line.values, rows == line.columns, lambda_max)
