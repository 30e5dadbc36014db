"""Searches of extreme metrics: no neighbor is missed, and no work is done in vain."""

import pytest
from all_pairs import pairs
from counted import LIMITS, Work
from sphere_truth import edges_of_rows, rows_of

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.pruned import PrunedSearch

PRUNED = Choice("pruned", "cpu")


@pytest.mark.parametrize(
    "fields",
    [
        {"manifold": "so3", "subdivisions": 1, "alpha": 3},
        {"manifold": "so3", "points": 60, "alpha": 3},
        pytest.param({"manifold": "se2", "points": 60, "alpha": 10}, marks=pytest.mark.slow),
        {"manifold": "se2", "points": 20, "alpha": 10, "boundary": "periodic"},
    ],
)
def test_windows_of_orientations_miss_no_neighbor(
    fields: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = GraphSpec(**fields, orientations=40, neighbors=6)
    level, widths = Level(spec, PRUNED), set()
    rough_distances = PrunedSearch._rough_distances

    def seen(self: PrunedSearch, *arguments: object) -> object:
        widths.add(arguments[-1].shape[2])
        return rough_distances(self, *arguments)

    monkeypatch.setattr(PrunedSearch, "_rough_distances", seen)
    engine = level.neighbors.engine()
    rings = 2 if fields.get("boundary") else 0
    measured = rows_of(
        spec.manifold, level.sampling.coordinates(), spec.eps, level.metric.xi, rings
    )
    assert set(pairs(engine, spec.num_vertices)) == set(edges_of_rows(measured, 6))
    assert min(widths) < 20


@pytest.mark.slow
def test_too_many_images_are_refused() -> None:
    fields = {"points": 2, "orientations": 20, "eps": 0.001, "xi": 1e6, "neighbors": 1024}
    with pytest.raises(SpecError, match=r"eps must be larger here, where the 1024 nearest"):
        Level(GraphSpec("se2", **fields, boundary="periodic"), PRUNED).neighbors.engine()


@pytest.mark.slow
def test_rings_of_images_double(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbors more than a hundred periods away are found by a few searches."""
    work = Work(monkeypatch, LIMITS | {"searches": 10, "distances": 3e7})
    fields = {"points": 5, "orientations": 2, "eps": 0.001, "xi": 10, "neighbors": 1024}
    level = Level(GraphSpec("se2", **fields, boundary="periodic"), PRUNED)
    assert level.neighbors.engine().total_degree > 0
    assert work.done["searches"] > 5
