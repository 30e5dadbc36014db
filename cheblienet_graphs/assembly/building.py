"""The execution of a build: reserving arrays, running sweeps, keeping records, naming arrays.

xarray reads graphs on s2 by names of dimensions, and attributes of the CF conventions. CF's grid
mapping of HEALPix (1.13) is an array without elements, `crs`, with attributes on how pixels are
numbered: `indexing_scheme`, and `refinement_level`, the base-2 logarithm of nside. xdggs reads it,
and takes no other attributes there. Pixels of a part of the sphere have their numbers in
`base_index`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.assembly.level_plan import LevelPlan
from cheblienet_graphs.assembly.staged_level import PLANNED, StagedLevel, packed, places_of
from cheblienet_graphs.assembly.sweeps import Sweep, do_block
from cheblienet_graphs.machine import Pool
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.staged import Range, Result, StagedArray, Writer, cut, gaps
from cheblienet_graphs.store.writer import UNNAMED, Named, Staging
from cheblienet_graphs.typing import Indices, Progress

ROWS_AT_ONCE = 2**16
"""Number of rows over which entries are added up at once."""
LEAST_ROWS = 192
"""Vertices in a block that is not worth cutting further."""
ONCE = (0, 1)
"""The range of what is done in one piece."""
COORDINATES = "coordinates"
VERTEX, FREQUENCY = "vertex", "frequency"
ARRAYS = {
    COORDINATES: ("colatitude and longitude", VERTEX, "coordinate"),
    "degree": ("sum of the weights of the edges", VERTEX),
    "area": ("area in units of the mean area", VERTEX),
    layout.BASE_INDEX: ("number of the point in the full sampling", VERTEX),
    "eigenvalues": ("smallest eigenvalues of the Laplacian", FREQUENCY),
    "eigenvectors": ("eigenvectors of the Laplacian", VERTEX, FREQUENCY),
}
"""Array -> its long name and its dimensions."""
CRS = "crs"
"""The grid mapping of the other arrays of vertices."""


@dataclass(frozen=True)
class Build:
    """A build at work, in the process that was asked for it.

    Args:
        store: where it will be published.
        staging: where it is staged.
        pool: who does blocks.
        block_rows: vertices in a block; sets the memory, not the result.
        progress: called as the work proceeds.
    """

    store: Path
    staging: Staging
    pool: Pool
    block_rows: int
    progress: Progress

    def sweep(self, sweep: Sweep, entries: int) -> list[Result]:
        """Do a sweep, except what is recorded as finished.

        A sweep of one block is done here and not recorded: doing it again is as quick.

        Args:
            sweep: which.
            entries: how many entries that makes, for the progress.

        Returns:
            What came out of the blocks, in their order.
        """
        with write_errors(self.store):
            results = self.staging.records.finished(sweep.key)
        blocks = self._blocks(sweep, results)
        whole = sweep.total <= self._step(sweep) and not results
        done = sum(stop - start for start, stop in results)

        def show(start: int, stop: int) -> None:
            nonlocal done
            done += stop - start
            self.show(sweep.level.plan, sweep.shown, entries * done // sweep.total, entries)

        show(0, 0)
        if whole:
            with write_errors(self.store), Writer(durable=False) as out:
                for block in blocks:
                    results[block] = sweep.write(sweep.level, out, block, sweep.given)
                    show(*block)
        else:
            for task, result in self.pool.each(do_block, [(sweep, block) for block in blocks]):
                results[task[1]] = result
                show(*task[1])
        return [results[block] for block in sorted(results)]

    def show(self, plan: LevelPlan, what: str, done: int = 0, total: int = 0) -> None:
        """Show what is done for a level."""
        direction = f", {plan.direction}" if plan.direction else ""
        self.progress(f"level {plan.number}{direction}: {what}", done, total)

    def staged(self, plan: LevelPlan) -> StagedLevel:
        """A level at work; where others do blocks, with its plan written down for them."""
        level = StagedLevel(plan, self.store, self.staging.folder)
        if not self.pool.apart:
            return level
        plain, arrays = packed(plan)
        sizes = [array.nbytes for array in arrays]
        places = places_of(sizes)
        target = self.scratch(plan, PLANNED, (places[-1] // 8,), "int64")
        with write_errors(self.store), Writer() as out:
            for (place, end), array in zip(pairwise(places), arrays, strict=True):
                padded = np.zeros(end - place, np.uint8)
                padded[: array.nbytes] = np.frombuffer(array, np.uint8)
                out.write(target, place // 8, padded.view(np.int64))
        return replace(level, sent=(plain, tuple(sizes)))

    def _step(self, sweep: Sweep) -> int:
        """Most vertices, or base points, of a sweep in one block."""
        return _whole(self.block_rows // sweep.each, sweep.unit)

    def _blocks(self, sweep: Sweep, finished: Iterable[Range]) -> list[Range]:
        """Blocks that are not finished."""
        total = sweep.total
        step = self._step(sweep)
        least = LEAST_ROWS // sweep.each
        part = _whole(max(min(step, total) // sweep.parts, least), sweep.unit)
        return cut(gaps(list(finished), total), min(step, part))

    def once(
        self, plan: LevelPlan, key: str, compute: Callable[[], Result], *, keep: bool = False
    ) -> Result:
        """Compute something in one piece, in the building process, unless it is recorded.

        As in `sweep`, a level of one block is not worth a record. One that is there all the same,
        from smaller blocks, counts: finished blocks are made from it.

        Args:
            plan: of the level it is about.
            key: the name of its record.
            compute: gives its result.
            keep: whether it is recorded whatever the level's size.
        """
        with write_errors(self.store):
            result = self.staging.records.result(key, ONCE)
        if result is None:
            result = compute()
            if keep or plan.vertices > self.block_rows:
                with write_errors(self.store):
                    self.staging.records.keep(key, ONCE, result)
        return result

    def alpha(self, plan: LevelPlan, solve: Callable[[], float]) -> float:
        """The alpha of a level, solved for once only."""
        solved = self.once(plan, f"{plan.number}-alpha", lambda: {"alpha": solve()}, keep=True)
        alpha: float = solved["alpha"]
        return alpha

    def dense(
        self,
        plan: LevelPlan,
        name: str,
        shape: tuple[int, ...],
        dtype: str,
        columns: Sequence[str] = (),
    ) -> StagedArray:
        """Reserve an array of a level's vertices that is published."""
        how = named(plan.spec, name)
        return self.staging.dense(f"{plan.path}/{name}", shape, dtype, columns, how)

    def share(self, plan: LevelPlan, arrays: Mapping[str, npt.ArrayLike]) -> None:
        """Write whole arrays that are not published, for all who do blocks."""
        for name, given in arrays.items():
            values = np.asarray(given)
            target = self.scratch(plan, name, values.shape, values.dtype.name)
            self.staging.fill(target, values, durable=True)

    def scratch(
        self, plan: LevelPlan, name: str, shape: tuple[int, ...], dtype: str
    ) -> StagedArray:
        """Reserve an array that is not published."""
        return self.staging.scratch(f"{plan.scratch_path}/{name}", shape, dtype)

    def search_lists(self, shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any]:
        """An array for searches that solve for xi, which vanishes with its last use."""
        array = self.staging.scratch("xi", shape, dtype)
        mapped = np.memmap(array.chunk, array.kind, "r+", shape=shape)
        array.chunk.unlink()
        return mapped

    def write_row_pointers(
        self, counts: Callable[[int, int], Indices], indptr: StagedArray
    ) -> None:
        """Add up the numbers of entries of rows; `counts` gives them for some rows."""
        total = 0
        with write_errors(self.store), Writer(durable=False) as out:
            out.write(indptr, 0, [0])
            for start, stop in cut([(0, indptr.shape[0] - 1)], ROWS_AT_ONCE):
                ends = total + np.cumsum(counts(start, stop))
                out.write(indptr, start + 1, ends)
                total = int(ends[-1])


def _whole(rows: int, unit: int) -> int:
    """The largest multiple of a unit up to this, at least one."""
    return max(unit, rows // unit * unit)


def named(spec: GraphSpec, name: str) -> Named:
    """Names of the dimensions of an array over vertices; on other manifolds it has none."""
    if spec.manifold != "s2":
        return UNNAMED
    long_name, *dimensions = ARRAYS[name]
    attributes = {"long_name": long_name, "units": "radian" if name == COORDINATES else "1"}
    if VERTEX in dimensions and name != COORDINATES:
        listed = [COORDINATES, *[name] * (name == layout.BASE_INDEX)]  # which is one itself
        attributes["coordinates"] = " ".join(listed)
    if VERTEX in dimensions and spec.nside is not None:
        attributes["grid_mapping"] = CRS
        if name == layout.BASE_INDEX:
            attributes["standard_name"] = "healpix_index"
    return Named(tuple(dimensions), attributes)


def grid_mapping(spec: GraphSpec, level: int) -> Named | None:
    """The attributes of `crs`, which graphs on HEALPix pixels of s2 have."""
    if spec.manifold != "s2" or spec.nside is None:
        return None
    refinement = (spec.nside >> level).bit_length() - 1
    scheme = {"refinement_level": refinement, "indexing_scheme": "nested"}
    return Named(("none",), {"grid_mapping_name": "healpix"} | scheme)
