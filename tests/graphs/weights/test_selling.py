"""Selling's stencils, in the plane and in space: his formula, and a linear program's optimum."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from truth import matrix

from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.weights.selling import base_offsets, selling


def stencils(orientations: int, eps: float, xi: float) -> list[tuple[np.ndarray, ...]]:
    """Orientations, offsets and weights, lengths in pixels."""
    se2 = MANIFOLDS["se2"]
    return selling(se2, Metric(eps, xi), Lattice((8, 8), orientations, se2.fiber))


@pytest.mark.parametrize("eps", [0.001, 0.1, 0.3162, 1.0])
@pytest.mark.parametrize("orientations", [1, 2, 3, 7])
def test_selling_stencils(orientations: int, eps: float) -> None:
    """Selling's formula to rounding, on primitive offsets, of least degree."""
    theta, xi = -np.pi / 2 + np.arange(orientations) * np.pi / orientations, 2.3
    for i, (j, offsets, weights) in enumerate(stencils(orientations, eps, xi)):
        dy, dx = offsets.T
        places = np.stack([j, dy, dx])
        assert len(weights) <= 8
        assert (weights > 0).all()
        assert len(np.unique(places, axis=1).T) == len(weights)
        inside = j == i
        v = np.stack([dx, dy])[:, inside]
        assert v.shape[1] <= 6
        assert all(math.gcd(*step) == 1 for step in v.T.tolist())
        turn = np.array(matrix(0, 0, float(theta[i])))[:2, :2]
        tensor = turn @ np.diag([1, eps**2]) @ turn.T
        product = v * weights[inside] @ v.T
        # Below, |v|^2 reaches 2000, and terms cancel.
        assert abs(product - 2 * tensor).max() <= 5e-12
        scale = turn * [1, 1 / eps]
        assert abs(scale.T @ product @ scale / 2 - np.eye(2)).max() <= 1e-9
        around = {(i - 1) % orientations, (i + 1) % orientations} - {i}
        assert set(j[~inside].tolist()) == around
        assert not dy[~inside].any()
        assert not dx[~inside].any()
        if around:
            expected = 2 / (xi * math.sin(math.pi / orientations)) ** 2 / len(around)
            assert weights[~inside] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("eps", [0.1, 0.3162, 0.5])
def test_selling_weights_solve_the_linear_program(eps: float) -> None:
    """Of all decompositions of D over the lattice, Selling's has the largest sum of weights.

    It is the dual of Voronoi's first reduction of a quadratic form.
    """
    half = [(x, y) for x in range(-6, 7) for y in range(7) if (y, x) > (0, 0)]
    rows = np.array([(x * x, y * y, x * y) for x, y in half], float).T
    theta = -np.pi / 2 + np.arange(5) * np.pi / 5
    for i, (j, _, weights) in enumerate(stencils(5, eps, 1.0)):
        turn = np.array(matrix(0, 0, float(theta[i])))[:2, :2]
        tensor = turn @ np.diag([1, eps**2]) @ turn.T
        targets = [tensor[0, 0], tensor[1, 1], tensor[0, 1]]
        best = linprog(-np.ones(len(half)), A_eq=rows, b_eq=targets, method="highs")
        assert best.status == 0
        assert weights[j == i].sum() / 2 == pytest.approx(-best.fun, abs=1e-9)


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
