"""Graphs of positions and axes: eigenvalues under joint refinement, open sides, cost of the bound.

    python benchmarks/volume_spectra.py [periodic|open|bound]

periodic: the largest relative error of the first 60 eigenvalues, against the exact spectrum. open:
that of the first 30 but 0, against Galerkin's method, with corrected sides / with sides cut off.
bound: how long builds take with lambda_max = 2 and with the exact one.
"""

import math
import time
from typing import Any

import numpy as np
from neumann import neumann_spectrum_over_axes
from scripts import graph_of, print_head, print_row, report_of, run_parts, temporary_store

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.spectrum.symmetric import BlochBlocks
from cheblienet_graphs.store.layout import resolve
from cheblienet_graphs.store.mapped import mapped_csr
from cheblienet_graphs.typing import Floats

METRIC: dict[str, Any] = {"eps_squared": 0.1, "xi": math.sqrt(0.1)}
FIRST, FIRST_OPEN = 60, 31
SIZES = [(10, 12), (16, 12), (16, 22), (24, 43)]
KINDS: dict[str, dict[str, Any]] = {
    "Selling": {"weights": "selling"},
    "matched, K = 32": {"weights": "matched"},
    "Gaussian, K = 32, combinatorial": {"laplacian": "combinatorial"},
    "Gaussian, K = 32, normalized": {},
}


def eigenvalues(spec: GraphSpec) -> Floats:
    """All of a periodic graph, those of its operator where the report knows its scale."""
    level = report_of(spec, eigenvalues=0)
    graph = graph_of(spec, device="cpu")
    version = resolve(temporary_store(), spec.sha256[:12])
    laplacian = mapped_csr(version / "levels/0/laplacian")
    lattice = spec.full_sampling(0)
    assert isinstance(lattice, Lattice)
    rescaled = BlochBlocks(laplacian, lattice).eigenvalues()
    values: Floats = (rescaled + 1) * graph.lambda_max / 2 * level.eigenvalue_scale
    return values


def periodic() -> None:
    print_head("weights", *(f"{n}^3x{axes}" for n, axes in SIZES))
    for title, kind in KINDS.items():
        errors = []
        for n, axes in SIZES:
            spec = GraphSpec("r3s2", n, axes=axes, boundary="periodic", levels=1, **METRIC, **kind)
            values = eigenvalues(spec)[1:FIRST]
            exact = spec.geometry.spectrum(FIRST, spec.metric(0), None)[1:]
            errors.append(f"{abs(values / exact - 1).max():.3f}")
        print_row(title, *errors)


def open_boundary() -> None:
    eps, xi = math.sqrt(METRIC["eps_squared"]), METRIC["xi"]
    exact = neumann_spectrum_over_axes(FIRST_OPEN, eps, xi, degree=9)[1:]
    print_head("weights", *(f"{n}^3x{axes}" for n, axes in SIZES[:3]))
    for weights in ("selling", "matched"):
        cells = []
        for n, axes in SIZES[:3]:
            errors = []
            for corrected in (True, False):
                how: dict[str, Any] = {"weights": weights, "boundary_correction": corrected}
                spec = GraphSpec("r3s2", n, axes=axes, levels=1, **METRIC, **how)
                level = report_of(spec, FIRST_OPEN)
                assert level.eigenvalues_converged
                error = abs(np.array(level.eigenvalues[1:]) / exact - 1).max()
                errors.append(f"{error:.3f}")
            cells.append(" / ".join(errors))
        print_row(weights, *cells)


def bound() -> None:
    for lambda_max in (2, "exact", 2, "exact"):
        spec = GraphSpec("r3s2", 48, axes=12, levels=1, lambda_max=lambda_max)
        began = time.perf_counter()
        built = build(spec, temporary_store(), device="cpu", force=True)
        seconds = time.perf_counter() - began
        (facts,) = built.levels
        print(f"48^3 x 12, lambda_max {lambda_max}: {seconds:.1f} s, {facts.nnz:,} entries")


PARTS = {"periodic": periodic, "open": open_boundary, "bound": bound}

if __name__ == "__main__":
    run_parts(__doc__, PARTS)
