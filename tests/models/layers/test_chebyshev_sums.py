"""Parts of Chebyshev sums, on any number of rows; sums and gradients are in `test_cheb_conv`."""

import pytest
import torch

from cheblienet_models.layers.chebyshev_sums import SLICES, contracted
from cheblienet_models.tensors import Csr, Product


@pytest.mark.parametrize("rows", [0, 1, SLICES - 1, SLICES, SLICES + 1, 5 * SLICES, 333])
def test_contracted_takes_every_row(rows: int) -> None:
    a, b = torch.randn(rows, 3).double(), torch.randn(rows, 5).double()
    values = contracted(a, b)
    assert values.shape == (3, 5)
    assert torch.allclose(values, a.T @ b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kept", [False, True])
def test_polynomials_in_buffers_that_take_turns(*, kept: bool) -> None:
    """Of a symmetric matrix with eigenvalues in [-1, 1], whose rows have no 0."""
    size, vectors = 23, torch.linalg.qr(torch.randn(23, 23).double())[0]
    angles, x = torch.pi * torch.rand(size).double(), torch.randn(size, 4).double()
    dense = vectors * angles.cos() @ vectors.T
    columns = torch.arange(size).repeat(size)
    product = Product(Csr(torch.arange(size + 1) * size, columns, dense.flatten()))
    scratch = (torch.full_like(x, 7), torch.full_like(x, 7)) if kept else None
    given = x.clone()
    terms = [term.clone() for term in product.polynomials(x, 6, scratch)]
    exact = [vectors * torch.cos(k * angles) @ vectors.T @ x for k in range(1, 6)]
    assert torch.allclose(torch.stack(terms), torch.stack(exact), atol=1e-12)
    assert torch.equal(x, given)
    places = {term.data_ptr() for term in product.polynomials(x, 6, scratch)}
    if scratch:
        assert places == {part.data_ptr() for part in scratch}
    assert len(places) == 2
    assert list(product.polynomials(x, 1, scratch)) == []
    target = torch.full_like(x, torch.nan)
    assert torch.allclose(product.into(target, x), dense @ x)
    assert torch.allclose(product.into(target, x, 3, beta=-1), 2 * dense @ x)
