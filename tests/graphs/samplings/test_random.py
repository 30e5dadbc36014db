"""Random points: uniform, with cells of their own; their levels: `test_maps`."""

import math

import numpy as np
from scipy.stats import kstest
from sphere_truth import rotations

from cheblienet_graphs.samplings.random import Random


def test_points_are_uniform() -> None:
    points = Random(size=20_000, seed=1).base_points
    rotated = rotations([0.4, 1.1, -0.3]).apply(points)
    for x, y, z in (points.T, rotated.T):
        assert kstest(z, "uniform", args=(-1, 2)).pvalue > 1e-3
        assert kstest(np.arctan2(y, x), "uniform", args=(-math.pi, 2 * math.pi)).pvalue > 1e-3
        assert abs(np.corrcoef(z, np.arctan2(y, x))[0, 1]) < 0.03
    assert np.allclose(points.T @ points / len(points), np.eye(3) / 3, rtol=0, atol=0.01)
    for side in Random(size=20_000, flat=True, seed=1).base_points.T:
        assert kstest(side, "uniform").pvalue > 1e-3
