"""What all manifolds promise: one formula on numpy and torch, lengths of logarithms."""

import numpy as np
import pytest
import torch

from cheblienet_graphs.manifolds import MANIFOLDS, Metric, with_period
from cheblienet_graphs.manifolds.manifold import squared_norm
from cheblienet_graphs.manifolds.moments import array


@pytest.mark.parametrize("name", MANIFOLDS)
def test_torch_and_numpy_run_the_same_formula(name: str) -> None:
    """And the distance is the length of the shortest logarithm, which need not turn least."""
    manifold, metric = MANIFOLDS[name], Metric(1.0 if name == "s2" else 0.3, 0.3)
    g, h = np.random.default_rng(30).uniform(0, 3, (2, len(manifold.columns), 500))
    if "nx" in manifold.columns:
        g[3:], h[3:] = (p[3:] / np.linalg.norm(p[3:], axis=0) for p in (g, h))
    with_numpy, with_torch = (
        [manifold.elements(tuple(map(kind, p))) for p in (g, h)] for kind in (array, torch.tensor)
    )
    squared = manifold.squared_distance(*with_numpy, metric)
    assert np.allclose(manifold.squared_distance(*with_torch, metric).numpy(), squared, rtol=1e-13)
    candidates = list(manifold.logarithms(*with_numpy))
    for ours, other in zip(candidates, manifold.logarithms(*with_torch), strict=True):
        assert np.allclose(np.stack(ours), torch.stack(other).numpy(), rtol=1e-12, atol=1e-14)
    lengths = [squared_norm(manifold.weights(metric), c) for c in candidates]
    assert np.allclose(squared, np.min(lengths, axis=0), rtol=1e-12)


@pytest.mark.parametrize("period", ["pi", "2pi"])
def test_distances_between_fibers_are_those_of_pairs(period: str) -> None:
    rng, manifold, metric = np.random.default_rng(31), with_period("so3", period), Metric(0.3, 0.7)
    angles = torch.arange(8.0, dtype=torch.float64)[:, None] * manifold.fiber.step(8)
    places = torch.from_numpy(rng.uniform(0, 3, (2, 1, 9)))
    elements = manifold.elements(tuple(torch.broadcast_tensors(angles, *places)))
    points, others = torch.tensor([4, 0]), torch.tensor([[0, 4, 7], [8, 1, 2]])
    ours = manifold.fiber_distances(elements, points, others, metric, range(2, 5))
    for k, squared in zip(range(2, 5), ours, strict=True):
        start = tuple(e[k, points][:, None] for e in elements)
        expected = manifold.squared_distance(start, tuple(e[:, others] for e in elements), metric)
        assert torch.allclose(squared, expected, rtol=1e-10, atol=1e-14)
