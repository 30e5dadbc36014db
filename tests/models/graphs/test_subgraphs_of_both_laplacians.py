"""Random sub-graphs of graphs with normalized and with combinatorial Laplacians."""

from pathlib import Path

import numpy as np
import pytest
import torch
from spectral import level
from torch import Tensor

from cheblienet_models import (
    Graph,
    sample_edges,
    sample_vertices,
)
from cheblienet_models.tensors import announce_beta_state


def delta_of(graph: Graph, values: Tensor) -> np.ndarray:
    parts = (graph.row_pointers, graph.columns, values)
    size = (graph.num_vertices,) * 2
    announce_beta_state()  # or the first test to make such a tensor, in any order, is warned
    matrix = torch.sparse_csr_tensor(*parts, size=size, check_invariants=True)
    return (matrix.to_dense().double().numpy() + np.eye(size[0])) * graph.lambda_max / 2


@pytest.mark.parametrize("name", ["kernel", "selling", "matched", "sphere"])
def test_all_edges_make_the_whole_graph(spectral_graphs: Path, name: str) -> None:
    graph = level(spectral_graphs, name)
    all_but_none = 1 - 1e-12
    for sample in (sample_edges, sample_vertices):
        sample(graph, all_but_none)
        assert torch.allclose(graph.subgraph, graph.values, atol=1e-6)
    sample_edges(graph, 1)
    assert graph.subgraph is None


@pytest.mark.parametrize("kappa", [0.2, 0.7])
@pytest.mark.parametrize("sample", [sample_edges, sample_vertices])
@pytest.mark.parametrize("name", ["selling", "sphere"])
def test_combinatorial_subgraphs(
    spectral_graphs: Path, name: str, sample: object, kappa: float
) -> None:
    graph = level(spectral_graphs, name)
    sample(graph, kappa, torch.Generator().manual_seed(0))
    delta = delta_of(graph, graph.laplacian_parts(training=True)[2])
    whole = delta_of(graph, graph.values)
    root = graph.area.double().sqrt().numpy()
    kept = (delta != 0) & ~np.eye(len(delta), dtype=bool)
    assert 0 < kept.sum() < (whole != 0).sum()
    weights = np.where(kept, -whole * np.outer(root, root), 0)
    expected = (np.diag(weights.sum(1)) - weights) / np.outer(root, root)
    assert np.allclose(delta, expected, atol=1e-5 * graph.lambda_max)
    spectrum = np.linalg.eigvalsh(delta) / graph.lambda_max
    assert -1e-6 < spectrum.min() < spectrum.max() <= 1 + 1e-6
