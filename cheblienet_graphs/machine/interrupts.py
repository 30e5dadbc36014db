"""Ctrl-C and SIGTERM: what is not to be done by halves makes them wait."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType

DEFERRED = (signal.SIGTERM, signal.SIGINT)

Handler = Callable[[int, FrameType | None], object]


@contextmanager
def not_for_children() -> Iterator[None]:
    """Processes and threads that are started meanwhile never see SIGINT; for others it waits.

    A terminal sends Ctrl-C to all of them, and who builds tells the others when to end.
    """
    resource_tracker.ensure_running()  # which lets signals through where it is started later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
    """Let signals wait for the end of the block, where they are what they would have been.

    Those that Python does not handle end the process at once, as ever. Only the main thread is
    interrupted by signals, so in others nothing waits.
    """
    handlers: dict[signal.Signals, Handler] = {}
    came: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():
        for number in DEFERRED:
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
    try:
        for number in handlers:
            signal.signal(number, lambda number, _frame: came.append(signal.Signals(number)))
        yield
    finally:
        _restore(list(handlers.items()))
        for number in came:
            handlers[number](number, None)


def _restore(handlers: list[tuple[signal.Signals, Handler]]) -> None:
    """Give signals their handlers back, all of them even if one comes meanwhile."""
    if handlers:
        (number, handler), *others = handlers
        try:
            signal.signal(number, handler)
        finally:
            _restore(others)
