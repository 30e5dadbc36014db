"""Products in float64 with float32 matrices: their type, and which matrices are cast as a whole."""

import numpy as np
import pytest
from examined import random_matrix

from cheblienet_graphs.sparse import products
from cheblienet_graphs.sparse.products import mapped_product


@pytest.mark.parametrize("spare", [-1, 0, 1])
def test_matrices_of_up_to_the_limit_are_cast_once(spare: int) -> None:
    matrix = random_matrix(30, 0.2, 0)
    product = mapped_product(matrix, cast_at_once=matrix.nnz + spare)
    x = np.random.default_rng(0).standard_normal(30)
    before = product(x)
    matrix.data[:] = 0  # what was cast does not see it
    assert np.array_equal(product(x), before if spare >= 0 else np.zeros(30))


@pytest.mark.parametrize("cast_at_once", [0, products.CAST_AT_ONCE])
@pytest.mark.parametrize("shape", [(30,), (30, 1), (30, 4)])
def test_products_are_computed_in_float64(shape: tuple[int, ...], cast_at_once: int) -> None:
    matrix = random_matrix(30, 0.2, 1)
    x = np.random.default_rng(0).standard_normal(shape)
    kept = x.copy()
    image = mapped_product(matrix, cast_at_once=cast_at_once)(x)
    exact = matrix.toarray().astype(np.float64) @ x
    assert image.dtype == np.float64
    assert image.shape == shape
    assert np.allclose(image, exact, rtol=1e-13, atol=1e-14)
    assert np.array_equal(x, kept)
