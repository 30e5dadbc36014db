"""The way of docs/how-to/from-healpy.md beside what healpy made of the same map, kept in a file."""

from pathlib import Path

import numpy as np
import pytest
import torch
from stores import store_of

from cheblienet_graphs import GraphSpec
from cheblienet_models import (
    UNSEEN,
    Lift,
    Pyramid,
    SpatialPool,
    SpatialUnpool,
    Store,
    inpaint,
    smooth,
    smoothing_matrix,
)

store = store_of({"sky": GraphSpec("s2", nside=16, weights="voronoi", levels=2)}, opened=True)


@pytest.fixture(scope="module")
def healpy() -> dict[str, np.ndarray]:
    """As tests/helpers/healpy_truth.py describes it."""
    with np.load(Path(__file__).parent / "data" / "healpy.npz") as file:
        return dict(file)


@pytest.fixture
def sky(store: Store) -> Pyramid:
    return store["sky"]


def of_ring(pyramid: Pyramid, values: np.ndarray, level: int = 0) -> torch.Tensor:
    return Lift(pyramid.levels[level], order="ring")(torch.from_numpy(values)[None, None])


def test_vertices_are_nested(sky: Pyramid, healpy: dict[str, np.ndarray]) -> None:
    x = of_ring(sky, healpy["field"])
    np.testing.assert_array_equal(x[0, 0], healpy["nested"])
    np.testing.assert_array_equal(sky.levels[0].to_grid(x, order="ring")[0, 0], healpy["field"])


def test_smoothing_is_the_same(sky: Pyramid, healpy: dict[str, np.ndarray]) -> None:
    """To 1 % of a map whose degrees go to nside; by a matrix, too."""
    x, expected = (of_ring(sky, healpy[name]) for name in ("field", "smoothed"))
    fwhm = float(healpy["fwhm"])
    for y in (smooth(sky, x, fwhm), smoothing_matrix(sky, fwhm) @ x[0, 0]):
        assert (y - expected).norm() < 0.01 * expected.norm()
        assert (y - expected).abs().max() < 0.02 * expected.abs().max()


def test_polarization_is_smoothed_the_same(sky: Pyramid, healpy: dict[str, np.ndarray]) -> None:
    """To .4 % of maps with E and B modes; as two scalars they are 9 % off."""
    lift = Lift(sky.levels[0], order="ring", spin=2)
    x, expected = (
        lift(torch.from_numpy(healpy[name])[None]) for name in ("polarized", "depolarized")
    )
    fwhm = float(healpy["fwhm"])
    assert (smooth(sky, x, fwhm, spin=2) - expected).norm() < 0.004 * expected.norm()
    assert (smooth(sky, x, fwhm) - expected).norm() > 0.08 * expected.norm()


def test_masked_maps_keep_unseen(sky: Pyramid, healpy: dict[str, np.ndarray]) -> None:
    assert float(healpy["unseen"]) == UNSEEN
    known = of_ring(sky, healpy["known"].astype(np.float32)) > 0
    x = torch.where(known, of_ring(sky, healpy["field"]), UNSEEN)
    y, filled = smooth(sky, x, 0.2), inpaint(sky, x)
    assert torch.equal(y == torch.tensor(UNSEEN), ~known)
    assert bool((filled.abs() < 1e3).all())


def test_copies_are_those_of_ud_grade(sky: Pyramid, healpy: dict[str, np.ndarray]) -> None:
    pool, unpool = SpatialPool(sky, level=0, mode="mean"), SpatialUnpool(sky, level=0)
    found = unpool(pool(of_ring(sky, healpy["field"])))
    torch.testing.assert_close(found, of_ring(sky, healpy["regraded"]), rtol=1e-4, atol=1e-4)


def test_means_of_four_are_those_of_ud_grade(sky: Pyramid, healpy: dict[str, np.ndarray]) -> None:
    """Of what is known: means of the map with 0 over means of the mask."""
    known = of_ring(sky, healpy["known"].astype(np.float32))
    pool = SpatialPool(sky, level=0, mode="mean")
    share = pool(known)
    means = torch.where(share > 0, pool(of_ring(sky, healpy["field"]) * known) / share, UNSEEN)
    expected = of_ring(sky, healpy["graded"], level=1)
    torch.testing.assert_close(means, expected, rtol=1e-4, atol=1e-4)
    assert bool((expected == torch.tensor(UNSEEN)).any())
