"""Selling's stencils: his formula to rounding, and the optimum of a linear program."""

import math

import numpy as np
import pytest
from moments import EPS
from scipy.optimize import linprog
from truth import matrix

from cheblienet_graphs.weights.selling import selling


@pytest.mark.parametrize("eps", [*EPS, 0.03, 0.01, 0.001])
@pytest.mark.parametrize("orientations", [1, 2, 3, 4, 6, 7, 12])
def test_selling_stencils(orientations: int, eps: float) -> None:
    """Selling's formula to rounding, on primitive offsets, of least degree."""
    theta, xi = -np.pi / 2 + np.arange(orientations) * np.pi / orientations, 2.3
    for i, (places, weights) in enumerate(selling(theta, eps, xi)):
        j, dy, dx = places
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
    for i, (places, weights) in enumerate(selling(theta, eps, 1.0)):
        turn = np.array(matrix(0, 0, float(theta[i])))[:2, :2]
        tensor = turn @ np.diag([1, eps**2]) @ turn.T
        targets = [tensor[0, 0], tensor[1, 1], tensor[0, 1]]
        best = linprog(-np.ones(len(half)), A_eq=rows, b_eq=targets, method="highs")
        assert best.status == 0
        assert weights[places[0] == i].sum() / 2 == pytest.approx(-best.fun, abs=1e-9)
