"""The sweeps over a part of a lattice, by stencils; a block is a range of vertices."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cheblienet_graphs.assembly.masked_rows import MaskedRows, Masses
from cheblienet_graphs.assembly.sweep import Sweep
from cheblienet_graphs.pools.kept import Kept
from cheblienet_graphs.sparse.laplacian import inverse_root
from cheblienet_graphs.spectrum.bound import NORMALIZED, largest_possible
from cheblienet_graphs.store.records import Range, Result
from cheblienet_graphs.store.staged import Writer


@dataclass(frozen=True)
class Degrees(Sweep):
    """Counts the entries of each row, and adds up the weights of each vertex."""

    name: ClassVar[str] = "masked-degrees"
    shown: ClassVar[str] = "weighing edges"

    def write(self, kept: Kept, out: Writer, block: Range) -> Result:
        """Write the degrees of some vertices."""
        rows, job = kept.of(MaskedRows, self.job), self.job
        pieces = [rows.weighed(piece) for piece in rows.stencils.pieces(*block)]
        counts, degrees = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        stored, start = degrees.astype(np.float32), block[0]
        out.write(job.scratch("counts"), start, counts)
        if job.direction is None:
            out.write(job.dense("degree"), start, stored)
        out.write(job.scratch("degree"), start, degrees)
        normalized = job.laplacian == "normalized"
        mass = degrees if normalized else rows.level.sampling.areas(*block)
        if normalized or rows.unequal_areas:
            out.write(job.scratch("inverse-root-mass"), start, inverse_root(mass))
        largest = NORMALIZED if normalized else largest_possible(degrees, mass)
        return {
            "isolated": int((counts == 1).sum()),
            "vanished": int(((stored == 0) & (counts > 1)).sum()),
            "largest": largest,
        }


@dataclass(frozen=True)
class Rows(Sweep):
    """Writes edges and points, and the entries of Delta: to be rescaled without a lambda_max."""

    lambda_max: float | None

    name: ClassVar[str] = "masked-rows"
    shown: ClassVar[str] = "writing edges and weights"

    def write(self, kept: Kept, out: Writer, block: Range) -> Result:
        """Write some rows."""
        rows, job, (start, stop) = kept.of(MaskedRows, self.job), self.job, block
        roots = None
        if job.laplacian == "normalized" or rows.unequal_areas:
            roots = job.scratch("inverse-root-mass").mapped()
        masses, csr = Masses(job.scratch("degree").mapped(), roots), job.csr
        target = job.scratch("unscaled") if self.lambda_max is None else csr.data
        for piece in rows.stencils.pieces(start, stop):
            first = piece.first_vertex
            ends = csr.indptr.part(first, first + len(piece) + 1).astype(np.int64)
            columns, values = rows.entries(piece, ends, masses, self.lambda_max)
            out.write(csr.indices, int(ends[0]), columns)
            out.write(target, int(ends[0]), values)
        if job.direction is None:
            sampling = rows.level.sampling
            out.write(job.dense("area"), start, sampling.areas(start, stop))
            out.write(job.dense("coordinates"), start, sampling.coordinates(start, stop))
        return {}
