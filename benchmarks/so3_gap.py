"""Why eigenvalues of SO(3) with matched weights are lower than the quotients of smooth functions.

    python benchmarks/so3_gap.py   # hours

Exact eigenfunctions of the rotor, put on the vertices, have Rayleigh quotients; the graph's own
eigenvalues are lower, by the gap. All numbers are of the first 15 nonzero eigenvalues:

- quotient, eigenvalue: mean error of the Rayleigh-Ritz values within each exact eigenspace, and of
  the graph's eigenvalues, relative to the exact ones;
- gap: mean of quotient over eigenvalue - 1;
- predicted: the gap by first-order theory, sum of <d, L^-1 d> over the sum of eigenvalues, where
  d = sum_a b_a A_a f, b_a the drift sum_j w_ij c_a and f an eigenfunction: what first moments do;
- drift: root of the mean of |b|^2 times the spacing;
- seconds: of the matching alone.

Levels of the icosphere and HEALPix with 6, 12, 24 orientations, eps = 0.3, xi = 0.5, and with the
default xi^2 = alpha n_o A; without `drift` and with it.
"""

import itertools
import math
import time
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg
from scripts import print_head, print_row

from cheblienet_graphs import CheblienetError, GraphSpec
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.engines import NeighborRule
from cheblienet_graphs.search.neighbor_lists import MutualNeighbors
from cheblienet_graphs.spec.naming import sizes_in_name
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.weights.matched import STEPS, Matched
from cheblienet_graphs.weights.scattered import matched_edges

Block = tuple[float, Floats, Floats]
"""An eigenvalue, (V, 2 J + 1) eigenfunctions, (3, V, 2 J + 1) their derivatives along the frame."""
COUNT = 16
SHIFT = 0.3
"""Added to the operator while it is inverted, so that constants are no trouble."""
MOST_VERTICES = 40_000
"""Larger graphs take too long to match."""
DRIFT = 0.03
ROTOR: dict[str, Any] = {"eps": 0.3, "xi": 0.5}


def angular_momentum(degree: int) -> tuple[NDArray[Any], ...]:
    """(J_x, J_y, J_z) in the basis |K>, K ascending."""
    k = np.arange(-degree, degree + 1)
    raising = np.diag(np.sqrt(degree * (degree + 1) - k[:-1] * (k[:-1] + 1)), -1)
    return (raising + raising.T) / 2 + 0j, (raising - raising.T) / 2j, np.diag(k) + 0j


def rotor(coordinates: Floats, metric: Metric, most: float) -> list[Block]:
    """The eigenspaces of SO(3), orientations modulo pi, up to an eigenvalue.

    f = sum_K D_MK v_K with Wigner's functions D(G) = <M|exp(-i gamma J_z) exp(-i beta J_y)
    exp(-i alpha J_z)|K>, v an eigenvector of J_y^2 + eps^2 J_x^2 + J_z^2 / xi^2 on even K; the
    derivatives along (forward, sideways, rotation) are those of D v by -i J_y, i J_x, -i J_z.
    """
    alpha, beta, gamma = coordinates.T
    blocks: list[Block] = []
    for degree in range(int(math.sqrt(2 * most)) + 2):
        j_x, j_y, j_z = angular_momentum(degree)
        k = np.arange(-degree, degree + 1)
        values, vectors = np.linalg.eigh(j_y)
        turned = np.einsum(
            "ma,va,ka->vmk", vectors, np.exp(-1j * np.outer(beta, values)), vectors.conj()
        )
        waves = np.exp(-1j * (gamma[:, None, None] * k[:, None] + alpha[:, None, None] * k))
        wigner = turned * waves
        even = k % 2 == 0
        operator = j_y @ j_y + metric.eps**2 * j_x @ j_x + j_z @ j_z / metric.xi**2
        energies, tops = np.linalg.eigh(operator[np.ix_(even, even)])
        for energy, top in zip(energies, tops.T, strict=True):
            if energy <= most:
                v = np.zeros(len(k), complex)
                v[even] = top
                along = (v, -1j * j_y @ v, 1j * j_x @ v, -1j * j_z @ v)
                blocks.append((float(energy), *_real(np.stack([wigner @ u for u in along]))))
    return sorted(blocks, key=lambda block: block[0])


def _real(complex_functions: NDArray[np.complex128]) -> tuple[Floats, Floats]:
    """Independent real combinations of 2 J + 1 complex functions, and of their derivatives."""
    both = np.concatenate([complex_functions.real, complex_functions.imag], axis=2)
    values, mixing = np.linalg.eigh(both[0].T @ both[0])
    best = np.argsort(values)[::-1][: complex_functions.shape[2]]
    real = both @ (mixing[:, best] / np.sqrt(values[best]))
    return real[0], real[1:]


class Graph:
    """Matched weights on a level, and what its operator does to smooth functions.

    Args:
        spec: of one level.
    """

    def __init__(self, spec: GraphSpec) -> None:
        sampling = spec.full_sampling(0)
        self.metric, self.manifold = spec.metric(0), spec.geometry
        sampled = SampledManifold(sampling, self.manifold, self.metric)
        rule = NeighborRule(sampled, spec.weighting.count, Choice("pruned", "cpu"))
        engine, lengths = rule.engine(), rule.lengths(rule.lists())
        assert isinstance(engine, MutualNeighbors)  # points of so3 have no stencils
        self.coordinates, self.areas = sampling.coordinates(), sampling.areas()
        began = time.perf_counter()
        weighting = spec.weighting
        assert isinstance(weighting, Matched)
        edges = matched_edges(weighting, sampled, engine, lengths, STEPS)
        assert edges is not None, "no weights match the metric"
        self.seconds = time.perf_counter() - began
        self.rows, self.columns, self.weights = edges[:3]
        self.vertices = sampling.num_vertices
        self.spacing = math.sqrt(4 * math.pi / sampling.num_points)
        adjacency = scipy.sparse.csr_array(
            (self.weights, (self.rows, self.columns)), shape=(self.vertices,) * 2
        )
        self.operator = scipy.sparse.diags_array(adjacency.sum(axis=1)) - adjacency
        mass = scipy.sparse.diags_array(SHIFT * self.areas)
        self._shifted = (self.operator + mass).tocsr()

    @cached_property
    def drift(self) -> Floats:
        """(V, dim) sum_j w_ij c_ij over the area, lengths by the metric."""
        ends = self.coordinates[self.rows], self.coordinates[self.columns]
        first, _ = edge_moments(self.manifold, self.metric, *ends)
        sums = [np.bincount(self.rows, self.weights * c, self.vertices) for c in first.T]
        return np.stack(sums, axis=1) / self.areas[:, None]

    def solve(self, right: Floats, start: Floats | None = None) -> Floats:
        """(L + SHIFT A)^-1 of columns."""
        diagonal = self._shifted.diagonal()
        scaling = LinearOperator(self._shifted.shape, matvec=lambda v: v / diagonal, dtype=float)
        first = np.zeros_like(right) if start is None else start
        columns = [
            cg(self._shifted, b, x0=x, rtol=1e-7, maxiter=5000, M=scaling)[0]
            for b, x in zip(right.T, first.T, strict=True)
        ]
        return np.stack(columns, axis=1)

    def ritz(self, functions: Floats) -> tuple[Floats, Floats]:
        """Rayleigh-Ritz values of a space and the functions that have them."""
        mass = functions.T @ (self.areas[:, None] * functions)
        values, mixing = scipy.linalg.eigh(functions.T @ (self.operator @ functions), mass)
        return values, functions @ mixing

    def eigenvalues(self, functions: Floats) -> Floats:
        """The smallest eigenvalues, by inverse iteration from functions near to their own."""
        values, functions = self.ritz(functions)
        for _ in range(5):
            before = values
            start = functions / (values + SHIFT)
            values, functions = self.ritz(self.solve(self.areas[:, None] * functions, start))
            if (abs(values - before) <= 1e-5 * np.maximum(values, 1)).all():
                break
        return values

    def predicted(self, blocks: list[Block]) -> float:
        """What the drift takes from eigenvalues, in sum, over their sum."""
        scale = np.sqrt(self.manifold.weights(self.metric))
        drops = total = 0.0
        for value, functions, derivatives in blocks:
            length = self.areas @ functions**2
            drifted = np.einsum("va,avf->vf", self.drift / scale, derivatives)
            source = self.areas[:, None] * (drifted - (self.areas @ drifted) / self.areas.sum())
            drops += float(((source * self.solve(source)).sum(axis=0) / length).sum())
            total += value * functions.shape[1]
        return drops / total


HEAD = (
    *("graph", "eps, xi, K", "drift given", "vertices", "degree", "quotient", "eigenvalue", "gap"),
    *("predicted", "drift", "seconds"),
)


def row(spec: GraphSpec) -> None:
    """Print a line of the table."""
    metric, title = spec.metric(0), sizes_in_name(spec).partition("-")[2]
    setting = f"{metric.eps:.3g}, {metric.xi:.3g}, {spec.neighbors}"
    start = title, setting, spec.drift or "", f"{spec.num_vertices:,}"
    try:
        graph = Graph(spec)
    except CheblienetError:
        print_row(*start, "", "refused: no such weights", *[""] * 5)
        return
    last = spec.geometry.spectrum(COUNT, metric, None)[-1] + 1e-9
    blocks = rotor(graph.coordinates, metric, last)
    exact = np.concatenate([np.full(f.shape[1], value) for value, f, _ in blocks])[1:]
    quotients = np.concatenate([graph.ritz(f)[0] for _, f, _ in blocks])[1:]
    values = graph.eigenvalues(np.concatenate([f for _, f, _ in blocks], axis=1))[1:]
    squared = (graph.areas[:, None] * graph.drift**2).sum() / graph.areas.sum()
    error, own = (quotients / exact - 1).mean(), (values / exact - 1).mean()
    gap = np.sort(quotients).sum() / values.sum() - 1
    cells = f"{error:+.4f}", f"{own:+.4f}", f"{gap:.4f}", f"{graph.predicted(blocks[1:]):.4f}"
    drift = math.sqrt(squared) * graph.spacing
    degree = len(graph.rows) / graph.vertices
    print_row(*start, f"{degree:.1f}", *cells, f"{drift:.3f}", f"{graph.seconds:.1f}")


def main() -> None:
    """Print a line for each graph, without and with `drift`."""
    print_head(*HEAD)
    samplings: list[dict[str, Any]] = [
        *({"subdivisions": n} for n in (2, 3, 4, 5)),
        *({"nside": n} for n in (4, 8, 16)),
    ]
    metrics = {**ROTOR, "neighbors": 24}, {**ROTOR, "neighbors": 32}, {"neighbors": 24}
    for metric, size, count in itertools.product(metrics, samplings, (6, 12, 24)):
        given = {"orientations": count, "weights": "matched", "levels": 1} | size | metric
        for drift in (None, DRIFT):
            spec = GraphSpec("so3", **given, drift=drift)
            if spec.num_vertices <= MOST_VERTICES:
                row(spec)


if __name__ == "__main__":
    main()
