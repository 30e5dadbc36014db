"""The pool that was asked for."""

from contextlib import AbstractContextManager

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import WORKERS
from cheblienet_graphs.pools.kept import Kept
from cheblienet_graphs.pools.pool import Pool
from cheblienet_graphs.pools.processes import opened_processes
from cheblienet_graphs.values import integer


def opened_pool(
    workers: int | str | None, dask: str | None, kept: Kept
) -> AbstractContextManager[Pool]:
    """The pool that was asked for; see `assembly.pipeline.build`.

    Args:
        workers: as there.
        dask: as there.
        kept: by this process, where it does blocks itself.

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
        return opened_processes(workers or 1, kept)
    from cheblienet_graphs.pools.dask import opened_cluster  # an extra

    return opened_cluster(dask, workers)
