"""All figures of a graph are drawn around the same vertex."""

import contextlib

import numpy as np
import pytest
from pictured import opened

from cheblienet_graphs.errors import NotDrawnError, SpecError
from cheblienet_graphs.figures.equivariance import equivariance_of
from cheblienet_graphs.figures.heat import heat_of
from cheblienet_graphs.figures.neighbourhood import neighbourhood_of
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.subgraphs import subgraphs_of
from cheblienet_graphs.figures.surroundings import Surroundings

NAMES = ["plane", "space", "torus", "random", "own", "sphere", "rotations", "region", "masked"]


def vertex_of_neighbourhood(graph: OpenedGraph) -> int:
    found = neighbourhood_of(graph)
    return found.views[found.middle].vertex


def vertex_of_subgraphs(graph: OpenedGraph, monkeypatch: pytest.MonkeyPatch) -> int:
    """That of the surroundings that it looks at."""
    seen = []
    known = Surroundings.__init__

    def noted(self: Surroundings, graph: OpenedGraph, level: int, vertex: int) -> None:
        seen.append(vertex)
        known(self, graph, level, vertex)

    monkeypatch.setattr(Surroundings, "__init__", noted)
    subgraphs_of(graph)
    return seen[0]


@pytest.mark.parametrize("name", NAMES)
def test_all_figures_have_the_same_middle(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = opened(name)
    vertex = vertex_of_neighbourhood(graph)
    monkeypatch.setattr("cheblienet_graphs.figures.heat._others", lambda *_, **__: ([], ""))
    assert heat_of(graph).vertex == vertex
    assert vertex_of_subgraphs(graph, monkeypatch) == vertex
    with contextlib.suppress(NotDrawnError):  # where there is no room to turn anything
        assert equivariance_of(graph).point == vertex % graph.points(0).num_points


def test_heat_starts_where_there_are_neighbours() -> None:
    graph = opened("islands")
    entries = np.diff(graph.level(0).laplacian.indptr)
    assert entries[heat_of(graph).vertex] > 1


def test_a_vertex_that_is_none_is_refused() -> None:
    for figure in (heat_of, neighbourhood_of, subgraphs_of):
        with pytest.raises(SpecError, match=r"^vertex must be an integer in \[0, 319\]"):
            figure(opened("plane"), vertex=320)
