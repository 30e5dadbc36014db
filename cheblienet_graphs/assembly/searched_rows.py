"""Rows of a Laplacian whose neighbours are searched for, on any sampling.

Sweeps: the lists of nearest vertices, over base points; then over vertices the number of entries,
columns with the sum of squared lengths, degrees, which need its mean, Delta, which needs all
degrees, and its rescaling, which needs the spectrum.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.assembly.job import Job
from cheblienet_graphs.neighbours.cloud import PairLengths
from cheblienet_graphs.neighbours.protocols import Engine
from cheblienet_graphs.neighbours.search import MutualNeighbours, NeighbourLists
from cheblienet_graphs.sparse.blocks import RowBlock, with_diagonal
from cheblienet_graphs.sparse.laplacian import inverse_root, laplacian, rescaled
from cheblienet_graphs.sparse.sums import exact_sum
from cheblienet_graphs.spectrum.bound import NORMALIZED, largest_possible
from cheblienet_graphs.store.records import Range, Result
from cheblienet_graphs.store.staged import Writer
from cheblienet_graphs.weights.kernel import KernelWeights
from cheblienet_graphs.weights.protocol import EdgeWeights
from cheblienet_graphs.weights.scattered import ListedEdges

PARTS = 16
"""Searches are cut into so many times more blocks than other sweeps, which are quicker."""

MATCHED = {"rows": "int64", "columns": "int64", "values": "float64"}
"""Scratch arrays of edges that have matched weights."""


class SearchedRows:
    """What the sweeps of such a level do; a block is a range of base points or of vertices.

    What a sweep needs of earlier ones is handed on as `rings`, of images around a periodic domain,
    and `mean`, of the squared lengths.
    """

    def __init__(self, job: Job) -> None:
        self._job, self._level = job, job.level
        self._kept: dict[str, tuple[tuple[Any, ...], Any]] = {}

    def _last(self, what: str, make: Callable[..., Any], *arguments: Any) -> Any:
        """What was made last, where it was made from the same."""
        known = self._kept.get(what)
        if known is None or known[0] != arguments:
            self._kept[what] = known = arguments, make(*arguments)
        return known[1]

    def lists(self, rings: int) -> NeighbourLists:
        """The search among so many rings of images."""
        found: NeighbourLists = self._last("lists", self._level.neighbour_lists, rings)
        return found

    def weights(self, rings: int, mean: float | None) -> EdgeWeights:
        """What weighs the edges, once the mean of their squared lengths is known."""
        found: EdgeWeights = self._last("weights", self._weights, rings, mean)
        return found

    def _block(self, start: int, stop: int) -> RowBlock:
        """Some rows as they are stored; the last ones are kept, as a level often is one block."""
        found: RowBlock = self._last("block", self._read_block, start, stop)
        return found

    def sweep(self, name: str, out: Writer, block: Range, **given: Any) -> Result:
        """Write one block of the sweep of that name."""
        sweeps: dict[str, Callable[..., Result]] = {
            "lists": self._write_lists,
            "counts": self._write_counts,
            "columns": self._write_columns,
            "degrees": self._write_degrees,
            "values": self._write_values,
            "rescaling": self._write_rescaled,
        }
        return sweeps[name](out, *block, **given)

    @property
    def matched_together(self) -> bool:
        """Whether the weights are one problem for all edges."""
        return self._job.spec.weights == "matched" and self._level.on_lattice is None

    def nearest(self, rings: int) -> MutualNeighbours:
        """The neighbours by the rule, once they are listed."""
        lists = self._job.scratch(f"lists{rings}").mapped()
        return MutualNeighbours(lists, self._level.sampling.num_points)

    def engine(self, rings: int) -> Engine:
        """What finds the neighbours: those by the rule, or those that have matched weights."""
        return self._matched() if self.matched_together else self.nearest(rings)

    def _weights(self, rings: int, mean: float | None) -> EdgeWeights:
        if self.matched_together:
            return self._matched()
        on_lattice = self._level.on_lattice
        if on_lattice:
            weights = on_lattice.weights.on(on_lattice.engine.lattice)
        else:
            weights = KernelWeights(self._job.spec, PairLengths(self.lists(rings).cloud))
        if mean is not None and isinstance(weights, KernelWeights):
            weights.set_mean(mean)
        return weights

    def _matched(self) -> ListedEdges:
        rows, columns, values = (self._job.scratch(f"matched-{part}").mapped() for part in MATCHED)
        return ListedEdges(
            (rows, columns, values), self._level.num_vertices, self._level.sampling.num_points
        )

    def _write_lists(self, out: Writer, start: int, stop: int, rings: int) -> Result:
        target, points = self._job.scratch(f"lists{rings}"), self._level.sampling.num_points
        farthest = 0.0
        for first, lists, reach in self.lists(rings).of(start, stop):
            farthest = max(farthest, reach)
            for orientation, rows in enumerate(lists):
                out.write(target, orientation * points + first, rows)
        return {"farthest": farthest}

    def _write_counts(self, out: Writer, start: int, stop: int, rings: int) -> Result:
        degrees = self.engine(rings).degrees(start, stop)
        out.write(self._job.scratch("counts"), start, degrees + 1)
        isolated = int((degrees == 0).sum())
        return {"entries": int(degrees.sum()) + len(degrees), "isolated": isolated}

    def _write_columns(self, out: Writer, start: int, stop: int, rings: int) -> Result:
        indptr = self._job.csr.indptr.part(start, stop + 1)
        columns = self.engine(rings).columns(start, stop)
        block = with_diagonal(start, np.diff(indptr) - 1, columns)
        out.write(self._job.csr.indices, int(indptr[0]), block.columns)
        sampling = self._level.sampling
        out.write(self._job.dense("area"), start, sampling.areas(start, stop))
        out.write(self._job.dense("coordinates"), start, sampling.coordinates(start, stop))
        points = sampling.num_points
        in_plane = int((block.rows // points == block.columns // points).sum()) - (stop - start)
        weights = self.weights(rings, None)
        total = 0
        if isinstance(weights, KernelWeights):
            total = exact_sum(block.sums(weights.squared_distances(block)))
        return {"in_plane": in_plane, "squared_lengths": total}

    def _write_degrees(
        self, out: Writer, start: int, stop: int, rings: int, mean: float | None
    ) -> Result:
        block = self._block(start, stop)
        degree = block.sums(self.weights(rings, mean).weights(block))
        combinatorial = self._job.spec.laplacian == "combinatorial"
        mass = self._level.sampling.areas(start, stop) if combinatorial else degree
        stored = degree.astype(np.float32)
        out.write(self._job.dense("degree"), start, stored)
        out.write(self._job.scratch("degree"), start, degree)
        out.write(self._job.scratch("inverse-root-mass"), start, inverse_root(mass))
        return {
            "vanished": int(((stored == 0) & (np.diff(block.indptr) > 1)).sum()),
            "largest": largest_possible(degree, mass) if combinatorial else NORMALIZED,
        }

    def _write_values(
        self,
        out: Writer,
        start: int,
        stop: int,
        rings: int,
        mean: float | None,
        lambda_max: float | None,
    ) -> Result:
        block = self._block(start, stop)
        weights = self.weights(rings, mean).weights(block)
        vertices = (self._job.scratch(name).mapped() for name in ("degree", "inverse-root-mass"))
        values = laplacian(block, weights, *vertices).astype(np.float32)
        if lambda_max is None:
            out.write(self._job.scratch("unscaled"), self._first_entry(start), values)
        else:
            self._write_scaled(out, block, values, lambda_max)
        return {}

    def _write_rescaled(self, out: Writer, start: int, stop: int, lambda_max: float) -> Result:
        block = self._block(start, stop)
        first = self._first_entry(start)
        values = self._job.scratch("unscaled").part(first, first + len(block.columns))
        self._write_scaled(out, block, values, lambda_max)
        return {}

    def _write_scaled(
        self, out: Writer, block: RowBlock, values: npt.NDArray[np.float32], lambda_max: float
    ) -> None:
        scaled = rescaled(values, block.rows == block.columns, lambda_max)
        out.write(self._job.csr.data, self._first_entry(block.start), scaled)

    def _first_entry(self, row: int) -> int:
        return int(self._job.csr.indptr.part(row, row + 1)[0])

    def _read_block(self, start: int, stop: int) -> RowBlock:
        indptr = self._job.csr.indptr.part(start, stop + 1).astype(np.int64)
        columns = self._job.csr.indices.part(int(indptr[0]), int(indptr[-1])).astype(np.int64)
        return RowBlock(start, stop, indptr - indptr[0], columns)
