"""HEALPix and the equiangular grid: points, rings, and the blocks that are pooled."""

import itertools
import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sphere_truth import arcs

from cheblienet_graphs.samplings.grids import Equiangular, Healpix
from cheblienet_graphs.samplings.maps import LevelMap


def matrix(found: LevelMap) -> csr_matrix:
    return csr_matrix((found.data, found.indices, found.indptr), shape=found.shape)


@pytest.mark.parametrize("nside", [1, 2, 4, 16])
def test_healpix_rings(nside: int) -> None:
    """Gorski et al. (2005), equations 2 to 8: heights of the rings, pixels in each."""
    points = Healpix(size=nside).base_points
    caps = [1 - i**2 / (3 * nside**2) for i in range(1, nside)]
    belt = [4 / 3 - 2 * i / (3 * nside) for i in range(nside, 2 * nside)]
    north = [*np.repeat(caps, 4 * np.arange(1, nside)), *np.repeat(belt, 4 * nside)]
    heights = np.concatenate([north, np.zeros(4 * nside), np.negative(north)])
    assert len(points) == 12 * nside**2
    assert np.allclose(np.sort(points[:, 2]), np.sort(heights), rtol=0, atol=1e-14)


@pytest.mark.parametrize("nside", [2, 4, 16])
def test_healpix_children_are_nearest_to_their_parent(nside: int) -> None:
    fine, coarse = Healpix(size=nside), Healpix(size=nside // 2)
    apart = arcs(coarse.base_points[:, None], fine.base_points)
    parents = np.arange(len(fine.base_points)) // 4
    assert (apart.argmin(axis=0) == parents).all()
    four = np.sort(np.argsort(apart, axis=1)[:, :4], axis=1)
    assert (four == np.arange(len(parents)).reshape(-1, 4)).all()
    assert (matrix(fine.pooling()).indices.reshape(-1, 4) == four).all()


@pytest.mark.parametrize("bandlimit", [1, 3, 8])
def test_equiangular_angles(bandlimit: int) -> None:
    beta, gamma = (a.reshape(2 * bandlimit, -1) for a in Equiangular(size=bandlimit).angles)
    for j, k in itertools.product(range(2 * bandlimit), repeat=2):
        assert math.isclose(beta[j, k], (j + 0.5) * math.pi / (2 * bandlimit), rel_tol=1e-15)
        assert math.isclose(gamma[j, k], (k + 0.5) * math.pi / bandlimit, rel_tol=1e-15)


@pytest.mark.parametrize("bandlimit", [2, 6, 8])
def test_equiangular_blocks_centre_on_the_coarser_points(bandlimit: int) -> None:
    fine, coarse = Equiangular(size=bandlimit), Equiangular(size=bandlimit // 2)
    block = matrix(fine.pooling()) > 0
    for angle, centre in zip(fine.angles, coarse.angles, strict=True):
        assert np.allclose(block @ angle / 4, centre, rtol=1e-14)
    weights = matrix(fine.pooling()).toarray()
    sine = np.sin(fine.angles[0])
    for row in weights:
        inside = row > 0
        assert np.allclose(row[inside], sine[inside] / sine[inside].sum(), rtol=1e-14)
