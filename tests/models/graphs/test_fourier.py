"""Stored eigenpairs and both Laplacians: the Fourier transform, spectral truth."""

from pathlib import Path

import numpy as np
import pytest
import torch
from refusing import refused
from spectral import SPECS, WHOLE, delta_of
from stores import level

from cheblienet_models import ChebConv, StoreError, open_store


@pytest.mark.parametrize("name", SPECS)
def test_eigenpairs_are_the_laplacians(spectral_graphs: Path, name: str) -> None:
    for graph in open_store(spectral_graphs)[name].levels:
        _, vectors = graph.eigenpairs
        count = SPECS[name].eigenpairs
        expected = np.linalg.eigvalsh(delta_of(graph, graph.values))[:count]
        assert np.allclose(graph.eigenvalues, expected, atol=1e-5 * graph.lambda_max)
        assert torch.allclose(vectors.T @ vectors, torch.eye(count), atol=1e-5)


@pytest.mark.parametrize("name", SPECS)
def test_fourier_and_back(spectral_graphs: Path, name: str) -> None:
    graph = level(spectral_graphs, name)
    x = torch.randn(2, 3, graph.num_vertices)
    x_hat = graph.fourier(x)
    assert torch.allclose(x_hat, x @ graph.eigenpairs[1], atol=1e-5)
    back = graph.inverse_fourier(x_hat)
    assert back.permute(2, 0, 1).is_contiguous()
    assert torch.allclose(graph.fourier(back), x_hat, atol=1e-4)
    if name in WHOLE:
        assert torch.allclose(back, x, atol=1e-4)
    assert graph.fourier(x[:0]).shape == (0, 3, SPECS[name].eigenpairs)


def test_convolution(spectral_graphs: Path) -> None:
    graph = level(spectral_graphs, "kernel")
    x, y = torch.randn(2, 3, 384), torch.randn(1, 1, 384)
    assert torch.allclose(graph.convolve(x, y), graph.convolve(y, x), atol=1e-5)
    one = graph.inverse_fourier(torch.ones(1, 1, 384))
    assert torch.allclose(graph.convolve(x, one), x, atol=1e-4)
    # Convolving commutes with every function of the Laplacian.
    conv = ChebConv(1, 1, 4, graph, bias=False)
    assert torch.allclose(graph.convolve(conv(y), y), conv(graph.convolve(y, y)), atol=1e-4)


def test_dtypes(spectral_graphs: Path) -> None:
    graph = level(spectral_graphs, "few")
    x = torch.randn(1, 1, graph.num_vertices)
    exact = graph.eigenvalues.clone()
    assert graph.fourier(x.double()).dtype == torch.float64
    assert graph.fourier(x.half()).dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        assert graph.fourier(x).dtype == torch.float32
    assert torch.equal(graph.double().eigenpairs[0], exact)


def test_refusals(store: Path, spectral_graphs: Path) -> None:
    none, few = open_store(store)["torus"].levels[0], level(spectral_graphs, "few")
    x, signal, pair = torch.zeros(1, 1, 1024), torch.zeros(1, 1, 1536), torch.zeros(2, 3, 1536)
    for call in (lambda: none.eigenpairs, lambda: none.fourier(x), lambda: none.convolve(x, x)):
        refused("level 0 has no stored eigenpairs; build it with", call, error=StoreError)
    refused(r"^fourier on few@v001, level 0 takes \(B, C, 15", few.fourier, pair[..., :20])
    refused(r"takes \(B, C, 1536\)", few.convolve, signal, pair[0])
    refused(r"inverse_fourier on few.*\(B, C, 20\)", few.inverse_fourier, pair)
    refused(r"equal or 1\. Got \(2, 3, 1536\) and", few.convolve, pair, pair[:, :2])
