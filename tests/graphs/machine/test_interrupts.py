"""What signals have to wait for, and who never sees them."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from cheblienet_graphs.machine.interrupts import (
    interrupts_deferred,
    interrupts_ignored,
    not_for_children,
)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def terminated(*_: object) -> None:
    raise SystemExit


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_signals_wait(number: int, error: type[BaseException]) -> None:
    signal.signal(signal.SIGTERM, terminated)
    done = []

    def work() -> None:
        with interrupts_deferred(), interrupts_deferred():
            signal.raise_signal(number)
            signal.raise_signal(number)
            done.append(1)

    with pytest.raises(error):
        work()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is terminated


def test_signals_that_are_ignored_stay_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_deferred():
        signal.raise_signal(signal.SIGINT)
    with interrupts_ignored():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_are_not_interrupted() -> None:
    def work() -> str:
        with interrupts_deferred(), interrupts_ignored(), not_for_children():
            return "done"

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result() == "done"


def test_children_never_see_what_is_for_their_parent() -> None:
    """And the parent loses nothing."""
    program = "import signal; signal.raise_signal(signal.SIGINT); print('unimpressed')"
    printed = []

    def work() -> None:
        with not_for_children():
            signal.raise_signal(signal.SIGINT)
            printed.append(subprocess.check_output([sys.executable, "-c", program], text=True))

    with pytest.raises(KeyboardInterrupt):
        work()
    assert printed == ["unimpressed\n"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
