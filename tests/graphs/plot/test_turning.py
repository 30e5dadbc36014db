import numpy as np
import pytest
from pictured import opened

from cheblienet_graphs.plot.chebyshev import random_weights
from cheblienet_graphs.plot.places import places_of
from cheblienet_graphs.plot.turning import Turning, bars, interpolation, rotation

Z = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize("dimension", [2, 3])
def test_cubic_polynomials_are_met_between_scattered_points(dimension: int) -> None:
    random = np.random.default_rng(0)
    points = random.uniform(-3, 3, (700, dimension))
    places = random.uniform(-2, 2, (40, dimension))

    def cubic(u: np.ndarray) -> np.ndarray:
        return 1 + u[:, 0] - 2 * u[:, 1] ** 2 + u[:, 0] * u[:, 1] * u[:, -1] - u[:, 1] ** 3

    between = interpolation(points, places)
    assert abs(between.weights.sum(axis=1) - 1).max() < 1e-12
    assert abs(between.of(cubic(points)) - cubic(places)).max() < 0.02
    both = between.of(np.stack([cubic(points), points[:, 0]], axis=1))
    assert abs(both[:, 1] - places[:, 0]).max() < 1e-3


def test_errors_fall_with_the_fourth_power_of_the_width() -> None:
    points = np.stack([x.ravel() for x in np.mgrid[-15:16, -15:16]], axis=1).astype(float)
    places = np.random.default_rng(1).uniform(-8, 8, (300, 2))

    def error(width: float) -> float:
        def bump(u: np.ndarray) -> np.ndarray:
            return np.exp(-(u**2).sum(axis=1) / (2 * width**2))

        found = interpolation(points, places).of(bump(points))
        return float(np.linalg.norm(found - bump(places)) / np.linalg.norm(bump(places)))

    assert error(2) < 0.01
    assert error(4) < error(2) / 8


def test_values_on_a_line_do_not_run_away() -> None:
    points = np.stack([np.linspace(-5, 5, 30), np.zeros(30)], axis=1)
    between = interpolation(points, np.array([[0.3, 0.01], [0.3, 0.5]]))
    assert abs(between.weights).max() < 2
    assert between.of(points[:, 0]) == pytest.approx([0.3, 0.3], abs=0.05)


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
