"""Bounds of the largest eigenvalue: from above, and tight."""

import numpy as np
import pytest

from cheblienet_graphs.spectrum.lanczos import largest_eigenvalue_bound, largest_possible


@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_bound_of_the_combinatorial_laplacian(scale: float) -> None:
    rng = np.random.default_rng(3)
    weights = np.triu(rng.uniform(0, scale, (60, 60)), 1)
    weights += weights.T
    area = rng.uniform(0.5, 2, 60)
    delta = (np.diag(weights.sum(1)) - weights) / np.sqrt(np.outer(area, area))
    largest = np.linalg.eigvalsh(delta)[-1]
    limit = largest_possible(weights.sum(1), area)
    bound = largest_eigenvalue_bound(lambda x: delta @ x, 60, limit=limit)
    assert largest <= bound.value <= largest + 3e-6 * limit
    assert bound.method == "lanczos"


@pytest.mark.parametrize("size", [1, 2, 7, 200])
def test_bound_is_tight_from_above(size: int) -> None:
    rng = np.random.default_rng(size)
    basis = np.linalg.qr(rng.standard_normal((size, size)))[0]
    values = rng.uniform(0, 1.9, size)
    symmetric = basis * values @ basis.T
    bound = largest_eigenvalue_bound(lambda x: symmetric @ x, size)
    assert values.max() <= bound.value <= values.max() + 3e-6


def test_bound_without_convergence_still_bounds() -> None:
    values = 1.5 - np.arange(5000) * 1e-7
    bound = largest_eigenvalue_bound(lambda x: values * x, len(values), max_steps=5)
    assert bound.value >= values.max()
