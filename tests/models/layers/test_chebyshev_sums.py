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
from cheblienet_models.tensors import Csr, Product

VERTICES = 23
"""With two signals at a time, no multiple of SLICES rows, and fewer."""


def symmetric() -> Tensor:
    """A matrix with eigenvalues in [-1, 1]."""
    matrix = torch.randn(VERTICES, VERTICES, dtype=torch.float64)
    matrix = matrix + matrix.T
    return matrix / torch.linalg.matrix_norm(matrix, 2)


def rows_of(dense: Tensor) -> Csr:
    """Its rows, of which none has a 0."""
    row_pointers = torch.arange(VERTICES + 1) * VERTICES
    return Csr(row_pointers, torch.arange(VERTICES).repeat(VERTICES), dense.flatten())


def exact_polynomials(dense: Tensor, count: int) -> Tensor:
    """(count, V, V) cos(k arccos L)."""
    values, vectors = torch.linalg.eigh(dense)
    angles = torch.arccos(values.clamp(-1, 1))
    return torch.stack([vectors * torch.cos(k * angles) @ vectors.T for k in range(count)])


@pytest.mark.parametrize("rows", [0, 1, SLICES - 1, SLICES, SLICES + 1, 5 * SLICES, 333])
def test_contracted_takes_every_row(rows: int) -> None:
    a, b = torch.randn(rows, 3).double(), torch.randn(rows, 5).double()
    values = contracted(a, b)
    assert values.shape == (3, 5)
    assert torch.allclose(values, a.T @ b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("degree", [0, 1, 2, 5])
@pytest.mark.parametrize("channels", [(2, 5), (3, 3), (5, 2)])
@pytest.mark.parametrize("batch", [1, 7])
def test_sums_and_moments_by_definition(
    number: int, degree: int, channels: tuple[int, int], batch: int
) -> None:
    narrow, wide = channels
    count = 1 + number * degree
    x = torch.randn(VERTICES, batch, narrow).double()
    g = torch.randn(VERTICES, batch, wide).double()
    weight = torch.randn(count, narrow, wide).double()
    given = [part.clone() for part in (x, g, weight)]
    dense = [symmetric() for _ in range(number)]
    matrices = [Product(rows_of(matrix)) for matrix in dense]
    terms = torch.cat(
        [
            torch.eye(VERTICES).double()[None],
            *(exact_polynomials(matrix, degree + 1)[1:] for matrix in dense),
        ]
    )
    total = torch.einsum("kuv,vbi,kio->ubo", terms, x, weight)
    moments = torch.einsum("ubi,kuv,vbo->kio", x, terms, g)
    by_x = torch.einsum("kuv,vbo,kio->ubi", terms, g, weight)
    for summed in (sum_by_powers, sum_by_clenshaw, chebyshev_sum):
        assert torch.allclose(summed(matrices, x, weight), total, rtol=1e-10, atol=1e-10)
    assert torch.allclose(weight_moments(matrices, x, g, count), moments, rtol=1e-10, atol=1e-10)
    shared = shared_recursion(matrices, g, x, weight.transpose(1, 2))
    for computed, expected in zip(shared, (by_x, moments), strict=True):
        assert torch.allclose(computed, expected, rtol=1e-10, atol=1e-10)
    # Recursions leave alone what they start from.
    assert all(map(torch.equal, given, (x, g, weight)))


@pytest.mark.parametrize("kept", [False, True])
def test_polynomials_in_buffers_that_take_turns(*, kept: bool) -> None:
    dense, x = symmetric(), torch.randn(VERTICES, 4).double()
    scratch = (torch.full_like(x, 7), torch.full_like(x, 7)) if kept else None
    given, product = x.clone(), Product(rows_of(dense))
    terms = [term.clone() for term in product.polynomials(x, 6, scratch)]
    assert torch.allclose(torch.stack(terms), exact_polynomials(dense, 6)[1:] @ x, atol=1e-12)
    assert torch.equal(x, given)
    places = {term.data_ptr() for term in product.polynomials(x, 6, scratch)}
    if scratch:
        assert places == {part.data_ptr() for part in scratch}
    assert len(places) == 2
    assert list(product.polynomials(x, 1, scratch)) == []


def test_products_into_a_target() -> None:
    dense = symmetric()
    x, target = torch.randn(2, VERTICES, 4).double()
    product, before = Product(rows_of(dense)), target.clone()
    assert torch.allclose(product.into(target, x, 3, beta=-1), 3 * dense @ x - before)
    target.fill_(torch.nan)
    assert torch.allclose(product.into(target, x), dense @ x)
