"""Searches of extreme metrics: no neighbor is missed, and no work is done in vain."""

import itertools
import math

import numpy as np
import pytest
import torch
from all_pairs import pairs
from counted import LIMITS, Work
from hypothesis import given, settings
from hypothesis import strategies as st
from sphere_truth import edges_of_rows, rows_of
from truth import se2_squared_distance

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.offsets import OffsetDistances
from cheblienet_graphs.search.pruned import PrunedSearch
from cheblienet_graphs.search.rule import cloud

PRUNED = Choice("pruned", "cpu")


@settings(max_examples=60)
@given(
    orientations=st.integers(1, 6),
    k=st.integers(0, 5),
    eps=st.sampled_from([0.05, 0.3, 1.0]),
    xi=st.sampled_from([0.1, 2.0, 30.0]),
    radius=st.floats(0.5, 12),
)
def test_offsets_within_a_radius_are_all_there(
    orientations: int, k: int, eps: float, xi: float, radius: float
) -> None:
    """Against every offset of a box that holds the disc."""
    k %= orientations
    manifold = MANIFOLDS["se2"]
    lattice = Lattice((8, 8), orientations, manifold.fiber)
    metric = Metric(eps, xi * lattice.spacing)  # lengths in pixels
    near = OffsetDistances(SampledManifold(lattice, manifold, metric)).within(k, radius**2)
    places = np.column_stack([near.orientation, near.offsets])
    listed, squared = list(map(tuple, places.tolist())), near.squared_distance
    assert listed == sorted(set(listed))
    side = np.arange(-13, 14)
    theta = lattice.fiber_coordinates[:, 0]
    lengths = dict(zip(listed, squared.tolist(), strict=True))
    for j in range(orientations):
        truth = se2_squared_distance(side, side[:, None], theta[k], theta[j], eps, xi)
        for y, x in itertools.product(range(27), repeat=2):
            place = (j, int(side[y]), int(side[x]))
            if truth[y, x] <= radius**2:
                assert place in lengths
            if place in lengths:
                assert lengths[place] == pytest.approx(truth[y, x], rel=1e-9, abs=1e-9)
    assert (squared <= radius**2 * (1 + 1e-3) + 1e-3).mean() > 0.5 or len(squared) < 30


@pytest.mark.parametrize("manifold", ["se2", "so3"])
@pytest.mark.parametrize("xi", [0.1, 5.0])
def test_no_vertex_is_nearer_than_its_turn(manifold: str, xi: float) -> None:
    """Whatever orientation is left out of a search lies beyond the bound."""
    orientations = 7
    spec = GraphSpec(manifold, points=40, orientations=orientations, eps=0.4, xi=xi)
    level = Level(spec, PRUNED)
    vertices = cloud(level.sampled())
    elements = [torch.from_numpy(element) for element in vertices.elements]
    turn = spec.geometry.rotation_angle(
        tuple(e[0][:, None] for e in elements), tuple(e[0][None] for e in elements)
    ).numpy()
    measured = np.concatenate(list(rows_of(manifold, level.sampling.coordinates(), 0.4, xi)))
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
