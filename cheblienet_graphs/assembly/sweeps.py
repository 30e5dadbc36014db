"""The sweeps over a level, in their order; each goes once over it, in blocks.

Searches list the nearest vertices of each, and measure the edges: a kernel depends on their mean
squared length. Then one sweep counts the entries of each row and adds up their weights, unless rows
are copies of few, of which both are known; the next writes them down, which needs all degrees, and
the last rescales them, where that needs the spectrum.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from cheblienet_graphs.assembly.rows import SCALES, SQUARED, BlockRows, totals
from cheblienet_graphs.assembly.staged_level import StagedLevel
from cheblienet_graphs.assembly.versions import check_worker
from cheblienet_graphs.sparse import ascending_sums, exact_sum, inverse_root, rescaled, row_blocks
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.staged import Range, Result, Writer

SUMS = {"counts": "int64"} | dict.fromkeys(SCALES, "float64")
"""Arrays of the vertices from which rows are made that are no copies."""
ENTRIES_AT_ONCE = 2**16
"""Entries that are made together: few enough to stay in a cache, and in memory that is kept."""
SEARCHED_AT_ONCE = 16
"""Parts of a search's blocks, so that the progress does not seem to stand still."""

Given = Any
"""Argument of a sweep besides its level: a JSON value."""


@dataclass(frozen=True)
class Sweep:
    """One pass over a level; any process can write its blocks, in any order; picklable.

    Args:
        level: with results of earlier sweeps, which the blocks depend on.
        write: writes one block of a level with a writer, given what the sweep is; returns what
            later sweeps, or the facts of the level, need of it: JSON types. A module's function.
        shown: what it does, in words.
        given: a result of an earlier sweep that is not the level's.
        total: vertices, or base points, that it goes over.
        each: vertices over one of these.
        unit: rows that no block cuts: a line of a lattice with copied rows, else one.
        parts: into which blocks are cut further.
    """

    level: StagedLevel
    write: Callable[[StagedLevel, Writer, Range, Given], Result]
    shown: str
    given: Given = None
    total: int = 0
    each: int = 1
    unit: int = 1
    parts: int = 1

    @property
    def key(self) -> str:
        """The name of its records; sweeps that were given other results have another name."""
        return self.level.key(self.write.__name__, self.given)


def listing(level: StagedLevel) -> Sweep:
    """The sweep that lists the nearest vertices of each, whatever the mask."""
    full = level.plan.domain.full
    by_points = {"total": full.num_points, "each": full.orientations, "parts": SEARCHED_AT_ONCE}
    return Sweep(level, list_nearest, "finding neighbors", **by_points)


def list_nearest(level: StagedLevel, out: Writer, block: Range, _given: Given) -> Result:
    """Write the lists over some base points, a few at a time."""
    target = level.scratch(level.lists_name)
    farthest = 0.0
    points = level.plan.domain.full.num_points
    for first, lists, reach in level.search.lists.of(*block):
        farthest = max(farthest, reach)
        for orientation, rows in enumerate(lists):
            out.write(target, orientation * points + first, rows)
    return {"farthest": farthest}


def measuring(level: StagedLevel) -> Sweep:
    """The sweep that measures the edges of the whole sampling.

    The bandwidth inside a mask depends on all of them. Lengths are kept, as the sweeps that follow
    take them all once more.
    """
    total = level.plan.domain.full.num_vertices
    return Sweep(level, measure, "measuring edges", total=total)


def measure(level: StagedLevel, out: Writer, block: Range, _given: Given) -> Result:
    """Write the lengths of the edges of some vertices."""
    squared = level.search.measured(*block)
    out.write(level.scratch(SQUARED), block[0], squared)
    edges = ~np.isnan(squared)
    total = exact_sum(ascending_sums(np.where(edges, squared, 0.0)))
    return {"squared_lengths": total, "entries": int(np.count_nonzero(edges))}


def weighing(level: StagedLevel) -> Sweep:
    """The sweep that counts the entries of each row, and adds up the weights of each vertex."""
    return Sweep(level, weigh, "weighing edges", total=level.plan.vertices)


def weigh(level: StagedLevel, out: Writer, block: Range, _given: Given) -> Result:
    """Write the sums of some vertices."""
    plan = level.plan
    start = block[0]
    counts, degree = cast("BlockRows", level.rows).weighed(*block)
    mass = degree if plan.laplacian == "normalized" else plan.domain.areas(*block)
    for name, values in zip(SUMS, (counts, degree, inverse_root(mass)), strict=True):
        out.write(level.scratch(name), start, values)
    return totals(plan, counts, degree, mass)


def filling(level: StagedLevel, lambda_max: float | None) -> Sweep:
    """The sweep that writes edges and points, and entries.

    Args:
        level: it.
        lambda_max: rescales entries; None where the entries of Delta are written aside.
    """
    sizes = {"total": level.plan.vertices, "unit": line_of(level)}
    return Sweep(level, fill, "writing edges and weights", lambda_max, **sizes)


def fill(level: StagedLevel, out: Writer, block: Range, lambda_max: Given) -> Result:
    """Write some rows; on a lattice a few at a time."""
    rows, csr, domain = level.rows, level.csr, level.plan.domain
    (start, stop), unit = block, line_of(level)
    ends = csr.indptr.part(start, stop + 1)
    target = level.scratch("unscaled") if lambda_max is None else csr.data
    of_points = domain.areas, domain.coordinates, rows.degrees
    names = () if level.plan.direction else ("area", "coordinates", "degree")
    points = [(level.dense(name), of) for name, of in zip(names, of_points, strict=False)]
    in_plane = 0
    for few in row_blocks(ends[::unit], ENTRIES_AT_ONCE):
        lo, hi = (start + unit * line for line in few)
        part = ends[lo - start : hi - start + 1]
        columns, values, kept_orientation = rows.entries(lo, part, lambda_max)
        in_plane += kept_orientation
        out.write(csr.indices, int(part[0]), columns)
        out.write(target, int(part[0]), values)
        for array, of in points:
            out.write(array, lo, of(lo, hi))
    return {"in_plane": in_plane}


def rescaling(level: StagedLevel, lambda_max: float) -> Sweep:
    """The sweep that rescales the entries of Delta that were written aside."""
    total = level.plan.vertices
    return Sweep(level, rescale, "rescaling the Laplacian", lambda_max, total, unit=line_of(level))


def rescale(level: StagedLevel, out: Writer, block: Range, lambda_max: Given) -> Result:
    """Write the entries of some rows."""
    csr = level.csr
    unscaled = level.scratch("unscaled")
    indptr = csr.indptr.part(block[0], block[1] + 1).astype(np.int64)
    for lo, hi in row_blocks(indptr, ENTRIES_AT_ONCE):
        first, last = int(indptr[lo]), int(indptr[hi])
        row = np.repeat(np.arange(block[0] + lo, block[0] + hi), np.diff(indptr[lo : hi + 1]))
        diagonal = csr.indices.part(first, last) == row
        values = rescaled(unscaled.part(first, last), diagonal, lambda_max)
        out.write(csr.data, first, values)
    return {}


def line_of(level: StagedLevel) -> int:
    """Vertices of a line of a whole lattice with copied rows; else 1."""
    return level.plan.spec.grid(level.plan.number)[-1] if level.plan.copied else 1


def do_block(sweep: Sweep, block: Range) -> Result:
    """Write one block of a sweep and record it; one that is recorded already is not done again.

    Raises:
        CheblienetError: this process has other versions of libraries than the building process.
        StoreError: the staged level is not there, or can't be written.
    """
    level = sweep.level
    with write_errors(level.store):
        check_worker(level.plan.choice.engine, level.folder)
        done = level.records.result(sweep.key, block)
        if done is not None:
            return done
        with Writer() as out:
            result = sweep.write(level, out, block, sweep.given)
        level.records.keep(sweep.key, block, result)
        return result
