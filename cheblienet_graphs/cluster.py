"""Blocks done by a Dask cluster, whose workers see the store's file system."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cheblienet_graphs.assembly.job import forget
from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.interrupts import interrupts_ignored
from cheblienet_graphs.pools import Pool, Task

try:
    import distributed
    from distributed.comm import CommClosedError
except ModuleNotFoundError as error:
    raise CheblienetError(
        "A Dask cluster needs Dask: pip install 'cheblienet[dask]', here and on the workers."
    ) from error

CONNECTED = 20
"""Seconds in which a scheduler must answer,"""
READY = 120
"""and in which it must have a worker."""

T = TypeVar("T")


class Cluster:
    """The workers of a scheduler, which gives blocks of workers that die to others.

    Args:
        client: connected to it.
        processes: how many of its workers are on this machine for this purpose.
    """

    def __init__(self, client: "distributed.Client", processes: int) -> None:
        self._client, self.processes = client, processes

    def first(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """As `Pool.first`."""
        [(_, result)] = self.each(partial(function, **named), [arguments])
        return result

    def each(self, function: Callable[..., T], tasks: Sequence[Task]) -> Iterator[tuple[Task, T]]:
        """As `Pool.each`.

        Raises:
            CheblienetError: blocks kept losing their workers, or the scheduler vanished, or the
                workers lack this package.
        """
        futures = {self._client.submit(function, *task, pure=False): task for task in tasks}
        try:
            for future in distributed.as_completed(futures, loop=self._client.loop):
                yield futures[future], future.result()
                future.release()
        except distributed.KilledWorker as error:
            raise CheblienetError(
                f"Dask gave up on a block that lost {error.allowed_failures + 1} workers: killed, "
                "or out of memory. Nothing was published; a smaller `memory_limit` may help."
            ) from error
        except (CommClosedError, distributed.CancelledError) as error:
            raise CheblienetError("The Dask scheduler vanished. Nothing was published.") from error
        except ModuleNotFoundError as error:
            raise CheblienetError(
                f"A Dask worker lacks the module {error.name}: install the same version of "
                "cheblienet there as here."
            ) from error
        finally:
            self._client.cancel(list(futures))


@contextmanager
def opened_cluster(address: str, workers: int | None) -> Iterator[Pool]:
    """A cluster by the address of its scheduler or the file that this wrote, or "local".

    Raises:
        CheblienetError: there is none, or it has no workers.
    """
    if address == "local":
        with interrupts_ignored():  # by the workers, which start here
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=":0",  # any free port
                silence_logs="CRITICAL",
            )
        with cluster, distributed.Client(cluster, set_as_default=False) as client:
            yield Cluster(client, len(cluster.workers))
        return
    where = {"scheduler_file": address} if Path(address).is_file() else {"address": address}
    try:
        client = distributed.Client(**where, timeout=CONNECTED, set_as_default=False)
        client.wait_for_workers(1, timeout=READY)
    except (OSError, ValueError, TimeoutError) as error:
        raise CheblienetError(
            f"There is no Dask cluster at {address}: {' '.join(str(error).split())}. Give the "
            "address that `dask scheduler` prints, such as tcp://10.0.0.1:8786, or the file that "
            "it writes, or local."
        ) from error
    with client:
        try:
            yield Cluster(client, 1)
        finally:
            with suppress(OSError, RuntimeError):  # the scheduler may be gone
                client.run(forget, wait=False)
