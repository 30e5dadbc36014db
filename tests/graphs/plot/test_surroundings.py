"""Pictures of what is around a vertex: true distances, directions and orientations."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.plot.places import chosen_vertex
from cheblienet_graphs.plot.surroundings import Surroundings

Opened = Callable[[str], OpenedGraph]


def units(beta: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    return np.stack(
        [np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma), np.cos(beta)], axis=-1
    )


@pytest.mark.parametrize("vertex", [0, 11, 100, 161])
def test_the_tangent_plane_shows_true_distances_and_directions(opened: Opened, vertex: int) -> None:
    graph = opened("sphere")
    every = np.arange(162)
    places = np.radians(Surroundings(graph, 0, vertex).places(every))
    points = units(*graph.level(0).coordinates[:].T)
    here = points[vertex]
    _, gamma = graph.level(0).coordinates[vertex]
    east = np.array([-math.sin(gamma), math.cos(gamma), 0])
    north = np.cross(here, east)
    assert north @ here == pytest.approx(0, abs=1e-12)
    assert north[2] >= -1e-12  # towards the north pole
    arc = np.hypot(*places.T)
    toward = places / np.maximum(arc, 1e-300)[:, None]
    ends = np.cos(arc)[:, None] * here
    ends += np.sin(arc)[:, None] * (toward[:, :1] * east + toward[:, 1:] * north)
    far = arc < math.pi - 1e-6  # the antipode has no direction
    np.testing.assert_allclose(ends[far], points[far], atol=1e-12)
    assert places[vertex] == pytest.approx((0, 0))


def test_orientations_come_by_parallel_transport(opened: Opened) -> None:
    graph = opened("rotations")
    coordinates = graph.level(0).coordinates[:]
    alpha, beta, gamma = coordinates.T
    frames = Rotation.from_euler("ZYZ", np.stack([gamma, beta, alpha], axis=1)).as_matrix()
    points, forward = frames[:, :, 2], frames[:, :, 0]
    vertex = 162 + 60
    here = points[vertex]
    others = np.flatnonzero(points @ here > -0.9)
    axis = np.cross(points[others], here)
    lengths = np.linalg.norm(axis, axis=1)
    angle = np.arctan2(lengths, points[others] @ here)
    axis[lengths > 0] *= (angle / np.maximum(lengths, 1e-300))[lengths > 0, None]
    moved = Rotation.from_rotvec(axis).apply(forward[others])
    east = np.array([-math.sin(gamma[vertex]), math.cos(gamma[vertex]), 0])
    truth = np.stack([moved @ east, moved @ np.cross(here, east)], axis=1)
    headings = Surroundings(graph, 0, vertex).headings(others)
    np.testing.assert_allclose(headings, truth, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(headings, axis=1), 1)


def test_the_frame_of_a_rotation_is_its_own(opened: Opened) -> None:
    graph, vertex = opened("rotations"), 162 * 3 + 20
    alpha, beta, gamma = graph.level(0).coordinates[vertex]
    frame = Rotation.from_euler("ZYZ", [gamma, beta, alpha]).as_matrix()
    east = np.array([-math.sin(gamma), math.cos(gamma), 0])
    north = np.cross(frame[:, 2], east)
    truth = [[frame[:, k] @ east, frame[:, k] @ north] for k in (0, 1)]
    np.testing.assert_allclose(Surroundings(graph, 0, vertex).frame, truth, atol=1e-12)


def test_a_periodic_plane_shows_the_nearest_images(opened: Opened) -> None:
    graph = opened("torus")
    places = Surroundings(graph, 0, 0).places(np.arange(144))
    y, x = np.divmod(np.arange(144), 12)
    np.testing.assert_allclose(abs(places[:, 0]), np.minimum(x, 12 - x), atol=1e-9)
    np.testing.assert_allclose(abs(places[:, 1]), np.minimum(y, 12 - y), atol=1e-9)
    assert places[1] == pytest.approx((1, 0))
    assert places[11] == pytest.approx((-1, 0))


def test_a_plane_shows_pixels_down_and_orientations_clockwise(opened: Opened) -> None:
    graph = opened("gaussian")
    around = Surroundings(graph, 0, 256 * 4 + 16 * 8 + 8)  # 30 degrees
    assert around.axes == ("x", "y")
    assert around.places(np.array([256 + 16 * 10 + 5]))[0] == pytest.approx((-3, 2))
    cos, sin = math.cos(math.pi / 6), math.sin(math.pi / 6)
    np.testing.assert_allclose(around.frame, [[cos, sin], [-sin, cos]])
    assert around.headings(np.array([256 * 5]))[0] == pytest.approx((0.5, math.sqrt(0.75)))


@pytest.mark.parametrize("name", ["gaussian", "masked", "volume", "plane"])
def test_the_middle_of_a_lattice_has_all_its_neighbours(opened: Opened, name: str) -> None:
    graph = opened(name)
    vertex = chosen_vertex(graph, 0, None)
    neighbours = np.diff(graph.level(0).laplacian.indptr)
    points = graph.spec.base_points(0)
    own = neighbours[vertex // points * points :][:points]
    assert neighbours[vertex] == own.max()


def test_the_middle_of_a_region_is_far_from_its_edge(opened: Opened) -> None:
    graph = opened("region")
    _, beta, gamma = np.degrees(graph.level(0).coordinates[chosen_vertex(graph, 0, None)])
    assert abs(gamma) < 20
    assert 45 < beta < 85


def test_the_middle_of_dust_has_neighbours(opened: Opened) -> None:
    graph = opened("dust")
    entries = np.diff(graph.level(0).laplacian.indptr)
    assert entries[chosen_vertex(graph, 0, None)] > 1
    alone = int(entries.argmin())
    assert entries[alone] == 1
    assert chosen_vertex(graph, 0, alone) == alone


def test_points_of_ones_own_have_a_middle(opened: Opened) -> None:
    graph = opened("own")
    x, y = graph.level(0).coordinates[chosen_vertex(graph, 0, None)]
    assert abs(x - 0.5) + abs(y - 0.5) < 0.3
