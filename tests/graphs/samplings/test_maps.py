"""Maps between levels: means by area and back; of points in no order against all pairs."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.given import Given, GivenPoints
from cheblienet_graphs.samplings.given_tables import PointArrays
from cheblienet_graphs.samplings.grids import Equiangular, Healpix, ReducedGaussian
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.points import Points, Random, Scattered


def owners(fine: np.ndarray, coarse: np.ndarray, periods: tuple | None = None) -> np.ndarray:
    """The first of those within 1e-9 of the nearest, by all pairs."""
    offsets = fine[:, None] - coarse
    if periods is not None:
        offsets -= np.round(offsets / periods) * periods
    distances = np.linalg.norm(offsets, axis=2)
    return (distances <= distances.min(axis=1, keepdims=True) * (1 + 1e-9)).argmax(axis=1)


def given(
    fine: np.ndarray, coarse: np.ndarray, areas: np.ndarray, periods: tuple | None
) -> Scattered:
    arrays = {0: PointArrays(fine, areas), 1: PointArrays(coarse, None)}
    size = GivenPoints((len(fine), len(coarse)), "given", "", periods or (1.0, 1.0), arrays=arrays)
    return Given(size=size, periodic=periods is not None)


def check(points: Scattered) -> None:
    fine, coarse, areas = points.base_points, points.coarser_points, points.base_areas
    periods = points.extent if points.periodic else None
    assert points.pooling().fault() is points.unpooling().fault() is None
    expected = owners(fine, coarse, periods)
    assert (points.parents.coarser == expected).all()
    assert (points.unpooling().scipy().toarray() == np.eye(len(coarse))[expected]).all()
    down = np.where(np.arange(len(coarse))[:, None] == expected, areas, 0.0)
    for lonely in np.flatnonzero(~down.any(axis=1)):
        down[lonely, owners(coarse[[lonely]], fine, periods)] = 1
    down /= down.sum(axis=1, keepdims=True)
    assert abs(points.pooling().scipy().toarray() - down).max() < 1e-15


@pytest.mark.parametrize("periods", [None, (1.0, 0.5)])
def test_maps_of_random_points(periods: tuple | None) -> None:
    """Of coarser points some have none of the others next to them."""
    random = np.random.default_rng(0)
    fine, coarse = random.random((60, 2)) * [1, 0.5], random.random((25, 2)) * [1, 0.5]
    points = given(fine, coarse, random.random(60) + 0.1, periods)
    assert len(np.unique(points.parents.coarser)) < 25
    check(points)


@pytest.mark.parametrize("periods", [None, (1.0, 1.0)])
def test_of_points_equally_near_the_first_counts(periods: tuple | None) -> None:
    """Four are, of a lattice in the middle of another one's pixels, and rounding differs."""
    steps = np.arange(8) / 8
    coarse = np.stack(np.meshgrid(steps, steps), axis=2).reshape(-1, 2)
    fine = coarse + 1 / 16 + 1e-13 * np.random.default_rng(0).normal(size=coarse.shape)
    check(given(fine, coarse, np.ones(64), periods))
    order = np.random.default_rng(1).permutation(64)
    check(given(fine, coarse[order], np.ones(64), periods))


@pytest.mark.parametrize("base", ["plane", "torus", "sphere"])
def test_random_levels_are_the_first_quarters(base: str) -> None:
    fields = {"manifold": "s2" if base == "sphere" else "r2"}
    if base == "torus":
        fields["boundary"] = "periodic"
    spec = GraphSpec(**fields, points=301, seed=5, levels=3)
    levels = [spec.full_sampling(level) for level in range(3)]
    assert [level.num_points for level in levels] == [301, 75, 18]
    assert all(abs(level.areas().mean() - 1) < 1e-12 for level in levels)
    alone = GraphSpec(**fields, points=301, seed=5).full_sampling(0)
    assert (alone.base_points == levels[0].base_points).all()
    assert (alone.areas() == levels[0].areas()).all()
    for fine, coarse in itertools.pairwise(levels):
        assert (fine.coarser_points == coarse.base_points).all()
        check(fine)


def test_the_last_random_level_has_two_points_and_no_maps() -> None:
    for refused in (Random(size=7).pooling, Random(size=7).unpooling):
        with pytest.raises(ValueError, match="no coarser level"):
            refused()
    assert GraphSpec("r2", points=33, levels=3, neighbors=1).base_points(2) == 2
    with pytest.raises(ValueError, match=r"levels must be an integer in \[1, 2\] for points 31"):
        GraphSpec("r2", points=31, levels=3)


@pytest.mark.parametrize("half", [(8, 12, 16, 20), (5, 5, 9, 9, 40, 64, 64, 64)])
def test_maps_of_rows_of_any_lengths(half: tuple[int, ...]) -> None:
    check(ReducedGaussian(size=half + half[::-1]))


@pytest.mark.parametrize(
    "fine", [Icosphere(size=1), Icosphere(size=4), Healpix(size=8), Equiangular(size=6)], ids=repr
)
def test_pooling_takes_means_by_area(fine: Points) -> None:
    down, up = fine.pooling().scipy(), fine.unpooling().scipy()
    for weights in (down, up):
        parts = weights.data, weights.indices, weights.indptr
        assert csr_array(parts, weights.shape).has_canonical_format  # scipy looks for itself
        assert np.allclose(weights.sum(axis=1), 1, rtol=0, atol=1e-14)
        assert weights.data.min() > 0
    assert np.allclose(up @ (down @ np.full(fine.num_points, 3.7)), 3.7, rtol=1e-14)
    expected = (down > 0).multiply(fine.base_areas)
    expected = expected.multiply(1 / expected.sum(axis=1)[:, None])
    assert abs(down - expected).max() < 1e-15
    assert (np.unique(down.indices) == np.arange(fine.num_points)).all()
    if not isinstance(fine, Icosphere):
        assert (np.diff(down.indptr) == 4).all()
        assert ((down > 0) != (up.T > 0)).nnz == 0
