"""The building process' side of a level: reserves arrays, has sweeps done, keeps records."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.assembly.blocks import do_block
from cheblienet_graphs.assembly.job import Job
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.assembly.sweep import Sweep
from cheblienet_graphs.errors import Found, SpecError
from cheblienet_graphs.pools.kept import Kept
from cheblienet_graphs.pools.pool import Pool
from cheblienet_graphs.sparse.products import mapped_product
from cheblienet_graphs.spectrum.bound import SpectralBound, largest_eigenvalue_bound
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.records import Range, Result, cut, gaps
from cheblienet_graphs.store.staged import StagedArray, Writer
from cheblienet_graphs.store.writer import Staging
from cheblienet_graphs.typing import Progress

LEAST_ROWS = 192
"""Vertices in a block that is not worth cutting further."""


@dataclass(frozen=True)
class Assembled:
    """The facts of a level once its Laplacian is written; names as in `LevelFacts`."""

    edges: int
    nnz: int
    in_plane: int
    isolated: int
    bandwidth: float | None
    dropped_edges: int
    bound: SpectralBound


@dataclass(frozen=True)
class Driver:
    """Builds one level.

    Args:
        job: the level, as all who do blocks know it.
        level: the same in the building process, with all that was solved for already.
        staging: where.
        pool: who does blocks.
        kept: by the building process, from block to block.
        block_rows: vertices in a block; sets the memory, not the result.
        progress: called as the work proceeds.
    """

    job: Job
    level: Level
    staging: Staging
    pool: Pool
    kept: Kept
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
        with write_errors(self.job.store):
            results = self.staging.records.finished(sweep.key)
        blocks = self._blocks(sweep, results)
        whole = sweep.total <= self._step(sweep) and not results
        done = sum(stop - start for start, stop in results)

        def show(start: int, stop: int) -> None:
            nonlocal done
            done += stop - start
            shown = f"{self._shown}: {sweep.shown}"
            self.progress(shown, entries * done // sweep.total, entries)

        show(0, 0)
        if whole:
            with write_errors(self.job.store), Writer(durable=False) as out:
                for block in blocks:
                    results[block] = sweep.write(self.kept, out, block)
                    show(*block)
        else:
            for task, result in self.pool.each(do_block, [(sweep, block) for block in blocks]):
                results[task[1]] = result
                show(*task[1])
        return [results[block] for block in sorted(results)]

    @property
    def _shown(self) -> str:
        direction = self.job.direction
        return f"level {self.job.number}" + (f", {direction}" if direction else "")

    def _step(self, sweep: Sweep) -> int:
        """How much of a sweep a block is at most."""
        return max(1, self.block_rows * sweep.total // sweep.vertices)

    def _blocks(self, sweep: Sweep, finished: Iterable[Range]) -> list[Range]:
        """Blocks that are not finished."""
        total, step = sweep.total, self._step(sweep)
        least = LEAST_ROWS * total // sweep.vertices
        part = max(min(step, total) // sweep.parts, least, 1)
        return cut(gaps(list(finished), total), min(step, part))

    def once(self, key: str, compute: Callable[[], Result]) -> Result:
        """Compute something in one piece, in the building process, unless it is recorded.

        As in `sweep`, a level of one block is not worth a record. One that is there all the same,
        from smaller blocks, counts: finished blocks are made from it.
        """
        everything = (0, 1)
        with write_errors(self.job.store):
            found = self.staging.records.result(key, everything)
        if found is None:
            found = compute()
            if self.job.num_vertices > self.block_rows:
                with write_errors(self.job.store):
                    self.staging.records.keep(key, everything, found)
        return found

    def scratch(self, name: str, shape: tuple[int, ...], dtype: str) -> StagedArray:
        """Reserve an array that is not published."""
        return self.staging.scratch(self.job.scratch_path(name), shape, dtype)

    def reserve(self, nnz: int) -> None:
        """Reserve the arrays of the Laplacian and, with the metric's, those of the points."""
        job, folder = self.job, f"levels/{self.job.number}"
        vertices, columns = job.num_vertices, job.spec.geometry.columns
        self.staging.csr(f"{folder}/{job.matrix_name}", (vertices, vertices), nnz)
        if not job.lambda_max_known:
            self.scratch("unscaled", (nnz,), "float32")
        if job.direction is not None:
            return
        self.staging.dense(f"{folder}/degree", (vertices,), "float32")
        self.staging.dense(f"{folder}/area", (vertices,), "float32")
        self.staging.dense(f"{folder}/coordinates", (vertices, len(columns)), "float64", columns)

    def write_row_pointers(self) -> None:
        """Add up the scratch array "counts"."""
        counts, indptr = self.job.scratch("counts"), self.job.csr.indptr
        total = 0
        with write_errors(self.job.store), Writer(durable=False) as out:
            out.write(indptr, 0, [0])
            for start, stop in cut([(0, counts.shape[0])], self.block_rows):
                ends = total + np.cumsum(counts.part(start, stop))
                out.write(indptr, start + 1, ends)
                total = int(ends[-1])

    def check_edges(self, edges: int) -> None:
        """Refuse a level of which no edge is inside the mask.

        Raises:
            SpecError: there is none.
        """
        if not edges:
            spec, number = self.job.spec, self.job.number
            points = spec.base_points(number)
            along = "" if self.job.direction is None else f"{self.job.direction} "
            raise SpecError(
                "region" if spec.region is not None else "mask",
                f"such that level {number} has {along}edges inside",
                Found(f"none between {points:,} point{'s'[: points > 1]} inside"),
                "Give a larger one, or fewer `levels`." if number else "Give a larger one.",
            )

    def check_degrees(self, vanished: int) -> None:
        """Refuse a level where the weights of some vertices vanish.

        Raises:
            SpecError: there are such vertices.
        """
        if vanished:
            raise SpecError(
                "bandwidth",
                f"larger here, since the weights of {vanished} vertices vanish in float32",
                self.job.spec.bandwidth,
            )

    def given_bound(self, limit: float) -> SpectralBound | None:
        """The bound that holds without computing, where that is asked for."""
        return SpectralBound(limit, "bound") if self.job.lambda_max_known else None

    def computed_bound(self, limit: float) -> SpectralBound:
        """An upper bound of the spectrum of Delta, itself at most `limit`."""

        def compute() -> Result:
            job = self.job
            matrix = job.matrix(job.scratch("unscaled"))
            self.progress(f"{self._shown}: finding the largest eigenvalue", 0, matrix.nnz)
            bound = largest_eigenvalue_bound(mapped_product(matrix), job.num_vertices, limit=limit)
            return {"value": bound.value, "method": bound.method}

        return SpectralBound(**self.once(self.job.key("largest-eigenvalue"), compute))
