"""The Chebyshev convolution against dense float64 algebra; what it takes, keeps and refuses."""

import copy

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from cheblienet_models import (
    ChebConv,
    Graph,
    Pyramid,
)
from cheblienet_models.layers.chebyshev import (
    chebyshev,
    chebyshev_basis,
    chebyshev_gradients,
    chebyshev_moments,
)


@pytest.fixture
def graph(pyramid: Pyramid) -> Graph:
    return pyramid.levels[1]


def dense_chebyshev(graph: Graph, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """sum_k cos(k arccos L) x W_k by the eigendecomposition, in float64."""
    values, vectors = np.linalg.eigh(graph.laplacian.to_dense().double().numpy())
    angles = np.arccos(np.clip(values, -1, 1))
    y = 0
    for k, matrix in enumerate(weight.detach().double().numpy()):
        polynomial = vectors * np.cos(k * angles) @ vectors.T
        y = y + np.einsum("uv,bcv,cd->bdu", polynomial, x.double().numpy(), matrix)
    offset = 0 if bias is None else bias.detach().double().numpy()[:, None]
    return torch.from_numpy(y + offset)


@pytest.mark.parametrize("kernel_size", [1, 2, 3, 6])
@pytest.mark.parametrize("bias", [True, False])
def test_chebconv_equals_the_spectral_definition(
    graph: Graph, kernel_size: int, *, bias: bool
) -> None:
    torch.manual_seed(0)
    conv = ChebConv(3, 5, kernel_size, graph, bias=bias)
    if conv.bias is not None:
        nn.init.normal_(conv.bias)
    x = torch.randn(2, 3, graph.num_vertices)
    y = conv(x)
    assert y.shape == (2, 5, graph.num_vertices)
    expected = dense_chebyshev(graph, x, conv.weight, conv.bias)
    assert (y - expected).norm() <= 1e-5 * expected.norm()


@pytest.mark.slow
@pytest.mark.parametrize("kernel_size", [1, 2, 4])
@pytest.mark.parametrize("channels", [(2, 5), (3, 4), (4, 2)])
def test_operators_pass_opcheck(graph: Graph, channels: tuple[int, int], kernel_size: int) -> None:
    torch.manual_seed(0)
    narrow, wide = channels
    parts = [part.clone() for part in graph.laplacian_parts()]
    x = torch.randn(graph.num_vertices, 2, narrow, requires_grad=True)
    g = torch.randn(graph.num_vertices, 2, wide, requires_grad=True)
    weight = torch.randn(kernel_size, narrow, wide, requires_grad=True)
    torch.library.opcheck(chebyshev, (x, weight, *parts))
    torch.library.opcheck(chebyshev_basis, (x, weight, *parts))
    torch.library.opcheck(chebyshev_moments, (x, g, kernel_size, *parts))
    torch.library.opcheck(chebyshev_gradients, (g, x, weight, None, *parts))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_results_on_no_device_are_shaped_as_on_one(graph: Graph, dtype: torch.dtype) -> None:
    """As programs that are exported or compiled ask, which compute nothing for it."""
    parts = list(graph.laplacian_parts())
    x, g, weight = (torch.randn(shape).to(dtype) for shape in ((256, 2, 3), (256, 2, 5), (4, 3, 5)))
    for operator, given in (
        (chebyshev, (x, weight, *parts)),
        (chebyshev_basis, (x, weight, *parts)),
        (chebyshev_moments, (x, g, 4, *parts)),
        (chebyshev_gradients, (g, x, weight, None, *parts)),
    ):
        nowhere = tree_map_only(Tensor, lambda part: part.to("meta"), given)
        pairs = (operator(*given), operator(*nowhere))
        found, expected = (pair if isinstance(pair, tuple) else (pair,) for pair in pairs)
        for one, other in zip(found, expected, strict=True):
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            assert one.stride() == other.stride()


def test_initial_weights_are_kaiming(graph: Graph) -> None:
    torch.manual_seed(0)
    conv = ChebConv(64, 64, 4, graph)
    assert conv.weight.shape == (4, 64, 64)
    assert conv.weight.std().item() == pytest.approx((2 / (4 * 64)) ** 0.5, rel=0.03)
    assert (conv.bias == 0).all()


@pytest.mark.parametrize("shape", [(2, 3, 256), (2, 256, 2), (2, 2, 255), (2, 256), (2, 2, 16, 16)])
def test_chebconv_states_the_shape_it_takes(graph: Graph, shape: tuple[int, ...]) -> None:
    conv = ChebConv(2, 3, 2, graph)
    with pytest.raises(ValueError, match=r"torus@v001, level 1 takes \(B, 2, 256\)") as caught:
        conv(torch.zeros(shape))
    assert str(shape) in str(caught.value)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_reduced_precision(pyramid: Pyramid, dtype: torch.dtype) -> None:
    graph = pyramid.levels[0]
    torch.manual_seed(0)
    conv = ChebConv(3, 4, 4, graph)
    x = torch.randn(2, 3, graph.num_vertices)
    expected = conv(x)
    with torch.autocast("cpu", dtype=dtype):
        y = conv(x)
        (y.float() ** 2).sum().backward()
    assert y.dtype == dtype
    assert (y.float() - expected).norm() < 0.02 * expected.norm()
    assert conv.weight.grad.isfinite().all()
    low = copy.deepcopy(conv).to(dtype)
    assert low.graph.values.dtype == torch.float32  # or the graph would be another one
    assert (low(x.to(dtype)).float() - expected).norm() < 0.02 * expected.norm()


@pytest.mark.parametrize("channels", [(2, 2), (2, 5), (4, 2)])
def test_an_empty_batch(pyramid: Pyramid, channels: tuple[int, int]) -> None:
    conv = ChebConv(*channels, 3, pyramid.levels[1])
    x = torch.zeros(0, channels[0], 256, requires_grad=True)
    y = conv(x)
    y.sum().backward()
    assert y.shape == (0, channels[1], 256)
    assert x.grad.shape == x.shape
    assert (conv.weight.grad == 0).all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.bfloat16])
def test_other_dtypes_are_refused(pyramid: Pyramid, dtype: torch.dtype) -> None:
    conv = ChebConv(2, 3, 2, pyramid.levels[1])
    with pytest.raises(ValueError, match=rf"level 1 takes .*float.* Got {dtype}[;:] "):
        conv(torch.zeros(1, 2, 256, dtype=dtype))


def test_other_devices_are_refused(pyramid: Pyramid) -> None:
    conv = ChebConv(2, 3, 2, pyramid.levels[1])
    with pytest.raises(ValueError, match=r"takes a tensor on cpu, .* Got one on meta"):
        conv(torch.zeros(1, 2, 256, device="meta"))


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_chebconv_refuses_sizes_below_one(graph: Graph, sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"must be at least 1\. Got 0"):
        ChebConv(*sizes, graph)
