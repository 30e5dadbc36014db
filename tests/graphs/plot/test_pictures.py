import numpy as np
import pytest
from pictured import opened

from cheblienet_graphs.plot.pictures import around, shown_orientations, whole
from cheblienet_graphs.plot.places import places_of


def test_pixels_around_a_point_are_its_neighbors_on_the_lattice() -> None:
    places = places_of(opened("plane"), 0)
    [view] = around(places, 5 * 20 + 7, 2)
    y, x = np.mgrid[3:8, 5:10]
    assert view.points.tolist() == (y * 20 + x).tolist()
    assert view.extent == (-2.5, 2.5, 2.5, -2.5)
    [corner] = around(places, 0, 1)
    assert corner.points.tolist() == [[-1, -1, -1], [-1, 0, 1], [-1, 20, 21]]


def test_pixels_around_a_point_of_a_torus_go_round_once() -> None:
    places = places_of(opened("torus"), 0)
    [view] = around(places, 0, 1)
    assert view.points.tolist() == [[399, 380, 381], [19, 0, 1], [39, 20, 21]]
    [everything] = around(places, 0, 30)
    assert np.sort(everything.points, axis=None).tolist() == list(range(400))


def test_a_volume_is_seen_in_three_slices_through_the_point() -> None:
    places = places_of(opened("space"), 0)
    point = (3 * 10 + 4) * 12 + 5
    views = around(places, point, 1)
    assert [view.plane for view in views] == ["z = 3", "y = 4", "x = 5"]
    names = [(view.across, view.down) for view in views]
    assert names == [("x [voxels]", "y"), ("x [voxels]", "z"), ("y [voxels]", "z")]
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
    north = view.points[0, view.points.shape[1] // 2]
    assert places.vectors[north, 2] / places.radius > 0.98
    middle = view.points[view.points.shape[0] // 2, view.points.shape[1] // 2]
    assert places.vectors[middle, 0] / places.radius > 0.98


def test_large_lattices_are_thinned_out() -> None:
    [view] = whole(places_of(opened("plane"), 0), 7)
    assert view.points[0].tolist() == [1 * 20 + x for x in range(1, 20, 3)]
    assert view.points[:, 0].tolist() == [y * 20 + 1 for y in range(1, 16, 3)]
    assert view.extent == (-10.5, 10.5, 6.5, -8.5)


def test_many_orientations_are_thinned_out() -> None:
    assert shown_orientations(6).tolist() == [0, 1, 2, 3, 4, 5]
    assert shown_orientations(16).tolist() == [0, 3, 6, 9, 12, 15]
    assert shown_orientations(16, through=8).tolist() == [2, 5, 8, 11, 14]
