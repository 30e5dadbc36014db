"""What a process needs to know to do a block of a sweep."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from cheblienet_graphs.engines import Choice
from cheblienet_graphs.errors import CheblienetError, StoreError
from cheblienet_graphs.levels import Level
from cheblienet_graphs.neighbours import Floats
from cheblienet_graphs.pools import software
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.records import Range, Records, Result
from cheblienet_graphs.store.staged import (
    StagedArray,
    StagedCsr,
    Writer,
    opened,
    opened_csr,
)
from cheblienet_graphs.store.writer import scratch_folder

SOLUTION = "matched-weights"
"""Scratch array of the matched weights of a lattice."""


@dataclass(frozen=True)
class Job:
    """A level in the making; picklable.

    Args:
        spec: of the build.
        choice: the engine that finds neighbours, and its device.
        number: of the level, 0 the finest.
        xi: of its metric, None without orientations.
        store: where it will be published.
        folder: where it is staged.
        software: what the one who builds has, as `pools.software`; workers must have the same.
    """

    spec: GraphSpec
    choice: Choice
    number: int
    xi: float | None
    store: Path
    folder: Path
    software: tuple[tuple[str, str], ...]

    @property
    def level(self) -> Level:
        """Its sampling, metric and rule."""
        return _level(self)

    def solution(self) -> Floats | None:
        """Matched weights of a lattice, once the one who builds has solved for them."""
        folder = scratch_folder(self.folder) / str(self.number) / SOLUTION
        return np.array(opened(folder).mapped()) if (folder / "zarr.json").exists() else None

    @property
    def arrays(self) -> Path:
        """Folder of the level's arrays."""
        return self.folder / "version" / "levels" / str(self.number)

    @property
    def csr(self) -> StagedCsr:
        """The Laplacian."""
        return opened_csr(self.arrays / "laplacian")

    def dense(self, name: str) -> StagedArray:
        """Another of its arrays."""
        return opened(self.arrays / name)

    def scratch(self, name: str) -> StagedArray:
        """An array that is not published."""
        return opened(scratch_folder(self.folder) / str(self.number) / name)

    @property
    def records(self) -> Records:
        """What of it is finished."""
        return Records(self.folder / "finished")

    def sweep(self, name: str, given: Mapping[str, Any]) -> str:
        """What its records call a sweep.

        Those of the two kinds of rows are different ones, and so are those that are given other
        results of earlier sweeps: what is written depends on them.
        """
        rows = "lattice" if self.choice.engine == "stencil" else "searched"
        told = [f"{what}={json.dumps(value)}" for what, value in sorted(given.items())]
        return "-".join([str(self.number), rows, name, *told])


class Rows(Protocol):
    """What the sweeps of a level do."""

    def sweep(self, name: str, out: Writer, block: Range, **given: Any) -> Result:
        """Write what a sweep writes for one block."""


def do_block(job: Job, sweep: str, block: Range, given: dict[str, Any]) -> Result:
    """Write one block of a sweep and record it; one that is recorded already is not done again.

    Raises:
        CheblienetError: this process has other versions of libraries than the one who builds.
        StoreError: the staged level is not there, or can't be written.
    """
    mine = software(job.spec.sampling).items()
    others = [" ".join(library) for library in mine if library not in job.software]
    if others:
        raise CheblienetError(
            f"A worker has {', '.join(others)}; the one who builds has another version, and bytes "
            "would depend on which worker wrote them. Install the same."
        )
    if not job.folder.is_dir():
        raise StoreError(
            f"{job.folder} is not there for one of the workers. All of them, and the one who "
            "builds, must see the store's file system under the same path."
        )
    with write_errors(job.store):
        recorded = job.sweep(sweep, given)
        done = job.records.result(recorded, block)
        if done is not None:
            return done
        with Writer() as out:
            result = rows_of(job).sweep(sweep, out, block, **given)
        job.records.keep(recorded, block, result)
        return result


@lru_cache(maxsize=2)
def rows_of(job: Job) -> Rows:
    """What the job's sweeps do; kept until `forget`, as setting it up takes longer than a block."""
    if job.choice.engine == "stencil":
        from cheblienet_graphs.assembly.lattice import LatticeRows

        return LatticeRows(job)
    from cheblienet_graphs.assembly.searched import SearchedRows

    return SearchedRows(job)


@lru_cache(maxsize=2)
def _level(job: Job) -> Level:
    return Level(job.spec, job.choice, job.number, xi=job.xi, solution=job.solution)


def forget() -> None:
    """Let go of all that is kept for jobs in this process: trees, tensors, maps of their files."""
    rows_of.cache_clear()
    _level.cache_clear()
