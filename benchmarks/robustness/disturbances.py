"""Ways to disturb a build, and what it must say then."""

import os
import random
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from builder import Builder

Disturbance = Callable[[Builder, random.Random], None]


def to_builder(number: int) -> Disturbance:
    """A signal to the process that builds."""
    return lambda builder, _: sent(os.kill, builder.pid, number)


def to_all(number: int) -> Disturbance:
    """A signal to all processes of the build, as a terminal sends SIGINT."""
    return lambda builder, _: sent(os.killpg, builder.pid, number)


def sent(send: Callable[[int, int], None], pid: int, number: int) -> None:
    """Send a signal, unless the build has just ended."""
    with suppress(ProcessLookupError):
        send(pid, number)


def kill_worker(builder: Builder, generator: random.Random) -> None:
    """SIGKILL to one worker."""
    if workers := builder.workers():
        with suppress(ProcessLookupError):
            os.kill(generator.choice(workers), signal.SIGKILL)


def fill_disk(builder: Builder, _: random.Random) -> None:
    """Take all free space of the store's disk."""
    with (builder.store.parent / "filling").open("wb", buffering=0) as file:
        for size in (2**20, 2**12):
            with suppress(OSError):
                while True:
                    file.write(bytes(size))


@dataclass(frozen=True)
class Kind:
    """A way to disturb a build.

    Args:
        disturb: does it.
        how: options of the build.
        code: it must exit with; 0 where it must finish by itself.
        message: that its one line must begin with, or contain; empty where it can't say anything.
        small_disk: whether the store is on a tmpfs.
    """

    disturb: Disturbance
    how: tuple[str, ...]
    code: int
    message: str
    small_disk: bool = False


TWO, DASK = ("--workers", "2"), ("--dask", "local", "--workers", "2")
VANISHED = "A worker process vanished"
KINDS = {
    "SIGINT": Kind(to_builder(signal.SIGINT), (), 130, "Interrupted."),
    "SIGTERM": Kind(to_builder(signal.SIGTERM), (), 143, "Terminated."),
    "SIGKILL": Kind(to_builder(signal.SIGKILL), (), -9, ""),
    "SIGINT to all, 2 workers": Kind(to_all(signal.SIGINT), TWO, 130, "Interrupted."),
    "SIGTERM, 2 workers": Kind(to_builder(signal.SIGTERM), TWO, 143, "Terminated."),
    "SIGKILL, 2 workers": Kind(to_builder(signal.SIGKILL), TWO, -9, ""),
    "SIGKILL of 1 of 2 workers": Kind(kill_worker, TWO, 1, VANISHED),
    "SIGINT to all, Dask": Kind(to_all(signal.SIGINT), DASK, 130, "Interrupted."),
    "SIGKILL, Dask": Kind(to_builder(signal.SIGKILL), DASK, -9, ""),
    "SIGKILL of a Dask worker": Kind(kill_worker, DASK, 0, ""),
    "full disk": Kind(fill_disk, (), 1, "No space left on device", small_disk=True),
    "full disk, 2 workers": Kind(fill_disk, TWO, 1, "No space left on device", small_disk=True),
}
