"""Rows of a Laplacian whose neighbours are searched for or listed, on any sampling."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cheblienet_graphs.assembly.job import Job
from cheblienet_graphs.neighbours.inside import InsideEngine, InsideLengths
from cheblienet_graphs.neighbours.protocols import Engine, Lengths
from cheblienet_graphs.sparse.blocks import RowBlock
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.weights.kernel import KernelWeights
from cheblienet_graphs.weights.listed import ListedEdges
from cheblienet_graphs.weights.protocol import EdgeWeights

if TYPE_CHECKING:
    from cheblienet_graphs.neighbours.search import MutualNeighbours, NeighbourLists

LISTED = {"rows": "int64", "columns": "int64", "values": "float64"}
"""Scratch arrays of edges that are listed with their weights."""


class SearchedRows:
    """The rows of such a level, as far as sweeps have come; what was asked for last is kept.

    Args:
        job: the level.

    Attributes:
        level: its sampling, metric and neighbours.
        weights_listed: whether edges are listed with their weights before all sweeps: matched ones,
            which are one problem for all edges, and those of Voronoi cells.
    """

    def __init__(self, job: Job) -> None:
        self._job, self.level = job, job.level()
        regular = job.spec.sampling_kind.regular
        self.weights_listed = job.spec.weights != "kernel" and not regular
        self._kept: dict[str, tuple[tuple[Any, ...], Any]] = {}

    def _last(self, what: str, make: Callable[..., Any], *arguments: Any) -> Any:
        """The thing that was made last, where it was made from the same."""
        known = self._kept.get(what)  # another thread may replace it
        if known is None or known[0] != arguments:
            self._kept[what] = known = arguments, make(*arguments)
        return known[1]

    def lists(self, rings: int) -> "NeighbourLists":
        """The search among so many rings of images."""
        found: NeighbourLists = self._last("lists", self.level.neighbours.lists, rings)
        return found

    def nearest(self, rings: int) -> "MutualNeighbours":
        """The neighbours of all vertices by the rule, once they are listed."""
        from cheblienet_graphs.neighbours.search import (
            MutualNeighbours,
        )  # torch: diagrams do without

        lists = self._job.scratch(f"lists{rings}").mapped()
        return MutualNeighbours(lists, self.level.full.num_points)

    def engine(self, rings: int) -> Engine:
        """The engine that knows the neighbours: by the rule, or those that are listed."""
        if self.weights_listed:
            return self.listed()
        whole, inside = self.nearest(rings), self.level.inside
        return whole if inside is None else InsideEngine(whole, inside, self.level.num_vertices)

    def listed(self) -> ListedEdges:
        """The edges that are listed with their weights, once they are."""
        rows, columns, values = (self._job.scratch(f"listed-{part}").mapped() for part in LISTED)
        return ListedEdges(
            (rows, columns, values), self.level.num_vertices, self.level.sampling.num_points
        )

    def lengths(self, rings: int) -> Lengths:
        """The function that measures all edges, among so many rings of images."""
        found: Lengths = self._last("lengths", self._lengths, rings)
        return found

    def weights(self, rings: int, mean: float | None) -> EdgeWeights:
        """The weights of the edges.

        Args:
            rings: of images.
            mean: of the squared lengths; None where weights are listed.
        """
        if mean is None:
            return self.listed()
        lengths, inside = self.lengths(rings), self.level.inside
        measured = lengths if inside is None else InsideLengths(lengths, inside)
        return KernelWeights.of_mean(self._job.spec, mean, measured)

    def block(self, start: int, stop: int) -> RowBlock:
        """Some rows as they are stored; the last ones are kept, as a level often is one block."""
        found: RowBlock = self._last("block", self._block, start, stop)
        return found

    def weighed(self, start: int, stop: int, rings: int, mean: float | None) -> Floats:
        """(nnz,) weights of the entries of some rows; the last ones are kept, too."""
        found: Floats = self._last("weighed", self._weighed, start, stop, rings, mean)
        return found

    def first_entry(self, row: int) -> int:
        """The place of a row's first entry, once rows are counted."""
        return int(self._job.csr.indptr.part(row, row + 1)[0])

    def _lengths(self, rings: int) -> Lengths:
        return self.level.neighbours.lengths(self.lists(rings).cloud)

    def _block(self, start: int, stop: int) -> RowBlock:
        indptr = self._job.csr.indptr.part(start, stop + 1).astype(np.int64)
        columns = self._job.csr.indices.part(int(indptr[0]), int(indptr[-1])).astype(np.int64)
        return RowBlock(start, stop, indptr - indptr[0], columns)

    def _weighed(self, start: int, stop: int, rings: int, mean: float | None) -> Floats:
        return self.weights(rings, mean).weights(self.block(start, stop))
