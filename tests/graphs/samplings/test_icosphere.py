"""Icospheres: counts, nesting, areas, and pooling between a point and the midpoints around."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial import SphericalVoronoi
from sphere_truth import arcs

from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.maps import LevelMap


def matrix(found: LevelMap) -> csr_matrix:
    return csr_matrix((found.data, found.indices, found.indptr), shape=found.shape)


@pytest.mark.parametrize("subdivisions", range(5))
def test_icosphere_counts_and_nests(subdivisions: int) -> None:
    points = Icosphere(size=subdivisions).base_points
    assert points.shape == (10 * 4**subdivisions + 2, 3)
    finer = Icosphere(size=subdivisions + 1)
    assert (finer.base_points[: len(points)] == points).all()
    apart = np.sort(arcs(points[:12, None], points[:12]), axis=1)
    assert np.allclose(apart[:, 1:6], math.atan(2))
    for pole in (0, math.pi):
        (at_pole,) = np.flatnonzero(abs(finer.angles[0] - pole) < 1e-9)
        assert finer.angles[1][at_pole] == 0


@pytest.mark.parametrize("subdivisions", range(5))
def test_icosphere_areas_are_voronoi_cells(subdivisions: int) -> None:
    found = Icosphere(size=subdivisions)
    areas = SphericalVoronoi(found.base_points).calculate_areas()
    assert np.abs(found.base_areas - areas / areas.mean()).max() < 1e-10


@pytest.mark.parametrize("subdivisions", [1, 2, 3])
def test_icosphere_pools_a_point_and_the_midpoints_around(subdivisions: int) -> None:
    fine = Icosphere(size=subdivisions)
    coarse = Icosphere(size=subdivisions - 1)
    pooled = matrix(fine.pooling())
    sizes = np.diff(pooled.indptr)
    assert (sizes[:12] == 6).all()
    assert (sizes[12:] == 7).all()
    apart = arcs(coarse.base_points[:, None], fine.base_points)
    for v, size in enumerate(sizes):
        row = pooled.indices[pooled.indptr[v] : pooled.indptr[v + 1]]
        assert row[0] == v
        assert (np.diff(row) > 0).all()
        assert set(row) == set(np.argsort(apart[v])[:size])


@pytest.mark.parametrize("subdivisions", [1, 2, 3])
def test_icosphere_unpools_from_two_parents(subdivisions: int) -> None:
    fine = Icosphere(size=subdivisions)
    coarse = Icosphere(size=subdivisions - 1).base_points
    spread = matrix(fine.unpooling()).toarray()
    assert (spread[: len(coarse)] == np.eye(len(coarse))).all()
    new = spread[len(coarse) :]
    assert (np.sort(new, axis=1)[:, -3:] == [0, 0.5, 0.5]).all()
    middle = new @ coarse
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    assert np.abs(middle - fine.base_points[len(coarse) :]).max() < 1e-15
