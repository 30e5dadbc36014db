"""The interface of pools, the one that is this process alone, and what processes keep for them."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

Task = tuple[Any, ...]
K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

MOST = 2
"""Things kept: those of the block at work, and of the one before."""


class Kept:
    """Things a process keeps for the blocks of a build, as making them takes longer than a block.

    Use as a context manager: leaving it lets go of everything, whoever still refers to it. Threads
    may share it.
    """

    def __init__(self) -> None:
        self._made = lru_cache(MOST)(_made)

    def of(self, make: Callable[[K], T], key: K) -> T:
        """The thing that `make` gives for a key, made where it is not kept."""
        made: T = self._made(make, key)
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._made.cache_clear()


_HELD: dict[str, Kept] = {}
"""By pool, what this process keeps as one of its workers.

Blocks come to a worker as calls of functions, which have no other place for what outlives the call.
An entry is made by the first block and ends with the process, or where workers are not the pool's
own, with `drop`. The process that builds has none: its `Kept` is handed on to whoever needs it.
"""


def with_held(pool: str, function: Callable[..., T], *task: Any) -> T:
    """Call a function with what this process keeps for a pool, as one of its workers."""
    return function(_HELD.setdefault(pool, Kept()), *task)


def drop(pool: str) -> None:
    """Let go of all that this process keeps for a pool."""
    with _HELD.pop(pool, Kept()):
        pass


def _made(make: Callable[[Any], Any], key: Hashable) -> Any:
    return make(key)


class Pool(Protocol):
    """Calls functions, somewhere."""

    @property
    def processes(self) -> int:
        """How many processes of this machine take memory for it."""

    def first(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call a function once, where the work is done."""

    def each(self, function: Callable[..., T], tasks: Sequence[Task]) -> Iterator[tuple[Task, T]]:
        """Call a function for many tasks; they and the results, as they are done.

        Args:
            function: called with what its process keeps, a `Kept`, and a task's arguments.
            tasks: arguments.
        """


class Here:
    """The process that builds.

    Args:
        kept: by it, from block to block.
        processes: how many would do the work, where it is only planned.
    """

    def __init__(self, kept: Kept, processes: int = 1) -> None:
        self._kept, self.processes = kept, processes

    def first(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """As `Pool.first`."""
        return function(*arguments, **named)

    def each(self, function: Callable[..., T], tasks: Sequence[Task]) -> Iterator[tuple[Task, T]]:
        """As `Pool.each`."""
        for task in tasks:
            yield task, function(self._kept, *task)
