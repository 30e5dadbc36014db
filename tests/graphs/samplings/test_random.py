"""Random points: uniform, with cells of their own; their levels: `test_maps`."""

import math

import numpy as np
import pytest
from scipy.stats import kstest
from sphere_truth import rotations

from cheblienet_graphs.manifolds.base import Angles
from cheblienet_graphs.samplings.random import Random
from cheblienet_graphs.samplings.voronoi import cell_areas

ANGLES = Angles(("theta",))


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


@pytest.mark.parametrize("periodic", [False, True])
def test_areas_of_random_points_are_those_of_their_cells(periodic: bool) -> None:
    plane = Random(size=60, flat=True, seed=2, orientations=3, fiber=ANGLES, periodic=periodic)
    x, y, theta = plane.coordinates().T.reshape(3, 3, 60)
    assert (np.stack([x, y], axis=2) == plane.base_points).all()
    assert np.allclose(theta, np.array([[-math.pi / 2], [-math.pi / 6], [math.pi / 6]]))
    assert (plane.areas().reshape(3, 60) == plane.base_areas).all()
    assert (plane.areas(50, 130) == plane.areas()[50:130]).all()
    assert math.isclose(plane.base_areas.mean(), 1, rel_tol=1e-14)
    cells = cell_areas(plane.base_points, (1.0, 1.0), periodic=periodic)
    assert np.allclose(plane.base_areas, 60 * cells)
