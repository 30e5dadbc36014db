"""The sweeps over a level whose neighbours are searched for, in their order.

First over base points, for the lists of nearest vertices; then over vertices: numbers of entries;
columns, with the sum of squared lengths; degrees, which need its mean; Delta, which needs all
degrees; and its rescaling, which needs the spectrum. What a sweep needs of earlier ones it is
given: `rings`, of images around a periodic domain, and `mean`, of the squared lengths, None where
weights do not follow from them.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.assembly.searched_rows import SearchedRows
from cheblienet_graphs.assembly.sweep import Sweep
from cheblienet_graphs.pools.kept import Kept
from cheblienet_graphs.sparse.blocks import RowBlock, with_diagonal
from cheblienet_graphs.sparse.laplacian import inverse_root, laplacian, rescaled
from cheblienet_graphs.sparse.sums import exact_sum
from cheblienet_graphs.spectrum.bound import NORMALIZED, largest_possible
from cheblienet_graphs.store.records import Range, Result
from cheblienet_graphs.store.staged import Writer
from cheblienet_graphs.typing import Floats


@dataclass(frozen=True)
class Lists(Sweep):
    """Lists the nearest vertices of each, a few base points at a time."""

    rings: int

    name: ClassVar[str] = "lists"
    shown: ClassVar[str] = "finding neighbours"
    parts: ClassVar[int] = 16

    @property
    def total(self) -> int:
        """All base points, whatever the mask."""
        return self.job.spec.full_points(self.job.number)

    @property
    def vertices(self) -> int:
        """All vertices, whatever the mask."""
        return self.job.spec.orientations * self.total

    def write(self, kept: Kept, out: Writer, block: Range) -> Result:
        """Write the lists over some base points."""
        target, farthest = self.job.scratch(f"lists{self.rings}"), 0.0
        for first, lists, reach in kept.of(SearchedRows, self.job).lists(self.rings).of(*block):
            farthest = max(farthest, reach)
            for orientation, rows in enumerate(lists):
                out.write(target, orientation * self.total + first, rows)
        return {"farthest": farthest}


@dataclass(frozen=True)
class Counts(Sweep):
    """Counts the entries of each row."""

    rings: int

    name: ClassVar[str] = "counts"
    shown: ClassVar[str] = "counting edges"

    def write(self, kept: Kept, out: Writer, block: Range) -> Result:
        """Write the counts of some rows."""
        degrees = kept.of(SearchedRows, self.job).engine(self.rings).degrees(*block)
        out.write(self.job.scratch("counts"), block[0], degrees + 1)
        isolated = int((degrees == 0).sum())
        return {"entries": int(degrees.sum()) + len(degrees), "isolated": isolated}


@dataclass(frozen=True)
class WholeLengths(Sweep):
    """Measures the edges of the whole sampling, on which the bandwidth inside a mask depends."""

    rings: int

    name: ClassVar[str] = "whole-lengths"
    shown: ClassVar[str] = "measuring edges"

    @property
    def vertices(self) -> int:
        """All vertices, whatever the mask."""
        return self.job.spec.orientations * self.job.spec.full_points(self.job.number)

    def write(self, kept: Kept, out: Writer, block: Range) -> Result:
        """Measure the edges of some vertices."""
        del out
        rows, (start, stop) = kept.of(SearchedRows, self.job), block
        engine = rows.nearest(self.rings)
        degrees = engine.degrees(start, stop)
        found = with_diagonal(start, degrees, engine.columns(start, stop))
        return {
            "squared_lengths": _squared_lengths(rows, self.rings, found),
            "entries": int(degrees.sum()),
        }


@dataclass(frozen=True)
class Columns(Sweep):
    """Writes where entries are, and the points; measures edges where weights are a kernel's."""

    rings: int

    name: ClassVar[str] = "columns"
    shown: ClassVar[str] = "writing edges"

    def write(self, kept: Kept, out: Writer, block: Range) -> Result:
        """Write some rows."""
        rows, (start, stop) = kept.of(SearchedRows, self.job), block
        indptr = self.job.csr.indptr.part(start, stop + 1)
        columns = rows.engine(self.rings).columns(start, stop)
        found = with_diagonal(start, np.diff(indptr) - 1, columns)
        out.write(self.job.csr.indices, int(indptr[0]), found.columns)
        sampling = rows.level.sampling
        out.write(self.job.dense("area"), start, sampling.areas(start, stop))
        out.write(self.job.dense("coordinates"), start, sampling.coordinates(start, stop))
        points = sampling.num_points
        in_plane = int((found.rows // points == found.columns // points).sum()) - (stop - start)
        measured = not rows.weights_listed and self.job.spec.mask is None
        squared = _squared_lengths(rows, self.rings, found) if measured else 0
        return {"in_plane": in_plane, "squared_lengths": squared}


@dataclass(frozen=True)
class Degrees(Sweep):
    """Weighs the edges, and adds up the weights of each vertex."""

    rings: int
    mean: float | None

    name: ClassVar[str] = "degrees"
    shown: ClassVar[str] = "weighing edges"

    def write(self, kept: Kept, out: Writer, block: Range) -> Result:
        """Write the degrees of some vertices."""
        rows, (start, stop) = kept.of(SearchedRows, self.job), block
        found = rows.block(start, stop)
        degree = found.sums(rows.weighed(start, stop, self.rings, self.mean))
        combinatorial = self.job.spec.laplacian == "combinatorial"
        mass = rows.level.sampling.areas(start, stop) if combinatorial else degree
        stored = degree.astype(np.float32)
        out.write(self.job.dense("degree"), start, stored)
        out.write(self.job.scratch("degree"), start, degree)
        out.write(self.job.scratch("inverse-root-mass"), start, inverse_root(mass))
        return {
            "vanished": int(((stored == 0) & (np.diff(found.indptr) > 1)).sum()),
            "largest": largest_possible(degree, mass) if combinatorial else NORMALIZED,
        }


@dataclass(frozen=True)
class Values(Sweep):
    """Writes the entries of Delta; aside, where there is no lambda_max yet, to be rescaled."""

    rings: int
    mean: float | None
    lambda_max: float | None

    name: ClassVar[str] = "values"
    shown: ClassVar[str] = "writing the Laplacian"

    def write(self, kept: Kept, out: Writer, block: Range) -> Result:
        """Write the entries of some rows."""
        rows, job = kept.of(SearchedRows, self.job), self.job
        found, weights = rows.block(*block), rows.weighed(*block, self.rings, self.mean)
        vertices = (job.scratch(name).mapped() for name in ("degree", "inverse-root-mass"))
        values = laplacian(found, weights, *vertices).astype(np.float32)
        first = rows.first_entry(block[0])
        if self.lambda_max is None:
            out.write(job.scratch("unscaled"), first, values)
        else:
            out.write(job.csr.data, first, _rescaled(found, values, self.lambda_max))
        return {}


def _squared_lengths(rows: SearchedRows, rings: int, block: RowBlock) -> int:
    """The exact sum of d^2 over the entries of some rows of the whole sampling."""
    lengths = rows.lengths(rings)
    return exact_sum(block.sums(lengths.squared_distances(block.rows, block.columns)))


def _rescaled(block: RowBlock, values: npt.NDArray[np.float32], lambda_max: float) -> Floats:
    return rescaled(values, block.rows == block.columns, lambda_max)
