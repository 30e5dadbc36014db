"""The one who builds a level: reserves its arrays, sends sweeps through a pool, keeps the books."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from cheblienet_graphs.assembly.blocks import do_block, rows_of
from cheblienet_graphs.assembly.job import Job
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.errors import SpecError
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
SAID = {
    "rows": "writing edges and weights",
    "lists": "finding neighbours",
    "counts": "counting edges",
    "columns": "writing edges",
    "degrees": "weighing edges",
    "values": "writing the Laplacian",
    "rescaling": "rescaling the Laplacian",
}
"""What a sweep does, to be shown."""


@dataclass(frozen=True)
class Assembled:
    """What is known of a level once its Laplacian is written; names as in `LevelFacts`."""

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
        level: the same as the one who builds knows it, with all that was solved for already.
        staging: where.
        pool: who does blocks.
        block_rows: vertices in a block; sets the memory, not the result.
        progress: called as the work proceeds.
    """

    job: Job
    level: Level
    staging: Staging
    pool: Pool
    block_rows: int
    progress: Progress

    def sweep(
        self, name: str, total: int, entries: int, *, parts: int = 1, **given: Any
    ) -> list[Result]:
        """Do a sweep, except what is recorded as finished.

        A sweep of one block is done here and not recorded: doing it again is as quick.

        Args:
            name: of the sweep.
            total: base points, lines or vertices that it goes over.
            entries: how many entries that makes, for the progress.
            parts: into which blocks are cut further, where a block takes so long that the progress
                would seem to stand still.
            given: what it needs of earlier sweeps.

        Returns:
            What came out of the blocks, in their order.
        """
        records, recorded = self.staging.records, self.job.sweep(name, given)
        step = max(1, self.block_rows * total // self.job.level.num_vertices)
        with write_errors(self.job.store):
            results = records.finished(recorded)
        small = total <= step and not results
        part = max(min(step, total) // parts, LEAST_ROWS * total // self.job.level.num_vertices, 1)
        blocks = cut(gaps(list(results), total), min(step, part))
        done = 0

        def finished(blocks: Mapping[Range, Result]) -> None:
            nonlocal done
            results.update(blocks)
            done += sum(stop - start for start, stop in blocks)
            shown = f"level {self.job.number}: {SAID[name]}"
            self.progress(shown, entries * done // total, entries)

        finished(dict(results))
        if small:
            with write_errors(self.job.store), Writer(durable=False) as out:
                for block in blocks:
                    finished({block: rows_of(self.job).sweep(name, out, block, **given)})
        else:
            tasks = [(self.job, name, block, given) for block in blocks]
            for task, result in self.pool.each(do_block, tasks):
                finished({task[2]: result})
        return [results[block] for block in sorted(results)]

    def once(self, name: str, compute: Callable[[], Result], **given: Any) -> Result:
        """What is computed in one piece, by the one who builds, unless it is recorded.

        As in `sweep`, a level of one block is not worth a record. One that is there all the same,
        from smaller blocks, counts: finished blocks are made from it.
        """
        recorded, everything = self.job.sweep(name, given), (0, 1)
        with write_errors(self.job.store):
            found = self.staging.records.result(recorded, everything)
        if found is None:
            found = compute()
            if self.job.level.num_vertices > self.block_rows:
                with write_errors(self.job.store):
                    self.staging.records.keep(recorded, everything, found)
        return found

    def scratch(self, name: str, shape: tuple[int, ...], dtype: str) -> StagedArray:
        """Reserve an array that is not published."""
        return self.staging.scratch(f"{self.job.number}/{name}", shape, dtype)

    def reserve(self, nnz: int) -> None:
        """Reserve the arrays of the level."""
        job, folder = self.job, f"levels/{self.job.number}"
        vertices, columns = job.level.num_vertices, job.spec.geometry.columns
        self.staging.csr(f"{folder}/laplacian", (vertices, vertices), nnz)
        self.staging.dense(f"{folder}/degree", (vertices,), "float32")
        self.staging.dense(f"{folder}/area", (vertices,), "float32")
        self.staging.dense(f"{folder}/coordinates", (vertices, len(columns)), "float64", columns)
        if job.spec.lambda_max != 2:
            self.scratch("unscaled", (nnz,), "float32")

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
        """What holds without computing, where that is asked for."""
        return SpectralBound(limit, "bound") if self.job.spec.lambda_max == 2 else None

    def computed_bound(self, limit: float) -> SpectralBound:
        """An upper bound of the spectrum of Delta, itself at most `limit`."""

        def compute() -> Result:
            csr, size = self.job.csr, self.job.level.num_vertices
            values = self.job.scratch("unscaled").mapped()
            self.progress(
                f"level {self.job.number}: finding the largest eigenvalue", 0, len(values)
            )
            parts = (values, csr.indices.mapped(), csr.indptr.mapped())
            matrix = scipy.sparse.csr_array(parts, shape=(size, size))
            bound = largest_eigenvalue_bound(mapped_product(matrix), size, limit=limit)
            return {"value": bound.value, "method": bound.method}

        return SpectralBound(**self.once("largest-eigenvalue", compute))
