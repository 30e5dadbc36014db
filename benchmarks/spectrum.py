"""How well stored graphs on the sphere reproduce its spectrum.

The first 15 nonzero eigenvalues of Delta over l (l + 1), up to one scale (least squares): largest
deviation of a single eigenvalue and of the mean of a multiplet, and the spread within l = 3.

    python benchmarks/spectrum.py
"""

import tempfile
from pathlib import Path

import numpy as np

from cheblienet_graphs import GraphSpec, build, inspect

EXACT = np.repeat([0.0, 2.0, 6.0, 12.0], [1, 3, 5, 7])


def row(store: Path, size: dict[str, int], settings: dict[str, object]) -> str:
    spec = GraphSpec("s2", **size, **settings, levels=1)
    built = build(spec, store, device="cpu", force=True)
    report = inspect(store, f"{built.name}@{built.version}", eigenvalues=len(EXACT))
    found = np.array(report.levels[0].eigenvalues)
    ratio = found[1:] / EXACT[1:] * (EXACT @ EXACT) / (found @ EXACT)
    means = [part.mean() for part in np.split(ratio, [3, 8])]
    single, mean = (np.abs(np.array(values) - 1).max() for values in (ratio, means))
    spread = np.ptp(ratio[8:])
    return (
        f"| {built.name} | {spec.neighbors}, {spec.kernel} | {single:.1%} | {mean:.1%} | "
        f"{spread:.1%} |"
    )


def main() -> None:
    print("| sampling | K, kernel | single | multiplet | spread of l = 3 |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for size in ({"subdivisions": 4}, {"nside": 16}):
            for settings in ({}, {"neighbors": 24, "kernel": "rectangular"}):
                print(row(Path(folder) / "graphs.zarr", size, settings), flush=True)


if __name__ == "__main__":
    main()
