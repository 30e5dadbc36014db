"""The nearest matching, with drift and without, against scipy and conditions of optimality."""

import numpy as np
import pytest
import scipy.sparse
from moments import Sparse
from scipy.optimize import nnls

from cheblienet_graphs.weights import matching
from cheblienet_graphs.weights.matching import System, matching_with_little_drift, nearest


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
    solution = nearest(System(constraints), targets, prior, repeats)
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


def test_priors_of_long_edges_can_grow() -> None:
    assert matching.lifted(np.array([2.0, 0.01, 1e-9, 0])).tolist() == [2, 0.01, 0.002, 0.002]


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
