"""Why eigenvalues of SO(3) with matched weights are lower than the quotients of smooth functions.

    python benchmarks/so3_gap.py [size|metric|slack|gauge|s2]   # size takes hours

Exact eigenfunctions of the rotor, put on the vertices, have Rayleigh quotients; the graph's own
eigenvalues are lower, by the gap. All numbers are of the first 15 nonzero eigenvalues:

- quotient, eigenvalue: mean error of the Rayleigh-Ritz values within each exact eigenspace, and of
  the graph's eigenvalues, relative to the exact ones;
- gap: mean of quotient over eigenvalue - 1;
- predicted: the gap by first-order theory, sum of <d, L^-1 d> over the sum of eigenvalues, where
  d = sum_a b_a A_a f, b_a the drift sum_j w_ij c_a and f an eigenfunction: what first moments do;
- drift: root of the mean of |b|^2 times the spacing;
- seconds: of the matching alone.

size: levels of the icosphere and HEALPix with 6, 12, 24 orientations, eps = 0.3, xi = 0.5, and with
the default xi^2 = alpha n_o A. metric: other eps, xi and K on one sampling. slack: other
values of `drift`. gauge: the orientations of each point turned by an angle of its
own. s2: the sphere itself, also random points.
"""

import dataclasses
import math
import time
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg
from scripts import print_head, print_row, run_parts

from cheblienet_graphs import CheblienetError, GraphSpec
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.engines import NeighborRule
from cheblienet_graphs.weights.scattered import matched_edges

Floats = NDArray[np.float64]
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


def harmonics(coordinates: Floats, most: float) -> list[Block]:
    """The eigenspaces of S^2: Wigner's functions with K = 0, whose derivatives are not needed."""
    three = np.column_stack([np.zeros(len(coordinates)), coordinates])
    free = Metric(1.0, 1e-3)  # turning is so dear that K = 0
    return [block for block in rotor(three, free, most) if block[0] <= most]


class Graph:
    """Matched weights on a level, and what its operator does to smooth functions.

    Args:
        spec: of one level.
        turn: angles (points,) by which the orientations of each point are turned; None: none.
    """

    def __init__(self, spec: GraphSpec, turn: Floats | None = None) -> None:
        sampling: Any = spec.full_sampling(0)
        if turn is not None:
            sampling = _turned(sampling, turn)
        self.metric, self.manifold = spec.metric(0), spec.geometry
        sampled = SampledManifold(sampling, self.manifold, self.metric)
        rule = NeighborRule(sampled, spec.searched_neighbors, Choice("pruned", "cpu"))
        engine, lengths = rule.engine(), rule.lengths(rule.lists())
        self.coordinates, self.areas = sampling.coordinates(), sampling.areas()
        began = time.perf_counter()
        matched = matched_edges(spec, sampled, engine, lengths)
        self.seconds = time.perf_counter() - began
        self.rows, self.columns, self.weights = matched.entries
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
        drift: Floats = np.stack(sums, axis=1) / self.areas[:, None]
        return drift

    def solve(self, right: Floats, start: Floats | None = None) -> Floats:
        """(L + SHIFT A)^-1 of columns."""
        diagonal = self._shifted.diagonal()
        scaling = LinearOperator(self._shifted.shape, matvec=lambda v: v / diagonal, dtype=float)
        first = np.zeros_like(right) if start is None else start
        columns = [
            cg(self._shifted, b, x0=x, rtol=1e-7, maxiter=5000, M=scaling)[0]
            for b, x in zip(right.T, first.T, strict=True)
        ]
        solution: Floats = np.stack(columns, axis=1)
        return solution

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


def _turned(sampling: Any, turn: Floats) -> Any:
    """The sampling with the orientations of each point turned."""

    class Turned(type(sampling)):  # type: ignore[misc]
        def coordinates(self, start: int = 0, stop: int | None = None) -> Floats:
            coordinates = np.array(super().coordinates())
            coordinates[:, 0] += np.tile(turn, self.orientations)
            return coordinates[slice(start, stop)]

    fields = {f.name: getattr(sampling, f.name) for f in dataclasses.fields(sampling)}
    return Turned(**fields)


HEAD = (
    *("graph", "eps, xi, K", "drift given", "vertices", "degree", "quotient", "eigenvalue", "gap"),
    *("predicted", "drift", "seconds"),
)


def row(title: str, fields: dict[str, Any], turn: Floats | None = None) -> None:
    """Print a line of a table."""
    given: dict[str, Any] = {"manifold": "so3", "weights": "matched", "levels": 1} | fields
    spec = GraphSpec(**given)
    metric = spec.metric(0)
    setting = f"{metric.eps:.3g}, {metric.xi:.3g}, {spec.neighbors}"
    start = title, setting, spec.drift or "", f"{spec.num_vertices:,}"
    try:
        graph = Graph(spec, turn)
    except CheblienetError:
        print_row(*start, "", "refused: no such weights", *[""] * 5)
        return
    last = spec.geometry.spectrum(COUNT, metric, None)[-1] + 1e-9
    if spec.geometry.oriented:
        blocks = rotor(graph.coordinates, metric, last)
    else:
        blocks = harmonics(graph.coordinates, last)
    exact = np.concatenate([np.full(f.shape[1], value) for value, f, _ in blocks])[1:]
    quotients = np.concatenate([graph.ritz(f)[0] for _, f, _ in blocks])[1:]
    values = graph.eigenvalues(np.concatenate([f for _, f, _ in blocks], axis=1))[1:]
    predicted = f"{graph.predicted(blocks[1:]):.4f}" if spec.geometry.oriented else ""
    squared = (graph.areas[:, None] * graph.drift**2).sum() / graph.areas.sum()
    error, own = (quotients / exact - 1).mean(), (values / exact - 1).mean()
    gap = np.sort(quotients).sum() / values.sum() - 1
    cells = f"{error:+.4f}", f"{own:+.4f}", f"{gap:.4f}", predicted
    drift = math.sqrt(squared) * graph.spacing
    degree = len(graph.rows) / graph.vertices
    print_row(*start, f"{degree:.1f}", *cells, f"{drift:.3f}", f"{graph.seconds:.1f}")


def both(title: str, fields: dict[str, Any], turn: Floats | None = None) -> None:
    """A line without, and one with `drift`."""
    row(title, fields, turn)
    row(title, {**fields, "drift": DRIFT}, turn)


def sizes() -> None:
    """Levels and orientations."""
    print_head(*HEAD)
    samplings: list[dict[str, Any]] = [{"subdivisions": n} for n in (2, 3, 4, 5)] + [
        {"nside": n} for n in (4, 8, 16)
    ]
    for metric in ({**ROTOR, "neighbors": 24}, {**ROTOR, "neighbors": 32}, {"neighbors": 24}):
        for size in samplings:
            for count in (6, 12, 24):
                spec = GraphSpec("so3", orientations=count, **size)
                if spec.num_vertices <= MOST_VERTICES:
                    title = spec.default_name.partition("-")[2]
                    both(title, {**size, "orientations": count, **metric})


def metrics() -> None:
    """Other metrics, and other numbers of neighbors."""
    print_head(*HEAD)
    size = {"subdivisions": 3, "orientations": 12}
    for eps in (1.0, 0.316, 0.1):
        both("icosahedral-3x12", {**size, "neighbors": 32, "eps": eps, "xi": 0.5})
    for xi in (0.3, 0.4, 0.7):
        both("icosahedral-3x12", {**size, "neighbors": 32, "eps": 0.3, "xi": xi})
    for count in (24, 32, 48, 64):
        both("icosahedral-3x12", {**size, **ROTOR, "neighbors": count})


def slacks() -> None:
    """How much slack first moments are given."""
    print_head(*HEAD)
    for size in ((2, 6), (3, 12)):
        fields = {"subdivisions": size[0], "orientations": size[1], **ROTOR, "neighbors": 24}
        title = f"icosahedral-{size[0]}x{size[1]}"
        row(title, fields)
        for slack in (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001):
            row(title, {**fields, "drift": slack})


def gauges() -> None:
    """Orientations as they are, and turned by random angles, up to a whole step or half of it."""
    print_head(*HEAD)
    for level in (2, 3):
        fields = {"subdivisions": level, "orientations": 6 * (level - 1), **ROTOR, "neighbors": 32}
        step = math.pi / fields["orientations"]
        points = GraphSpec("s2", subdivisions=level).num_vertices
        random = np.random.default_rng(1).random(points)
        for share in (0.0, 0.5, 1.0):
            title = f"icosahedral-{level}, turned by up to {share:g} steps"
            both(title, fields, share * step * random)


def spheres() -> None:
    """S^2, on points that refine one another and on random ones."""
    print_head(*HEAD)
    sizes: list[dict[str, Any]] = [{"subdivisions": n} for n in (2, 3, 4, 5)]
    sizes += [{"nside": n} for n in (4, 8, 16)]
    sizes += [{"points": n, "seed": 1} for n in (500, 2000, 8000)]
    for size in sizes:
        spec = GraphSpec("s2", **size)
        fields = {"manifold": "s2", **size, "neighbors": 30 if "points" in size else 24}
        both(spec.default_name, fields)


PARTS = {"size": sizes, "metric": metrics, "slack": slacks, "gauge": gauges, "s2": spheres}

if __name__ == "__main__":
    run_parts(__doc__, PARTS)
