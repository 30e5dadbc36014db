"""Signals while numpy and scipy load: they end the process at once, without a message.

OpenBLAS, which comes with both, asks for memory again and again where there is none. Python's own
handlers wait for it to return, and would never run.
"""

import functools
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

LIBRARIES = ("numpy", "scipy")
LAST = "scipy.linalg"
"""Loads the second OpenBLAS; signals are handled again then, so that a build can say what stays."""
ENDING = (signal.SIGINT, signal.SIGTERM)


def end_while_libraries_load() -> None:
    """Let signals end the process at once while numpy or scipy is imported, until both are."""
    sys.meta_path.insert(sys.meta_path.index(PathFinder), _Libraries())


class _Libraries(MetaPathFinder):
    """Finds the modules of the libraries as `PathFinder` does; signals end the process in them."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The place of a module; None if it is of no such library, or both are loaded."""
        if name.partition(".")[0] not in LIBRARIES or LAST in sys.modules:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec and spec.loader:
            loader: Any = spec.loader
            loader.exec_module = _ended_at_once(loader.exec_module)
        return spec


def _ended_at_once(run: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    @functools.wraps(run)
    def running(module: ModuleType) -> None:
        with _system_handlers():
            run(module)

    return running


@contextmanager
def _system_handlers() -> Iterator[None]:
    """Give signals that Python handles to the system; ignored ones stay so."""
    handlers = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {n: handler for n in ENDING if callable(handler := signal.getsignal(n))}
    try:
        for number in handlers:
            signal.signal(number, signal.SIG_DFL)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
