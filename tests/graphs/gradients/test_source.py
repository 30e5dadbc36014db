"""Weights of least norm against general solvers."""

import numpy as np
import pytest
from scipy.linalg import lstsq

from cheblienet_graphs.gradients.source import least_norm

RNG = np.random.default_rng(2)


def moments(components: np.ndarray) -> np.ndarray:
    """(d + d (d + 1) / 2, K) first and second moments of each neighbor."""
    pairs = np.triu_indices(components.shape[1])
    return np.concatenate([components, components[:, pairs[0]] * components[:, pairs[1]]], 1).T


@pytest.mark.parametrize(("neighbors", "dimension"), [(6, 2), (32, 3)])
@pytest.mark.parametrize("scale", [1e-3, 50.0])
def test_they_are_the_least_of_those_that_are_exact(
    neighbors: int, dimension: int, scale: float
) -> None:
    components = scale * RNG.normal(size=(20, neighbors, dimension))
    weights = least_norm(components)
    for n, parts in enumerate(components):
        equations = moments(parts / scale)
        singular = np.linalg.svd(equations, compute_uv=False)
        if singular[-1] < 0.02 * singular[0]:
            continue
        expected, *_ = lstsq(equations, np.eye(len(equations), dimension))
        np.testing.assert_allclose(weights[:, n].T * scale, expected, atol=1e-10)


def test_on_a_circle_through_the_point_they_are_linear_and_moderate() -> None:
    """All conics through it are alike: there second moments can't vanish with moderate weights."""
    angles = np.linspace(0.3, 2 * np.pi - 0.3, 14)
    circle = np.stack([1 - np.cos(angles), np.sin(angles)], axis=1)
    almost = circle + 1e-7 * RNG.normal(size=circle.shape)
    for components in (circle, almost):
        weights = least_norm(components[None])[:, 0]
        np.testing.assert_allclose(weights @ components, np.eye(2), atol=1e-10)
        assert abs(weights).max() < 10
