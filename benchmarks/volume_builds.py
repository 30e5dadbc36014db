"""Builds of volumes with axes beside a plain write of the same bytes, in one process.

48^3 voxels x 12 axes, three levels, `lambda_max=2`: the whole volume, and balls of 24, 20 and 15
voxels inside it as masks. After each build as many files of the same sizes are written to the same
disk, one after the other, each with an fsync. Imports come before. Least and largest over the
rounds; the exact bound of lambda_max is measured once, for the whole volume. Everything written is
deleted.

    python benchmarks/volume_builds.py [--rounds 3] [--folder DIR]
"""

import os
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scale import write
from scripts import parser_of, print_head, print_row
from turns import seconds_of

from cheblienet_graphs import GraphSpec, build

SIDE = 48
PIECE = os.urandom(2**24)


def cases() -> dict[str, dict[str, Any]]:
    """Fields of their specifications."""
    squared = ((np.indices((SIDE,) * 3) - (SIDE - 1) / 2) ** 2).sum(axis=0)
    balls = {radius: squared < radius**2 for radius in (24, 20, 15)}
    whole: dict[str, dict[str, Any]] = {f"{SIDE}^3 x 12": {"size": SIDE}}
    return whole | {
        f"ball of {radius}, {inside.mean():.0%} inside": {"mask": inside}
        for radius, inside in balls.items()
    }


def seconds_of_writing(sizes: list[int], folder: Path) -> float:
    """Of files of these sizes, down to the disk."""
    took = 0.0
    for size in sizes:
        took += seconds_of(partial(write, folder / "written", size, [PIECE], digest=False))
        (folder / "written").unlink()
    return took


def measured(fields: dict[str, Any], folder: Path) -> tuple[int, int, float, float, float]:
    """Entries, bytes, seconds, those of the processor, and those of writing as much."""
    spec = GraphSpec("r3s2", axes=12, **fields)
    began, busy = time.perf_counter(), time.process_time()
    built = build(spec, folder / "g.zarr", name="g", force=True)
    took, busy = time.perf_counter() - began, time.process_time() - busy
    files = (folder / "g.zarr/g" / built.version).rglob("*")
    sizes = [file.stat().st_size for file in files if file.is_file()]
    entries = sum(level.nnz for level in built.levels)
    return entries, sum(sizes), took, busy, seconds_of_writing(sizes, folder)


def span(values: list[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"


def print_case(name: str, fields: dict[str, Any], rounds: int, within: Path | None) -> None:
    """Print a line of the table."""
    runs = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=within) as folder:
            runs.append(measured(fields, Path(folder)))
    entries, nbytes = runs[0][:2]
    took, busy, writing = ([run[n] for run in runs] for n in (2, 3, 4))
    ratio = span([a / b for a, b in zip(took, writing, strict=True)])
    sizes = f"{entries / 1e6:.1f} M", f"{nbytes / 1e6:.0f} MB"
    print_row(name, *sizes, f"{span(took)} s", f"{span(busy)} s", ratio)


def main() -> None:
    parser = parser_of(__doc__, rounds=3)
    parser.add_argument("--folder", type=Path, help="on the disk to measure")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as warm:
        build(GraphSpec("r3s2", 8, levels=1, lambda_max=2), Path(warm) / "g.zarr")  # imports
    print_head("", "stored entries", "bytes", "build", "processor", "times writing its bytes")
    for name, fields in cases().items():
        print_case(name, {**fields, "lambda_max": 2}, arguments.rounds, arguments.folder)
    print_case("the whole, exact bound", {"size": SIDE}, 1, arguments.folder)


if __name__ == "__main__":
    main()
