"""Searches of extreme metrics: no neighbor is missed, and no work is done in vain."""

import itertools
import math
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from all_pairs import PRUNED, pairs, rows
from sphere_truth import edges_of_rows

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.assembly.level_plan import level_plans
from cheblienet_graphs.search import positions
from cheblienet_graphs.search.positions import PlacedPoints
from cheblienet_graphs.search.pruned import PrunedSearch


@pytest.mark.parametrize("manifold", ["se2", "so3"])
@pytest.mark.parametrize("xi", [0.1, 5.0])
def test_no_vertex_is_nearer_than_its_turn(manifold: str, xi: float) -> None:
    """Whatever orientation is left out of a search lies beyond the bound."""
    orientations = 7
    spec = GraphSpec(manifold, points=40, orientations=orientations, eps=0.4, xi=xi)
    level = level_plans(spec, PRUNED)[0]
    vertices = PlacedPoints.of(level.sampled).cloud()
    elements = [torch.from_numpy(element) for element in vertices.elements]
    turn = spec.geometry.rotation_angle(
        tuple(e[0][:, None] for e in elements), tuple(e[0][None] for e in elements)
    ).numpy()
    measured = np.concatenate(rows(spec))
    step, points = math.pi / orientations, spec.base_points(0)
    for k, j in itertools.product(range(orientations), repeat=2):
        angle = turn + (j - k) * step
        angle = abs(angle - math.pi * np.round(angle / math.pi))
        squared = measured[k * points :, j * points :][:points, :points]
        least = np.vectorize(lambda a: spec.geometry.squared_length_of_rotation(a, level.metric))(
            angle
        )
        assert (least <= squared * (1 + 1e-9) + 1e-9).all()


@pytest.mark.parametrize(
    "fields",
    [
        {"manifold": "so3", "subdivisions": 1, "alpha": 3},
        {"manifold": "se2", "points": 40, "alpha": 10},
        {"manifold": "se2", "points": 15, "alpha": 10, "boundary": "periodic"},
    ],
)
def test_windows_of_orientations_miss_no_neighbor(
    fields: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = GraphSpec(**fields, orientations=40, neighbors=6)
    level, widths = level_plans(spec, PRUNED)[0], set()
    rough_distances = PrunedSearch._rough_distances

    def seen(self: PrunedSearch, *arguments: object) -> object:
        widths.add(arguments[-1].shape[2])
        return rough_distances(self, *arguments)

    monkeypatch.setattr(PrunedSearch, "_rough_distances", seen)
    monkeypatch.setattr(type(spec.geometry), "window_pays", 2)  # few points, many orientations
    engine = level.neighbors.engine()
    assert set(pairs(engine, spec.num_vertices)) == set(edges_of_rows(rows(spec), 6))
    assert min(widths) < 20


def test_too_many_images_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions, "MOST_IMAGES", 1000)
    fields = {"points": 2, "orientations": 4, "eps": 0.001, "xi": 1e6, "neighbors": 100}
    with pytest.raises(SpecError, match=r"eps must be larger here, where the 100 nearest"):
        level_plans(GraphSpec("se2", **fields, boundary="periodic"), PRUNED)[0].neighbors.engine()


@pytest.mark.slow
def test_rings_of_images_double(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbors more than a hundred periods away are found by a few searches."""
    searched = Mock(wraps=PlacedPoints.of)
    monkeypatch.setattr(PlacedPoints, "of", searched)
    fields = {"points": 5, "orientations": 2, "eps": 0.001, "xi": 10, "neighbors": 300}
    level = level_plans(GraphSpec("se2", **fields, boundary="periodic"), PRUNED)[0]
    assert level.neighbors.engine().total_degree > 0
    assert 5 < searched.call_count <= 10
