"""Graphs of positions and axes: eigenvalues under joint refinement, open sides, cost of the bound.

    python benchmarks/volume_spectra.py [periodic|open|bound]

periodic: the largest relative error of the first 60 eigenvalues, against the exact spectrum. open:
that of the first 30 but 0, against Galerkin's method, with corrected sides / with sides cut off.
bound: how long builds take with lambda_max = 2 and with the exact one.
"""

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from neumann import neumann_spectrum_over_axes

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.spectrum.symmetric import BlochBlocks
from cheblienet_graphs.store.reader import mapped_csr
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


def eigenvalues(store: Path, spec: GraphSpec) -> Floats:
    """All of a periodic graph, those of its operator where the report knows its scale."""
    built = build(spec, store, name="volume", device="cpu", force=True)
    (facts,) = built.levels
    (level,) = inspect(store, f"volume@{built.version}", eigenvalues=0).levels
    laplacian = mapped_csr(store / "volume" / built.version / "levels/0/laplacian")
    lattice = spec.full_sampling(0)
    assert isinstance(lattice, Lattice)
    rescaled = BlochBlocks(laplacian, lattice).eigenvalues()
    assert facts.lambda_max is not None
    assert level.eigenvalue_scale is not None
    found: Floats = (rescaled + 1) * facts.lambda_max / 2 * level.eigenvalue_scale
    return found


def periodic(store: Path) -> None:
    print(f"| weights | {' | '.join(f'{n}^3x{axes}' for n, axes in SIZES)} |")
    print(f"|---{'|---' * len(SIZES)}|")
    for title, kind in KINDS.items():
        errors = []
        for n, axes in SIZES:
            spec = GraphSpec("r3s2", n, axes=axes, boundary="periodic", levels=1, **METRIC, **kind)
            found = eigenvalues(store, spec)[1:FIRST]
            exact = spec.geometry.spectrum(FIRST, spec.metric(0), None)[1:]
            errors.append(f"{abs(found / exact - 1).max():.3f}")
        print(f"| {title} | {' | '.join(errors)} |", flush=True)


def open_boundary(store: Path) -> None:
    eps, xi = math.sqrt(METRIC["eps_squared"]), METRIC["xi"]
    exact = neumann_spectrum_over_axes(FIRST_OPEN, eps, xi, degree=9)[1:]
    print(f"| weights | {' | '.join(f'{n}^3x{axes}' for n, axes in SIZES[:3])} |")
    print("|---|---|---|---|")
    for weights in ("selling", "matched"):
        cells = []
        for n, axes in SIZES[:3]:
            errors = []
            for corrected in (True, False):
                options: dict[str, Any] = {
                    "weights": weights,
                    "boundary_correction": corrected,
                    "levels": 1,
                }
                spec = GraphSpec("r3s2", n, axes=axes, **METRIC, **options)
                built = build(spec, store, name="open", device="cpu", force=True)
                (level,) = inspect(store, f"open@{built.version}", eigenvalues=FIRST_OPEN).levels
                assert level.eigenvalues_converged
                error = abs(np.array(level.eigenvalues[1:]) / exact - 1).max()
                errors.append(f"{error:.3f}")
            cells.append(" / ".join(errors))
        print(f"| {weights} | {' | '.join(cells)} |", flush=True)


def bound(store: Path) -> None:
    for lambda_max in (2, "exact", 2, "exact"):
        spec = GraphSpec("r3s2", 48, axes=12, levels=1, lambda_max=lambda_max)
        began = time.perf_counter()
        built = build(spec, store, name="bound", device="cpu", force=True)
        seconds = time.perf_counter() - began
        (facts,) = built.levels
        print(f"48^3 x 12, lambda_max {lambda_max}: {seconds:.1f} s, {facts.nnz:,} entries")


PARTS: dict[str, Callable[[Path], None]] = {
    "periodic": periodic,
    "open": open_boundary,
    "bound": bound,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=PARTS)
    part = parser.parse_args().part
    with tempfile.TemporaryDirectory() as folder:
        for name, work in PARTS.items():
            if part in {None, name}:
                if part is None:
                    print(f"{name}\n")
                work(Path(folder) / "graphs.zarr")
                print()


if __name__ == "__main__":
    main()
