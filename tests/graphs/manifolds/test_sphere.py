"""The distances on SO(3) and S2 against scipy's rotations and logm, and their exact properties."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import logm
from scipy.spatial.transform import Rotation
from sphere_truth import (
    HALF_TURN,
    arcs,
    of_vectors,
    rotations,
    s2_rows,
    so3_rows,
    so3_squared_distance,
    unit_vectors,
)

from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.manifolds.manifold import squared_norm

SO3, S2 = MANIFOLDS["so3"], MANIFOLDS["s2"]
METRICS = [Metric(0.1, 0.05), Metric(0.3162, 0.3), Metric(1.0, 2.0), Metric(1.0, 1.0)]

angle = st.floats(-10, 10)
colatitude = st.floats(0, math.pi)
element = st.tuples(angle, colatitude, angle)
metrics = st.sampled_from(METRICS)


def elements(name: str, coordinates: np.ndarray) -> tuple:
    return MANIFOLDS[name].elements(tuple(array(c) for c in np.asarray(coordinates).T))


def so3_squared(g: np.ndarray, h: np.ndarray, metric: Metric) -> np.ndarray:
    """Of (N, 3) coordinates each."""
    return np.asarray(SO3.squared_distance(elements("so3", g), elements("so3", h), metric))


def s2_arc(g: np.ndarray, h: np.ndarray) -> np.ndarray:
    squared = S2.squared_distance(elements("s2", g), elements("s2", h), Metric(1.0))
    return np.sqrt(np.asarray(squared))


def random_elements(count: int, seed: int) -> np.ndarray:
    """alpha and gamma beyond one turn, beta in [0, pi]."""
    rng = np.random.default_rng(seed)
    return rng.uniform([-7, 0, -7], [7, math.pi, 7], (count, 3))


def angles_of(rotation: Rotation) -> np.ndarray:
    """(N, 3) alpha, beta, gamma; free of the poles, where they are not unique."""
    return rotation.as_euler("ZYZ")[..., ::-1]


def turned_by(g: np.ndarray, turn: float, seed: int) -> np.ndarray:
    """Elements whose relative rotation to g has this angle, about random axes."""
    axes = np.random.default_rng(seed).normal(size=(len(g), 3))
    axes *= turn / np.linalg.norm(axes, axis=1, keepdims=True)
    return angles_of(rotations(g) * Rotation.from_rotvec(axes))


SPECIAL = [0.0, 1e-9, 1e-5, math.pi - 1e-9, math.pi, math.pi + 1e-9, math.pi - 1e-5]


@pytest.mark.parametrize("metric", METRICS)
def test_so3_equals_scipy_rotations(metric: Metric) -> None:
    g, h = random_elements(2000, 0), random_elements(2000, 1)
    expected = so3_squared_distance(rotations(g), rotations(h), metric.eps, metric.xi)
    assert np.abs(so3_squared(g, h, metric) - expected).max() < 1e-12


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("turn", SPECIAL)
def test_so3_equals_scipy_rotations_at_special_angles(turn: float, metric: Metric) -> None:
    g = random_elements(500, 2)
    h = turned_by(g, turn, 3)
    expected = so3_squared_distance(rotations(g), rotations(h), metric.eps, metric.xi)
    found = so3_squared(g, h, metric)
    assert np.abs(found - expected).max() < 1e-12
    # Of small distances the root as well: the coordinates themselves carry 1e-15.
    assert np.abs(np.sqrt(found) - np.sqrt(expected)).max() < 1e-12


@pytest.mark.parametrize("eps", [0.3, 1.0])
@pytest.mark.parametrize("offset", [0.0, 1e-9, -1e-9])
@pytest.mark.parametrize("turn", [0.0, math.pi, -math.pi, 2 * math.pi])
def test_turning_in_place(turn: float, offset: float, eps: float) -> None:
    """Along the fiber d = xi times the angle modulo pi, which is known without any truth."""
    g = random_elements(50, 4)
    h = g + np.array([turn + offset, 0, 0])
    found = np.sqrt(so3_squared(g, h, Metric(eps, 0.5)))
    assert np.abs(found - 0.5 * abs(offset)).max() < 1e-13


def test_so3_equals_matrix_logarithms() -> None:
    """Each candidate by itself, and their smaller length.

    logm loses digits as the angle tends to pi, where two eigenvalues meet on its branch cut: its
    error, measured, is 1e-15 / (pi - angle). Next to that it is no judge, so such pairs are few
    here; the rotation vectors judge them.
    """
    metric = Metric(0.3162, 0.7)
    g, h = random_elements(50, 5), random_elements(50, 6)
    relative = rotations(g).inv() * rotations(h)
    candidates = SO3.logarithms(elements("so3", g), elements("so3", h))
    lengths = []
    for candidate, components in zip((relative, relative * HALF_TURN), candidates, strict=True):
        matrices = [logm(matrix).real for matrix in candidate.as_matrix()]
        expected = np.array([(m[0, 2], m[1, 2], m[1, 0]) for m in matrices])
        room = math.pi - candidate.magnitude()
        assert (room > 1e-3).mean() > 0.95
        miss = np.abs(np.stack(components, axis=1) - expected).max(axis=1)
        assert (miss < 1e-12 + 1e-13 / room).all()
        lengths.append(of_vectors(expected[:, [1, 0, 2]], metric.eps, metric.xi))
    assert np.allclose(so3_squared(g, h, metric), np.min(lengths, axis=0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("turn", [1e-9, math.pi - 1e-9])
def test_so3_equals_matrix_logarithms_next_to_its_branch_cut(turn: float) -> None:
    """At 1e-9 from pi logm is right to 1e-6; at 1e-9 from the identity, to rounding."""
    g = random_elements(20, 7)
    h = turned_by(g, turn, 8)
    relative = rotations(g).inv() * rotations(h)
    components = next(SO3.logarithms(elements("so3", g), elements("so3", h)))
    found = np.stack(components, axis=1)
    expected = np.array([logm(m).real for m in relative.as_matrix()])
    expected = np.stack([expected[:, 0, 2], expected[:, 1, 2], expected[:, 1, 0]], axis=1)
    tolerance = 1e-13 if turn < 1 else 1e-5
    miss = np.minimum(abs(found - expected).max(axis=1), abs(found + expected).max(axis=1))
    assert miss.max() < tolerance


def so3_logarithms(g: np.ndarray, h: np.ndarray) -> list[Rotation]:
    """The rotations of which the package says these are the logarithms: w = (-c2, c1, c3)."""
    found = []
    for c1, c2, c3 in SO3.logarithms(elements("so3", g), elements("so3", h)):
        found.append(Rotation.from_rotvec(np.stack([-c2, c1, c3], axis=1)))
    return found


@pytest.mark.parametrize("turn", [None, *SPECIAL])
def test_so3_logarithms_exponentiate_back(turn: float | None) -> None:
    g = random_elements(500, 9)
    h = random_elements(500, 10) if turn is None else turned_by(g, turn, 11)
    relative = rotations(g).inv() * rotations(h)
    direct, turned = so3_logarithms(g, h)
    assert np.abs(direct.as_matrix() - relative.as_matrix()).max() < 1e-13
    assert np.abs(turned.as_matrix() - (relative * HALF_TURN).as_matrix()).max() < 1e-13


def test_so3_logarithms_are_the_shortest() -> None:
    g, h = random_elements(500, 12), random_elements(500, 13)
    for components in SO3.logarithms(elements("so3", g), elements("so3", h)):
        assert np.linalg.norm(np.stack(components), axis=0).max() <= math.pi + 1e-14


@settings(max_examples=100)
@given(g=element, h=element, k=element, metric=metrics)
def test_so3_exact_properties(g: tuple, h: tuple, k: tuple, metric: Metric) -> None:
    def distance(a: tuple | np.ndarray, b: tuple | np.ndarray) -> float:
        return float(so3_squared(np.array([a]), np.array([b]), metric)[0])

    squared = distance(g, h)
    close = 1e-12 + 1e-12 * squared
    assert abs(squared - distance(h, g)) < close
    for shift in (math.pi, -math.pi):
        assert abs(squared - distance((g[0] + shift, *g[1:]), h)) < close
        assert abs(squared - distance(g, (h[0] + shift, *h[1:]))) < close
    mirrored = [(-alpha, beta, -gamma) for alpha, beta, gamma in (g, h)]
    assert abs(squared - distance(*mirrored)) < close


@pytest.mark.parametrize("metric", METRICS)
def test_so3_left_invariant(metric: Metric) -> None:
    g, h = random_elements(1000, 14), random_elements(1000, 15)
    for move in rotations(random_elements(5, 16)):
        moved = (angles_of(move * rotations(g)), angles_of(move * rotations(h)))
        assert np.abs(so3_squared(*moved, metric) - so3_squared(g, h, metric)).max() < 1e-12


def test_so3_tends_to_se2() -> None:
    """At small scale, next to the north pole, forward is x at alpha = 0: the frames agree."""
    metric, small = Metric(0.3, 1e-3), 1e-4
    origin = (0.0, 0.0, 0.0)
    for x, y, theta in [(1, 0, 0), (0, 1, 0), (1, 2, 0.7), (-1, 0.5, -1.2)]:
        gamma = math.atan2(y, x)
        there = (theta - gamma, small * math.hypot(x, y), gamma)
        found = so3_squared(np.array([origin]), np.array([there]), metric)
        plane = [tuple(array(c) for c in p) for p in ((0, 0, 0), (small * x, small * y, theta))]
        expected = MANIFOLDS["se2"].squared_distance(*plane, metric)
        assert np.allclose(found, expected, rtol=1e-6)


def test_so3_both_candidates_are_needed() -> None:
    """The smaller angle is not always the nearer."""
    g, h = random_elements(1000, 17), random_elements(1000, 18)
    metric = Metric(0.3162, 0.3)
    candidates = list(SO3.logarithms(elements("so3", g), elements("so3", h)))
    lengths = np.stack([np.asarray(squared_norm(SO3.weights(metric), c)) for c in candidates])
    turns = np.stack([np.linalg.norm(np.stack(c), axis=0) for c in candidates])
    share = (lengths.argmin(axis=0) != turns.argmin(axis=0)).mean()
    assert 0.05 < share < 0.6
    assert np.allclose(lengths.min(axis=0), so3_squared(g, h, metric), rtol=1e-13)


def random_points(count: int, seed: int) -> np.ndarray:
    return random_elements(count, seed)[:, 1:]


def moved_along(g: np.ndarray, arc: float, seed: int) -> np.ndarray:
    """(N, 2) points at this arc from g, in random directions."""
    bearing = np.random.default_rng(seed).uniform(-math.pi, math.pi, len(g))
    frames = Rotation.from_euler("ZYZ", np.column_stack([g[:, ::-1], bearing]))
    return angles_of_points(frames.apply([math.sin(arc), 0, math.cos(arc)]))


def angles_of_points(points: np.ndarray) -> np.ndarray:
    x, y, z = points.T
    return np.stack([np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)], axis=1)


def test_s2_equals_arcs() -> None:
    g, h = random_points(2000, 20), random_points(2000, 21)
    expected = arcs(unit_vectors(g), unit_vectors(h))
    assert np.abs(s2_arc(g, h) - expected).max() < 1e-13


@pytest.mark.parametrize("arc", [0.0, 1e-9, 1e-5, 1.0, math.pi - 1e-5, math.pi - 1e-9, math.pi])
def test_s2_at_special_arcs(arc: float) -> None:
    g = random_points(500, 22)
    h = moved_along(g, arc, 23)
    assert np.abs(s2_arc(g, h) - arc).max() < 2e-15
    assert np.abs(s2_arc(g, h) - arcs(unit_vectors(g), unit_vectors(h))).max() < 2e-15


@given(g=st.tuples(colatitude, angle), h=st.tuples(colatitude, angle))
def test_s2_symmetric_and_known(g: tuple, h: tuple) -> None:
    a, b = np.array([g]), np.array([h])
    assert abs(s2_arc(a, b) - s2_arc(b, a)) < 1e-14
    poles = np.array([[0.0, h[1]], [math.pi, h[1]]])
    assert np.abs(s2_arc(a, poles) - [g[0], math.pi - g[0]]).max() < 1e-14


def test_s2_invariant_under_rotations() -> None:
    g, h = random_points(1000, 24), random_points(1000, 25)
    for move in rotations(random_elements(5, 26)):
        moved = [angles_of_points(move.apply(unit_vectors(p))) for p in (g, h)]
        assert np.abs(s2_arc(*moved) - s2_arc(g, h)).max() < 1e-13


@pytest.mark.parametrize("arc", [None, 0.0, 1e-9, math.pi - 1e-9, math.pi])
def test_s2_logarithms_exponentiate_back(arc: float | None) -> None:
    g = random_points(500, 27)
    h = random_points(500, 28) if arc is None else moved_along(g, arc, 29)
    (logarithm,) = S2.logarithms(elements("s2", g), elements("s2", h))
    south, east = (np.asarray(c) for c in logarithm)
    beta, gamma = g.T
    along_beta = unit_vectors(np.stack([beta + math.pi / 2, gamma], axis=1))
    along_gamma = unit_vectors(
        np.stack([np.full(len(g), math.pi / 2), gamma + math.pi / 2], axis=1)
    )
    tangent = south[:, None] * along_beta + east[:, None] * along_gamma
    length = np.linalg.norm(tangent, axis=1)
    assert np.abs(length - s2_arc(g, h)).max() < 1e-13
    step = np.sinc(length / math.pi)[:, None] * tangent
    reached = np.cos(length)[:, None] * unit_vectors(g) + step
    assert np.abs(reached - unit_vectors(h)).max() < 1e-13


@pytest.mark.parametrize("name", ["so3", "s2"])
def test_torch_runs_the_same_formula(name: str) -> None:
    g, h = random_elements(500, 30), random_elements(500, 31)
    if name == "s2":
        g, h = g[:, 1:], h[:, 1:]
    manifold, metric = MANIFOLDS[name], Metric(1.0, 0.3)
    with_numpy = manifold.squared_distance(elements(name, g), elements(name, h), metric)
    tensors = [manifold.elements(tuple(torch.tensor(p.T).unbind())) for p in (g, h)]
    with_torch = manifold.squared_distance(*tensors, metric)
    assert np.allclose(with_numpy, with_torch.numpy(), rtol=1e-13, atol=0)
    logarithms = zip(
        manifold.logarithms(elements(name, g), elements(name, h)),
        manifold.logarithms(*tensors),
        strict=True,
    )
    for ours, theirs in logarithms:
        assert np.allclose(np.stack(ours), torch.stack(theirs).numpy(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("metric", METRICS)
def test_rows_of_brute_force_are_the_same_distance(metric: Metric) -> None:
    coordinates = random_elements(60, 32)
    found = np.concatenate(list(so3_rows(coordinates, metric.eps, metric.xi)))
    g = rotations(coordinates)
    expected = [so3_squared_distance(g[a], g, metric.eps, metric.xi) for a in range(60)]
    assert np.abs(found - expected).max() < 1e-12
    points = unit_vectors(coordinates[:, 1:])
    cosines = np.clip(points @ points.T, -1, 1)
    arc = np.sqrt(np.concatenate(list(s2_rows(coordinates[:, 1:]))))
    assert np.abs(arc - np.arccos(cosines)).max() < 1e-7  # all that arccos can tell at 0
