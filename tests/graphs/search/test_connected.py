"""Components of lattices, counted without looking at all of a large one, against brute force."""

import random
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.assembly.level_plan import level_plans
from cheblienet_graphs.search import connected
from cheblienet_graphs.search.choice import choose
from cheblienet_graphs.search.connected import lattice_components
from cheblienet_graphs.search.stencil import StencilEngine


def engine_of(spec: GraphSpec) -> StencilEngine:
    return level_plans(spec, choose("lattice"))[0].stencils


def drawn(count: int) -> Iterator[StencilEngine]:
    """Engines of small lattices, half of which fall into pieces."""
    choice = random.Random(1).choice
    while count:
        fiber = {
            "orientations": choice([1, 2, 3, 6, 8]),
            "eps": choice([0.01, 0.05, 0.1, 0.3, 1]),
            **choice([{"alpha": choice([0.01, 1, 10, 1000])}, {"xi": choice([0.01, 0.3, 1])}]),
        }
        manifold = choice(["r2", "r3", "se2", "se2"])
        sides = [choice(range(2, 30)) for _ in range(2)]
        sides = [choice(range(2, 10)) for _ in range(3)] if manifold == "r3" else sides
        try:
            spec = GraphSpec(
                manifold,
                tuple(sides),
                neighbors=choice([4, 6, 8, 16, 24]),
                boundary=choice(["open", "periodic"]),
                levels=1,
                **(fiber if manifold == "se2" else {}),
            )
            engine = engine_of(spec)
        except SpecError:  # such as: no whole shell within K
            continue
        yield engine
        count -= 1


@pytest.mark.slow
def test_components_of_lattices(monkeypatch: pytest.MonkeyPatch) -> None:
    """With windows so small that most lattices are not looked at as a whole."""
    monkeypatch.setattr(connected, "ENTRIES", 2_000)
    exact = open_and_many = 0
    for engine in drawn(160):
        vertices = engine.lattice.num_vertices
        degrees, columns = engine.neighbors(0, vertices)
        starts = np.concatenate([[0], np.cumsum(degrees)])
        edges = scipy.sparse.csr_array((np.ones(len(columns)), columns, starts), (vertices,) * 2)
        count = connected_components(edges, directed=False, return_labels=False)
        least, known = lattice_components(engine)
        assert known in {None, count}, engine.lattice
        assert 1 <= least <= count, engine.lattice
        exact += known is not None
        open_and_many += known is None and least > 1
        assert known == count or not engine.lattice.periodic
    assert exact > 100
    assert open_and_many > 8


@pytest.mark.slow
def test_counting_does_not_visit_a_large_lattice(monkeypatch: pytest.MonkeyPatch) -> None:
    visited = []
    neighbors = StencilEngine.neighbors

    def counted(self: StencilEngine, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        degrees, columns = neighbors(self, start, stop)
        visited.append(len(columns))
        return degrees, columns

    monkeypatch.setattr(StencilEngine, "neighbors", counted)
    for broken in (False, True):
        given = {"xi": 0.05, "eps": 0.1, "orientations": 4} if broken else {}
        engine = engine_of(GraphSpec("se2", 4096, levels=1, **given))
        visited.clear()
        least, known = lattice_components(engine)
        assert sum(visited) <= engine.total_degree / 30
        assert known == (None if broken else 1)
        assert (least > 1) == broken
