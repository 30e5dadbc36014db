"""Vertices of domains that cut pixels: masses, what small pixels show, maps between levels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheblienet_graphs.inputs.polygons import UNIT
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import SMALL, CutSampling, MaskedSampling

SHAPES = [((8, 12), False), ((8, 12), True), ((4, 6, 8), False), ((2, 4), True)]


def drawn(seed: int, number: int) -> CutSampling:
    shape, periodic = SHAPES[number]
    random = np.random.default_rng(seed)
    parts = (random.random(shape) * random.uniform(0.3, 2)).clip(0, 1)
    parts *= random.random(shape) > 0.3
    parts.flat[0] = 1
    return CutSampling(Lattice(shape, 3, periodic=periodic), np.round(parts / UNIT) * UNIT)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_each_small_pixel_shows_the_nearest_points(seed: int, number: int) -> None:
    """By all distances; masses add up to all that is near a point."""
    cut = drawn(seed, number)
    filling, shape = cut.filling.scipy().toarray(), np.array(cut.full.shape)
    places = np.indices(cut.full.shape).reshape(len(shape), -1).T
    for pixel, row in enumerate(filling):
        steps = abs(places[cut.places] - places[pixel])
        if cut.full.periodic:
            steps = np.minimum(steps, shape - steps)
        near = (steps <= 3).all(axis=1)
        squared = np.where(near, (steps**2).sum(axis=1), np.inf)
        shown = (squared == squared.min()) & near & (cut.fraction[pixel] > 0)
        assert row == pytest.approx(shown / max(shown.sum(), 1))
    assert (np.diff(cut.filling.indptr)[cut.places] == 1).all()
    assert cut.masses == pytest.approx(filling.T @ cut.fraction)
    assert cut.areas().mean() == pytest.approx(1)


@given(st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_pooling_takes_means_by_mass_and_unpooling_keeps_constants(seed: int, number: int) -> None:
    """The sum of a signal by mass stays, but for what goes to pixels that no coarser one shows."""
    cut = drawn(seed, number)
    assert cut.pooling().fault() is cut.unpooling().fault() is None
    down, up = cut.pooling().scipy().toarray(), cut.unpooling().scipy().toarray()
    coarser = cut.coarser
    assert down.shape == up.T.shape == (coarser.num_points, cut.num_points)
    assert down.sum(axis=1) == pytest.approx(np.ones(len(down)))
    assert up.sum(axis=1) == pytest.approx(np.ones(len(up)))
    pooled = (up * cut.masses[:, None]).T  # what of each point goes to each coarser one
    assert down == pytest.approx(pooled / pooled.sum(axis=1, keepdims=True))
    split = [n for side in cut.full.shape for n in (side // 2, 2)]
    means = cut.fraction.reshape(split).mean(axis=tuple(range(1, len(split), 2)))
    assert coarser.fraction == pytest.approx(means.ravel(), abs=UNIT)
    assert (coarser.fraction[coarser.places] >= SMALL).all()


def test_probes_are_far_from_pixels_that_are_cut() -> None:
    parts = np.ones((9, 9))
    parts[:, 0] = 0.5
    cut = CutSampling(Lattice((9, 9)), parts)
    assert cut.places[cut.probes()].tolist() == [3 * 9 + 4]
    assert cut.depth.reshape(9, 9)[4].tolist() == [0, 1, 2, 3, 4, 4, 3, 2, 1]


@pytest.mark.parametrize("shape", [(9, 4), (2, 7), (5, 4, 3)])
@pytest.mark.parametrize("periodic", [False, True])
def test_depth_is_the_steps_to_the_nearest_pixel_outside(
    shape: tuple[int, ...], *, periodic: bool
) -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        inside = random.random(shape) < random.choice([0.5, 0.97])
        inside.flat[random.integers(inside.size)] = False
        points = MaskedSampling(Lattice(shape, periodic=periodic), np.flatnonzero(inside))
        wide = inside if periodic else np.pad(inside, 1)
        places = np.indices(shape).reshape(len(shape), -1).T + (not periodic)
        steps = abs(places[:, None] - np.argwhere(~wide))
        if periodic:
            steps = np.minimum(steps, np.array(shape) - steps)
        np.testing.assert_array_equal(points.depth, steps.max(axis=2).min(axis=1))
