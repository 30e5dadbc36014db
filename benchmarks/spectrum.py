"""How well stored graphs reproduce the spectrum of the operator that their metric stands for.

    python benchmarks/spectrum.py            # everything, a few minutes
    python benchmarks/spectrum.py s2|se2|so3

s2: the first 15 nonzero eigenvalues of Delta over l (l + 1), up to one scale (least squares): the
largest deviation of a single eigenvalue and of the mean of a multiplet, the spread within l = 3.

se2, so3: joint refinement of base and fibre at fixed eps^2 = xi^2 = 0.1. Largest relative error of
the first 30 nonzero eigenvalues of the stored operator, its scale from second moments, none free;
stored edges per vertex, and the time of a Chebyshev convolution on the graph, forward and backward.
"""

import argparse
import math
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from cheblienet_graphs import CheblienetError, GraphSpec, build, inspect
from cheblienet_models import ChebConv, open_store

EXACT = np.repeat([0.0, 2.0, 6.0, 12.0], [1, 3, 5, 7])
METRIC = {"eps_squared": 0.1, "xi": math.sqrt(0.1)}
FIRST = 30
LAYER = {"in_channels": 16, "out_channels": 32, "kernel_size": 4}
BATCH, ROUNDS = 2, 7


def sphere_row(store: Path, size: dict[str, int], settings: dict[str, object]) -> str:
    spec = GraphSpec("s2", **size, **settings, levels=1)
    built = build(spec, store, device="cpu", force=True)
    report = inspect(store, f"{built.name}@{built.version}", eigenvalues=len(EXACT))
    found = np.array(report.levels[0].eigenvalues)
    ratio = found[1:] / EXACT[1:] * (EXACT @ EXACT) / (found @ EXACT)
    means = [part.mean() for part in np.split(ratio, [3, 8])]
    single, mean = (np.abs(np.array(values) - 1).max() for values in (ratio, means))
    spread = np.ptp(ratio[8:])
    kind = spec.weights if spec.weights != "kernel" else spec.kernel
    return f"| {built.name} | {spec.neighbors}, {kind} | {single:.1%} | {mean:.1%} | {spread:.1%} |"


def sphere(store: Path) -> None:
    print("| sampling | K, weights | single | multiplet | spread of l = 3 |")
    print("|---|---|---|---|---|")
    for size in ({"subdivisions": 4}, {"nside": 16}):
        for settings in (
            {},
            {"neighbors": 24, "kernel": "rectangular"},
            {"neighbors": 24, "weights": "matched"},
        ):
            print(sphere_row(store, size, settings), flush=True)


def milliseconds(store: Path, name: str) -> float:
    """Median time of a convolution, forward and backward."""
    graph = open_store(store)[name].levels[0]
    layer = ChebConv(**LAYER, graph=graph)
    x = torch.randn(graph.num_vertices, BATCH, LAYER["in_channels"]).permute(1, 2, 0)
    x.requires_grad_()
    times = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        layer(x).sum().backward()
        times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times[1:])


def refined(store: Path, spec: GraphSpec) -> tuple[float, str]:
    """The largest error, and the cells of a row."""
    built = build(spec, store, device="cpu", force=True)
    name = f"{built.name}@{built.version}"
    (level,) = inspect(store, name, eigenvalues=FIRST + 1).levels
    assert level.eigenvalues_converged
    found = np.array(level.eigenvalues[1:]) * level.eigenvalue_scale
    error = float(abs(found / np.array(level.exact_eigenvalues[1:]) - 1).max())
    edges = 2 * level.edges / level.vertices
    return error, f"{level.vertices:,} | {edges:.1f} | {milliseconds(store, name):.1f} ms"


def refinement(store: Path, specs: dict[str, list[GraphSpec]]) -> None:
    print("| weights, Laplacian | graph | error | ratio | vertices | edges per vertex | layer |")
    print("|---|---|---|---|---|---|---|")
    for title, row in specs.items():
        before = math.nan
        for spec in row:
            size = f"{spec.default_name.partition('-')[2]}"
            try:
                error, cells = refined(store, spec)
            except CheblienetError as refusal:
                print(f"| {title} | {size} | refused: {refusal} | | | | |", flush=True)
                before = math.nan
                continue
            ratio = "" if math.isnan(before) else f"{before / error:.1f}"
            print(f"| {title} | {size} | {error:.4f} | {ratio} | {cells} |", flush=True)
            before = error


def plane_specs() -> dict[str, list[GraphSpec]]:
    kinds = {
        "Gaussian, normalized": {},
        "Gaussian, combinatorial": {"laplacian": "combinatorial"},
        "matched, combinatorial": {"weights": "matched"},
        "Selling, combinatorial": {"weights": "selling"},
    }
    sizes = [(16, 6), (32, 12), (64, 24)]
    common = {"boundary": "periodic", "levels": 1, **METRIC}
    return {
        title: [GraphSpec("se2", n, orientations=n_o, **common, **kind) for n, n_o in sizes]
        for title, kind in kinds.items()
    }


def rotation_specs() -> dict[str, list[GraphSpec]]:
    kinds = {
        "Gaussian, normalized": {},
        "Gaussian, combinatorial": {"laplacian": "combinatorial"},
        "matched, combinatorial": {"weights": "matched"},
    }
    sizes = [(2, 4), (3, 8), (4, 16)]
    common = {"neighbors": 24, "levels": 1, **METRIC}
    return {
        title: [
            GraphSpec("so3", subdivisions=level, orientations=n_o, **common, **kind)
            for level, n_o in sizes
        ]
        for title, kind in kinds.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=["s2", "se2", "so3"])
    part = parser.parse_args().part
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "graphs.zarr"
        for name, work in (
            ("s2", lambda: sphere(store)),
            ("se2", lambda: refinement(store, plane_specs())),
            ("so3", lambda: refinement(store, rotation_specs())),
        ):
            if part in {None, name}:
                print(f"{name}, {torch.get_num_threads()} threads\n")
                work()
                print()


if __name__ == "__main__":
    main()
