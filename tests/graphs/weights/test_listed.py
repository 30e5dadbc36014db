"""Edges that are listed one by one, against a loop over all of them."""

import numpy as np
import pytest

from cheblienet_graphs.sparse import with_diagonal
from cheblienet_graphs.weights.listed import ListedEdges

VERTICES, POINTS = 12, 4


@pytest.fixture
def matrix() -> np.ndarray:
    """Symmetric weights on three orientations; vertex 7 has no edges."""
    generator = np.random.default_rng(0)
    upper = np.triu(
        generator.uniform(0.5, 2, (VERTICES,) * 2) * (generator.random((VERTICES,) * 2) < 0.4), 1
    )
    weights = upper + upper.T
    weights[7] = weights[:, 7] = 0
    return weights


def test_listed_edges_by_definition(matrix: np.ndarray) -> None:
    rows, columns = np.nonzero(matrix)
    listed = ListedEdges((rows, columns, matrix[rows, columns]), VERTICES, POINTS)
    assert listed.total_degree == np.count_nonzero(matrix)
    within = [row // POINTS == column // POINTS for row, column in zip(rows, columns, strict=True)]
    assert 0 < listed.in_plane_degree == sum(within) < listed.total_degree
    for start in range(VERTICES):
        for stop in range(start, VERTICES + 1):
            neighbours = [np.flatnonzero(row) for row in matrix[start:stop]]
            degrees = listed.degrees(start, stop)
            assert degrees.tolist() == [len(of_one) for of_one in neighbours]
            assert listed.columns(start, stop).tolist() == [n for part in neighbours for n in part]
            block = with_diagonal(start, degrees, listed.columns(start, stop))
            assert np.array_equal(listed.weights(block), matrix[block.rows, block.columns])


def test_edges_left_out_are_counted_once(matrix: np.ndarray) -> None:
    rows, columns = np.nonzero(matrix)
    entries = (rows, columns, matrix[rows, columns])
    whole = ListedEdges(entries, VERTICES, POINTS)
    assert whole.dropped_edges == 0
    assert [part.tolist() for part in whole.dropped] == [[], []]
    assert whole.bandwidth is None
    dropped = (np.array([0, 7, 3, 7]), np.array([7, 0, 7, 3]))
    some = ListedEdges(entries, VERTICES, POINTS, 0.2, dropped)
    assert some.dropped_edges == 2
    assert some.dropped is dropped
    assert some.bandwidth == 0.2
