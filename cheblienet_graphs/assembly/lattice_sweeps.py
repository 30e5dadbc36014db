"""The sweeps over a level whose rows are written by stencils; a block is a range of lines."""

from dataclasses import dataclass
from typing import ClassVar

from cheblienet_graphs.assembly.lattice_rows import LatticeRows
from cheblienet_graphs.assembly.sweep import Sweep
from cheblienet_graphs.pools.kept import Kept
from cheblienet_graphs.store.records import Range, Result
from cheblienet_graphs.store.staged import Writer


@dataclass(frozen=True)
class LineSweep(Sweep):
    """A pass over the lines of a lattice: runs of vertices along x."""

    @property
    def total(self) -> int:
        """Lines."""
        return self.job.num_vertices // self.job.spec.grid(self.job.number)[-1]


@dataclass(frozen=True)
class Rows(LineSweep):
    """Writes everything; entries of Delta, where there is no lambda_max yet, to be rescaled."""

    lambda_max: float | None

    name: ClassVar[str] = "rows"
    shown: ClassVar[str] = "writing edges and weights"

    def write(self, kept: Kept, out: Writer, block: Range) -> Result:
        """Write some lines."""
        rows = kept.of(LatticeRows, self.job)
        rows.write_structure(out, *block)
        rows.write_values(out, *block, self.lambda_max)
        return {}


@dataclass(frozen=True)
class Values(LineSweep):
    """Writes the entries again, rescaled."""

    lambda_max: float

    name: ClassVar[str] = "values"
    shown: ClassVar[str] = "writing the Laplacian"

    def write(self, kept: Kept, out: Writer, block: Range) -> Result:
        """Write entries of some lines."""
        kept.of(LatticeRows, self.job).write_values(out, *block, self.lambda_max)
        return {}
