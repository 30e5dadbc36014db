"""Places of points, and pictures of what is around them."""

import math

import numpy as np
import pytest
from pictured import opened

from cheblienet_graphs.plot import heat_of, neighborhood_of
from cheblienet_graphs.plot.pictures import around, whole
from cheblienet_graphs.plot.places import chosen_vertex, places_of

NAMES = ["plane", "torus", "space", "random", "random torus", "sphere", "masked", "region"]


@pytest.mark.parametrize("name", NAMES)
def test_places_at_offsets_are_seen_at_these_offsets(name: str) -> None:
    places = places_of(opened(name), 0)
    here = places.vectors[places.middle()]
    offsets = np.random.default_rng(0).uniform(-1.5, 1.5, (50, places.dimension))
    assert abs(places.offsets(here, places.at(here, offsets)) - offsets).max() < 1e-9


@pytest.mark.parametrize("name", ["sphere", "grid"])
def test_offsets_on_the_sphere_have_true_distances_and_directions(name: str) -> None:
    graph = opened(name)
    places, (beta, gamma) = places_of(graph, 0), graph.level(0).coordinates[:].T
    sine = np.sin(beta)
    units = np.stack([sine * np.cos(gamma), sine * np.sin(gamma), np.cos(beta)], axis=1)
    for vertex in (0, 11, 100):
        offsets = places.offsets(places.vectors[vertex], places.vectors) / places.radius
        east = np.array([-math.sin(gamma[vertex]), math.cos(gamma[vertex]), 0])
        south = np.cross(east, units[vertex])
        assert south[2] <= 1e-12
        arc = np.hypot(*offsets.T)
        toward = offsets / np.maximum(arc, 1e-300)[:, None]
        ends = np.cos(arc)[:, None] * units[vertex]
        ends += np.sin(arc)[:, None] * (toward[:, :1] * east + toward[:, 1:] * south)
        far = arc < math.pi - 1e-6  # the antipode has no direction
        np.testing.assert_allclose(ends[far], units[far], atol=1e-12)
        assert offsets[vertex] == pytest.approx((0, 0))


@pytest.mark.parametrize("name", ["masked", "region"])
def test_the_middle_of_a_mask_is_far_from_all_outside(name: str) -> None:
    places = places_of(opened(name), 0)
    outside = places.outside
    rooms = [np.linalg.norm(outside - here, axis=1).min() for here in places.vectors]
    assert rooms[places.middle()] >= 0.9 * max(rooms)


@pytest.mark.parametrize("name", ["random", "random torus", "sphere", "region", "torus", "masked"])
def test_the_nearest_point_is_that_of_brute_force(name: str) -> None:
    places = places_of(opened(name), 0)
    random = np.random.default_rng(3)
    wanted = places.vectors[random.integers(len(places.vectors), size=60)]
    wanted = wanted + random.uniform(-0.4, 0.4, wanted.shape)
    if places.size is not None and places.sides is None:
        wanted = np.clip(wanted, 0, places.size)
    vectors = places.full.base_points / places.spacing
    steps = wanted[:, None] - vectors
    if places.sides is not None:
        steps -= np.round(steps / places.sides) * places.sides
    nearest = (steps**2).sum(axis=2).argmin(axis=1)
    numbers = getattr(places.points, "inside", np.arange(len(vectors)))[nearest]
    assert places.nearest(wanted).tolist() == numbers.tolist()
    nowhere = places_of(opened("own"), 0)  # a part of the sphere, far from there
    assert nowhere.nearest(np.array([[-100.0, -100.0]])).tolist() == [-1]


@pytest.mark.parametrize("name", ["group", "masked", "volume", "plane", "islands"])
def test_figures_have_one_middle_that_has_all_its_neighbors(name: str) -> None:
    graph = opened(name)
    vertex, data = chosen_vertex(graph, 0, None), neighborhood_of(graph)
    assert data.views[data.middle].vertex == heat_of(graph).vertex == vertex
    entries = np.diff(graph.level(0).laplacian.indptr).reshape(data.orientations, -1)
    orientation, point = divmod(vertex, entries.shape[1])
    assert entries[orientation, point] == entries[orientation].max()


def test_pixels_around_a_point_end_at_sides_and_go_round_a_torus_once() -> None:
    plane, torus = (places_of(opened(name), 0) for name in ("plane", "torus"))
    [corner] = around(plane, 0, 1)
    assert corner.points.tolist() == [[-1, -1, -1], [-1, 0, 1], [-1, 20, 21]]
    assert corner.extent == (-1.5, 1.5, 1.5, -1.5)
    [view] = around(torus, 0, 1)
    assert view.points.tolist() == [[399, 380, 381], [19, 0, 1], [39, 20, 21]]
    [everything] = around(torus, 0, 30)
    assert np.sort(everything.points, axis=None).tolist() == list(range(400))


def test_a_volume_is_seen_in_three_slices_through_the_point() -> None:
    places = places_of(opened("space"), 0)
    point = (3 * 10 + 4) * 12 + 5
    views = around(places, point, 1)
    assert [view.plane for view in views] == ["z = 3", "y = 4", "x = 5"]
    assert [view.points[1, 1] for view in views] == [point] * 3
    assert views[2].points[1].tolist() == [point - 12, point, point + 12]


def test_a_picture_of_values_has_gaps_outside_the_mask() -> None:
    graph = opened("masked")
    places = places_of(graph, 0)
    [view] = whole(places)
    values = np.arange(4.0 * places.points.num_points).reshape(4, -1)
    shown = view.of(values)
    assert shown.shape == (4, 24, 24)
    inside = np.zeros(24 * 24, bool)
    inside[graph.level(0).base_index] = True
    assert (np.isfinite(shown[0]).ravel() == inside).all()
    assert shown[3].ravel()[inside].tolist() == values[3].tolist()


def test_mollweides_map_shows_each_point_by_its_area() -> None:
    places = places_of(opened("sphere"), 0)
    [view] = whole(places)
    shown = view.points[view.points >= 0]
    counts = np.bincount(shown, minlength=places.points.num_points)
    areas = places.points.areas(0, places.points.num_points)
    assert (counts > 0).all()
    assert np.corrcoef(np.round(areas, 3), counts)[0, 1] > 0
    assert len(shown) == pytest.approx(np.pi / 4 * view.points.size, rel=0.01)
    height, width = view.points.shape
    north, middle = view.points[[0, height // 2], width // 2]
    assert places.vectors[north, 2] / places.radius > 0.98
    assert places.vectors[middle, 0] / places.radius > 0.98
