"""How fast the command line is, as ratios to what it must at least import, in one run.

Each command and its reference run in turn, as whole processes; the ratio is taken pair by pair and
its median reported, so that a machine whose speed drifts changes both sides. What the README's
build does in its time is measured within such processes.

    python benchmarks/cli.py
"""

import json
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

from scripts import print_head, print_row, temporary_store
from turns import in_turns, ratio, seconds_of

from cheblienet_models import open_store

RUNS = 11
ENTRY = [sys.executable, "-c", "from cheblienet_cli.main import main; main()"]
README_BUILD = ["build", "se2", "--size", "96", "--orientations", "6", "--eps-squared", "0.1"]
PARTS = """
import json, os, sys
from time import perf_counter as now

def timed(file, sync=os.fsync):
    begun = now()
    sync(file)
    synced.append(now() - begun)

synced, os.fsync = [], timed
times = [now()]
import zarr, scipy.sparse.linalg
times.append(now())
from cheblienet_cli import main, build
import cheblienet_graphs.assembly.pipeline
times.append(now())
main.run(sys.argv[1:])
times.append(now())
took = [b - a for a, b in zip(times, times[1:])]
print(json.dumps([*took[:2], took[2] - sum(synced), sum(synced), len(synced)]))
"""


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def print_parts(*build: str) -> None:
    """Medians of what a build does, and their ratios to the imports of its reference."""
    runs = [
        json.loads(run(sys.executable, "-c", PARTS, *build).splitlines()[-1]) for _ in range(RUNS)
    ]
    imports, modules, work, sync, files = (
        statistics.median(part) for part in zip(*runs, strict=True)
    )
    parts = {
        "imports of zarr and scipy.sparse.linalg": imports,
        "imports of click and of our modules": modules,
        "edges, weights, bounds, checks, files": work,
        f"{files:.0f} calls of fsync": sync,
    }
    print_head("README's build", "median", "/ the first")
    for name, seconds in parts.items():
        print_row(name, f"{seconds:.3f} s", f"{seconds / imports:.2f}")


def compared(ours: list[str], reference: list[str]) -> list[str]:
    """Medians of both and of the ratio, after one uncounted run of each."""
    works = {"ours": partial(run, *ours), "reference": partial(run, *reference)}
    a, b = in_turns(works, RUNS, warm=True).values()
    extra = statistics.median(x - 2 * y for x, y in zip(a, b, strict=True))
    middles = [f"{statistics.median(seconds):.3f} s" for seconds in (a, b)]
    return [*middles, f"{ratio(a, b):.2f}", f"{extra:+.3f} s"]


def print_opening(title: str, store: Path, name: str) -> None:
    """Milliseconds to open a graph, invariants checked, in this process."""
    opened = open_store(store)
    pyramid = opened[name]
    entries = sum(len(graph.values) for graph in pyramid.levels)
    took = statistics.median(seconds_of(partial(opened.__getitem__, name)) for _ in range(51))
    print_row(title, f"{entries:,}", len(pyramid.levels), f"{1e3 * took:.1f} ms")


def main() -> None:
    store = temporary_store()
    where = ["--store", str(store)]
    heavy = [sys.executable, "-c", "import zarr, scipy.sparse.linalg"]
    light = [sys.executable, "-c", "import click, json"]
    rows = {
        "README's build": ([*README_BUILD, "--force", *where], heavy),
        "clg --help": (["--help"], light),
        "clg ls": (["ls", *where], light),
    }
    print_head("command", "median", "reference", "ratio", "command - 2 x reference")
    for name, (arguments, reference) in rows.items():
        print_row(name, *compared([*ENTRY, *arguments], reference))
    print()
    print_parts(*rows["README's build"][0])
    print()
    print_head("opening", "stored entries", "levels", "median")
    for size in ("32", "112", "352"):
        single = ["build", "se2", "--size", size, "--levels", "1", "--name", f"n{size}"]
        run(*ENTRY, *single, *where)
        print_opening(f"one graph, {size}x{size}x6", store, f"n{size}")
    print_opening("README's pyramid", store, "se2-96x96x6")


if __name__ == "__main__":
    main()
