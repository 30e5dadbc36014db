"""The machines of a build: cores, devices and signals of a process, and pools that do its blocks.

Here is what pools have in common. Scheduling and retrying are the libraries' business. Blocks write
to files that all workers see, and hand back a few numbers. Pools are tested in `test_processes.py`,
clusters in `test_dask.py`.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Protocol, TypeVar

Task = tuple[Any, ...]
K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

MOST = 2
"""Things kept: those of the block at work, and of the one before."""


_made = lru_cache(MOST)(lambda make, key: make(key))


def kept(make: Callable[[K], T], key: K) -> T:
    """The thing that `make` gives for a key, made where this process does not keep it.

    So it is for what blocks of a build need, as making it takes longer than a block. Builds in
    several threads of a process take one another's places, and make things more often.
    """
    made: T = _made(make, key)
    return made


def let_go() -> None:
    """Let go of all that this process keeps, whoever still refers to it."""
    _made.cache_clear()


@contextmanager
def keeping() -> Iterator[None]:
    """Keep things within it alone."""
    try:
        yield
    finally:
        let_go()


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
            function: called with a task's arguments.
            tasks: arguments.
        """


class Here(Pool):
    """The process that builds.

    Args:
        processes: how many would do the work, where it is only planned.
    """

    def __init__(self, processes: int = 1) -> None:
        self.processes = processes

    def each(self, function: Callable[..., T], tasks: Sequence[Task]) -> Iterator[tuple[Task, T]]:
        """As `Pool.each`."""
        for task in tasks:
            yield task, function(*task)
