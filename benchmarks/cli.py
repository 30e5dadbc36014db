"""How fast the command line is, as ratios to what it must at least import, in one run.

Each command and its reference run in turn, as whole processes; the ratio is taken pair by pair and
its median reported, so that a machine whose speed drifts changes both sides.

    python benchmarks/cli.py
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

RUNS = 11
ENTRY = [sys.executable, "-c", "from cheblienet_cli.main import main; main()"]
README_BUILD = ["build", "se2", "--size", "96", "--orientations", "6", "--eps", "0.1"]


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def pairs(ours: Callable[[], float], reference: Callable[[], float]) -> str:
    """Medians of both and of the ratio, after one uncounted run of each."""
    ours(), reference()
    measured = [(ours(), reference()) for _ in range(RUNS)]
    a, b = (statistics.median(column) for column in zip(*measured, strict=True))
    ratio = statistics.median(x / y for x, y in measured)
    extra = statistics.median(x - 2 * y for x, y in measured)
    return f"{a:.3f} s | {b:.3f} s | {ratio:.2f} | {extra:+.3f} s"


def opening(store: Path, name: str) -> str:
    """Milliseconds to open a graph, invariants checked, in this process."""
    from cheblienet_models import open_store

    opened = open_store(store)
    pyramid = opened[name]
    entries = sum(len(graph.values) for graph in pyramid.levels)
    took = []
    for _ in range(51):
        began = time.perf_counter()
        opened[name]
        took.append(1e3 * (time.perf_counter() - began))
    return f"{entries:,} | {len(pyramid.levels)} | {statistics.median(took):.1f} ms"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "graphs.zarr"
        where = ["--store", str(store)]
        heavy = [sys.executable, "-c", "import zarr, scipy.sparse.linalg"]
        light = [sys.executable, "-c", "import click, json"]
        print("| command | median | reference | ratio | command - 2 x reference |")
        print("|---|---|---|---|---|")
        rows = {
            "README's build": ([*README_BUILD, "--force", *where], heavy),
            "clg --help": (["--help"], light),
            "clg ls": (["ls", *where], light),
        }
        for name, (arguments, reference) in rows.items():
            row = pairs(partial(seconds, [*ENTRY, *arguments]), partial(seconds, reference))
            print(f"| {name} | {row} |")
        print("\n| opening | stored entries | levels | median |\n|---|---|---|---|")
        for size in ("32", "112", "352"):
            single = ["build", "se2", "--size", size, "--levels", "1", "--name", f"n{size}"]
            seconds([*ENTRY, *single, *where])
            print(f"| one graph, {size}x{size}x6 | {opening(store, f'n{size}')} |")
        print(f"| README's pyramid | {opening(store, 'se2-96x96x6')} |")


if __name__ == "__main__":
    main()
