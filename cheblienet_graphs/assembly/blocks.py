"""One block of a sweep, done by whichever process."""

from functools import lru_cache
from typing import Any, Protocol

from cheblienet_graphs.assembly.job import Job, forget_levels
from cheblienet_graphs.assembly.lattice_rows import LatticeRows
from cheblienet_graphs.errors import CheblienetError, StoreError
from cheblienet_graphs.pools.pool import software
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.records import Range, Result
from cheblienet_graphs.store.staged import Writer


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
        return LatticeRows(job)
    # Searches need torch, whose import takes longer than a build by stencils.
    from cheblienet_graphs.assembly.searched_rows import SearchedRows

    return SearchedRows(job)


def forget() -> None:
    """Let go of all that is kept for jobs in this process: trees, tensors, maps of their files."""
    rows_of.cache_clear()
    forget_levels()
