"""Stored eigenpairs and both Laplacians: the Fourier transform, spectral truth."""

from pathlib import Path

import numpy as np
import pytest
import torch
from spectral import SPECS, WHOLE, delta_of, level

from cheblienet_models import (
    ChebConv,
    StoreError,
    open_store,
)


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("kernel_size", [1, 2, 5])
def test_chebconv_is_a_function_of_the_frequencies(
    spectral_graphs: Path, name: str, kernel_size: int
) -> None:
    """Phi p(Lambda) Phi^T x with p(lambda) = sum_k w_k T_k(2 lambda / lambda_max - 1)."""
    torch.manual_seed(0)
    graph = level(spectral_graphs, name)
    conv = ChebConv(2, 3, kernel_size, graph, bias=False)
    x = torch.randn(2, 2, graph.num_vertices)
    values, vectors = (part.double().numpy() for part in graph.eigenpairs)
    angles = np.arccos(np.clip(2 * values / graph.lambda_max - 1, -1, 1))
    response = np.einsum(
        "kio,km->iom",
        conv.weight.detach().double().numpy(),
        np.cos(np.arange(kernel_size)[:, None] * angles),
    )
    x_hat = x.double().numpy() @ vectors
    expected = torch.from_numpy(np.einsum("bim,iom->bom", x_hat, response) @ vectors.T)
    assert (conv(x) - expected).norm() <= 1e-5 * expected.norm()


@pytest.mark.parametrize("name", SPECS)
def test_eigenpairs_are_the_laplacians(spectral_graphs: Path, name: str) -> None:
    for graph in open_store(spectral_graphs)[name].levels:
        values, vectors = graph.eigenpairs
        count = SPECS[name].eigenpairs
        assert values.shape == (count,)
        assert vectors.shape == (graph.num_vertices, count)
        assert values.dtype == vectors.dtype == torch.float32
        assert graph.eigenvalues.dtype == torch.float64
        expected = np.linalg.eigvalsh(delta_of(graph, graph.values))[:count]
        assert np.allclose(graph.eigenvalues, expected, atol=1e-5 * graph.lambda_max)
        assert torch.allclose(vectors.T @ vectors, torch.eye(count), atol=1e-5)


@pytest.mark.parametrize("name", SPECS)
def test_kernel_of_the_laplacian_is_the_root_of_the_mass(spectral_graphs: Path, name: str) -> None:
    graph = level(spectral_graphs, name)
    combinatorial = SPECS[name].laplacian == "combinatorial"
    assert graph.laplacian_kind == SPECS[name].laplacian
    assert graph.mass is (graph.area if combinatorial else graph.degree)
    delta, root = delta_of(graph, graph.values), graph.mass.double().sqrt().numpy()
    assert np.abs(delta @ root).max() <= 1e-6 * graph.lambda_max * root.max()
    weights = -delta * np.outer(root, root)
    edges = graph.edges
    assert np.allclose(weights[edges.first, edges.second], edges.weights, rtol=1e-5, atol=0)
    double = graph.double()
    assert double.mass.shape == (graph.num_vertices,)
    assert torch.allclose(double.edges.weights.float(), edges.weights, rtol=1e-5)


@pytest.mark.parametrize("name", SPECS)
def test_fourier_and_back(spectral_graphs: Path, name: str) -> None:
    torch.manual_seed(0)
    graph = level(spectral_graphs, name)
    _, vectors = graph.eigenpairs
    x = torch.randn(2, 3, graph.num_vertices)
    x_hat = graph.fourier(x)
    assert x_hat.shape == (2, 3, SPECS[name].eigenpairs)
    assert torch.allclose(x_hat, x @ vectors, atol=1e-5)
    back = graph.inverse_fourier(x_hat)
    assert back.permute(2, 0, 1).is_contiguous()
    assert torch.allclose(graph.fourier(back), x_hat, atol=1e-4)
    if name in WHOLE:
        assert torch.allclose(back, x, atol=1e-4)
        assert torch.allclose(x_hat.norm(), x.norm())
    assert graph.fourier(x[:0]).shape == (0, 3, SPECS[name].eigenpairs)


def test_convolution(spectral_graphs: Path) -> None:
    torch.manual_seed(0)
    graph = level(spectral_graphs, "kernel")
    x, y = torch.randn(2, 3, 384), torch.randn(1, 1, 384)
    found = graph.convolve(x, y)
    assert found.shape == (2, 3, 384)
    assert torch.allclose(found, graph.convolve(y, x), atol=1e-5)
    one = graph.inverse_fourier(torch.ones(1, 1, 384))
    assert torch.allclose(graph.convolve(x, one), x, atol=1e-4)
    # Convolving commutes with every function of the Laplacian.
    conv = ChebConv(1, 1, 4, graph, bias=False)
    assert torch.allclose(graph.convolve(conv(y), y), conv(graph.convolve(y, y)), atol=1e-4)


def test_gradients(spectral_graphs: Path) -> None:
    torch.manual_seed(0)
    graph = level(spectral_graphs, "few").double()
    x = torch.randn(1, 2, graph.num_vertices, dtype=torch.float64, requires_grad=True)
    y = torch.randn(2, 1, graph.num_vertices, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(graph.convolve, (x, y), fast_mode=True)
    assert torch.autograd.gradgradcheck(graph.convolve, (x, y), fast_mode=True)


def test_dtypes(spectral_graphs: Path) -> None:
    graph = level(spectral_graphs, "few")
    x = torch.randn(1, 1, graph.num_vertices)
    exact = graph.eigenvalues.clone()
    assert graph.fourier(x.double()).dtype == torch.float64
    assert graph.fourier(x.half()).dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(graph.fourier(x), graph.fourier(x.clone()))
        assert graph.fourier(x).dtype == torch.float32
    for dtype, kept in (
        (torch.float64, torch.float64),
        (torch.float32, torch.float32),
        (torch.bfloat16, torch.float32),
    ):
        values, vectors = graph.to(dtype).eigenpairs
        assert values.dtype == vectors.dtype == graph.values.dtype == kept
    assert torch.equal(graph.double().eigenpairs[0], exact)
    assert graph.state_dict() == {}


def test_none_stored(store: Path) -> None:
    graph = open_store(store)["torus"].levels[0]
    x = torch.zeros(1, 1, graph.num_vertices)
    for call in (lambda: graph.eigenpairs, lambda: graph.fourier(x), lambda: graph.convolve(x, x)):
        with pytest.raises(StoreError, match=r"level 0 has no stored eigenpairs; build it with"):
            call()


@pytest.mark.parametrize("shape", [(1, 384), (1, 1, 20), (1, 1536, 1), (1, 1, 1536, 1)])
def test_wrong_shapes(spectral_graphs: Path, shape: tuple[int, ...]) -> None:
    graph = level(spectral_graphs, "few")
    with pytest.raises(ValueError, match=r"fourier on few@v001, level 0 takes \(B, C, 1536\)"):
        graph.fourier(torch.zeros(shape))
    with pytest.raises(ValueError, match=r"takes \(B, C, 1536\)"):
        graph.convolve(torch.zeros(1, 1, 1536), torch.zeros(shape))
    with pytest.raises(ValueError, match=r"inverse_fourier on few.*takes \(B, C, 20\)"):
        graph.inverse_fourier(torch.zeros(*shape, 1))


def test_signals_that_do_not_broadcast(spectral_graphs: Path) -> None:
    graph = level(spectral_graphs, "few")
    with pytest.raises(ValueError, match=r"equal or 1\. Got \(2, 3, 1536\) and \(2, 2, 1536\)"):
        graph.convolve(torch.zeros(2, 3, 1536), torch.zeros(2, 2, 1536))
