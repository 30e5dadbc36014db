"""Interrupts builds in the middle and resumes them; the bytes must be those of an undisturbed one.

A build in a fresh process is disturbed at a random moment after its first block of rows is
recorded: by a signal, by SIGKILL to a worker process, by a disk that fills up. Then the exit code
and the message must be as promised, no process may be left, nothing may be visible in the store,
and the same command with --resume, sometimes with other workers or another block size, must publish
arrays with the same SHA-256 as an undisturbed build, in a store that verifies without a fault and
has no leftovers. No block that was recorded may be done again: the files of
the records are the same ones, by inode and time, right before the resumed build publishes. A build
of which a Dask worker is killed must finish by itself.

The full disk is a small tmpfs; where that can't be mounted this is skipped, and said so. A moment
that turns out to lie after the build is drawn again, from a time a fifth shorter: builds on that
disk, say, are quicker than the undisturbed one that was timed.

    python benchmarks/robustness/interrupt.py [--rounds 3] [--seed 0] [--only KIND ...]
"""

import argparse
import json
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builder import KINDS, Builder, Graph, Kind, records

from cheblienet_graphs.store import layout
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.leftovers import leftovers
from cheblienet_graphs.store.map_facts import listing
from cheblienet_graphs.verification.versions import verify

MOST_LATE = 50
"""Moments that may come too late."""
SHORTER = 0.8
"""Factor of the time from which a moment is drawn, after one that came too late."""
PLANE = "se2 --size 192 --orientations 8 --levels 2"
SPHERE = "so3 --subdivisions 4 --orientations 4 --levels 2"
GRAPHS = Graph("plane", tuple(PLANE.split()), 4096), Graph("sphere", tuple(SPHERE.split()), 512)


@dataclass
class Seen:
    """Results of the rounds of one kind."""

    kept: list[int] = field(default_factory=list)
    late: int = 0

    def __str__(self) -> str:
        return (
            f"{len(self.kept)} rounds, {statistics.median(self.kept):.0f} blocks kept (median), "
            f"{len(self.kept)} finished with identical bytes, {self.late} moments came too late"
        )


class Interrupter:
    """Rounds on one graph.

    Args:
        graph: what is built.
        folder: for the stores.
        generator: draws moments and ways to resume.
    """

    def __init__(self, graph: Graph, folder: Path, generator: random.Random) -> None:
        self._graph, self._folder, self._generator = graph, folder, generator
        self._manifest: dict[str, Any] = {}
        self._durations: dict[tuple[str, ...], float] = {}

    def duration(self, how: tuple[str, ...]) -> float:
        """Seconds that an undisturbed build takes from its first record on."""
        if how not in self._durations:
            with self._store(self._folder) as store:
                with Builder(self._graph, store, self._folder, *how) as builder:
                    assert builder.wait_for_records(), builder.errors
                    began = time.monotonic()
                    assert builder.wait() == 0, builder.errors
                self._durations[how] = time.monotonic() - began
                self._manifest = self._manifest or manifest(store)
                assert manifest(store) == self._manifest, f"other bytes with {how}"
        return self._durations[how]

    def round(self, kind: Kind, seen: Seen) -> None:
        """Disturb one build, and check everything."""
        longest = self.duration(kind.how)
        with ExitStack() as stack:
            disk = self._folder
            if kind.small_disk:
                disk = stack.enter_context(small_disk(self._folder, self._nbytes()))
            while not self._disturbed(kind, longest, disk, seen):
                seen.late += 1
                longest *= SHORTER
                assert seen.late < MOST_LATE, "builds are too short to be disturbed"

    def _disturbed(self, kind: Kind, longest: float, disk: Path, seen: Seen) -> bool:
        """Whether the moment came in time."""
        with self._store(disk) as store:
            with Builder(self._graph, store, self._folder, *kind.how) as builder:
                assert builder.wait_for_records(), builder.errors
                time.sleep(self._generator.uniform(0, longest))
                kept, in_time = records(store), builder.at_work and not builder.noted.exists()
                kind.disturb(builder, self._generator)
                code = builder.wait()
                if not in_time or builder.noted.exists() != (kind.code == 0):
                    return False
                assert code == kind.code, f"exit code {code}: {builder.errors}"
                message = builder.errors
            (store.parent / "filling").unlink(missing_ok=True)
            if kind.code:
                kept = records(store)
                self._check_interrupted(store, kind, message, len(kept))
                graph, resumed = self._way_to_resume(kind.how)
                with Builder(graph, store, self._folder, *resumed, "--resume") as builder:
                    assert builder.wait() == 0, builder.errors
                    message = builder.errors
            assert message == "", message
            noted = json.loads(builder.noted.read_text())
            again = [name for name, file in kept.items() if noted.get(name) != file]
            assert again == [], f"done again: {again}"
            assert manifest(store) == self._manifest, "other bytes"
            faults = verify(store)
            assert faults == [], faults
            assert leftovers(store) == [], leftovers(store)
            seen.kept.append(len(kept))
        return True

    def _check_interrupted(self, store: Path, kind: Kind, message: str, kept: int) -> None:
        """Assert that nothing is visible, and that the message is one line which is true."""
        assert kept, "nothing kept"
        assert not store.exists() or listing(store) == [], listing(store)
        assert len(leftovers(store)) == 1, leftovers(store)
        if not kind.message:
            assert "Traceback" not in message, message
            return
        assert "\n" not in message.strip(), message  # click ends the line in which ^C stands
        assert kind.message in message, message
        assert "--resume" in message, message
        [number] = re.findall(r"([\d,]+) finished block", message)
        assert 0 < int(number.replace(",", "")) <= kept, (message, kept)

    def _way_to_resume(self, how: tuple[str, ...]) -> tuple[Graph, tuple[str, ...]]:
        """Blocks and options of the build that goes on."""
        graph = self._graph
        ways = [
            (graph, how),
            (graph, ("--workers", "3")),
            (Graph(graph.name, graph.options, graph.rows * 3 // 4), ()),
        ]
        return self._generator.choice(ways)

    def _nbytes(self) -> int:
        return sum(int(entry["nbytes"]) for entry in self._manifest.values())

    @contextmanager
    def _store(self, disk: Path) -> Iterator[Path]:
        folder = Path(tempfile.mkdtemp(dir=disk))
        try:
            yield folder / "graphs.zarr"
        finally:
            shutil.rmtree(folder)


def manifest(store: Path) -> dict[str, Any]:
    """SHA-256 and size of every file of the published version."""
    [version] = listing(store)
    files = layout.check_version(Folder(store / version.name / version.version))["manifest"]
    return dict(files)


@contextmanager
def small_disk(folder: Path, nbytes: int) -> Iterator[Path]:
    """A tmpfs with room for a build.

    Raises:
        PermissionError: it can't be mounted here.
    """
    place = Path(tempfile.mkdtemp(dir=folder))
    size = f"size={3 * nbytes + 2**22}"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        raise PermissionError("no tmpfs can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def run(names: list[str], rounds: int, seed: int) -> None:
    """All rounds; a line for each kind and graph."""
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        for graph in GRAPHS:
            interrupter = Interrupter(graph, Path(name), generator)
            for kind in names:
                seen = Seen()
                try:
                    for _ in range(rounds):
                        interrupter.round(KINDS[kind], seen)
                except PermissionError as error:
                    print(f"{graph.name}, {kind}: skipped, {error}", flush=True)
                    continue
                print(f"{graph.name}, {kind}: {seen}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=KINDS, metavar="KIND", default=[*KINDS])
    arguments = parser.parse_args()
    run(arguments.only, arguments.rounds, arguments.seed)
    print("no fault")


if __name__ == "__main__":
    main()
