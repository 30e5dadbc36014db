"""How long builds take as graphs grow, how near they come to the disk's speed, and their memory.

Each build is the whole command in a fresh process, start of the interpreter included. In one more,
which is not timed, as looking slows it down, the anonymous memory of the process and all its
descendants is added up every 20 ms from smaps_rollup; its maximum is reported. Pages of the files
that are written are not in it: they are the system's to drop. Right before and right after each
build as many bytes as it publishes are written to the same disk one after the other, in pieces of 8
MiB with an fsync at the end; the mean of both is the disk's speed, and the share that a build
reaches of it is published bytes over wall time over that speed. The limit is the share that as many
threads as workers reach who write as many bytes with their SHA-256 and do nothing else. Graphs
named disc have a mask: pixels of a disc are inside, 79 %. Medians over the repeats; least and
largest in brackets. Everything written is deleted.

    python benchmarks/scale.py [--only se2-256 ...] [--workers 1 2] [--repeats 3] [--folder DIR]

--beside PYTHON is one in whose environment another version is installed: both build in turns, and
only how long they take is compared.
"""

import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scripts import parser_of, print_head, print_row
from turns import in_turns, middle_and_spread, ratio_and_spread, seconds_of

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import listing

START = ["-c", "from cheblienet_cli.main import main; main()"]
ENTRY = [sys.executable, *START]


def disc(side: int) -> NDArray[np.bool_]:
    """Pixels within a disc that touches all four sides."""
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    inside: NDArray[np.bool_] = x**2 + y**2 < (side / 2) ** 2
    return inside


SELLING: dict[str, Any] = {
    "manifold": "se2", "size": 512, "orientations": 12, "weights": "selling", "lambda_max": "exact",
}  # fmt: skip
GRAPHS: dict[str, dict[str, Any]] = {
    "se2-256": {"manifold": "se2", "size": 256, "orientations": 8},
    "se2-512": {"manifold": "se2", "size": 512, "orientations": 16},
    "se2-1024": {"manifold": "se2", "size": 1024, "orientations": 16},
    "se2-1024-disc": {"manifold": "se2", "mask": disc(1024), "orientations": 16},
    "se2-512-selling": SELLING,
    "se2-512-directional": {**SELLING, "directional": 0.05},
    "se2-512-torus": {**SELLING, "weights": "matched", "boundary": "periodic"},
    "se2-512-matched": {**SELLING, "weights": "matched"},
    "se2-512-gaussian": {**SELLING, "weights": "kernel", "orientations": 16, "eps": 0.1},
    "r3-256": {"manifold": "r3", "size": 256},
    "so3-5": {"manifold": "so3", "subdivisions": 5, "orientations": 6},
    "so3-6": {"manifold": "so3", "subdivisions": 6, "orientations": 6},
    "so3-7": {"manifold": "so3", "subdivisions": 7, "orientations": 6},
}
TABLE = ["se2-256", "se2-512", "se2-1024", "r3-256", "so3-6", "so3-7"]
COMMON: dict[str, Any] = {"levels": 1, "lambda_max": 2}
POLL = 0.02
PIECE = 8 * 2**20
MOST_WRITTEN = 2_500_000_000


@dataclass(frozen=True)
class Built:
    """One build: what it made, what it took, bytes a second of the disk and of the limit."""

    vertices: int
    entries: int
    nbytes: int
    seconds: float
    anonymous: int
    disk: float
    limit: float

    @property
    def share(self) -> float:
        return self.nbytes / self.seconds / self.disk


def waited(process: subprocess.Popen[bytes], *, watch: bool) -> tuple[int, int]:
    """A process' exit code, and most anonymous memory of it and its descendants meanwhile, or 0."""
    most = 0
    if not watch:
        return process.wait(), most
    while True:
        try:
            return process.wait(POLL), most
        except subprocess.TimeoutExpired:
            most = max(most, sum(map(anonymous, with_descendants(process.pid))))


def with_descendants(pid: int) -> list[int]:
    """A process, its children, theirs, and so on."""
    children = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "stat").read_text()
        except OSError:  # it ended
            continue
        children[int(status.rpartition(")")[2].split()[1])].append(int(folder.name))
    family = [pid]
    for one in family:
        family += children[one]
    return family


def anonymous(pid: int) -> int:
    """Bytes of a process's memory that no file is behind; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))


def disk_speed(folder: Path, nbytes: int, pieces: list[bytes], workers: int = 0) -> float:
    """Bytes a second that the disk takes from one writer, or from workers with SHA-256."""
    total = min(nbytes, MOST_WRITTEN)
    one = partial(write, nbytes=total // max(1, workers), pieces=pieces, digest=bool(workers))
    files = [folder / f"written-{number}" for number in range(max(1, workers))]
    began = time.perf_counter()
    with ThreadPoolExecutor(len(files)) as pool:
        list(pool.map(one, files))
    speed = total / (time.perf_counter() - began)
    for file in files:
        file.unlink()
    return speed


def write(file: Path, nbytes: int, pieces: list[bytes], *, digest: bool) -> None:
    """Write a new file down to the platter; it is deleted with its folder."""
    left, state = nbytes, hashlib.sha256()
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        while left:
            piece = memoryview(pieces[left % len(pieces)])[:left]
            if digest:
                state.update(piece)
            left -= os.write(descriptor, piece)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def command(name: str, folder: Path, python: str = sys.executable) -> list[str]:
    """The command that builds a graph; a mask is written to a file of the folder."""
    given = COMMON | GRAPHS[name]
    manifold = given.pop("manifold")
    if "mask" in given:
        np.save(folder / "mask.npy", given["mask"])
        given["mask"] = folder / "mask.npy"
    options = [
        text for key, value in given.items() for text in (f"--{key.replace('_', '-')}", str(value))
    ]
    return [python, *START, "build", manifold, *options, "--quiet"]


def built(
    name: str, workers: int, folder: Path, pieces: list[bytes], nbytes: int, *, watch: bool = False
) -> Built:
    """Build in a fresh process; `nbytes` is what is written to the disk before."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="scale-") as inside:
        store = Path(inside) / "graphs.zarr"
        before = disk_speed(Path(inside), nbytes, pieces)
        whole = [*command(name, Path(inside)), "--workers", str(workers), "--store", str(store)]
        began = time.perf_counter()
        process = subprocess.Popen(whole, stdout=subprocess.DEVNULL)
        try:
            failed, most = waited(process, watch=watch)
            seconds = time.perf_counter() - began
        finally:
            process.kill()
        if failed:
            raise SystemExit(f"{' '.join(whole[3:])} exited with {failed}")
        [version] = listing(store)
        path = store / version.name / version.version
        written = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        after = disk_speed(Path(inside), written, pieces)
        limit = disk_speed(Path(inside), written, pieces, workers)
        [level] = layout.check_version(Folder(path))["levels"]
    disk = (before + after) / 2
    return Built(level["vertices"], level["nnz"], written, seconds, most, disk, limit)


def spread(values: list[float], form: str) -> str:
    """Median, and least to largest."""
    middle = format(statistics.median(values), form)
    if len(values) == 1:
        return middle
    return f"{middle} [{min(values):{form}}, {max(values):{form}}]"


def print_runs(name: str, workers: int, runs: list[Built], anonymous: int) -> None:
    """A line of the table."""
    first = runs[0]
    print_row(
        *(name, f"{first.vertices:,}", f"{first.entries:,}", f"{first.nbytes / 1e9:.3f}", workers),
        spread([run.seconds for run in runs], ".2f"),
        spread([run.entries / run.seconds / 1e6 for run in runs], ".2f"),
        spread([run.nbytes / run.seconds / 1e6 for run in runs], ".0f"),
        spread([run.disk / 1e6 for run in runs], ".0f"),
        spread([run.share for run in runs], ".2f"),
        spread([run.limit / run.disk for run in runs], ".2f"),
        f"{anonymous / 1e6:.0f}",
    )


def print_growth(measured: dict[tuple[str, int], list[Built]]) -> None:
    """Seconds for a million entries of each graph, over that of the one before of its manifold."""
    print()
    print_head("graph", "workers", "seconds per million entries", "/ the size before")
    before: dict[tuple[str, int], float] = {}
    for (name, workers), runs in measured.items():
        kind = (GRAPHS[name]["manifold"], workers)
        each = statistics.median(1e6 * run.seconds / run.entries for run in runs)
        ratio = f"{each / before[kind]:.2f}" if kind in before else ""
        print_row(name, workers, f"{each:.4f}", ratio)
        before[kind] = each


def print_table(names: list[str], workers: list[int], repeats: int, folder: Path) -> None:
    """Measure, and print as it goes."""
    start = partial(subprocess.run, [*ENTRY, "--version"], check=True, stdout=subprocess.DEVNULL)
    took = [seconds_of(start) for _ in range(max(3, repeats))]
    print(f"`clg --version`: {spread(took, '.3f')} s\n")
    rates = (
        "million entries/s",
        "MB/s",
        "disk MB/s",
        "share",
        "limit",
        "Anonymous MB, all processes",
    )
    print_head("graph", "vertices", "entries", "GB", "workers", "seconds", *rates)
    pieces = [os.urandom(PIECE) for _ in range(7)]
    measured: dict[tuple[str, int], list[Built]] = {}
    for name in names:
        nbytes = 140 * spec(name).num_vertices  # about
        for count in workers:
            runs: list[Built] = []
            for _ in range(repeats):
                runs.append(built(name, count, folder, pieces, nbytes))
                nbytes = runs[0].nbytes
            watched = built(name, count, folder, pieces, nbytes, watch=True)
            measured[name, count] = runs
            print_runs(name, count, runs, watched.anonymous)
    print_growth(measured)


def print_pairs(
    names: list[str], workers: list[int], repeats: int, folder: Path, python: str
) -> None:
    """Seconds of this version and of the one beside it, in turns, and their ratio."""

    def build(name: str, count: int, with_python: str) -> None:
        with tempfile.TemporaryDirectory(dir=folder, prefix="scale-") as inside:
            whole = command(name, Path(inside), with_python)
            store = str(Path(inside) / "graphs.zarr")
            whole += ["--workers", str(count), "--store", store]
            # Elsewhere than here, where `-c` would find this version.
            subprocess.run(whole, check=True, cwd=inside, stdout=subprocess.DEVNULL)

    print_head("graph", "workers", "this version", "beside it", "ratio")
    for name in names:
        for count in workers:
            pythons = {"this version": sys.executable, "beside it": python}
            works = {key: partial(build, name, count, one) for key, one in pythons.items()}
            ours, others = in_turns(works, repeats).values()
            times = [middle_and_spread(took) for took in (ours, others)]
            print_row(name, count, *times, ratio_and_spread(ours, others))


def spec(name: str, **others: Any) -> GraphSpec:
    """The graph, or another one of the same kind."""
    return GraphSpec(**COMMON | GRAPHS[name] | others)


def main() -> None:
    parser = parser_of(__doc__, workers=[1, 2], repeats=3)
    parser.add_argument("--only", nargs="+", choices=GRAPHS, default=TABLE, metavar="GRAPH")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--beside", metavar="PYTHON")
    arguments = parser.parse_args()
    what = arguments.only, arguments.workers, arguments.repeats, arguments.folder
    if arguments.beside:
        print_pairs(*what, arguments.beside)
    else:
        print_table(*what)


if __name__ == "__main__":
    main()
