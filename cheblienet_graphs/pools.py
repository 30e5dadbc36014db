"""Who does the blocks of a sweep: this process, processes of this machine, or a Dask cluster.

Scheduling and retrying are the libraries' business. Blocks write to files that all workers see, and
hand back a few numbers.
"""

import multiprocessing
import os
import platform
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from importlib.metadata import version
from multiprocessing.connection import wait
from typing import Any, Protocol, TypeVar

from cheblienet_graphs import __version__
from cheblienet_graphs.errors import CheblienetError, SpecError
from cheblienet_graphs.interrupts import not_for_children
from cheblienet_graphs.limits import WORKERS
from cheblienet_graphs.samplings.healpix import check_library
from cheblienet_graphs.threads import threads_each
from cheblienet_graphs.values import integer

Task = tuple[Any, ...]
T = TypeVar("T")


class Pool(Protocol):
    """Calls functions, somewhere."""

    @property
    def processes(self) -> int:
        """How many processes of this machine take memory for it."""

    def first(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call a function once, where the work is done."""

    def each(self, function: Callable[..., T], tasks: Sequence[Task]) -> Iterator[tuple[Task, T]]:
        """Call a function with many arguments; they and the results, as they are done."""


class Here:
    """The process that builds."""

    processes = 1

    def first(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """As `Pool.first`."""
        return function(*arguments, **named)

    def each(self, function: Callable[..., T], tasks: Sequence[Task]) -> Iterator[tuple[Task, T]]:
        """As `Pool.each`."""
        for task in tasks:
            yield task, function(*task)


class Processes(Here):
    """Processes of this machine. They end with the one that started them, however it ends.

    Args:
        executor: that has them.
        workers: how many.
    """

    def __init__(self, executor: ProcessPoolExecutor, workers: int) -> None:
        self._executor, self.processes = executor, workers

    def each(self, function: Callable[..., T], tasks: Sequence[Task]) -> Iterator[tuple[Task, T]]:
        """As `Pool.each`.

        Raises:
            CheblienetError: a process died.
        """
        futures: dict[Future[T], Task] = {}
        try:
            with not_for_children():  # the processes start here
                futures |= {self._executor.submit(function, *task): task for task in tasks}
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool as error:
            raise CheblienetError(
                "A worker process vanished: killed, or out of memory. Nothing was published; if "
                "memory was short, use fewer `workers` or a smaller `memory_limit`."
            ) from error
        finally:
            for future in futures:
                future.cancel()
            wait_for(futures)  # blocks at work finish, and are recorded


def opened_pool(
    workers: int | str | None, dask: str | None, at_end: Callable[[], None]
) -> AbstractContextManager[Pool]:
    """The pool that was asked for; see `pipeline.build`.

    Args:
        workers: as there.
        dask: as there.
        at_end: called by workers that outlive the pool, to let go of what they keep for it.

    Raises:
        SpecError: no such number of workers.
        CheblienetError: no such cluster, or Dask is not installed.
    """
    if workers is not None:
        workers = integer("workers", workers, *WORKERS)
        if dask not in {None, "local"}:
            raise SpecError("workers", "left out where a cluster has its own", workers)
    if dask is None:
        return _processes(workers or 1)
    from cheblienet_graphs.cluster import opened_cluster

    return opened_cluster(dask, workers, at_end)


@contextmanager
def _processes(workers: int) -> Iterator[Pool]:
    if workers == 1:
        yield Here()
        return
    threads = threads_each("keops", workers)
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(workers, context, _start_worker, (threads,))
    try:
        yield Processes(executor, workers)
    finally:
        executor.shutdown(cancel_futures=True)


@lru_cache
def software(sampling: str) -> dict[str, str]:
    """What the bytes of a build with this sampling depend on besides its specification.

    Raises:
        CheblienetError: the library of the sampling is not installed.
    """
    names = ["numpy", "scipy", "torch"]
    if sampling == "healpix":
        check_library()
        names.append("astropy-healpix")
    libraries = {name: version(name) for name in names}
    return {"cheblienet": __version__, **libraries, "machine": platform.machine()}


def _start_worker(threads: int) -> None:
    """Set up a process: torch's threads, and an end with the one that started it."""
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read when torch is imported
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
