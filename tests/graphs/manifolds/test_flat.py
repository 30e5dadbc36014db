"""The SE(2) distance against matrix logarithms, and its exact properties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from truth import half_turn_distance, log_distance, matrix

from cheblienet_graphs.manifolds import MANIFOLDS, OVER_FULL_TURNS, Metric
from cheblienet_graphs.manifolds.base import PERIODS
from cheblienet_graphs.manifolds.moments import array

element = st.tuples(*(st.floats(-most, most) for most in (2, 2, 10)))
eps = st.sampled_from([0.1, 0.3162, 1.0])
xi = st.sampled_from([0.02, 0.3, 2.0])


def distance(g: tuple, h: tuple, metric: Metric, among: dict = MANIFOLDS) -> float:
    points = (tuple(array(c) for c in element) for element in (g, h))
    return float(among["se2"].squared_distance(*points, metric))


def compose(k: tuple, g: tuple) -> tuple:
    cos, sin = math.cos(k[2]), math.sin(k[2])
    return k[0] + cos * g[0] - sin * g[1], k[1] + sin * g[0] + cos * g[1], k[2] + g[2]


@pytest.mark.parametrize(
    ("among", "period"), [(MANIFOLDS, math.pi), (OVER_FULL_TURNS, 2 * math.pi)], ids=PERIODS
)
@settings(max_examples=80)
@given(g=element, h=element, k=element, eps=eps, xi=xi)
def test_lengths_of_matrix_logarithms_and_what_leaves_them(
    g: tuple, h: tuple, k: tuple, eps: float, xi: float, *, among: dict, period: float
) -> None:
    """Modulo 2 pi the logarithm is the direct one."""
    metric = Metric(eps, xi)
    if abs(math.remainder(h[2] - g[2] - math.pi, period)) < 1e-6:
        h = (h[0], h[1], g[2] + 1e-3)  # logm loses digits next to a half turn
    expected = log_distance(matrix(*g), matrix(*h), eps, xi, period)
    d = distance(g, h, metric, among)
    assert math.isclose(d, expected, rel_tol=1e-6, abs_tol=1e-9)
    turned = ((*g[:2], g[2] + period), h), (g, (*h[:2], h[2] + period)), (h, g)
    flipped = tuple((x, -y, -t) for x, y, t in (g, h))
    for pair in (*turned, flipped):
        assert math.isclose(d, distance(*pair, metric, among), rel_tol=1e-10, abs_tol=1e-12)
    moved = distance(compose(k, g), compose(k, h), metric, among)
    assert math.isclose(d, moved, rel_tol=1e-9, abs_tol=1e-11 / eps**2)


@pytest.mark.parametrize("offset", [0.0, 1e-9, -1e-9])
@pytest.mark.parametrize("dx", [0.0, 0.3])
def test_regular_at_zero_and_half_turn(dx: float, offset: float) -> None:
    metric = Metric(0.3, 0.2)
    for theta in (0.0, 0.7):
        straight = (math.cos(theta) * dx + math.sin(theta) * 0.1) ** 2
        sideways = (-math.sin(theta) * dx + math.cos(theta) * 0.1) ** 2
        direct = straight + sideways / 0.3**2
        expected = min(direct, half_turn_distance(dx, 0.1, theta, 0.3, 0.2))
        for turn in (0.0, math.pi, -math.pi):
            squared = distance((0, 0, theta), (dx, 0.1, theta + turn + offset), metric)
            assert math.isclose(squared, expected, rel_tol=1e-7)


R3S2 = MANIFOLDS["r3s2"]
METRICS = [Metric(np.sqrt(0.1), 0.3), Metric(0.1, 2.0), Metric(1.0, 0.7)]
SEEDS = st.integers(0, 2**32 - 1)


def elements(random: np.random.Generator, count: int = 50) -> np.ndarray:
    """(count, 6) positions and axes."""
    axes = random.normal(size=(count, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    return np.column_stack([random.normal(size=(count, 3)), axes])


def squared(g: np.ndarray, h: np.ndarray, metric: Metric) -> np.ndarray:
    points = (tuple(map(array, p.T)) for p in (g, h))
    return np.asarray(R3S2.squared_distance(*points, metric))


@given(SEEDS, st.sampled_from(METRICS))
def test_invariances_and_lower_bounds(seed: int, metric: Metric) -> None:
    random = np.random.default_rng(seed)
    g, h = elements(random), elements(random)
    distance = squared(g, h, metric)
    opposite = np.concatenate([h[:, :3], -h[:, 3:]], axis=1)
    assert (squared(h, g, metric) == distance).all()
    assert (squared(g, opposite, metric) == distance).all()
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]  # reflections among them
    move = random.normal(size=3)
    moved = [np.column_stack([p[:, :3] @ turn.T + move, p[:, 3:] @ turn.T]) for p in (g, h)]
    assert squared(*moved, metric) == pytest.approx(distance, rel=1e-11)
    # The pruned search relies on this.
    assert (distance * (1 + 1e-12) >= ((h - g)[:, :3] ** 2).sum(axis=1)).all()
