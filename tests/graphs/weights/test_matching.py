"""The nearest matching, with drift and without, against scipy and conditions of optimality."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse
from moments import Sparse, of_lattice, offsets
from scipy.optimize import nnls
from truth import plane_moments, se2_squared_distance

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.weights import matching
from cheblienet_graphs.weights.matching import (
    SparseSystem,
    matching_with_little_drift,
    nearest,
)


def problem(seed: int, constraints: int, unknowns: int) -> tuple[Sparse, np.ndarray, ...]:
    """A random feasible problem whose solution has zeros: C, targets, prior, repeats."""
    random = np.random.default_rng(seed)
    dense = random.standard_normal((constraints, unknowns))
    dense *= random.random((constraints, unknowns)) < 0.5
    true = random.exponential(size=unknowns) * (random.random(unknowns) < 0.4)
    prior = random.uniform(0.1, 2, unknowns)
    repeats = random.integers(1, 4, unknowns) / 2
    return Sparse(dense), dense @ true, prior, repeats


@pytest.mark.parametrize("dense", [1000, 0], ids=["dense", "sparse"])
@pytest.mark.parametrize("redundant", [False, True])
@pytest.mark.parametrize("seed", [1, 12, 22])
def test_nearest_weights_are_optimal(
    monkeypatch: pytest.MonkeyPatch, seed: int, redundant: bool, dense: int
) -> None:
    """Of priors over four decades, where whole Newton steps lead away from the solution."""
    monkeypatch.setattr(matching, "DENSE", dense)
    constraints, targets, _, repeats = problem(seed, 6, 25)
    prior = 10.0 ** np.random.default_rng(seed).uniform(-3, 1, 25)
    if redundant:
        mixing = np.random.default_rng(99).standard_normal((3, len(targets)))
        constraints = Sparse(scipy.sparse.vstack([constraints, mixing @ constraints.toarray()]))
        targets = np.concatenate([targets, mixing @ targets])
    solution = nearest(SparseSystem(constraints), targets, prior, repeats)
    assert solution.converged
    assert (solution.values >= 0).all()
    assert (solution.values == 0).any()  # bounds matter
    assert abs(constraints @ solution.values - targets).max() <= 1e-10
    # Karush, Kuhn, Tucker: the gradient is C^T y where weights are positive, above it elsewhere.
    gradient = repeats * (solution.values - prior) / prior
    positive, columns = solution.values > 0, constraints.toarray().T
    dual = np.linalg.lstsq(columns[positive], gradient[positive], rcond=1e-10)[0]
    scale = abs(gradient).max()
    assert abs(columns[positive] @ dual - gradient[positive]).max() <= 1e-6 * scale
    assert (gradient - columns @ dual >= -1e-6 * scale).all()


@pytest.mark.parametrize("dense", [1000, 0], ids=["dense", "sparse"])
@pytest.mark.parametrize("seed", range(2))
def test_infeasible_problems_do_not_converge(
    monkeypatch: pytest.MonkeyPatch, seed: int, dense: int
) -> None:
    monkeypatch.setattr(matching, "DENSE", dense)
    constraints, targets, prior, repeats = problem(seed, 5, 30)
    negative = targets.copy()
    positive = constraints.copy()
    positive.data = abs(positive.data)
    negative[0] = -1.0  # a positive combination can't be negative
    contradiction = Sparse(scipy.sparse.vstack([constraints, constraints]))
    both = np.concatenate([targets, targets + 1.0])
    for matrix_, goal in ((positive, negative), (contradiction, both)):
        solution = nearest(SparseSystem(matrix_), goal, prior, repeats)
        assert not solution.converged
        assert solution.residual > 1e-3


@pytest.mark.parametrize(
    ("n_o", "eps_squared", "bandwidth"), [(4, 0.01, 0.2), (5, 0.1, 0.05), (8, 0.1, 0.2)]
)
def test_matched_weights_are_the_nearest_on_their_edges(
    n_o: int, eps_squared: float, bandwidth: float
) -> None:
    """The whole of a lattice's problem, formulated per directed offset, without merging them."""
    fields = {"orientations": n_o, "eps_squared": eps_squared}
    spec = GraphSpec("se2", 32, weights="matched", neighbors=16, bandwidth=bandwidth, **fields)
    listed = offsets(of_lattice(spec))
    united = set(offsets(of_lattice(GraphSpec("se2", 32, weights="selling", **fields))))
    xi, theta = math.sqrt(n_o), -np.pi / 2 + np.arange(n_o) * np.pi / n_o
    dy, dx = (index.ravel() for index in np.mgrid[-6:7, -6:7])
    length = {}
    for i, j in itertools.product(range(n_o), repeat=2):
        squared = se2_squared_distance(dx, dy, float(theta[i]), float(theta[j]), spec.eps, xi)
        for y, x, s in zip(dy.tolist(), dx.tolist(), squared.tolist(), strict=True):
            if (i, y, x) != (j, 0, 0):
                length[i, y, x, j] = s
    radii = []
    for i in range(n_o):
        near = sorted(squared for key, squared in length.items() if key[0] == i)
        whole = [n for n in range(1, 17) if near[n] > near[n - 1] * (1 + 1e-7)]
        radii.append(near[whole[-1] - 1])
    united |= {k for k, s in length.items() if s <= min(radii[k[0]], radii[k[3]]) * (1 + 1e-7)}
    keys = sorted(united)
    squared = np.array([length[key] for key in keys])
    prior = np.exp(-squared / (4 * bandwidth * squared.mean()))
    prior = np.maximum(prior, 1e-3 * prior.max())
    i, dy, dx, j = np.array(keys).T
    first, second = plane_moments(dx, dy, i, j, n_o)
    root = np.array([1, 1 / spec.eps, xi])
    second = second * root[:, None] * root
    parts = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    rows = np.zeros((n_o, 7, len(keys)))
    rows[i, 6, np.arange(len(keys))] = first
    for place, (a, b) in enumerate(parts):
        rows[i, place, np.arange(len(keys))] = second[:, a, b]
    diagonal = np.array([2.0, 2, 2, 0, 0, 0, 0])
    prior *= 6 * n_o / float((rows[:, :3].sum(axis=(0, 1)) * prior).sum())
    # Symmetric weights: each offset's reverse is the same edge.
    where = {key: n for n, key in enumerate(keys)}
    reverse = np.array([where[end, -y, -x, start] for start, y, x, end in keys])
    ties = np.eye(len(keys)) - np.eye(len(keys))[reverse]
    constraints = np.vstack([rows.reshape(7 * n_o, -1), ties])
    targets = np.concatenate([np.tile(diagonal, n_o), np.zeros(len(keys))])
    # Nonnegative least squares, the constraints as rows of great weight.
    root = 1 / np.sqrt(prior)
    system = np.vstack([np.diag(root), 1e5 * constraints])
    expected = nnls(system, np.concatenate([root * prior, 1e5 * targets]), maxiter=10_000)[0]
    values = np.array([listed.get(key, 0.0) for key in keys]) / 32**2
    assert set(listed) <= set(keys)
    assert np.allclose(values, expected, rtol=0, atol=1e-5 * expected.max())


VERTICES, SUMS = 7, 3


def entries(seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Rows and edges of the complete graph of some vertices, and random numbers."""
    rows, columns = np.nonzero(~np.eye(VERTICES, dtype=bool))
    keys = np.minimum(rows, columns) * VERTICES + np.maximum(rows, columns)
    return rows, np.unique(keys, return_inverse=True)[1], np.random.default_rng(seed)


def dense(parts: np.ndarray, rows: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """(vertices sums, edges) what the sums of each vertex are made of."""
    matrix = np.zeros((VERTICES, parts.shape[1], edges.max() + 1))
    np.add.at(matrix, (rows, slice(None), edges), parts)
    return matrix.reshape(-1, matrix.shape[2])


@pytest.mark.parametrize("seed", range(3))
def test_weights_of_little_drift_are_those_of_least_squares(seed: int) -> None:
    """The penalty as rows of its weight, second moments as rows of a great one."""
    rows, edges, random = entries(seed)
    first = random.standard_normal((len(rows), 1))
    second = random.uniform(0.5, 1.5, (len(rows), 1))
    prior = random.uniform(0.1, 2, edges.max() + 1)
    true = prior * random.uniform(0, 3, len(prior)) * (random.random(len(prior)) < 0.7)
    exact, drift = dense(second, rows, edges), dense(first, rows, edges)
    targets, allowance = exact @ true, 0.1
    solution = matching_with_little_drift(first, second, targets, prior, rows, edges, allowance)
    assert solution.converged
    slack = allowance * (drift**2 @ prior).mean()
    root = 1 / np.sqrt(prior)
    system = np.vstack([np.diag(root), 1e4 * exact, drift / np.sqrt(slack)])
    wanted = np.concatenate([root * prior, 1e4 * targets, np.zeros(len(drift))])
    expected = nnls(system, wanted, maxiter=10_000)[0]
    assert (expected == 0).any()  # bounds matter
    assert solution.values == pytest.approx(expected, abs=1e-5)
    assert exact @ solution.values == pytest.approx(targets, abs=1e-9)
