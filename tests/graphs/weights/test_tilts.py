"""Edges between axes: exact for quadratic functions, the fewest degrees wide, the least in norm."""

import numpy as np
import pytest
from axes_truth import tilt_residual
from scipy.optimize import linprog

from cheblienet_graphs.samplings.axes import AXIS_SETS, Axes, axis_set
from cheblienet_graphs.weights.tilts import tilt_edges


def matrix(axes: Axes, xi: float = 1.0) -> np.ndarray:
    weights = np.zeros((len(axes),) * 2)
    for row, edges in zip(weights, tilt_edges(axes, xi), strict=True):
        for other, weight in edges:
            row[other] = weight
    return weights


@pytest.mark.parametrize("name", AXIS_SETS)
def test_quadratic_functions_are_exact(name: str) -> None:
    axes = axis_set(name)
    weights = matrix(axes)
    assert (weights >= 0).all()
    assert (weights == weights.T).all()
    assert (np.diag(weights) == 0).all()
    assert tilt_residual(axes.points, axes.areas, weights) <= 1e-11
    for _, image in axes.rotations:
        assert (weights[np.ix_(image, image)] == weights).all()
    assert (weights > 0).sum(axis=1).max() <= 15
    assert matrix(axes, 0.5) == pytest.approx(4 * weights, rel=1e-14)


@pytest.mark.parametrize("name", ["6", "13", "22", "ico21"])
def test_neither_a_smaller_angle_nor_smaller_weights_will_do(name: str) -> None:
    """Another solver finds no weights between nearer axes that are not negative.

    Those of least norm are w = (C^T y)_+ for some y, C w the conditions: there is such a y.
    """
    axes = axis_set(name)
    weights = matrix(axes)
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
