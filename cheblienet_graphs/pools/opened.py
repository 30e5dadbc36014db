"""The pool that was asked for."""

from contextlib import AbstractContextManager, nullcontext

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import WORKERS
from cheblienet_graphs.pools.kept import Kept
from cheblienet_graphs.pools.pool import Here, Pool
from cheblienet_graphs.pools.processes import opened_processes
from cheblienet_graphs.values import integer


def opened_pool(
    workers: int | str | None, dask: str | None, kept: Kept, *, dry: bool = False
) -> AbstractContextManager[Pool]:
    """The pool that was asked for; see `assembly.pipeline.build`.

    Args:
        workers: as there.
        dask: as there.
        kept: by this process, where it does blocks itself.
        dry: whether nothing will be done: no process is started, and no cluster asked.

    Raises:
        SpecError: no such number of workers.
        CheblienetError: no such cluster, or Dask is not installed.
    """
    if not isinstance(dask, str | None):
        raise SpecError("dask", "an address, a file or 'local', as text", dask)
    if workers is not None:
        workers = integer("workers", workers, *WORKERS)
        if dask not in {None, "local"}:
            raise SpecError("workers", "left out where a cluster has its own", workers)
    if dask is None:
        processes = workers or 1
        return nullcontext(Here(kept, processes)) if dry else opened_processes(processes, kept)
    from cheblienet_graphs.pools.dask import opened_cluster, processes_of  # an extra

    processes = processes_of(dask, workers)
    return nullcontext(Here(kept, processes)) if dry else opened_cluster(dask, workers)
