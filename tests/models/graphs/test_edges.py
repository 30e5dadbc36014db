"""The edges of one vertex on the training side, against dense matrices by scipy and numpy."""

from pathlib import Path

import numpy as np
import pytest
import torch
from csr_truth import dense_weights
from heated import GRAPHS
from refusing import refused
from stores import level

from cheblienet_graphs import open_group
from cheblienet_models import sample_edges


@pytest.mark.parametrize("name", GRAPHS)
def test_rows_of_the_weights(heated_graphs: Path, name: str) -> None:
    graph, weights = level(heated_graphs, name), dense_weights(open_group(heated_graphs, name))
    edges = graph.edges
    assert edges.weights.numpy() == pytest.approx(weights[edges.first, edges.second], rel=1e-5)
    for vertex in range(0, graph.num_vertices, 3):
        edges = graph.neighbors(vertex)
        assert edges.vertices.tolist() == np.flatnonzero(weights[vertex]).tolist()
        assert edges.weights.numpy() == pytest.approx(weights[vertex][edges.vertices], rel=1e-5)
        assert torch.equal(edges.coordinates, graph.coordinates[edges.vertices])
        assert edges.vertices.dtype == torch.int64
        assert edges.weights.dtype == graph.values.dtype


def test_random_sub_graphs_and_dtypes(heated_graphs: Path) -> None:
    graph = level(heated_graphs, "combinatorial")
    whole = graph.neighbors(3)
    sample_edges(graph, 0.3)
    assert torch.equal(graph.neighbors(3).weights, whole.weights)
    double = graph.double().neighbors(np.int64(3))
    assert double.weights.dtype == torch.float64
    assert torch.allclose(double.weights.float(), whole.weights)


def test_other_vertices_are_refused_in_one_line(heated_graphs: Path) -> None:
    graph = level(heated_graphs, "combinatorial")
    for vertex in (-1, 256, 1.0, "3", None, True, 10**99, torch.tensor([1, 2])):
        refused(r"vertex of com.* must be an integer in \[0, 255\]", graph.neighbors, vertex)
