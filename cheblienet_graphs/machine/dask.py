"""Blocks done by a Dask cluster; its workers see the store's file system."""

import asyncio
import json
import resource
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cheblienet_graphs.errors import CheblienetError, InputError
from cheblienet_graphs.machine import Pool, Task, let_go
from cheblienet_graphs.machine.interrupts import check_guarded, not_for_children

try:
    import distributed
    from dask.system import CPU_COUNT
    from distributed.comm import CommClosedError
except ModuleNotFoundError as error:
    raise CheblienetError(
        "A Dask cluster needs Dask: pip install 'cheblienet[dask]', here and on the workers."
    ) from error

CONNECTED = 30
"""Seconds in which a scheduler must answer."""
READY = 120
"""Seconds in which a scheduler must have a worker."""
PORTS = 2**16
FILES, FILES_OF_A_WORKER = 32, 16
"""Files that a cluster of this machine has open, with some to spare; short of them it hangs."""

T = TypeVar("T")


class Cluster(Pool):
    """The workers of a scheduler, which gives blocks of workers that die to others.

    Args:
        client: connected to it.
        processes: how many of its workers are on this machine for this purpose.
    """

    apart = True

    def __init__(self, client: "distributed.Client", processes: int) -> None:
        super().__init__(processes)
        self._client = client

    def first(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """The result of one call by a worker, as `Pool.first`."""
        [(_, result)] = self.each(partial(function, **named), [arguments])
        return result

    def each(self, function: Callable[..., T], tasks: Sequence[Task]) -> Iterator[tuple[Task, T]]:
        """The results of calls by workers, as `Pool.each`.

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
                (
                    f"Dask gave up on a block that lost {error.allowed_failures + 1} workers: "
                    "killed, or out of memory. Nothing was published; a smaller `memory_limit` may "
                    "help."
                ),
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

    def close(self) -> None:
        """Have workers that outlive the pool let go of what they keep for it, without waiting."""

        async def all_let_go() -> None:  # Dask waits for all others
            let_go()

        if self._client.status == "running":  # else the scheduler is gone
            with suppress(OSError, RuntimeError):
                self._client.run(all_let_go, wait=False)


def processes_of(address: str, workers: int | None) -> int:
    """The number of a cluster's processes on this machine; arguments as of `opened_cluster`.

    Raises:
        InputError: the scheduler's file does not exist.
        CheblienetError: that is no address, or a local cluster may not open enough files; nothing
            is asked.
    """
    if address == "local":
        processes = workers or CPU_COUNT
        _check_open_files(processes)
        return processes
    with _named(address):
        _scheduler_address(address)
    return 1


@contextmanager
def opened_cluster(address: str, workers: int | None) -> Iterator[Pool]:
    """A cluster by the address of its scheduler or the file that this wrote, or "local".

    Args:
        address: which.
        workers: of a local one; None for one for each core.

    Raises:
        InputError: the scheduler's file does not exist.
        CheblienetError: there is none, or it has no workers, or a local one may not open enough
            files.
    """
    if address == "local":
        check_guarded()
        _check_open_files(workers or CPU_COUNT)
        with not_for_children():  # the workers start here
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=":0",  # any free port
                silence_logs="CRITICAL",
            )
        with cluster, distributed.Client(cluster, set_as_default=False) as client:
            yield Cluster(client, len(cluster.workers))
        return
    with ExitStack() as opened:
        with _named(address):
            scheduler = _scheduler_address(address)
            _wait_for_answer(scheduler)
            client = distributed.Client(scheduler, timeout=CONNECTED, set_as_default=False)
            opened.enter_context(client)
            client.wait_for_workers(1, timeout=READY)
        with closing(Cluster(client, 1)) as pool:
            yield pool


def _check_open_files(workers: int) -> None:
    needed = FILES + FILES_OF_A_WORKER * workers
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed != resource.RLIM_INFINITY and allowed < needed:
        raise CheblienetError(
            (
                f"A Dask cluster of {workers} workers needs {needed} open files. Got {allowed}; "
                "allow more with `ulimit -n`, or give fewer `workers`."
            ),
        )


@contextmanager
def _named(address: str) -> Iterator[None]:
    """Turn what is wrong with an address into one clear line.

    Raises:
        InputError: instead of a FileNotFoundError.
        CheblienetError: instead of another OSError or ValueError.
    """
    try:
        yield
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()) or f"nothing answered within {CONNECTED} s"
        kind = InputError if isinstance(error, FileNotFoundError) else CheblienetError
        raise kind(
            f"There is no Dask cluster at {address}: {reason}. Give the address that `dask "
            "scheduler` prints, such as tcp://10.0.0.1:8786, or the file that it writes, or "
            "local."
        ) from error


def _scheduler_address(address: str) -> str:
    """The address itself, or the one in a file that a scheduler wrote.

    Raises:
        OSError: the file does not exist, or can't be read.
        ValueError: the file is another one, or that is no address.
    """
    if Path(address).is_file():
        try:
            address = str(json.loads(Path(address).read_bytes())["address"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError("it is a file that no scheduler wrote") from error
    elif address.endswith(".json"):
        raise FileNotFoundError("there is no such file")
    host, port = distributed.comm.get_address_host_port(address)
    if not host or not 0 < port < PORTS:
        raise ValueError(f"it must have a host and a port in [1, {PORTS - 1}]")
    return address


def _wait_for_answer(address: str) -> None:
    """See that a scheduler answers.

    Dask itself waits without end for the greeting of whatever accepts a connection, and so would
    every exit; here a thread waits that nobody has to wait for.

    Raises:
        OSError: there is none, or it did not answer in time.
        ValueError: that is no address.
    """

    async def ask() -> None:
        arguments = distributed.Security().get_connection_args("client")
        async with distributed.rpc(
            address, timeout=CONNECTED, connection_args=arguments
        ) as scheduler:
            await scheduler.identity()

    answer: Future[None] = Future()

    def wait() -> None:
        try:
            answer.set_result(asyncio.run(asyncio.wait_for(ask(), CONNECTED)))
        except BaseException as error:  # noqa: BLE001 - it belongs to the one who asks
            answer.set_exception(error)

    threading.Thread(target=wait, daemon=True).start()
    answer.result(CONNECTED)
