"""Random sub-graphs of a part: which part, and by which rules."""

import numpy as np
import pytest
from pictured import dense_weights, opened

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.plot.subgraphs import MOST, subgraphs_of


@pytest.mark.parametrize("name", ["torus", "masked", "dust", "region", "axes"])
def test_the_part_has_all_edges_among_its_vertices(name: str) -> None:
    graph = opened(name)
    data, points = subgraphs_of(graph), graph.spec.base_points(0)
    assert len(set(data.vertices.tolist())) == len(data.vertices) <= MOST
    assert len(set((data.vertices // points).tolist())) == 1
    block = dense_weights(graph)[np.ix_(data.vertices, data.vertices)]
    first, second = data.edges.T
    assert (first < second).all()
    assert len(data.edges) == (np.triu(block) > 0).sum()
    np.testing.assert_allclose(data.weights, block[first, second], rtol=1e-6)


@pytest.mark.parametrize("kappa", [0.01, 0.3, 1])
def test_shares_are_kept(kappa: float) -> None:
    data = subgraphs_of(opened("plane"), kappa=kappa)
    assert data.kept_edges.sum() == max(1, round(kappa * len(data.edges)))
    assert data.kept_vertices.sum() == max(1, round(kappa * len(data.vertices)))
    both = [data.kept_vertices[a] and data.kept_vertices[b] for a, b in data.edges.tolist()]
    np.testing.assert_array_equal(data.edges_of_kept_vertices, both)


def test_without_edges_nothing_is_drawn() -> None:
    with pytest.raises(NotDrawnError, match="No edge of its orientation"):
        subgraphs_of(opened("columns"))
    graph = opened("dust")
    alone = int(np.diff(graph.level(0).laplacian.indptr).argmin())
    with pytest.raises(NotDrawnError, match=f"No edge is near vertex {alone}"):
        subgraphs_of(graph, vertex=alone)
