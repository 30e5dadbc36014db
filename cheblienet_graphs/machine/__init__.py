"""The machines of a build: cores, devices and signals of a process, and pools that do its blocks.

Here is what pools have in common. Scheduling and retrying are the libraries' business. Blocks write
to files that all workers see, and hand back a few numbers. Pools are tested in `test_processes.py`,
clusters in `test_dask.py`.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, Protocol, TypeVar

Task = tuple[Any, ...]
K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

MOST = 2
"""Things kept: those of the block at work, and of the one before."""


class Kept(AbstractContextManager["Kept"]):
    """Things a process keeps for the blocks of a build, as making them takes longer than a block.

    Use as a context manager: leaving it lets go of everything, whoever still refers to it. Threads
    may share it.
    """

    def __init__(self) -> None:
        self._made = lru_cache(MOST)(lambda make, key: make(key))

    def of(self, make: Callable[[K], T], key: K) -> T:
        """The thing that `make` gives for a key, made where it is not kept."""
        made: T = self._made(make, key)
        return made

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._made.cache_clear()


HELD = Kept()
"""What this process keeps as a worker.

Blocks come to a worker as calls of functions, which have no other place for what outlives the call.
The process that builds has none of it: its `Kept` is handed on to whoever needs it.
"""


def with_held(function: Callable[..., T], *task: Any) -> T:
    """Call a function with what this process keeps as a worker."""
    return function(HELD, *task)


def drop() -> None:
    """Let go of all that this process keeps as a worker."""
    with HELD:
        pass


class Pool(Protocol):
    """Calls functions, somewhere."""

    processes: int
    """How many processes of this machine take memory for it."""

    def first(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call a function once, where the work is done."""
        return function(*arguments, **named)

    def each(self, function: Callable[..., T], tasks: Sequence[Task]) -> Iterator[tuple[Task, T]]:
        """Call a function for many tasks; they and the results, as they are done.

        Args:
            function: called with what its process keeps, a `Kept`, and a task's arguments.
            tasks: arguments.
        """


class Here(Pool):
    """The process that builds.

    Args:
        kept: by it, from block to block.
        processes: how many would do the work, where it is only planned.
    """

    def __init__(self, kept: Kept, processes: int = 1) -> None:
        self._kept, self.processes = kept, processes

    def each(self, function: Callable[..., T], tasks: Sequence[Task]) -> Iterator[tuple[Task, T]]:
        """As `Pool.each`."""
        for task in tasks:
            yield task, function(self._kept, *task)
