"""The sweep that rescales a Laplacian whose entries were written aside."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cheblienet_graphs.assembly.sweep import Sweep
from cheblienet_graphs.pools.kept import Kept
from cheblienet_graphs.sparse.laplacian import rescaled
from cheblienet_graphs.store.records import Range, Result
from cheblienet_graphs.store.staged import Writer

ENTRIES_AT_ONCE = 2**18
"""Entries that are rescaled together: they fit a core's cache."""


@dataclass(frozen=True)
class Rescaling(Sweep):
    """Rescales the entries of Delta; a block is a range of vertices."""

    lambda_max: float

    name: ClassVar[str] = "rescaling"
    shown: ClassVar[str] = "rescaling the Laplacian"

    def write(self, kept: Kept, out: Writer, block: Range) -> Result:
        """Write the entries of some rows."""
        del kept
        csr, unscaled = self.job.csr, self.job.scratch("unscaled")
        indptr = csr.indptr.part(block[0], block[1] + 1).astype(np.int64)
        rows = max(1, ENTRIES_AT_ONCE * len(indptr) // max(1, int(indptr[-1] - indptr[0])))
        for lo in range(0, len(indptr) - 1, rows):
            ends = indptr[lo : lo + rows + 1]
            first, last = int(ends[0]), int(ends[-1])
            row = np.repeat(np.arange(block[0] + lo, block[0] + lo + len(ends) - 1), np.diff(ends))
            diagonal = csr.indices.part(first, last) == row
            out.write(
                csr.data, first, rescaled(unscaled.part(first, last), diagonal, self.lambda_max)
            )
        return {}
