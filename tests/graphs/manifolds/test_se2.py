"""The SE(2) distance against matrix logarithms, and its exact properties."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from truth import half_turn_distance, log_distance, matrix

from cheblienet_graphs.manifolds import MANIFOLDS, OVER_FULL_TURNS, Metric
from cheblienet_graphs.manifolds.arrays import array

coordinate = st.floats(-2, 2)
angle = st.floats(-10, 10)
element = st.tuples(coordinate, coordinate, angle)
eps = st.sampled_from([0.1, 0.3162, 1.0])
xi = st.sampled_from([0.02, 0.3, 2.0])


def distance(g: tuple, h: tuple, metric: Metric, among: dict = MANIFOLDS) -> float:
    points = (tuple(array(c) for c in element) for element in (g, h))
    return float(among["se2"].squared_distance(*points, metric))


def close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-10, abs_tol=1e-12)


def compose(k: tuple, g: tuple) -> tuple:
    cos, sin = math.cos(k[2]), math.sin(k[2])
    return k[0] + cos * g[0] - sin * g[1], k[1] + sin * g[0] + cos * g[1], k[2] + g[2]


@settings(max_examples=60)
@given(g=element, h=element, eps=eps, xi=xi)
def test_equals_matrix_logarithm(g: tuple, h: tuple, eps: float, xi: float) -> None:
    turn = abs(math.remainder(h[2] - g[2], math.pi))
    if turn < 1e-6:
        h = (h[0], h[1], g[2] + 1e-3)  # logm loses digits next to a half turn
    expected = log_distance(matrix(*g), matrix(*h), eps, xi)
    assert math.isclose(distance(g, h, Metric(eps, xi)), expected, rel_tol=1e-6, abs_tol=1e-9)


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


@settings(max_examples=60)
@given(g=element, h=element, k=element, eps=eps, xi=xi)
def test_modulo_2_pi_the_logarithm_is_the_direct_one(
    g: tuple, h: tuple, k: tuple, eps: float, xi: float
) -> None:
    metric = Metric(eps, xi)
    if math.pi - abs(math.remainder(h[2] - g[2], 2 * math.pi)) < 1e-6:
        h = (h[0], h[1], g[2] + 1e-3)  # logm loses digits next to a half turn
    expected = log_distance(matrix(*g), matrix(*h), eps, xi, 2 * math.pi)
    d = distance(g, h, metric, OVER_FULL_TURNS)
    assert math.isclose(d, expected, rel_tol=1e-6, abs_tol=1e-9)
    turned = ((*g[:2], g[2] + 2 * math.pi), h), (h, g), ((g[0], -g[1], -g[2]), (h[0], -h[1], -h[2]))
    assert all(close(d, distance(*pair, metric, OVER_FULL_TURNS)) for pair in turned)
    moved = distance(compose(k, g), compose(k, h), metric, OVER_FULL_TURNS)
    assert math.isclose(d, moved, rel_tol=1e-9, abs_tol=1e-11 / eps**2)


@given(g=element, h=element, k=element, eps=eps, xi=xi)
def test_exact_properties(g: tuple, h: tuple, k: tuple, eps: float, xi: float) -> None:
    metric = Metric(eps, xi)
    d = distance(g, h, metric)
    assert close(d, distance(h, g, metric))
    assert close(d, distance((*g[:2], g[2] + math.pi), h, metric))
    assert close(d, distance(g, (*h[:2], h[2] + math.pi), metric))
    flipped = ((x, -y, -t) for x, y, t in (g, h))
    assert close(d, distance(*flipped, metric))
    moved = (compose(k, g), compose(k, h))
    assert math.isclose(d, distance(*moved, metric), rel_tol=1e-9, abs_tol=1e-11 / eps**2)
