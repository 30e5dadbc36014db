"""What all samplings promise: the order of their vertices, their coordinates, areas and levels."""

import itertools
import math

import numpy as np
import pytest
from sphere_truth import rotations, unit_vectors

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.manifolds.base import AnglesModuloPi
from cheblienet_graphs.samplings.grids import Equiangular, Healpix
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.points import Points
from cheblienet_graphs.samplings.random import Random

ANGLES = AnglesModuloPi("alpha")

SPHERES = [
    Icosphere(6, ANGLES, 0),
    Icosphere(5, ANGLES, 2),
    Healpix(5, ANGLES, 4),
    Equiangular(6, ANGLES, 5),
    Random(4, ANGLES, 50, seed=7),
]


def kind(value: object) -> str:
    return type(value).__name__


@pytest.mark.parametrize("points", SPHERES, ids=kind)
def test_vertices_are_orientation_major(points: Points) -> None:
    n_o, count = points.orientations, points.num_points
    assert points.num_vertices == n_o * count
    coordinates = points.coordinates()
    assert coordinates.shape == (points.num_vertices, 3)
    alpha, beta, gamma = coordinates.T.reshape(3, n_o, count)
    expected = -math.pi / 2 + np.arange(n_o) * math.pi / n_o
    assert np.allclose(alpha, expected[:, None], rtol=0, atol=1e-15)
    assert (beta == beta[0]).all()
    assert (gamma == gamma[0]).all()
    assert ((beta >= 0) & (beta <= math.pi)).all()


@pytest.mark.parametrize("points", SPHERES, ids=kind)
def test_coordinates_are_those_of_the_base_points(points: Points) -> None:
    base = points.base_points
    assert np.allclose(np.linalg.norm(base, axis=1), 1, rtol=0, atol=1e-15)
    over = rotations(points.coordinates()).apply([0, 0, 1])
    assert np.abs(over - np.tile(base, (points.orientations, 1))).max() < 1e-15
    flat = unit_vectors(points.coordinates()[: len(base), 1:])
    assert np.abs(flat - base).max() < 1e-15


@pytest.mark.parametrize("points", SPHERES, ids=kind)
def test_areas_have_mean_one(points: Points) -> None:
    areas = points.areas()
    assert areas.shape == (points.num_vertices,)
    assert (areas > 0).all()
    assert math.isclose(areas.mean(), 1, rel_tol=1e-14)
    assert (areas.reshape(points.orientations, -1) == areas[: points.num_points]).all()


@pytest.mark.parametrize("name", ["subdivisions", "nside", "bandlimit"])
def test_levels_of_a_specification(name: str) -> None:
    spec = GraphSpec("s2", **{name: 4}, levels=3)
    finest, *coarser = [spec.full_sampling(level) for level in range(3)]
    assert finest.coordinates().shape == (finest.num_points, 2)
    for level in (finest, *coarser):
        assert level.num_points == level.num_vertices == len(level.base_points)
    for fine, coarse in itertools.pairwise([finest, *coarser]):
        assert fine.pooling().shape == (coarse.num_points, fine.num_points)
        assert fine.unpooling().shape == (fine.num_points, coarse.num_points)
