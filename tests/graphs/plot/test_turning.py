import numpy as np
import pytest
from pictured import dense, opened
from scipy.special import eval_chebyt

from cheblienet_graphs.plot.chebyshev import random_weights
from cheblienet_graphs.plot.places import Places, places_of
from cheblienet_graphs.plot.turning import (
    Turning,
    bars,
    interpolation,
    rotation,
    symmetries_of,
    turn_of,
)
from cheblienet_graphs.samplings.lattice import Lattice

Z = np.array([0.0, 0.0, 1.0])
DIAGONAL = np.ones(3) / np.sqrt(3)


@pytest.mark.parametrize("dimension", [2, 3])
def test_cubic_polynomials_are_met_between_scattered_points(dimension: int) -> None:
    random = np.random.default_rng(0)
    points = random.uniform(-3, 3, (700, dimension))
    places = random.uniform(-2, 2, (40, dimension))

    def cubic(u: np.ndarray) -> np.ndarray:
        return 1 + u[:, 0] - 2 * u[:, 1] ** 2 + u[:, 0] * u[:, 1] * u[:, -1] - u[:, 1] ** 3

    between = interpolation(points, places)
    assert abs(between.sum(axis=1) - 1).max() < 1e-12
    assert abs(between @ cubic(points) - cubic(places)).max() < 0.02


def test_errors_fall_with_the_fourth_power_of_the_width() -> None:
    points = np.stack([x.ravel() for x in np.mgrid[-15:16, -15:16]], axis=1).astype(float)
    places = np.random.default_rng(1).uniform(-8, 8, (300, 2))

    def error(width: float) -> float:
        def bump(u: np.ndarray) -> np.ndarray:
            return np.exp(-(u**2).sum(axis=1) / (2 * width**2))

        found = interpolation(points, places) @ bump(points)
        return float(np.linalg.norm(found - bump(places)) / np.linalg.norm(bump(places)))

    assert error(2) < 0.01
    assert error(4) < error(2) / 8


def test_values_on_a_line_do_not_run_away() -> None:
    points = np.stack([np.linspace(-5, 5, 30), np.zeros(30)], axis=1)
    between = interpolation(points, np.array([[0.3, 0.01], [0.3, 0.5]]))
    assert abs(between.data).max() < 2
    assert between @ points[:, 0] == pytest.approx([0.3, 0.3], abs=0.05)


def test_outputs_turned_by_a_symmetry_are_those_of_the_turned_input() -> None:
    """After a quarter turn they are moved on by half of the orientations."""
    graph = opened("torus")
    places = places_of(graph, 0)
    point = 10 * 20 + 10
    turning = Turning(graph.level(0).laplacian, places, point, 6.0, random_weights(0))
    (still, before), (turned, after) = (turning.shown(rotation(Z, angle)) for angle in (0.0, 90.0))
    x, y = places.offsets(places.vectors[point], places.vectors).T.round().astype(int)
    image = (10 + x) % 20 * 20 + (10 - y) % 20  # (x, y) goes to (-y, x)
    near = np.isfinite(still)
    assert near.sum() > 90
    assert turned[image[near]] == pytest.approx(still[near], abs=1e-9)
    for k in range(4):
        moved = after[(k + 2) % 4, image[near]]
        assert moved == pytest.approx(before[k, near], abs=2e-6)
        assert abs(after[k, image[near]] - before[k, near]).max() > 1e-3


def test_bars_are_within_their_radius_and_have_no_symmetry() -> None:
    offsets = np.stack([u.ravel() for u in np.mgrid[-15:16, -15:16]], axis=1).astype(float)
    values = bars(offsets, 10.0)
    assert values[np.linalg.norm(offsets, axis=1) > 14].max() < 0.02 * values.max()
    for angle in range(15, 360, 15):
        turned = bars(offsets @ rotation(Z, angle)[:2, :2], 10.0)
        assert np.linalg.norm(turned - values) > 0.2 * np.linalg.norm(values)


def measured(name: str, axes: list[np.ndarray]) -> dict[str, tuple[int | None, float]]:
    graph = opened(name)
    found = symmetries_of(graph, 0, places_of(graph, 0), axes, random_weights(1), 2)
    assert all(symmetry.error < 1e-6 for symmetry in found if "approx" not in symmetry.name)
    return {symmetry.name: (symmetry.axis, round(symmetry.angle, 6)) for symmetry in found}


def test_rotations_of_a_plane_are_known_with_their_angles() -> None:
    assert measured("torus", [Z]) == {
        "rotation_90": (0, 90),
        "2 x rotation_90": (0, 180),
        "rotation_180": (0, 180),
        "flip": (None, 0),
        "translation_x": (None, 0),
        "translation_y": (None, 0),
    }


def test_rotations_of_a_sphere_and_a_volume_are_known_about_their_axes() -> None:
    grid = measured("grid", [Z])
    assert grid["longitude_step"] == (0, 22.5)
    assert grid["8 x longitude_step"] == (0, 180)
    assert grid["half_turn_x"] == (None, 0)
    sphere = measured("sphere", [Z, DIAGONAL])
    assert sphere["half_turn_z"] == (0, 180)
    assert sphere["rotation_120"] == (1, 120)


def test_a_permutation_that_is_no_symmetry_is_not_taken_for_one() -> None:
    places = places_of(opened("plane"), 0)
    order = np.random.default_rng(0).permutation(places.points.num_vertices)
    assert turn_of(places, order, [Z]) is None


def test_points_on_a_line_are_not_said_to_turn() -> None:
    line = Lattice((1, 6))
    assert turn_of(Places(line, 1 / 6, flat=True), np.arange(6)[::-1], [Z]) is None


def test_the_error_is_that_of_dense_matrices() -> None:
    """An approximate symmetry, for which it is not small."""
    graph = opened("rotations")
    weights, places = random_weights(1), places_of(graph, 0)
    found = {s.name: s.error for s in symmetries_of(graph, 0, places, [Z], weights, 2)}
    name = "rotation_120 (approximate)"
    permutation = dict(places.points.symmetries())[name]
    values, vectors = np.linalg.eigh(dense(graph))
    signal = np.random.default_rng(2).standard_normal(len(values))
    moved = np.empty_like(signal)
    moved[permutation] = signal
    error, size = 0.0, 0.0
    for channel in weights.T:
        polynomial = sum(w * eval_chebyt(k, values) for k, w in enumerate(channel))
        layer = vectors @ (polynomial[:, None] * vectors.T)
        image = np.empty_like(signal)
        image[permutation] = layer @ signal
        error += np.sum((layer @ moved - image) ** 2)
        size += np.sum(image**2)
    assert found[name] == pytest.approx(np.sqrt(error / size), rel=1e-6)
    assert found[name] > 0.01


@pytest.mark.parametrize("axis", [Z, DIAGONAL])
def test_rotations_turn_about_their_axis_from_x_toward_y(axis: np.ndarray) -> None:
    turn = rotation(axis, 40)
    assert turn @ axis == pytest.approx(axis)
    assert turn @ turn.T == pytest.approx(np.eye(3))
    assert np.trace(turn) == pytest.approx(1 + 2 * np.cos(np.radians(40)))
    assert rotation(Z, 90) @ [1, 0, 0] == pytest.approx([0, 1, 0])
