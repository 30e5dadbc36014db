"""Random points: uniform, reproducible, without symmetries; their levels: `test_nearest`."""

import math

import numpy as np
import pytest
from scipy.stats import kstest
from sphere_truth import rotations

from cheblienet_graphs.manifolds.fibre import AnglesModuloPi
from cheblienet_graphs.samplings.random import RandomPlane, RandomSphere
from cheblienet_graphs.samplings.voronoi import plane_cells, sphere_cells

ANGLES = AnglesModuloPi("theta")


def test_random_sphere_is_uniform() -> None:
    points = RandomSphere(points=20_000, seed=1).base_points
    rotated = rotations([0.4, 1.1, -0.3]).apply(points)
    for x, y, z in (points.T, rotated.T):
        assert kstest(z, "uniform", args=(-1, 2)).pvalue > 1e-3
        assert kstest(np.arctan2(y, x), "uniform", args=(-math.pi, 2 * math.pi)).pvalue > 1e-3
        assert abs(np.corrcoef(z, np.arctan2(y, x))[0, 1]) < 0.03
    assert np.allclose(points.T @ points / len(points), np.eye(3) / 3, rtol=0, atol=0.01)


def test_random_plane_is_uniform() -> None:
    x, y = RandomPlane(points=20_000, seed=1).base_points.T
    for side in (x, y):
        assert ((side >= 0) & (side < 1)).all()
        assert kstest(side, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.03


@pytest.mark.parametrize("random", [RandomPlane, RandomSphere])
def test_random_points_are_reproducible(random: type) -> None:
    first, again, other = (random(points=30, seed=seed).base_points for seed in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize("random", [RandomPlane, RandomSphere])
def test_random_points_have_no_symmetries(random: type) -> None:
    assert list(random(points=30).symmetries()) == []


def test_random_plane_is_orientation_major() -> None:
    points = RandomPlane(points=5, seed=2, orientations=3, fibre=ANGLES)
    x, y, theta = points.coordinates().T.reshape(3, 3, 5)
    assert (np.stack([x, y], axis=2) == points.base_points).all()
    assert np.allclose(theta, np.array([[-math.pi / 2], [-math.pi / 6], [math.pi / 6]]))


@pytest.mark.parametrize("periodic", [False, True])
def test_areas_of_random_points_are_those_of_their_cells(periodic: bool) -> None:
    plane = RandomPlane(points=60, seed=2, orientations=3, fibre=ANGLES, periodic=periodic)
    assert (plane.areas().reshape(3, 60) == plane.base_areas).all()
    assert (plane.areas(50, 130) == plane.areas()[50:130]).all()
    assert math.isclose(plane.base_areas.mean(), 1, rel_tol=1e-14)
    cells = plane_cells(plane.base_points, (1.0, 1.0), periodic=periodic)
    assert np.allclose(plane.base_areas, 60 * cells)
    sphere = RandomSphere(points=60, seed=2)
    assert np.allclose(sphere.base_areas, 60 / (4 * math.pi) * sphere_cells(sphere.base_points))
