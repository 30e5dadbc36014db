"""The sweeps over a level, in their order; each goes once over it, in blocks.

Searches list the nearest vertices of each, and measure the edges, on whose mean squared length a
kernel depends. Then one sweep counts the entries of each row and adds up their weights, unless rows
are copies of few, of which both are known; the next writes them down, which needs all degrees, and
the last rescales them, where that needs the spectrum.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from cheblienet_graphs.assembly.lattice_rows import LatticeRows, MaskedRows
from cheblienet_graphs.assembly.level import SQUARED, Level
from cheblienet_graphs.assembly.rows import (
    SCALES,
    BlockRows,
    ListedRows,
    SearchedRows,
    totals,
)
from cheblienet_graphs.assembly.versions import check_worker
from cheblienet_graphs.machine import kept
from cheblienet_graphs.sparse import ascending_sums, exact_sum, inverse_root, rescaled, row_blocks
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.staged import Range, Result, Writer

SUMS = {"counts": "int64"} | dict.fromkeys(SCALES, "float64")
"""Arrays of the vertices from which rows are made that are no copies."""
ENTRIES_AT_ONCE = 2**16
"""Entries that are made together: few enough to stay in a cache, and in memory that is kept."""


@dataclass(frozen=True)
class Sweep(ABC):
    """One pass over a level, whose blocks any process can write, in any order; picklable.

    Args:
        level: with results of earlier sweeps, which the blocks depend on.

    Attributes:
        name: tells it from others of a level.
        shown: what it does, in words.
        parts: into which blocks are cut further, where one takes so long that the progress would
            seem to stand still.
    """

    level: Level

    name: ClassVar[str]
    shown: ClassVar[str]
    parts: ClassVar[int] = 1

    @property
    def key(self) -> str:
        """The name of its records: those that were given other results are other ones."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        del given["level"]
        return self.level.key(self.name, **given)

    @property
    def total(self) -> int:
        """How many vertices, or base points, it goes over."""
        return self.level.num_vertices

    @property
    def each(self) -> int:
        """How many vertices are over one of these."""
        return 1

    @property
    def unit(self) -> int:
        """What no block cuts: a line of a lattice, whose rows are copies of few; else one row."""
        return self.level.spec.grid(self.level.number)[-1] if self.level.copied else 1

    @abstractmethod
    def write(self, out: Writer, block: Range) -> Result:
        """Write one block.

        Args:
            out: writes into the level's arrays.
            block: which.

        Returns:
            What later sweeps, or the facts of the level, need of it: JSON types.
        """


@dataclass(frozen=True)
class Lists(Sweep):
    """Lists the nearest vertices of each, a few base points at a time, whatever the mask."""

    name: ClassVar[str] = "lists"
    shown: ClassVar[str] = "finding neighbors"
    parts: ClassVar[int] = 16

    @property
    def total(self) -> int:
        """All base points."""
        return self.level.spec.full_points(self.level.number)

    @property
    def each(self) -> int:
        """All orientations."""
        return self.level.spec.orientations

    def write(self, out: Writer, block: Range) -> Result:
        """Write the lists over some base points."""
        target, farthest = self.level.scratch(self.level.lists_name), 0.0
        for first, lists, reach in kept(SearchedRows, self.level).lists.of(*block):
            farthest = max(farthest, reach)
            for orientation, rows in enumerate(lists):
                out.write(target, orientation * self.total + first, rows)
        return {"farthest": farthest}


@dataclass(frozen=True)
class Measured(Sweep):
    """Measures the edges of the whole sampling, on which the bandwidth inside a mask depends.

    Lengths are kept, as the sweeps that follow take them all once more.
    """

    name: ClassVar[str] = "measured"
    shown: ClassVar[str] = "measuring edges"

    @property
    def total(self) -> int:
        """All vertices, whatever the mask."""
        return self.level.full_vertices

    def write(self, out: Writer, block: Range) -> Result:
        """Write the lengths of the edges of some vertices."""
        squared = kept(SearchedRows, self.level).measured(*block)
        out.write(self.level.scratch(SQUARED), block[0], squared)
        edges = ~np.isnan(squared)
        total = exact_sum(ascending_sums(np.where(edges, squared, 0.0)))
        return {"squared_lengths": total, "entries": int(np.count_nonzero(edges))}


@dataclass(frozen=True)
class Weighed(Sweep):
    """Counts the entries of each row, and adds up the weights of each vertex."""

    name: ClassVar[str] = "weighed"
    shown: ClassVar[str] = "weighing edges"

    def write(self, out: Writer, block: Range) -> Result:
        """Write the sums of some vertices."""
        rows, start = computed_rows(self.level), block[0]
        level = rows.level
        counts, degree = rows.weighed(*block)
        mass = degree if level.laplacian == "normalized" else level.sampling.areas(*block)
        for name, values in zip(SUMS, (counts, degree, inverse_root(mass)), strict=True):
            out.write(level.scratch(name), start, values)
        return totals(level, counts, degree, mass)


@dataclass(frozen=True)
class Filled(Sweep):
    """Writes edges and points, and entries: those of Delta, aside, where lambda_max is None."""

    lambda_max: float | None

    name: ClassVar[str] = "filled"
    shown: ClassVar[str] = "writing edges and weights"

    def write(self, out: Writer, block: Range) -> Result:
        """Write some rows, those of a lattice few at a time."""
        rows, (start, stop) = rows_of(self.level), block
        level, csr = rows.level, rows.level.csr
        ends, unit = csr.indptr.part(start, stop + 1), self.unit
        target = level.scratch("unscaled") if self.lambda_max is None else csr.data
        of_points = level.sampling.areas, level.sampling.coordinates, rows.degrees
        names = () if level.direction else ("area", "coordinates", "degree")
        points = [(level.dense(name), of) for name, of in zip(names, of_points, strict=False)]
        in_plane = 0
        for few in row_blocks(ends[::unit], ENTRIES_AT_ONCE):
            lo, hi = (start + unit * line for line in few)
            part = ends[lo - start : hi - start + 1]
            columns, values, kept_orientation = rows.entries(lo, part, self.lambda_max)
            in_plane += kept_orientation
            out.write(csr.indices, int(part[0]), columns)
            out.write(target, int(part[0]), values)
            for array, of in points:
                out.write(array, lo, of(lo, hi))
        return {"in_plane": in_plane}


@dataclass(frozen=True)
class Rescaled(Sweep):
    """Rescales the entries of Delta that were written aside."""

    lambda_max: float

    name: ClassVar[str] = "rescaled"
    shown: ClassVar[str] = "rescaling the Laplacian"

    def write(self, out: Writer, block: Range) -> Result:
        """Write the entries of some rows."""
        csr, unscaled = self.level.csr, self.level.scratch("unscaled")
        indptr = csr.indptr.part(block[0], block[1] + 1).astype(np.int64)
        for lo, hi in row_blocks(indptr, ENTRIES_AT_ONCE):
            first, last = int(indptr[lo]), int(indptr[hi])
            row = np.repeat(np.arange(block[0] + lo, block[0] + hi), np.diff(indptr[lo : hi + 1]))
            diagonal = csr.indices.part(first, last) == row
            values = rescaled(unscaled.part(first, last), diagonal, self.lambda_max)
            out.write(csr.data, first, values)
        return {}


def rows_of(level: Level) -> LatticeRows | BlockRows:
    """The rows of a level, as this process keeps them."""
    return kept(LatticeRows, level) if level.copied else computed_rows(level)


def computed_rows(level: Level) -> BlockRows:
    """Those of a level whose rows are no copies."""
    if level.choice.engine == "stencil":
        return kept(MaskedRows, level)
    return kept(ListedRows if level.weights_listed else SearchedRows, level)


def do_block(sweep: Sweep, block: Range) -> Result:
    """Write one block of a sweep and record it; one that is recorded already is not done again.

    Raises:
        CheblienetError: this process has other versions of libraries than the building process.
        StoreError: the staged level is not there, or can't be written.
    """
    level = sweep.level
    with write_errors(level.place.store):
        check_worker(level.choice.engine, level.place.folder)
        done = level.records.result(sweep.key, block)
        if done is not None:
            return done
        with Writer() as out:
            result = sweep.write(out, block)
        level.records.keep(sweep.key, block, result)
        return result
