"""Heat diffusion on graphs against the exact heat kernel of the periodic SE(2).

A unit of heat starts at one vertex of the torus times the orientations, at theta = -pi/6, with
eps^2 = xi^2 = 0.1. The exact solution is summed from the eigenfunctions of the operator: plane
waves on the base times Mathieu functions on the fiber; the graph's is `Graph.diffuse`, in float64,
for times of the operator. Both are compared at the vertices: half the L1 distance, which is the
share of the heat that is in the wrong place.

    python benchmarks/heat.py
"""

import itertools
import math
from typing import Any

import numpy as np
import torch
from scripts import graph_of, print_head, print_row

from cheblienet_graphs import GraphSpec
from cheblienet_models import Graph

EPS_SQUARED = XI_SQUARED = 0.1
TIMES = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16)
SIZES = ((16, 6), (32, 12), (64, 24))
WEIGHTS: dict[str, dict[str, Any]] = {
    "Gaussian": {},
    "matched": {"weights": "matched"},
    "Selling": {"weights": "selling"},
}
METRIC: dict[str, Any] = {"eps_squared": EPS_SQUARED, "xi": math.sqrt(XI_SQUARED)}
WAVES, HARMONICS = 50, 24
"""Cutoffs of the exact sum."""
NEGLIGIBLE = 40
"""Waves are left out that have decayed to exp(-40) at the earliest time."""


def exact() -> dict[tuple[int, int], np.ndarray]:
    """By graph: (times, n_o, n, n) share of the heat at each vertex.

    Over a base frequency k the operator is, with kappa = 2 pi |k| and phi the direction of k,
    kappa^2 (1 + eps^2)/2 + kappa^2 (1 - eps^2)/2 cos 2 (theta - phi) - xi^-2 d^2/dtheta^2.
    """
    m, side = np.arange(-HARMONICS, HARMONICS + 1), np.arange(-WAVES, WAVES + 1)
    times = np.array(TIMES)
    spectra = {(n, n_o): np.zeros((len(TIMES), n_o, n, n), complex) for n, n_o in SIZES}
    harmonics = {}
    for n, n_o in SIZES:
        theta = -math.pi / 2 + np.arange(n_o) * math.pi / n_o
        harmonics[n, n_o] = np.exp(2j * np.outer(theta, m))
    for kx, ky in itertools.product(side, side):
        squared = 4 * math.pi**2 * (kx**2 + ky**2)
        if EPS_SQUARED * squared * TIMES[0] > NEGLIGIBLE:
            continue
        across = squared * (1 - EPS_SQUARED) / 4 * np.exp(-2j * math.atan2(ky, kx))
        matrix = np.diag(squared * (1 + EPS_SQUARED) / 2 + 4 * m**2 / XI_SQUARED).astype(complex)
        matrix += np.diag(np.full(len(m) - 1, across), -1)
        matrix += np.diag(np.full(len(m) - 1, across.conjugate()), 1)
        values, vectors = np.linalg.eigh(matrix)
        decay = np.exp(-np.outer(times, values))
        for (n, n_o), waves in harmonics.items():
            start = vectors.conj().T @ waves[start_of(n_o)].conj()
            spectra[n, n_o][:, :, ky % n, kx % n] += (decay * start) @ vectors.T @ waves.T
    return {
        (n, n_o): np.fft.ifft2(spectrum, axes=(2, 3)).real / n_o
        for (n, n_o), spectrum in spectra.items()
    }


def diffused(graph: Graph) -> np.ndarray:
    """(times, n_o, n, n) what becomes of a unit at the start, a channel for each time."""
    assert graph.eigenvalue_scale is not None
    n_o, height, width = graph.grid
    start = torch.zeros(1, len(TIMES), graph.num_vertices, dtype=torch.float64)
    start[:, :, start_of(n_o) * height * width] = 1
    times = torch.tensor(TIMES, dtype=torch.float64) * graph.eigenvalue_scale
    return graph.diffuse(start, times).view(len(TIMES), *graph.grid).numpy()


def start_of(n_o: int) -> int:
    """Index of the orientation theta = -pi/6, not one that the lattice favors."""
    return n_o // 3


def main() -> None:
    print_head("weights", "graph", *(f"t = {time:g}" for time in TIMES))
    truth = exact()
    for heat in truth.values():
        assert (abs(heat.sum(axis=(1, 2, 3)) - 1) < 0.02).all()  # sampled, so not exactly 1
    for title, weights in WEIGHTS.items():
        for n, n_o in SIZES:
            how: dict[str, Any] = {"orientations": n_o, "boundary": "periodic", "levels": 1}
            spec = GraphSpec("se2", n, **how, **METRIC, **weights)
            heat = diffused(graph_of(spec).double())
            errors = abs(heat - truth[n, n_o]).sum(axis=(1, 2, 3)) / 2
            print_row(title, f"{n}x{n}x{n_o}", *(f"{error:.4f}" for error in errors))


if __name__ == "__main__":
    main()
