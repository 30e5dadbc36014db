"""The interface of pools, and the one that is this process alone."""

import platform
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Protocol, TypeVar

from cheblienet_graphs import __version__
from cheblienet_graphs.pools.kept import Kept
from cheblienet_graphs.samplings import SAMPLINGS

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


@lru_cache
def software(sampling: str, engine: str) -> dict[str, str]:
    """Versions that the bytes of a build depend on, besides its specification.

    Args:
        sampling: of the graph; some use a library of their own.
        engine: that finds neighbours; "stencil" does without torch.

    Raises:
        CheblienetError: the library of the sampling is not installed.
    """
    names = ["numpy", "scipy", *(["torch"] if engine != "stencil" else [])]
    kind = SAMPLINGS[sampling]
    if kind.library:
        kind.check_library()
        names.append(kind.library)
    libraries = {name: version(name) for name in names}
    return {"cheblienet": __version__, **libraries, "machine": platform.machine()}
