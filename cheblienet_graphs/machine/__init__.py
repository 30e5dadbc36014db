"""The machines of a build: cores, devices and signals of a process, and pools that do its blocks.

Here is what pools have in common. Scheduling and retrying are the libraries' business. Blocks write
to files that all workers see, and hand back a few numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

Task = tuple[Any, ...]
T = TypeVar("T")


@lru_cache(1)  # a worker is at one thing at a time
def received(make: Callable[..., T], *given: Any) -> T:
    """The thing that another process sent, kept until the next one comes."""
    return make(*given)


def let_go() -> None:
    """Let go of what another process sent."""
    received.cache_clear()


class Pool:
    """Calls functions, in the process that builds unless a class has others.

    Args:
        processes: how many of this machine take memory for it, or would, where it is only planned.
    """

    apart = False
    """True if other processes do the work, so that tasks go to them."""

    def __init__(self, processes: int = 1) -> None:
        self.processes = processes

    def first(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call a function once, where the work is done."""
        return function(*arguments, **named)

    def each(self, function: Callable[..., T], tasks: Sequence[Task]) -> Iterator[tuple[Task, T]]:
        """Call a function for many tasks; they and the results, as they are done.

        Args:
            function: called with a task's arguments.
            tasks: arguments.
        """
        for task in tasks:
            yield task, function(*task)
