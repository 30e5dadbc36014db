"""Gradients of the Chebyshev convolution, of any order, with and without a kept basis."""

import pytest
import torch
from torch import Tensor

from cheblienet_models import (
    ChebConv,
    Lift,
    Pyramid,
)
from cheblienet_models.layers.chebyshev import (
    chebyshev,
    chebyshev_basis,
    chebyshev_gradients,
    chebyshev_moments,
)


@pytest.mark.parametrize("channels", [(2, 5), (3, 3), (5, 2)])
@pytest.mark.parametrize("kernel_size", [1, 2, 5])
def test_saving_the_basis_changes_nothing_else(
    pyramid: Pyramid, channels: tuple[int, int], kernel_size: int
) -> None:
    torch.manual_seed(0)
    graph = pyramid.levels[1]
    plain = ChebConv(*channels, kernel_size, graph)
    saving = ChebConv(*channels, kernel_size, graph, save_basis=True)
    saving.load_state_dict(plain.state_dict())
    found = []
    for layer in (plain, saving):
        x = torch.randn(2, channels[0], 256, generator=torch.Generator().manual_seed(1))
        x.requires_grad_()
        y = layer(x)
        y.backward(torch.cos(torch.arange(y.numel())).view_as(y))
        found.append((y.detach(), x.grad, layer.weight.grad, layer.bias.grad))
    for a, b in zip(*found, strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-4)
    exact = x.detach().double().requires_grad_()
    assert torch.autograd.gradcheck(saving.double(), (exact,), fast_mode=True)


@pytest.mark.parametrize("channels", [(4, 6), (3, 8), (6, 6), (8, 3)])
def test_gradients_equal_those_of_dense_float64(
    pyramid: Pyramid, channels: tuple[int, int]
) -> None:
    torch.manual_seed(0)
    graph = pyramid.levels[1]
    conv = ChebConv(*channels, 5, graph)
    x = torch.randn(2, channels[0], 256, requires_grad=True)
    y = conv(x)
    g = torch.randn_like(y)
    y.backward(g)
    laplacian = graph.laplacian.to_dense().double()
    signal = x.detach().double().requires_grad_()
    weight = conv.weight.detach().double().requires_grad_()
    terms = [signal, signal @ laplacian]
    while len(terms) < 5:
        terms.append(2 * terms[-1] @ laplacian - terms[-2])
    exact = torch.einsum("kbiv,kio->bov", torch.stack(terms), weight)
    exact.backward(g.double())
    pairs = [(y, exact), (x.grad, signal.grad), (conv.weight.grad, weight.grad)]
    pairs.append((conv.bias.grad, g.double().sum((0, 2))))
    for found, expected in pairs:
        assert (found - expected).norm() <= 1e-5 * expected.norm()


@pytest.mark.parametrize("save_basis", [False, True])
@pytest.mark.parametrize("channels", [(2, 3), (2, 5), (4, 2)])
def test_gradients_of_any_order(
    pyramid: Pyramid, channels: tuple[int, int], *, save_basis: bool
) -> None:
    torch.manual_seed(0)
    conv = ChebConv(*channels, 3, pyramid.levels[1], bias=False, save_basis=save_basis).double()
    x = torch.randn(1, channels[0], 256, dtype=torch.float64, requires_grad=True)
    weight = conv.weight.detach().requires_grad_()

    def call(signal: Tensor, matrices: Tensor) -> Tensor:
        return torch.func.functional_call(conv, {"weight": matrices}, (signal,))

    assert torch.autograd.gradcheck(call, (x, weight), fast_mode=True)
    assert torch.autograd.gradgradcheck(call, (x, weight), fast_mode=True)


def test_each_operator_has_its_derivatives(pyramid: Pyramid) -> None:
    """By themselves, as third derivatives of the layer call them, with different channels."""
    pointers, columns, values = pyramid.levels[1].laplacian_parts()
    laplacian = [pointers, columns, values.double()]
    x, g, weight = (
        torch.randn(shape, dtype=torch.float64, requires_grad=True)
        for shape in ((256, 2, 2), (256, 2, 3), (4, 2, 3))
    )
    for call, given in (
        (lambda a, b: chebyshev(a, b, *laplacian), (x, weight)),
        (lambda a, b: chebyshev_basis(a, b, *laplacian)[0], (x, weight)),
        (lambda a, b: chebyshev_moments(a, b, 4, *laplacian), (x, g)),
        (lambda a, b, c: chebyshev_gradients(a, b, c, None, *laplacian), (g, x, weight)),
    ):
        assert torch.autograd.gradcheck(call, given, fast_mode=True)
        assert torch.autograd.gradgradcheck(call, given, fast_mode=True)


def test_only_the_input_is_kept_for_the_backward(pyramid: Pyramid) -> None:
    graph = pyramid.levels[0]
    x = Lift(graph)(torch.randn(2, 4, 16, 16)).requires_grad_()
    conv, kept = ChebConv(4, 8, 5, graph), []

    def keep(tensor: Tensor) -> Tensor:
        kept.append(tensor.untyped_storage().data_ptr())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        conv(x)
    known = {x, conv.weight, *graph.laplacian_parts()}
    assert set(kept) <= {tensor.untyped_storage().data_ptr() for tensor in known}
