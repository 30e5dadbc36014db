"""Weights of a kernel and listed ones, against loops over all pairs."""

import math

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.sparse import with_diagonal
from cheblienet_graphs.weights.edges import KernelWeights, ListedEdges

VERTICES = 12
PLACES = np.array([0.0, 0.3, 1.1, 2.0, 2.2])


@pytest.mark.parametrize("bandwidth", [None, 0.2, 1.0])
def test_weights_by_definition(bandwidth: float | None) -> None:
    spec = GraphSpec("r2", 8) if bandwidth is None else GraphSpec("r2", 8, bandwidth=bandwidth)
    weighs = KernelWeights.of_mean(spec, 0.7)
    time = spec.bandwidth * 0.7
    assert weighs.bandwidth == pytest.approx(time, rel=1e-15)
    block = with_diagonal(1, np.array([2, 0, 3]), np.array([0, 2, 0, 1, 4]))
    expected = [
        0.0 if row == column else math.exp(-((PLACES[row] - PLACES[column]) ** 2) / (4 * time))
        for row, column in zip(block.rows, block.columns, strict=True)
    ]
    assert expected.count(0.0) == 3
    squared = (PLACES[block.rows] - PLACES[block.columns]) ** 2
    assert weighs.weights(block, squared) == pytest.approx(expected, rel=1e-14)


def test_listed_edges_by_definition() -> None:
    """Symmetric weights on three orientations; vertex 7 has no edges."""
    generator = np.random.default_rng(0)
    shape = (VERTICES, VERTICES)
    upper = np.triu(generator.uniform(0.5, 2, shape) * (generator.random(shape) < 0.4), 1)
    matrix = upper + upper.T
    matrix[7] = matrix[:, 7] = 0
    rows, columns = np.nonzero(matrix)
    listed = ListedEdges((rows, columns, matrix[rows, columns]), VERTICES)
    for start in range(VERTICES):
        for stop in range(start, VERTICES + 1):
            neighbors = [np.flatnonzero(row) for row in matrix[start:stop]]
            degrees, columns = listed.neighbors(start, stop)
            assert degrees.tolist() == [len(of_one) for of_one in neighbors]
            assert columns.tolist() == [n for part in neighbors for n in part]
            block = listed.block(start, stop)
            assert np.array_equal(listed.weights(block), matrix[block.rows, block.columns])
    dropped = (np.array([0, 7, 3, 7]), np.array([7, 0, 7, 3]))
    some = ListedEdges(listed.entries, VERTICES, 0.2, dropped)
    assert [listed.dropped_edges, some.dropped_edges] == [0, 2]
