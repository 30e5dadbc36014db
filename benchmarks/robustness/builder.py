"""Builds in processes of their own, which note what they recorded; ways to disturb them."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from cheblienet_graphs.store import layout

# The command line with blocks of a given number of rows, which notes the records before publishing.
BUILDER = """
import json, signal, sys
from pathlib import Path
from cheblienet_cli.main import main
from cheblienet_graphs.assembly import pipeline
from cheblienet_graphs.store.writer import Staging

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job may start with it ignored
rows, noted = int(sys.argv.pop(1)), Path(sys.argv.pop(1))
pipeline.rows_within = lambda *_: rows
publish = Staging.publish

def noting(staging, *given):
    files = {str(file): file.stat() for file in staging.folder.glob("finished/*/*.json")}
    inodes = {name: [status.st_ino, status.st_mtime_ns] for name, status in files.items()}
    noted.write_text(json.dumps(inodes))
    return publish(staging, *given)

Staging.publish = noting
main()
"""
PATIENCE = 300
"""Seconds after which a build counts as hanging,"""
ORPHANED = 10
"""and after which a process that outlives its builder does."""

RecordFiles = dict[str, list[int]]


@dataclass(frozen=True)
class Graph:
    """A graph to build: options of `clg build`, vertices in a block."""

    name: str
    options: tuple[str, ...]
    rows: int


class Builder:
    """A build in a process, and a session, of its own."""

    def __init__(self, graph: Graph, store: Path, notes: Path, *how: str) -> None:
        self.store, self.noted, self._errors = store, notes / "noted.json", notes / "errors"
        self.noted.unlink(missing_ok=True)
        command = [sys.executable, "-c", BUILDER, str(graph.rows), str(self.noted)]
        command += ["build", *graph.options, *how, "--name", "g", "--store", str(store), "--quiet"]
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
            )
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None or self.processes():
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()

    @property
    def at_work(self) -> bool:
        return self._process.poll() is None

    @property
    def errors(self) -> str:
        return self._errors.read_text()

    def wait(self) -> int:
        """The exit code, once no process of this build is left."""
        code = self._process.wait(PATIENCE)
        patience = time.monotonic() + ORPHANED
        while left := self.processes():
            assert time.monotonic() < patience, f"left behind: {left}"
            time.sleep(0.01)
        return code

    def processes(self) -> dict[int, str]:
        """Those that live in its session, with their command lines, except itself."""
        lines = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                state, _, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(session) == self.pid != int(folder.name) and state != "Z":
                    lines[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
        return lines

    def workers(self) -> list[int]:
        """Its worker processes."""
        return sorted(pid for pid, line in self.processes().items() if "spawn_main" in line)

    def wait_for_records(self) -> bool:
        """Whether a block was recorded before the end."""
        while self.at_work:
            if records(self.store):
                return True
            time.sleep(0.002)
        return False


def records(store: Path) -> RecordFiles:
    """Files of the records of unfinished builds: inode, time of writing."""
    files = {}
    for file in layout.staging_folder(store).glob("*/finished/*/*.json"):
        with suppress(FileNotFoundError):  # published meanwhile
            status = file.stat()
            files[str(file)] = [status.st_ino, status.st_mtime_ns]
    return files


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
