"""`Graph.diffuse` and `Graph.filter`: their errors against dense algebra, and their time.

Errors are those of random signals and of a constant, the largest over times t lambda_max from 0.01
to 10^4, in units of the signal's norm; "worst" is that of the polynomial itself, over all signals.
Times are medians of interleaved runs on one thread, t = 0.04 of the operator on 64x64x24 vertices
of the periodic SE(2) with Selling's weights: those of scipy's expm_multiply in units of each.

    python benchmarks/filters.py [errors|times]
"""

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
import torch
from scipy.sparse.linalg import expm_multiply
from scripts import graph_of, print_head, print_row, run_parts
from turns import in_turns, ratio

from cheblienet_graphs import GraphSpec
from cheblienet_models import Graph

ERRORS = {
    "SE(2), normalized": GraphSpec("se2", 12, orientations=6, levels=1),
    "SE(2), Selling": GraphSpec("se2", 12, orientations=6, weights="selling", levels=1),
    "SE(2), Selling, xi = 0.01": GraphSpec("se2", 12, weights="selling", xi=0.01, levels=1),
    "S2, normalized": GraphSpec("s2", subdivisions=3, weights="kernel", levels=1),
    "S2, matched": GraphSpec("s2", subdivisions=3, weights="matched", neighbors=24, levels=1),
}
TIMED = GraphSpec(
    "se2", 64, orientations=24, eps_squared=0.1, xi=0.1**0.5, weights="selling",
    boundary="periodic", levels=1,
)  # fmt: skip
T, RUNS = 0.04, 5
DECADES = 10.0 ** np.arange(-2, 5)
TOLERANCES = (1e-3, 1e-6, 1e-10)


def errors(graph: Graph) -> list[str]:
    """The cells of a row."""
    size = graph.num_vertices
    delta = (graph.laplacian.to_dense().double().numpy() + np.eye(size)) * graph.lambda_max / 2
    values, vectors = np.linalg.eigh(delta)
    wide = torch.randn(1, 4, size, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    wide = torch.cat([wide, torch.ones(1, 1, size, dtype=torch.float64)], dim=1)
    exact = {t: (wide.numpy() @ vectors * np.exp(-t * values)) @ vectors.T for t in times(graph)}

    def largest(x: torch.Tensor, tolerance: float) -> float:
        shares = []
        for t, expected in exact.items():
            error = graph.diffuse(x, t, tolerance=tolerance).double().numpy() - expected
            norms = np.linalg.norm(error, axis=2) / np.linalg.norm(wide.numpy(), axis=2)
            shares.append(norms.max())
        return float(max(shares))

    cells = [f"{graph.lambda_max:.3g}"]
    for tolerance in TOLERANCES:
        worst = 0.0
        for t in exact:
            series = graph.diffusion_polynomial(t, tolerance).coefficients[:, 0].numpy()
            mu = 2 * values / graph.lambda_max - 1
            by_series = np.polynomial.chebyshev.chebval(mu, series)
            worst = max(worst, float(abs(by_series - np.exp(-t * values)).max()))
        cells.append(f"{largest(wide, tolerance):.1e} ({worst:.1e})")
    return [*cells, f"{largest(wide.float(), 1e-6):.1e}"]


def times(graph: Graph) -> list[float]:
    decades: list[float] = (DECADES / graph.lambda_max).tolist()
    return decades


def print_times() -> None:
    graph = graph_of(TIMED)
    assert graph.eigenvalue_scale is not None
    t, size = T * graph.eigenvalue_scale, graph.num_vertices
    parts = [part.numpy() for part in (graph.values, graph.columns, graph.row_pointers)]
    laplacian = scipy.sparse.csr_array((parts[0].astype(np.float64), *parts[1:]), (size, size))
    delta = (laplacian + scipy.sparse.eye_array(size)) * (graph.lambda_max / 2)
    delta = scipy.sparse.csr_array(delta)
    x = torch.rand(1, 1, size, generator=torch.Generator().manual_seed(0))
    y = x.double().requires_grad_()
    learned = torch.tensor([t], requires_grad=True)

    def backward() -> torch.Tensor:
        result = graph.diffuse(y, learned)
        result.sum().backward()
        return result

    ways: dict[str, Callable[[], Any]] = {
        "scipy's expm_multiply, float64": lambda: expm_multiply(
            -t * delta, y.detach()[0, 0].numpy()
        ),
        "diffuse, float64, tolerance 1e-12": lambda: graph.diffuse(y, t, tolerance=1e-12),
        "diffuse, float64": lambda: graph.diffuse(y, t),
        "diffuse, float64, with gradients by x and t": backward,
        "diffuse, float32": lambda: graph.diffuse(x, t),
        "diffuse, float32, 8 channels": lambda: graph.diffuse(x.expand(1, 8, size), t),
    }
    results = {way: run() for way, run in ways.items()}
    seconds = in_turns(ways, RUNS)
    reference = np.asarray(next(iter(results.values())))
    first, *_ = seconds.values()
    print(f"{size:,} vertices, t lambda_max = {t * graph.lambda_max:,.0f}, degree ", end="")
    print(f"{graph.diffusion_polynomial(t).degree} at tolerance 1e-6\n")
    print_head("", "seconds", "expm_multiply takes", "differs from it by, of the norm of x")
    for way, spent in seconds.items():
        result = torch.as_tensor(results[way]).detach().double().reshape(-1, size)[0].numpy()
        apart = np.linalg.norm(result - reference) / x.norm().item()
        times = f"{statistics.median(spent):.3f}", f"{ratio(first, spent):.1f} times"
        print_row(way, *times, f"{apart:.0e}")


def print_errors() -> None:
    tolerances = "tolerance 1e-3 (worst)", "1e-6", "1e-10"
    print_head("graph", "lambda_max", *tolerances, "float32, 1e-6")
    for name, spec in ERRORS.items():
        print_row(name, *errors(graph_of(spec)))


if __name__ == "__main__":
    torch.set_num_threads(1)
    run_parts(__doc__, {"errors": print_errors, "times": print_times})
