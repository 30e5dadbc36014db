"""Selling's stencils, in the plane and in space: his formula, and a linear program's optimum."""

import math

import numpy as np
import pytest
from axes_truth import tilt_residual
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from truth import matrix

from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.samplings.axes import AXIS_SETS, Axes, axis_set
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.weights.superbases import base_offsets, selling, tilt_edges


def stencils(orientations: int, eps: float, xi: float) -> list[tuple[np.ndarray, ...]]:
    """Orientations, offsets and weights, lengths in pixels."""
    se2 = MANIFOLDS["se2"]
    return selling(se2, Metric(eps, xi), Lattice((8, 8), orientations, se2.fiber))


@pytest.mark.parametrize("eps", [0.001, 0.1, 0.3162, 1.0])
@pytest.mark.parametrize("orientations", [1, 2, 5])
def test_selling_stencils(orientations: int, eps: float) -> None:
    """Selling's formula to rounding, on few primitive offsets, and the linear program's optimum.

    Of all decompositions of D over the lattice, Selling's has the largest sum of weights. It is
    the dual of Voronoi's first reduction of a quadratic form.
    """
    half = [(x, y) for x in range(-6, 7) for y in range(7) if (y, x) > (0, 0)]
    rows = np.array([(x * x, y * y, x * y) for x, y in half], float).T
    theta = -np.pi / 2 + np.arange(orientations) * np.pi / orientations
    for i, (j, offsets, weights) in enumerate(stencils(orientations, eps, 1.0)):
        assert (weights > 0).all()
        v, own = offsets[j == i, ::-1].T, weights[j == i]
        assert v.shape[1] <= 6
        assert all(math.gcd(*step) == 1 for step in v.T.tolist())
        turn = np.array(matrix(0, 0, float(theta[i])))[:2, :2]
        tensor = turn @ np.diag([1, eps**2]) @ turn.T
        # Of the smallest eps, |v|^2 reaches 2000, and terms cancel.
        assert abs(v * own @ v.T - 2 * tensor).max() <= 5e-12
        if eps > 0.01:
            targets = [tensor[0, 0], tensor[1, 1], tensor[0, 1]]
            best = linprog(-np.ones(len(half)), A_eq=rows, b_eq=targets, method="highs")
            assert best.status == 0
            assert own.sum() / 2 == pytest.approx(-best.fun, abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.3, 0.1, 0.01]))
def test_selling_decomposes_any_matrix(seed: int, eps: float) -> None:
    """D = sum of weights w v v^T / 2 on at most six pairs of primitive offsets."""
    random = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    rates = np.array([1.0, eps**2, random.uniform(eps**2, 1)])
    terms = list(zip(rates.tolist(), turn.T.tolist(), strict=True))
    offsets, weights = (np.array(part) for part in zip(*base_offsets(terms), strict=True))
    assert (weights > 0).all()
    assert len(weights) <= 12
    assert (np.gcd.reduce(offsets, axis=1) == 1).all()
    assert abs(offsets.T * weights @ offsets - 2 * (turn * rates @ turn.T)).max() <= 1e-10
    both = {tuple(v) for v in offsets.tolist()}
    assert len(both) == len(weights)
    assert both == {tuple(-n for n in v) for v in both}


def edge_weights(axes: Axes, xi: float = 1.0) -> np.ndarray:
    weights = np.zeros((len(axes),) * 2)
    for row, edges in zip(weights, tilt_edges(axes, xi), strict=True):
        for other, weight in edges:
            row[other] = weight
    return weights


@pytest.mark.parametrize("name", AXIS_SETS)
def test_quadratic_functions_are_exact(name: str) -> None:
    axes = axis_set(name)
    weights = edge_weights(axes)
    assert (weights >= 0).all()
    assert (weights == weights.T).all()
    assert (np.diag(weights) == 0).all()
    assert tilt_residual(axes.points, axes.areas, weights) <= 1e-11
    for _, image in axes.rotations:
        assert (weights[np.ix_(image, image)] == weights).all()
    assert (weights > 0).sum(axis=1).max() <= 15
    assert edge_weights(axes, 0.5) == pytest.approx(4 * weights, rel=1e-14)


@pytest.mark.parametrize("name", ["6", "13", "22", "ico21"])
def test_neither_a_smaller_angle_nor_smaller_weights_will_do(name: str) -> None:
    """Another solver finds no weights between nearer axes that are not negative.

    Those of least norm are w = (C^T y)_+ for some y, C w the conditions: there is such a y.
    """
    axes = axis_set(name)
    weights = edge_weights(axes)
    widest = axes.angles[weights > 0].max()
    rules, targets, _ = conditions(axes, widest - 1e-6)
    least = np.zeros(rules.shape[1])
    assert linprog(least, A_eq=rules, b_eq=targets, bounds=(0, None)).status == 2
    rules, _, (one, other) = conditions(axes, widest + 1e-6)
    values = weights[one, other]
    used = values > 0
    multipliers = linprog(
        np.zeros(len(rules)),
        A_eq=rules[:, used].T,
        b_eq=values[used],
        A_ub=rules[:, ~used].T,
        b_ub=np.full((~used).sum(), 1e-9),
        bounds=(None, None),
    )
    assert multipliers.status == 0


def test_axes_that_do_not_surround_a_point() -> None:
    plane = [(np.cos(a), np.sin(a), 0.0) for a in np.arange(5) * np.pi / 5]
    with pytest.raises(ValueError, match="no weights between these axes"):
        tilt_edges(Axes(name="plane", points=np.array(plane)), 1.0)


def conditions(axes: Axes, widest: float) -> tuple[np.ndarray, np.ndarray, tuple]:
    """C, C w and the pairs: 6 numbers of sum_j w_ij (T_i - T_j) for each axis."""
    one, other = np.triu_indices(len(axes), 1)
    near = axes.angles[one, other] <= widest
    one, other = one[near], other[near]
    tensors = axes.points[:, :, None] * axes.points[:, None] - np.eye(3) / 3
    upper = np.triu_indices(3)
    rules = np.zeros((len(axes), 6, len(one)))
    for pair, (i, j) in enumerate(zip(one, other, strict=True)):
        rules[i, :, pair] = (tensors[i] - tensors[j])[upper]
        rules[j, :, pair] = (tensors[j] - tensors[i])[upper]
    targets = 6 * axes.areas[:, None] * tensors[:, *upper]
    return rules.reshape(-1, len(one)), targets.ravel(), (one, other)
