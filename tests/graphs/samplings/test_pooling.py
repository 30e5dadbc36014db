"""Pooling on the sphere: means by area, and the way back."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from cheblienet_graphs.samplings.equiangular import Equiangular
from cheblienet_graphs.samplings.healpix import Healpix
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.maps import LevelMap
from cheblienet_graphs.samplings.sphere import SphereSampling


def matrix(found: LevelMap) -> csr_matrix:
    return csr_matrix((found.data, found.indices, found.indptr), shape=found.shape)


FINE = [
    *(Icosphere(subdivisions=n) for n in (1, 2, 4)),
    *(Healpix(nside=n) for n in (2, 8)),
    *(Equiangular(bandlimit=b) for b in (2, 6, 8)),
]


@pytest.mark.parametrize("fine", FINE, ids=repr)
def test_pooling_takes_means_by_area(fine: SphereSampling) -> None:
    down, up = matrix(fine.pooling()), matrix(fine.unpooling())
    for weights in (down, up):
        assert np.allclose(weights.sum(axis=1), 1, rtol=0, atol=1e-14)
        assert weights.data.min() > 0
        assert weights.has_canonical_format
    assert np.allclose(up @ (down @ np.full(fine.num_points, 3.7)), 3.7, rtol=1e-14)
    expected = (down > 0).multiply(fine.base_areas)
    expected = expected.multiply(1 / expected.sum(axis=1))
    assert abs(down - expected).max() < 1e-15
    assert (np.unique(down.indices) == np.arange(fine.num_points)).all()


@pytest.mark.parametrize("fine", FINE[3:], ids=repr)
def test_blocks_are_disjoint_and_unpooled_where_they_were_pooled(fine: SphereSampling) -> None:
    down, up = matrix(fine.pooling()), matrix(fine.unpooling())
    assert (np.diff(down.indptr) == 4).all()
    assert ((down > 0) != (up.T > 0)).nnz == 0
    assert abs(down @ up - np.eye(len(down.indptr) - 1)).max() < 1e-15
