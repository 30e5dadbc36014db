"""How well stored graphs reproduce the spectrum of the operator that their metric stands for.

    python benchmarks/spectrum.py            # everything, a few minutes
    python benchmarks/spectrum.py moments|s2|random|se2|open|so3|times

moments: over 80 settings of SE(2), what matched and Selling's weights realise at worst: residual of
the second moments (M R / 2 = I, Selling's within an orientation), least weight over the largest,
and how much the grid's symmetries change the stored Laplacian.

s2: the first 15 nonzero eigenvalues of Delta over l (l + 1), up to one scale (least squares): the
largest deviation of a single eigenvalue and of the mean of a multiplet, the spread within l = 3.

se2, so3: joint refinement of base and fibre at fixed eps^2 = xi^2 = 0.1. Largest relative error of
the first 30 nonzero eigenvalues of the stored operator, its scale from second moments, none free;
stored edges per vertex, and the time of a Chebyshev convolution on the graph, forward and
backward.

random: the same first six eigenvalues of random points of the sphere as `clg inspect` compares,
matched weights, K = 30: the range of their errors and the verdict.

open: the same refinement of SE(2) with an open boundary, against the Neumann operator's spectrum
by Galerkin's method (`neumann.py`): the largest error of the first 10 and 30, its order, and the
largest error upwards; with sides corrected, and with stencils cut off at them.

times: `clg inspect` on the STL10 recipe's pyramid, as a whole process, also as a page; all
eigenvalues of a periodic graph of the same size.
"""

import argparse
import itertools
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from neumann import neumann_spectrum

from cheblienet_graphs import CheblienetError, GraphSpec, build, eigenvalues, inspect
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.recipes import recipe
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.weights.lattice import lattice_weights
from cheblienet_models import ChebConv, open_store

EXACT = np.repeat([0.0, 2.0, 6.0, 12.0], [1, 3, 5, 7])
METRIC: dict[str, Any] = {"eps_squared": 0.1, "xi": math.sqrt(0.1)}
FIRST = 30
CHANNELS, KERNEL_SIZE = (16, 32), 4
BATCH, ROUNDS = 2, 7


def moments(store: Path) -> None:
    settings = [
        {"orientations": n_o, "alpha": alpha, "neighbors": count, "eps": eps}
        for n_o in (4, 5, 6, 8, 12)
        for alpha in (1, 3.41)
        for count in (16, 32)
        for eps in (0.1, 0.3162, 0.5, 1)
    ]
    print(r"| weights | settings | residual | least weight | \|P'LP - L\| | degree |")
    print("|---|---|---|---|---|---|")
    for weights in ("matched", "selling"):
        rows = [moments_of(store, weights, dict(setting)) for setting in settings]
        residual, least, change, degree = zip(*rows, strict=True)
        print(
            f"| {weights} | {len(rows)} | {max(residual):.1e} | {min(least):.1e} | "
            f"{max(change):.1e} | {max(degree)} |",
            flush=True,
        )


def moments_of(
    store: Path, weights: str, setting: dict[str, Any]
) -> tuple[float, float, float, int]:
    """Residual, least weight, change under symmetries, largest degree."""
    if weights == "selling":
        setting.pop("neighbors")
    spec = GraphSpec("se2", 16, weights=weights, boundary="periodic", levels=1, **setting)
    lattice, metric = spec.full_sampling(0), spec.metric(0)
    assert isinstance(lattice, Lattice)
    found = lattice_weights(spec, SampledManifold(lattice, spec.geometry, metric))
    in_pixels = metric.scaled(lattice.spacing)
    residual, inner = 0.0, 2 if weights == "selling" else 3
    for k, (s, values) in enumerate(zip(found.stencils, found.values, strict=True)):
        ends = lattice.edge_coordinates(np.full(len(s), k), s.orientation, s.offsets)
        _, second = edge_moments(spec.geometry, in_pixels, *ends)
        per_pixel = values * lattice.spacing**2
        product = np.einsum("j,jab->ab", per_pixel, second)[:inner, :inner] / 2
        residual = max(residual, float(abs(product - np.eye(inner)).max()))
    least = min(float(v.min()) for v in found.values) / max(float(v.max()) for v in found.values)
    built = build(spec, store, name="moments", force=True)
    (level,) = inspect(store, f"moments@{built.version}", eigenvalues=0).levels
    exact = [e for name, e in level.equivariance.items() if "approximate" not in name]
    return residual, least, max(exact), max(map(len, found.stencils))


def sphere_row(store: Path, size: dict[str, Any], settings: dict[str, Any]) -> str:
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
    kinds: tuple[dict[str, Any], ...] = (
        {},
        {"neighbors": 24, "kernel": "rectangular"},
        {"neighbors": 24, "weights": "matched"},
    )
    for size in ({"subdivisions": 4}, {"nside": 16}):
        for settings in kinds:
            print(sphere_row(store, size, settings), flush=True)


def milliseconds(store: Path, name: str) -> float:
    """Median time of a convolution, forward and backward."""
    graph = open_store(store)[name].levels[0]
    layer = ChebConv(*CHANNELS, KERNEL_SIZE, graph)
    x = torch.randn(graph.num_vertices, BATCH, CHANNELS[0]).permute(1, 2, 0)
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
    assert level.exact_eigenvalues is not None
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
    kinds: dict[str, dict[str, Any]] = {
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


def random_points(store: Path) -> None:
    print("| points | seed | errors of the first 5 | consistency |")
    print("|---|---|---|---|")
    for count in (500, 2000, 8000):
        for seed in (1, 2, 3):
            spec = GraphSpec("s2", points=count, seed=seed, weights="matched", neighbors=30)
            built = build(spec, store, name="random", device="cpu", force=True)
            (level,) = inspect(store, f"random@{built.version}").levels
            errors = np.array(level.eigenvalues[1:]) / EXACT[1:6] - 1
            worst = f"{errors.min():.1%} .. {errors.max():.1%}"
            print(f"| {count:,} | {seed} | {worst} | {level.consistency} |", flush=True)


def open_boundary(store: Path) -> None:
    exact = neumann_spectrum(FIRST + 1, math.sqrt(METRIC["eps_squared"]), METRIC["xi"])[1:]
    print("| weights | sides | graph | first 10 | first 30 | order | upwards |")
    print("|---|---|---|---|---|---|---|")
    for weights, corrected in itertools.product(("selling", "matched"), (True, False)):
        before, sides = math.nan, "corrected" if corrected else "cut off"
        kind: dict[str, Any] = {"weights": weights, "boundary_correction": corrected}
        for n, n_o in ((16, 6), (32, 12), (64, 24)):
            spec = GraphSpec("se2", n, orientations=n_o, levels=1, **METRIC, **kind)
            built = build(spec, store, name="open", device="cpu", force=True)
            (level,) = inspect(store, f"open@{built.version}", eigenvalues=FIRST + 1).levels
            assert level.eigenvalues_converged
            assert level.eigenvalue_scale == 1
            errors = np.array(level.eigenvalues[1:]) / exact - 1
            few, error = abs(errors[:10]).max(), abs(errors).max()
            order = "" if math.isnan(before) else f"{math.log2(before / error):.2f}"
            cells = f"{few:.4f} | {error:.4f} | {order} | {max(errors.max(), 0):.4f}"
            print(f"| {weights} | {sides} | {n}x{n}x{n_o} | {cells} |", flush=True)
            before = error


def rotation_specs() -> dict[str, list[GraphSpec]]:
    kinds: dict[str, dict[str, Any]] = {
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


def times(store: Path) -> None:
    pyramid = build(recipe("stl10").spec, store, name="stl10", force=True)
    clg, page = str(Path(sys.executable).with_name("clg")), store.with_name("page.html")
    options = {f"{count} eigenvalues": ["--eigenvalues", str(count)] for count in (6, 30)}
    for name, more in {**options, "as a page": ["--html", str(page)]}.items():
        command = [clg, "inspect", f"stl10@{pyramid.version}", "--store", str(store), *more]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        print(f"clg inspect stl10, {name}: {time.perf_counter() - began:.1f} s")
    print(f"size of the page: {page.stat().st_size / 1e6:.2f} MB")
    spec = GraphSpec("se2", 96, orientations=6, boundary="periodic", levels=1)
    name = build(spec, store, name="torus", force=True).name
    began = time.perf_counter()
    found = eigenvalues(store, name)
    print(f"all {len(found):,} eigenvalues of 96x96x6: {time.perf_counter() - began:.2f} s")


PARTS: dict[str, Callable[[Path], None]] = {
    "moments": moments,
    "s2": sphere,
    "random": random_points,
    "se2": lambda store: refinement(store, plane_specs()),
    "open": open_boundary,
    "so3": lambda store: refinement(store, rotation_specs()),
    "times": times,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=PARTS)
    part = parser.parse_args().part
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "graphs.zarr"
        for name, work in PARTS.items():
            if part in {None, name}:
                if part is None:
                    print(f"{name}\n")
                work(store)
                print()


if __name__ == "__main__":
    main()
