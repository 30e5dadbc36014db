"""Chebyshev sums and their gradients in parts, against dense algebra, on any number of rows."""

import pytest
import torch
from torch import Tensor

from cheblienet_models.layers.chebyshev_sums import (
    SLICES,
    chebyshev_sum,
    contracted,
    shared_recursion,
    sum_by_clenshaw,
    sum_by_powers,
    weight_moments,
)
from cheblienet_models.tensors.product import Laplacian, Product

VERTICES = 23
"""With two signals at a time, no multiple of SLICES rows, and fewer."""


@pytest.fixture
def dense() -> Tensor:
    """A symmetric matrix with eigenvalues in [-1, 1]."""
    matrix = torch.randn(VERTICES, VERTICES, dtype=torch.float64)
    symmetric = matrix + matrix.T
    return symmetric / torch.linalg.matrix_norm(symmetric, 2)


@pytest.fixture
def laplacian(dense: Tensor) -> Laplacian:
    """Its rows, of which none has a 0."""
    row_pointers = torch.arange(VERTICES + 1) * VERTICES
    return row_pointers, torch.arange(VERTICES).repeat(VERTICES), dense.flatten()


def polynomials(dense: Tensor, count: int) -> Tensor:
    """(count, V, V) cos(k arccos L)."""
    values, vectors = torch.linalg.eigh(dense)
    angles = torch.arccos(values.clamp(-1, 1))
    return torch.stack([vectors * torch.cos(k * angles) @ vectors.T for k in range(count)])


@pytest.mark.parametrize("rows", [0, 1, SLICES - 1, SLICES, SLICES + 1, 5 * SLICES, 333])
def test_contracted_takes_every_row(rows: int) -> None:
    a, b = torch.randn(rows, 3).double(), torch.randn(rows, 5).double()
    found = contracted(a, b)
    assert found.shape == (3, 5)
    assert torch.allclose(found, a.T @ b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3, 6])
@pytest.mark.parametrize("channels", [(2, 5), (3, 3), (5, 2)])
@pytest.mark.parametrize("batch", [1, 2, 7])
def test_sums_and_moments_by_definition(
    dense: Tensor, laplacian: Laplacian, count: int, channels: tuple[int, int], batch: int
) -> None:
    narrow, wide = channels
    x = torch.randn(VERTICES, batch, narrow).double()
    g = torch.randn(VERTICES, batch, wide).double()
    weight = torch.randn(count, narrow, wide).double()
    given = [part.clone() for part in (x, g, weight)]
    product, terms = Product(laplacian), polynomials(dense, count)
    total = torch.einsum("kuv,vbi,kio->ubo", terms, x, weight)
    moments = torch.einsum("ubi,kuv,vbo->kio", x, terms, g)
    by_x = torch.einsum("kuv,vbo,kio->ubi", terms, g, weight)
    for summed in (sum_by_powers, sum_by_clenshaw, chebyshev_sum):
        assert torch.allclose(summed(product, x, weight), total, rtol=1e-10, atol=1e-10)
    assert torch.allclose(weight_moments(product, x, g, count), moments, rtol=1e-10, atol=1e-10)
    shared = shared_recursion(product, g, x, weight.transpose(1, 2))
    for found, expected in zip(shared, (by_x, moments), strict=True):
        assert torch.allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert all(
        map(torch.equal, given, (x, g, weight))
    )  # recursions leave alone what they start from


@pytest.mark.parametrize("kept", [False, True])
def test_polynomials_in_buffers_that_take_turns(
    dense: Tensor, laplacian: Laplacian, *, kept: bool
) -> None:
    x = torch.randn(VERTICES, 4).double()
    scratch = (torch.full_like(x, 7), torch.full_like(x, 7)) if kept else None
    given, product = x.clone(), Product(laplacian)
    found = [term.clone() for term in product.polynomials(x, 6, scratch)]
    assert len(found) == 5
    assert torch.allclose(torch.stack(found), polynomials(dense, 6)[1:] @ x, atol=1e-12)
    assert torch.equal(x, given)
    places = {term.data_ptr() for term in product.polynomials(x, 6, scratch)}
    if scratch:
        assert places == {part.data_ptr() for part in scratch}
    assert len(places) == 2
    assert list(product.polynomials(x, 1, scratch)) == []
    assert list(product.polynomials(x, 0, scratch)) == []


def test_products_into_a_target(dense: Tensor, laplacian: Laplacian) -> None:
    x, target = torch.randn(2, VERTICES, 4).double()
    product, before = Product(laplacian), target.clone()
    assert torch.allclose(product(x), dense @ x)
    assert torch.allclose(product.onto(target, x, 3), 3 * dense @ x - before)
    before = target.clone()
    product.added(target, x)
    assert torch.allclose(target, before + dense @ x)
    product.added(target, x, -0.5)
    assert torch.allclose(target, before + 0.5 * dense @ x)
