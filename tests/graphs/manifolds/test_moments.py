"""Where sources lie as seen from targets, against matrix logarithms and images one by one."""

import math

import numpy as np
import pytest
from scipy.linalg import logm
from truth import matrix

from cheblienet_graphs.manifolds import MANIFOLDS, moments, with_period

RANDOM = np.random.default_rng(3)


@pytest.mark.parametrize("period", ["pi", "2pi"])
def test_rigid_motions_of_the_plane(period: str) -> None:
    """The matrix logarithm, of the smaller rotation of both where orientations are lines."""
    half = math.pi / (2 if period == "pi" else 1)
    ends = RANDOM.uniform([-1, -1, -half], [1, 1, half], (2, 60, 3))
    found = moments.edge_components(with_period("se2", period), *ends)
    for g, h, (forward, sideways, turn) in zip(*ends, found, strict=True):
        turns = [0, math.pi] if period == "pi" else [0]
        logs = [logm(np.linalg.inv(matrix(*g)) @ matrix(*h) @ matrix(0, 0, t)) for t in turns]
        log = min(logs, key=lambda each: abs(each[1, 0]))
        assert np.allclose([forward, sideways, turn], [log[0, 2], log[1, 2], log[1, 0]], atol=1e-9)


def test_the_nearest_image_counts_and_blocks_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = RANDOM.random((2, 200, 2)) * [1, 0.5]
    found = moments.edge_components(MANIFOLDS["r2"], *ends, (1.0, 0.5))
    shifts = np.array([(x, 0.5 * y) for x in (-1, 0, 1) for y in (-1, 0, 1)])
    images = (ends[1] - ends[0])[:, None] + shifts
    nearest = np.linalg.norm(images, axis=2).argmin(axis=1)
    assert np.allclose(found, images[np.arange(200), nearest], atol=1e-15)
    monkeypatch.setattr(moments, "EDGES_AT_ONCE", 17)
    assert (moments.edge_components(MANIFOLDS["r2"], *ends, (1.0, 0.5)) == found).all()
