"""Blocks done by processes of this machine, and the pool that was asked for."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import TypeVar

from cheblienet_graphs.errors import CheblienetError, SpecError
from cheblienet_graphs.limits import WORKERS, integer
from cheblienet_graphs.machine import Pool, Task
from cheblienet_graphs.machine.interrupts import check_guarded, not_for_children
from cheblienet_graphs.machine.threads import threads_each

T = TypeVar("T")

SHARED = Path("/dev/shm")  # noqa: S108, that of the system
"""The folder in which Linux has named semaphores, as files."""


def opened_pool(
    workers: int | str | None, dask: str | None, *, dry: bool = False
) -> AbstractContextManager[Pool]:
    """The pool that was asked for; see `assembly.pipeline.build`.

    Args:
        workers: as there.
        dask: as there.
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
        alone = dry or processes == 1
        return nullcontext(Pool(processes)) if alone else opened_processes(processes)
    from cheblienet_graphs.machine.dask import opened_cluster, processes_of  # an extra

    return nullcontext(Pool(processes_of(dask, workers))) if dry else opened_cluster(dask, workers)


class Processes(Pool):
    """Processes of this machine. They end with the one that started them, however it ends.

    Args:
        executor: that has them.
        workers: how many.
    """

    apart = True

    def __init__(self, executor: ProcessPoolExecutor, workers: int) -> None:
        super().__init__(workers)
        self._executor = executor

    def each(self, function: Callable[..., T], tasks: Sequence[Task]) -> Iterator[tuple[Task, T]]:
        """The results of calls by processes, as `Pool.each`.

        Raises:
            CheblienetError: a process died.
            SystemExit: as `check_guarded`.
        """
        check_guarded()
        futures: dict[Future[T], Task] = {}
        try:
            with not_for_children():  # the processes start here
                futures |= {self._executor.submit(function, *task): task for task in tasks}
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool as error:
            raise CheblienetError(
                (
                    "A worker process vanished: killed, out of memory, or for the reason that it "
                    "printed. Nothing was published; if memory was short, use fewer `workers` or a "
                    "smaller `memory_limit`."
                ),
            ) from error
        finally:
            for future in futures:
                future.cancel()
            wait_for(futures)  # blocks at work finish, and are recorded


@contextmanager
def opened_processes(workers: int) -> Iterator[Pool]:
    """So many processes, more than one."""
    threads = threads_each("keops", workers)
    context = multiprocessing.get_context("spawn")
    with _swept_semaphores():
        executor = ProcessPoolExecutor(workers, context, _start_worker, (threads,))
    try:
        yield Processes(executor, workers)
    finally:
        executor.shutdown(cancel_futures=True)


@contextmanager
def _swept_semaphores() -> Iterator[None]:
    """Name semaphores after this process; remove the ones of processes that were killed.

    One that is killed with all its processes, by a scheduler, say, leaves them in shared memory.
    They are removed only where it is certain that nobody has them: by names that this function
    gives, of processes that would be seen from here and are not there.
    """
    mine = f"cheblienet-{Path('/proc/self/ns/pid').stat().st_ino}-"
    for file in SHARED.glob(f"sem.{mine}*"):
        process = file.name.removeprefix(f"sem.{mine}").partition("-")[0]
        if not Path("/proc", process).exists():
            with suppress(OSError):  # another user's
                file.unlink()
    config = multiprocessing.current_process()._config  # type: ignore[attr-defined]  # noqa: SLF001
    before = config["semprefix"]
    config["semprefix"] = f"/{mine}{os.getpid()}"
    try:
        yield
    finally:
        config["semprefix"] = before


def _start_worker(threads: int) -> None:
    """Set up a process: torch's threads, and an end with the one that started it."""
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read when torch is imported
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
