"""Processes that are started, and signals: deferred where they would leave work half done."""

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from types import FrameType

UNGUARDED = (
    "Error: a script that builds with several processes must do so below "
    '`if __name__ == "__main__":`, as each of them imports it.'
)
DEFERRED = (signal.SIGTERM, signal.SIGINT)

Handler = Callable[[int, FrameType | None], object]


@contextmanager
def not_for_children() -> Iterator[None]:
    """Hide SIGINT from processes and threads started within the context; in others it waits.

    A terminal sends Ctrl-C to all of them, but the building process ends the others.
    """
    resource_tracker.ensure_running()  # started later, it would let signals through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_guarded() -> None:
    """End a worker that is about to start workers, as the script that it imports builds.

    Raises:
        SystemExit: it is one; the message is its last line.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(UNGUARDED)


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ignore SIGINT."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Defer signals to the end of the context, where their own handlers get them.

    Signals without a Python handler end the process at once, as ever. Signals interrupt the main
    thread only, so on other threads nothing is deferred.
    """
    handlers: dict[int, Handler] = {}
    came: list[int] = []
    try:
        with ExitStack() as restored:
            if threading.current_thread() is threading.main_thread():
                for number in DEFERRED:
                    if callable(handler := signal.getsignal(number)):
                        handlers[number] = handler
                        restored.callback(signal.signal, number, handler)
                        signal.signal(number, lambda number, _frame: came.append(number))
            yield
    finally:
        for arrived in came:
            handlers[arrived](arrived, None)
