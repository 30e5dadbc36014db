"""The distances on SO(3) and S2 against scipy's rotations, and their exact properties."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sphere_truth import HALF_TURN, arcs, rotations, so3_squared_distance, unit_vectors

from cheblienet_graphs.manifolds import MANIFOLDS, OVER_FULL_TURNS, Metric
from cheblienet_graphs.manifolds.moments import array

SO3, S2 = MANIFOLDS["so3"], MANIFOLDS["s2"]
METRICS = [Metric(0.1, 0.05), Metric(1.0, 2.0)]


def elements(name: str, coordinates: np.ndarray) -> tuple:
    return MANIFOLDS[name].elements(tuple(array(c) for c in np.asarray(coordinates).T))


def random_elements(seed: int) -> np.ndarray:
    """(500, 3) alpha and gamma beyond one turn, beta in [0, pi]."""
    return np.random.default_rng(seed).uniform([-7, 0, -7], [7, math.pi, 7], (500, 3))


def turned_by(g: np.ndarray, turn: float, seed: int) -> np.ndarray:
    """Elements whose relative rotation to g has this angle, about random axes."""
    axes = np.random.default_rng(seed).normal(size=(len(g), 3))
    axes *= turn / np.linalg.norm(axes, axis=1, keepdims=True)
    turned = rotations(g) * Rotation.from_rotvec(axes)
    return turned.as_euler("ZYZ")[..., ::-1]  # free of the poles, where they are not unique


SPECIAL = [0.0, 1e-9, 1e-5, math.pi - 1e-9, math.pi, math.pi + 1e-9, math.pi - 1e-5]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("turn", [None, *SPECIAL])
def test_so3_equals_scipy_rotations(turn: float | None, metric: Metric) -> None:
    g = random_elements(2)
    h = random_elements(1) if turn is None else turned_by(g, turn, 3)
    for manifold in (SO3, OVER_FULL_TURNS["so3"]):
        known = metric.eps, metric.xi, manifold.fiber.period
        expected = so3_squared_distance(rotations(g), rotations(h), *known)
        both = elements("so3", g), elements("so3", h)
        squared = np.asarray(manifold.squared_distance(*both, metric))
        assert np.abs(squared - expected).max() < 1e-12
        # Of small distances the root as well: the coordinates themselves carry 1e-15.
        assert np.abs(np.sqrt(squared) - np.sqrt(expected)).max() < 1e-12


@pytest.mark.parametrize("turn", [None, *SPECIAL])
def test_so3_logarithms_exponentiate_back_and_are_the_shortest(turn: float | None) -> None:
    g = random_elements(9)
    h = random_elements(10) if turn is None else turned_by(g, turn, 11)
    relative = rotations(g).inv() * rotations(h)
    logarithms = SO3.logarithms(elements("so3", g), elements("so3", h))
    for (c1, c2, c3), end in zip(logarithms, (relative, relative * HALF_TURN), strict=True):
        vectors = np.stack([-c2, c1, c3], axis=1)
        assert np.linalg.norm(vectors, axis=1).max() <= math.pi + 1e-14
        assert np.abs(Rotation.from_rotvec(vectors).as_matrix() - end.as_matrix()).max() < 1e-13


@pytest.mark.parametrize("arc", [None, 0.0, 1e-9, 1e-5, math.pi - 1e-5, math.pi - 1e-9, math.pi])
def test_s2_distances_are_arcs_and_logarithms_exponentiate_back(arc: float | None) -> None:
    g = random_elements(27)[:, 1:]
    h = random_elements(28)[:, 1:]
    if arc is not None:
        bearing = np.random.default_rng(29).uniform(-math.pi, math.pi, len(g))
        frames = Rotation.from_euler("ZYZ", np.column_stack([g[:, ::-1], bearing]))
        x, y, z = frames.apply([math.sin(arc), 0, math.cos(arc)]).T
        h = np.stack([np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)], axis=1)
    (logarithm,) = S2.logarithms(elements("s2", g), elements("s2", h))
    south, east = (np.asarray(c) for c in logarithm)
    beta, gamma = g.T
    along_beta = unit_vectors(np.stack([beta + math.pi / 2, gamma], axis=1))
    along_gamma = np.stack([-np.sin(gamma), np.cos(gamma), 0 * gamma], axis=1)
    tangent = south[:, None] * along_beta + east[:, None] * along_gamma
    length = np.linalg.norm(tangent, axis=1)
    squared = S2.squared_distance(elements("s2", g), elements("s2", h), Metric(1.0))
    distance = np.sqrt(np.asarray(squared))
    assert np.abs(distance - arcs(unit_vectors(g), unit_vectors(h))).max() < 2e-15
    assert np.abs(length - distance).max() < 1e-13
    step = np.sinc(length / math.pi)[:, None] * tangent
    reached = np.cos(length)[:, None] * unit_vectors(g) + step
    assert np.abs(reached - unit_vectors(h)).max() < 1e-13
