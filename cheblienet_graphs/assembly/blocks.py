"""One block of a sweep, done by whichever process."""

from cheblienet_graphs.assembly.job import Job
from cheblienet_graphs.assembly.sweep import Sweep
from cheblienet_graphs.errors import CheblienetError, StoreError
from cheblienet_graphs.pools.kept import Kept
from cheblienet_graphs.pools.pool import software
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.records import Range, Result
from cheblienet_graphs.store.staged import Writer


def do_block(kept: Kept, sweep: Sweep, block: Range) -> Result:
    """Write one block of a sweep and record it; one that is recorded already is not done again.

    Raises:
        CheblienetError: this process has other versions of libraries than the building process.
        StoreError: the staged level is not there, or can't be written.
    """
    job = sweep.job
    _check_worker(job)
    with write_errors(job.store):
        done = job.records.result(sweep.key, block)
        if done is not None:
            return done
        with Writer() as out:
            result = sweep.write(kept, out, block)
        job.records.keep(sweep.key, block, result)
        return result


def _check_worker(job: Job) -> None:
    """See that this process has the libraries and the files of the building process.

    Raises:
        CheblienetError: it has other versions.
        StoreError: the staged level is not there.
    """
    mine = software(job.spec.sampling, job.choice.engine).items()
    others = [" ".join(library) for library in mine if library not in job.software]
    if others:
        raise CheblienetError(
            f"A worker has {', '.join(others)}; the building process has another version, and "
            "bytes would depend on which worker wrote them. Install the same."
        )
    if not job.folder.is_dir():
        raise StoreError(
            f"{job.folder} is not there for one of the workers. All of them, and the one who "
            "builds, must see the store's file system under the same path."
        )
