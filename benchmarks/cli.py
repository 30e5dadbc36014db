"""How fast the command line is, as ratios to what it must at least import, in one run.

Each command and its reference run in turn, as whole processes; the ratio is taken pair by pair and
its median reported, so that a machine whose speed drifts changes both sides.

    python benchmarks/cli.py
"""

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
PAPER_BUILD = ["build", "se2", "--size", "96", "--orientations", "6", "--eps-squared", "0.1"]
README_BUILD = [*PAPER_BUILD, "--weights", "matched"]


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


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
    imports = (
        "import cheblienet_cli.main, cheblienet_cli.build, cheblienet_graphs.assembly.pipeline"
    )
    rows = {
        "README's build": ([*ENTRY, *README_BUILD, "--force", *where], heavy),
        "the paper's graph": ([*ENTRY, *PAPER_BUILD, "--force", *where], heavy),
        "what it imports": ([sys.executable, "-c", imports], heavy),
        "clg --help": ([*ENTRY, "--help"], light),
        "clg ls": ([*ENTRY, "ls", *where], light),
    }
    print_head("command", "median", "reference", "ratio", "command - 2 x reference")
    for name, (command, reference) in rows.items():
        print_row(name, *compared(command, reference))
    print()
    print_head("opening", "stored entries", "levels", "median")
    for size in ("32", "112", "352"):
        single = ["build", "se2", "--size", size, "--levels", "1", "--name", f"n{size}"]
        run(*ENTRY, *single, *where)
        print_opening(f"one graph, {size}x{size}x6", store, f"n{size}")
    print_opening("README's pyramid", store, "se2-96x96x6-matched")


if __name__ == "__main__":
    main()
