"""How well stored graphs reproduce the spectrum of the operator that their metric stands for.

    python benchmarks/spectrum.py            # everything, a few minutes
    python benchmarks/spectrum.py moments|s2|se2|open|thin|flat|so3|r3s2|r3s2-open|times

moments: over 80 settings of SE(2), what matched and Selling's weights realize at worst: residual of
the second moments (M R / 2 = I, Selling's within an orientation), least weight over the largest,
and how much the grid's symmetries change the stored Laplacian.

s2: the first 15 nonzero eigenvalues of Delta over l (l + 1), up to one scale (least squares): the
largest deviation of a single eigenvalue and of the mean of a multiplet, the spread within l = 3.

se2, so3: joint refinement of base and fiber at fixed eps^2 = xi^2 = 0.1. Largest relative error of
the first 30 nonzero eigenvalues of the stored operator, its scale from second moments, none free;
stored edges per vertex, and the time of a Chebyshev convolution on the graph, forward and
backward.

open: the same refinement of SE(2) with an open boundary, against the Neumann operator's spectrum
by Galerkin's method (`neumann.py`): the largest error of the first 10 and 30, its order, and the
largest error upwards; with sides corrected, and with stencils cut off at them. thin: the same with
eps = 0.1. flat: the same of r2 and r3, matched weights, against cosines.

r3s2, r3s2-open: positions and axes at eps^2 = xi^2 = 0.1, periodic and open: the largest error of
the first 60 eigenvalues, and of the first 30 but 0, with sides corrected / cut off.

times: `clg inspect` on the STL10 recipe's pyramid, as a whole process, also as a page; all
eigenvalues of a periodic graph of the same size.
"""

import itertools
import math
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from neumann import neumann_spectrum, neumann_spectrum_over_axes
from scripts import (
    errors_of,
    graph_of,
    print_head,
    print_row,
    report_of,
    run_parts,
    temporary_store,
)
from turns import seconds_of

from cheblienet_graphs import CheblienetError, GraphSpec, build, eigenvalues
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.recipes import recipe
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.spec.naming import sizes_in_name
from cheblienet_graphs.typing import Floats
from cheblienet_models import ChebConv

EXACT = np.repeat([0.0, 2.0, 6.0, 12.0], [1, 3, 5, 7])
METRIC: dict[str, Any] = {"eps_squared": 0.1, "xi": math.sqrt(0.1)}
FIRST, FIRST_OF_VOLUMES = 30, 60
PLANES = ((16, 6), (32, 12), (64, 24))
VOLUMES = ((10, 12), (16, 12), (16, 22), (24, 43))
SIDES: dict[str, dict[str, Any]] = {"corrected": {}, "cut off": {"boundary_correction": False}}
OPEN = ("weights", "sides", "graph", "first 10", "first 30", "order", "upwards")
CHANNELS, KERNEL_SIZE = (16, 32), 4
BATCH, ROUNDS = 2, 7


def moments() -> None:
    settings = [
        {"orientations": n_o, "alpha": alpha, "neighbors": count, "eps": eps}
        for n_o in (4, 5, 6, 8, 12)
        for alpha in (1, 3.41)
        for count in (16, 32)
        for eps in (0.1, 0.3162, 0.5, 1)
    ]
    print_head("weights", "settings", "residual", "least weight", r"\|P'LP - L\|", "degree")
    for weights in ("matched", "selling"):
        rows = [moments_of(weights, dict(setting)) for setting in settings]
        residual, least, change, degree = zip(*rows, strict=True)
        cells = f"{max(residual):.1e}", f"{min(least):.1e}", f"{max(change):.1e}"
        print_row(weights, len(rows), *cells, max(degree))


def moments_of(weights: str, setting: dict[str, Any]) -> tuple[float, float, float, int]:
    """Residual, least weight, change under symmetries, largest degree."""
    if weights == "selling":
        setting.pop("neighbors")
    spec = GraphSpec("se2", 16, weights=weights, boundary="periodic", levels=1, **setting)
    lattice, metric = spec.full_sampling(0), spec.metric(0)
    assert isinstance(lattice, Lattice)
    given = spec.weighting.on_lattice(spec, SampledManifold(lattice, spec.geometry, metric))
    in_pixels = metric.scaled(lattice.spacing)
    residual, inner = 0.0, 2 if weights == "selling" else 3
    for k, (s, values) in enumerate(zip(given.stencils, given.values, strict=True)):
        ends = lattice.edge_coordinates(np.full(len(s), k), s.orientation, s.offsets)
        _, second = edge_moments(spec.geometry, in_pixels, *ends)
        per_pixel = values * lattice.spacing**2
        product = np.einsum("j,jab->ab", per_pixel, second)[:inner, :inner] / 2
        residual = max(residual, float(abs(product - np.eye(inner)).max()))
    least = min(float(v.min()) for v in given.values) / max(float(v.max()) for v in given.values)
    changes = report_of(spec, eigenvalues=0).equivariance
    exact = [e for name, e in changes.items() if "approximate" not in name]
    return residual, least, max(exact), max(map(len, given.stencils))


def print_sphere(size: dict[str, Any], settings: dict[str, Any]) -> None:
    spec = GraphSpec("s2", **size, **settings, levels=1)
    values = np.array(report_of(spec, eigenvalues=len(EXACT)).eigenvalues)
    ratio = values[1:] / EXACT[1:] * (EXACT @ EXACT) / (values @ EXACT)
    means = [part.mean() for part in np.split(ratio, [3, 8])]
    single, mean = (np.abs(np.array(values) - 1).max() for values in (ratio, means))
    spread = np.ptp(ratio[8:])
    kind = spec.weights if spec.weights != "kernel" else spec.kernel
    shares = f"{single:.1%}", f"{mean:.1%}", f"{spread:.1%}"
    print_row(sizes_in_name(spec), f"{spec.neighbors}, {kind}", *shares)


def sphere() -> None:
    print_head("sampling", "K, weights", "single", "multiplet", "spread of l = 3")
    kinds: tuple[dict[str, Any], ...] = (
        {},
        {"neighbors": 24, "kernel": "rectangular"},
        {"neighbors": 24, "weights": "matched"},
    )
    for size in ({"subdivisions": 4}, {"nside": 16}):
        for settings in kinds:
            print_sphere(size, settings)


def milliseconds(spec: GraphSpec) -> float:
    """Median time of a convolution, forward and backward."""
    graph = graph_of(spec)
    layer = ChebConv(*CHANNELS, KERNEL_SIZE, graph)
    x = torch.randn(graph.num_vertices, BATCH, CHANNELS[0]).permute(1, 2, 0)
    x.requires_grad_()
    times = [1e3 * seconds_of(lambda: layer(x).sum().backward()) for _ in range(ROUNDS + 1)]
    return statistics.median(times[1:])


def refined(spec: GraphSpec) -> tuple[float, list[str]]:
    """The largest error, and the cells of a row."""
    level = report_of(spec, FIRST + 1)
    error = float(abs(errors_of(level, np.array(level.exact_eigenvalues))).max())
    edges = 2 * level.edges / level.vertices
    return error, [f"{level.vertices:,}", f"{edges:.1f}", f"{milliseconds(spec):.1f} ms"]


def refinement(specs: dict[str, list[GraphSpec]]) -> None:
    sizes = "vertices", "edges per vertex", "layer"
    print_head("weights, Laplacian", "graph", "error", "ratio", *sizes)
    for title, row in specs.items():
        before = math.nan
        for spec in row:
            size = sizes_in_name(spec).partition("-")[2]
            try:
                error, cells = refined(spec)
            except CheblienetError as refusal:
                print_row(title, size, f"refused: {refusal}", *[""] * 4)
                before = math.nan
                continue
            ratio = "" if math.isnan(before) else f"{before / error:.1f}"
            print_row(title, size, f"{error:.4f}", ratio, *cells)
            before = error


KINDS: dict[str, dict[str, Any]] = {
    "Gaussian, normalized": {},
    "Gaussian, combinatorial": {"laplacian": "combinatorial"},
    "matched, combinatorial": {"weights": "matched"},
    "Selling, combinatorial": {"weights": "selling"},
}


def plane_specs() -> dict[str, list[GraphSpec]]:
    common = {"boundary": "periodic", "levels": 1, **METRIC}
    return {
        title: [GraphSpec("se2", n, orientations=n_o, **common, **kind) for n, n_o in PLANES]
        for title, kind in KINDS.items()
    }


def rotation_specs() -> dict[str, list[GraphSpec]]:
    sizes = [(2, 4), (3, 8), (4, 16)]
    common = {"manifold": "so3", "neighbors": 24, "levels": 1, **METRIC}
    return {
        title: [GraphSpec(subdivisions=n, orientations=n_o, **common, **kind) for n, n_o in sizes]
        for title, kind in list(KINDS.items())[:3]
    }


def print_open(title: str, families: dict[str, list[GraphSpec]], exact: Floats) -> None:
    """Lines of a table: graphs of one kind, coarsest first, by what ends their sides."""
    for sides, specs in families.items():
        before = math.nan
        for spec in specs:
            errors = errors_of(report_of(spec, len(exact)), exact)
            few, error = abs(errors[:10]).max(), abs(errors).max()
            order = "" if math.isnan(before) else f"{math.log2(before / error):.2f}"
            cells = f"{few:.4f}", f"{error:.4f}", order, f"{max(errors.max(), 0):.4f}"
            print_row(title, sides, sizes_in_name(spec).partition("-")[2], *cells)
            before = error


def open_boundary(eps: float, **accuracy: int) -> None:
    exact = neumann_spectrum(FIRST + 1, eps, METRIC["xi"], **accuracy)
    print_head(*OPEN)
    for weights in ("selling", "matched"):
        how: dict[str, Any] = {"weights": weights, "eps": eps, "xi": METRIC["xi"], "levels": 1}
        families = {
            sides: [GraphSpec("se2", n, orientations=n_o, **how, **end) for n, n_o in PLANES]
            for sides, end in SIDES.items()
        }
        print_open(weights, families, exact)


def flat() -> None:
    print_head(*OPEN)
    for manifold, sizes in (("r2", (16, 32, 64)), ("r3", (6, 12, 24))):
        waves = itertools.product(range(FIRST), repeat=int(manifold[1]))
        exact = np.sort([math.pi**2 * sum(n**2 for n in wave) for wave in waves])[: FIRST + 1]
        families = {
            sides: [GraphSpec(manifold, n, weights="matched", levels=1, **end) for n in sizes]
            for sides, end in SIDES.items()
        }
        print_open(manifold, families, exact)


def volumes() -> None:
    print_head("weights, Laplacian", *(f"{n}^3x{axes}" for n, axes in VOLUMES))
    for title, kind in KINDS.items():
        errors = []
        for n, axes in VOLUMES:
            spec = GraphSpec("r3s2", n, axes=axes, boundary="periodic", levels=1, **METRIC, **kind)
            exact = spec.geometry.spectrum(FIRST_OF_VOLUMES, spec.metric(0), None)
            level = report_of(spec, FIRST_OF_VOLUMES)
            errors.append(f"{abs(errors_of(level, exact)).max():.3f}")
        print_row(title, *errors)


def open_volumes() -> None:
    eps, xi = math.sqrt(METRIC["eps_squared"]), METRIC["xi"]
    exact = neumann_spectrum_over_axes(FIRST + 1, eps, xi, degree=9)
    print_head("weights", *(f"{n}^3x{axes}" for n, axes in VOLUMES[:3]))
    for weights in ("selling", "matched"):
        cells = []
        for n, axes in VOLUMES[:3]:
            how: dict[str, Any] = {"axes": axes, "weights": weights, "levels": 1, **METRIC}
            specs = [GraphSpec("r3s2", n, **how, **end) for end in SIDES.values()]
            levels = [report_of(spec, FIRST + 1) for spec in specs]
            errors = [f"{abs(errors_of(level, exact)).max():.3f}" for level in levels]
            cells.append(" / ".join(errors))
        print_row(weights, *cells)


def times() -> None:
    store = temporary_store()
    pyramid = build(recipe("stl10").spec, store, name="stl10", force=True)
    clg, page = str(Path(sys.executable).with_name("clg")), store.with_name("page.html")
    options = {f"{count} eigenvalues": ["--eigenvalues", str(count)] for count in (6, 30)}
    for name, more in {**options, "as a page": ["--html", str(page)]}.items():
        command = [clg, "inspect", f"stl10@{pyramid.version}", "--store", str(store), *more]
        seconds = seconds_of(partial(subprocess.run, command, check=True, capture_output=True))
        print(f"clg inspect stl10, {name}: {seconds:.1f} s")
    print(f"size of the page: {page.stat().st_size / 1e6:.2f} MB")
    spec = GraphSpec("se2", 96, orientations=6, boundary="periodic", levels=1)
    build(spec, store, name="torus")
    seconds = seconds_of(partial(eigenvalues, store, "torus"))
    print(f"all {spec.num_vertices:,} eigenvalues of 96x96x6: {seconds:.2f} s")


PARTS = {
    "moments": moments,
    "s2": sphere,
    "se2": lambda: refinement(plane_specs()),
    "open": lambda: open_boundary(math.sqrt(0.1)),
    "thin": lambda: open_boundary(0.1, degree=18, frequency=10),
    "flat": flat,
    "so3": lambda: refinement(rotation_specs()),
    "r3s2": volumes,
    "r3s2-open": open_volumes,
    "times": times,
}

if __name__ == "__main__":
    run_parts(__doc__, PARTS)
