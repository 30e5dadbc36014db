import numpy as np
import pytest

from cheblienet_graphs.figures.interpolation import interpolation


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
