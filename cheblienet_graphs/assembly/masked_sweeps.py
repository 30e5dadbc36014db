"""The sweeps over a part of a lattice, by stencils; a block is a range of vertices."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cheblienet_graphs.assembly.masked_rows import MaskedRows
from cheblienet_graphs.assembly.sweep import Sweep
from cheblienet_graphs.pools.kept import Kept
from cheblienet_graphs.sparse.laplacian import inverse_root, rescaled
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
        normalized = job.spec.laplacian == "normalized"
        isolated = vanished = 0
        largest = 0.0
        for found in rows.stencils.looked_up(*block):
            counts, degrees = found.inside.sum(axis=1), rows.degrees(found)
            stored = degrees.astype(np.float32)
            out.write(job.scratch("counts"), found.start, counts)
            out.write(job.dense("degree"), found.start, stored)
            out.write(job.scratch("degree"), found.start, degrees)
            if normalized:
                out.write(job.scratch("inverse-root-mass"), found.start, inverse_root(degrees))
            isolated += int((counts == 1).sum())
            vanished += int(((stored == 0) & (counts > 1)).sum())
            largest = max(largest, largest_possible(degrees, np.ones(len(degrees))))
        return {
            "isolated": isolated,
            "vanished": vanished,
            "largest": NORMALIZED if normalized else largest,
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
        mass = None
        if job.spec.laplacian == "normalized":
            mass = job.scratch("inverse-root-mass").mapped()
        csr = job.csr
        entries = csr.data if self.lambda_max is not None else job.scratch("unscaled")
        first = int(csr.indptr.part(start, start + 1)[0])
        for found in rows.stencils.looked_up(start, stop):
            degrees = job.scratch("degree").part(found.start, found.start + len(found))
            values = rows.laplacian(found, degrees, mass)[found.inside]
            columns = found.columns[found.inside]
            if self.lambda_max is None:
                out.write(entries, first, values)
            else:
                diagonal = found.diagonal[found.inside]
                out.write(entries, first, rescaled(values, diagonal, self.lambda_max))
            out.write(csr.indices, first, columns)
            first += len(columns)
        sampling = rows.level.sampling
        out.write(job.dense("area"), start, sampling.areas(start, stop))
        out.write(job.dense("coordinates"), start, sampling.coordinates(start, stop))
        return {}
