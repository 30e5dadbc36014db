import contextlib

import numpy as np
import pytest
from pictured import opened

from cheblienet_graphs.errors import NotDrawnError, SpecError
from cheblienet_graphs.plot import equivariance_of, heat_of, neighbourhood_of, subgraphs_of
from cheblienet_graphs.plot.places import chosen_vertex, places_of, typical_spacing

NAMES = ["plane", "torus", "space", "random", "sphere", "masked", "region"]


@pytest.mark.parametrize("name", NAMES)
def test_places_at_offsets_are_seen_at_these_offsets(name: str) -> None:
    places = places_of(opened(name), 0)
    here = places.vectors[places.middle()]
    offsets = np.random.default_rng(0).uniform(-1.5, 1.5, (50, places.dimension))
    assert abs(places.offsets(here, places.at(here, offsets)) - offsets).max() < 1e-9


def test_offsets_on_the_sphere_are_arcs_east_and_south() -> None:
    places = places_of(opened("sphere"), 0)
    point = places.middle()
    here, radius = places.vectors[point], places.radius
    offsets = places.offsets(here, places.vectors)
    cosines = places.vectors @ here / radius**2
    arcs = np.arccos(np.clip(cosines, -1, 1)) * radius
    assert abs(np.linalg.norm(offsets, axis=1) - arcs).max() < 1e-6
    north = np.array([[0.0, 0.0, radius]])
    [to_north] = places.offsets(here, north)
    assert to_north[1] < 0
    assert abs(to_north[0]) < 1e-9
    assert np.linalg.norm(offsets[point]) < 1e-12


def test_offsets_on_a_torus_take_the_short_way() -> None:
    places = places_of(opened("torus"), 0)
    [offset] = places.offsets(np.array([1.0, 1.0]), np.array([[19.0, 5.0]]))
    assert offset.tolist() == pytest.approx([-2, 4])


@pytest.mark.parametrize("name", ["masked", "region"])
def test_the_middle_of_a_mask_is_far_from_all_outside(name: str) -> None:
    places = places_of(opened(name), 0)
    outside = places.outside
    rooms = [np.linalg.norm(outside - here, axis=1).min() for here in places.vectors]
    assert rooms[places.middle()] >= 0.9 * max(rooms)


def test_room_ends_at_sides_masks_and_half_of_a_torus() -> None:
    plane, torus, masked, sphere = (
        places_of(opened(name), 0) for name in ("plane", "torus", "masked", "sphere")
    )
    assert plane.room(0) == 0
    assert plane.room(plane.middle()) == pytest.approx(8)
    assert torus.room(0) == pytest.approx(10)
    point = masked.middle()
    nearest = np.linalg.norm(masked.outside - masked.vectors[point], axis=1).min()
    assert masked.room(point) == pytest.approx(nearest)
    assert sphere.room(0) == pytest.approx(sphere.radius * np.pi / 2)


@pytest.mark.parametrize("name", ["random", "sphere", "region", "torus"])
def test_the_nearest_point_is_that_of_brute_force(name: str) -> None:
    places = places_of(opened(name), 0)
    random = np.random.default_rng(3)
    wanted = places.vectors[random.integers(len(places.vectors), size=60)]
    wanted = wanted + random.uniform(-0.4, 0.4, wanted.shape)
    vectors = places.full.base_points / places.spacing
    steps = wanted[:, None] - vectors
    if places.sides is not None:
        steps -= np.round(steps / places.sides) * places.sides
    nearest = (steps**2).sum(axis=2).argmin(axis=1)
    numbers = getattr(places.points, "inside", np.arange(len(vectors)))[nearest]
    assert places.nearest(wanted).tolist() == numbers.tolist()


@pytest.mark.parametrize("regular", [False, True])
def test_the_spacing_of_points_is_found_from_their_distances(regular: bool) -> None:
    points = np.random.default_rng(0).uniform(size=(2500, 2))
    if regular:
        points = np.stack([u.ravel() for u in np.mgrid[:50, :50] / 50], axis=1)
    assert typical_spacing(points) == pytest.approx(0.02, rel=0.06)


def test_a_place_far_from_points_of_a_part_of_the_sphere_shows_none() -> None:
    places = places_of(opened("own"), 0)
    assert places.nearest(np.array([[-100.0, -100.0]])).tolist() == [-1]


@pytest.mark.parametrize(
    "name",
    ["plane", "space", "torus", "random", "own", "sphere", "rotations", "region", "masked"],
)
def test_all_figures_have_the_same_middle(name: str) -> None:
    graph = opened(name)
    vertex, around = chosen_vertex(graph, 0, None), neighbourhood_of(graph)
    assert around.views[around.middle].vertex == vertex
    assert heat_of(graph).vertex == vertex
    assert subgraphs_of(graph).vertices[0] == vertex
    with contextlib.suppress(NotDrawnError):  # where there is no room to turn anything
        assert equivariance_of(graph).point == vertex % graph.points(0).num_points


def test_the_middle_has_neighbours_if_any_vertex_has() -> None:
    graph = opened("islands")
    entries = np.diff(graph.level(0).laplacian.indptr)
    assert entries[chosen_vertex(graph, 0, None)] > 1


def test_a_vertex_that_is_none_is_refused() -> None:
    for figure in (heat_of, neighbourhood_of, subgraphs_of):
        with pytest.raises(SpecError, match=r"^vertex must be an integer in \[0, 319\]"):
            figure(opened("plane"), vertex=320)
