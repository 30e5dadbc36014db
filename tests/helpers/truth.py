"""The mathematics once more, from matrix logarithms, sharing no code with the package."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import logm

Edges = dict[tuple[int, int], float]
STRIP = 60
"""Rows of a strip between two sides."""


def matrix(x: float, y: float, theta: float) -> np.ndarray:
    cos, sin = math.cos(theta), math.sin(theta)
    return np.array([[cos, -sin, x], [sin, cos, y], [0, 0, 1.0]])


def weighed(c: Sequence[np.ndarray], eps: float, xi: float) -> np.ndarray:
    """c^T R c."""
    return c[0] ** 2 + (c[1] / eps) ** 2 + (xi * c[2]) ** 2


def log_distance(
    g: np.ndarray, h: np.ndarray, eps: float, xi: float, period: float = math.pi
) -> float:
    """min over k of |log(g^-1 h p^k)|_R^2 by scipy's logm, k in -1, 0, 1; modulo 2 pi k = 0."""
    best = math.inf
    for k in (-1, 0, 1) if period == math.pi else (0,):
        element = np.linalg.inv(g) @ h @ matrix(0, 0, k * math.pi)
        turn = math.atan2(element[1, 0], element[0, 0])
        if abs(abs(turn) - math.pi) < 1e-9:
            continue  # logm is not defined there; see test_flat for that case
        log = np.real(logm(element))
        best = min(best, weighed((log[0, 2], log[1, 2], log[1, 0]), eps, xi))
    return best


def plane_logarithm(dx: np.ndarray, dy: np.ndarray, start: np.ndarray, a: np.ndarray) -> np.ndarray:
    """(3, N): log of Rot(-start) (dx, dy) turned by a, by the inverse Jacobian of exp.

    From V(a)^-1 = (a / 2) [[cot(a/2), 1], [-1, cot(a/2)]], the form printed in the paper, with its
    limits spelled out; tested against logm in test_flat.
    """
    x = np.cos(start) * dx + np.sin(start) * dy
    y = -np.sin(start) * dx + np.cos(start) * dy
    half_cot = np.where(abs(a) < 1e-12, 1.0, (a / 2) / np.tan(np.where(a == 0, 1, a) / 2))
    parts = half_cot * x + a / 2 * y, -a / 2 * x + half_cot * y, a
    return np.stack(np.broadcast_arrays(*parts))


def plane_moments(
    dx: np.ndarray, dy: np.ndarray, i: np.ndarray, j: np.ndarray, n_o: int
) -> tuple[np.ndarray, np.ndarray]:
    """c3, (N,), and c c^T, (N, 3, 3), of edges of weight 1; means of both where turns tie."""
    steps = (j - i) % n_o
    tied = 2 * steps == n_o
    a = np.where(2 * steps > n_o, steps - n_o, steps) * math.pi / n_o
    start = -math.pi / 2 + i * math.pi / n_o
    c = plane_logarithm(dx, dy, start, a)
    other = plane_logarithm(dx, dy, start, np.where(tied, -a, a))
    second = [np.einsum("an,bn->nab", log, log) for log in (c, other)]
    return (c[2] + other[2]) / 2, (second[0] + second[1]) / 2


def half_turn_distance(dx: float, dy: float, theta: float, eps: float, xi: float) -> float:
    """|log|_R^2 of the relative element with angle pi, the limit of the formula."""
    return float(weighed(plane_logarithm(dx, dy, theta, math.pi), eps, xi))


def se2_squared_distance(
    dx: np.ndarray,
    dy: np.ndarray,
    theta_g: float,
    theta_h: float | np.ndarray,
    eps: float,
    xi: float,
    period: float = math.pi,
) -> np.ndarray:
    """d^2 from (0, theta_g) to (dx, dy, theta_h) by the inverse Jacobian of the exponential."""
    halves = (-1, 0, 1) if period == math.pi else (0,)
    apart = [np.asarray(theta_h) - theta_g + k * math.pi for k in halves]
    turns = [a - 2 * math.pi * np.round(a / (2 * math.pi)) for a in apart]
    logarithms = [plane_logarithm(dx, dy, theta_g, a) for a in turns]
    return np.min([weighed(c, eps, xi) for c in logarithms], axis=0)


def squared_radius(squared: np.ndarray, count: int, tolerance: float = 1e-7) -> float:
    """r^2 of the last whole shell with at most `count` members; squared of all but the vertex."""
    near = np.append(squared, [np.inf] * (count + 1))
    near = np.sort(np.partition(near, count)[: count + 1])
    ends = np.flatnonzero(near[1:] > near[:-1] * (1 + tolerance))
    return float(near[ends[-1]]) if len(ends) else 0.0


def edges_within(squared: np.ndarray, radii: np.ndarray, tolerance: float = 1e-7) -> Edges:
    """Both directions of each edge: all pairs, (V, V) d^2, that are near by both radii, (V,)."""
    near = squared <= np.minimum(radii, radii[:, None]) * (1 + tolerance)
    np.fill_diagonal(near, 0)
    pairs = np.argwhere(near)
    return dict(zip(map(tuple, pairs.tolist()), squared[*pairs.T].tolist(), strict=True))


def lattice_edges(
    shape: tuple[int, ...],
    between: Callable[[int, np.ndarray], np.ndarray],
    orientations: int,
    *,
    count: int,
    reach: int,
    sides: Sequence[float],
    periodic: bool,
) -> Edges:
    """Both directions of each edge of a lattice and d^2, by looking at all pairs.

    Args:
        shape: of the points, along x last.
        between: d^2 from an orientation at the origin to (n_o, N) all of them at (N, d) steps.
        orientations: n_o; indices are those of an orientation, then of a point.
        count: K.
        reach: half the width of a box that holds the neighbors in the infinite lattice, in points.
        sides: between points along x, y and z.
        periodic: whether opposite sides are glued: the nearest image counts.
    """
    dimension, period = len(shape), np.array(shape[::-1])
    box = np.indices([2 * reach + 1] * dimension).reshape(dimension, -1).T - reach
    near = np.array([np.sort(between(k, box * sides).ravel())[1:] for k in range(orientations)])
    assert near[:, count].max() < (reach * min(sides)) ** 2
    radii = [squared_radius(distances, count) for distances in near]
    places = np.indices(shape).reshape(dimension, -1)[::-1].T
    pairs = (places - places[:, None]).reshape(-1, dimension)
    steps, of_pair = np.unique(pairs, axis=0, return_inverse=True)
    rings = math.ceil(math.sqrt(max(radii)) / (period * sides).min()) if periodic else 0
    images = itertools.product(range(-rings, rings + 1), repeat=dimension)
    ends = [(steps + period * image) * sides for image in images]
    best = [np.min([between(k, end) for end in ends], axis=0) for k in range(orientations)]
    squared = np.array(best)[..., of_pair].reshape(orientations, orientations, *[len(places)] * 2)
    vertices = orientations * len(places)
    squared = squared.swapaxes(1, 2).reshape(vertices, vertices)
    return edges_within(squared, np.repeat(radii, len(places)))


def brute_force_edges(
    width: int,
    height: int,
    n_o: int | None,
    *,
    eps: float,
    alpha: float,
    period: float = math.pi,
    **rule: Any,
) -> Edges:
    """All edges by the neighbor rule on a lattice of the plane, of width 1; n_o None: R^2."""
    h, orientations = 1 / width, n_o or 1
    thetas = -period / 2 + np.arange(orientations) * period / orientations
    xi = math.sqrt(alpha * orientations * math.pi / period) * h

    def between(k: int, steps: np.ndarray) -> np.ndarray:
        if n_o is None:
            return (steps**2).sum(axis=1)[None]
        to = [se2_squared_distance(*steps.T, thetas[k], t, eps, xi, period) for t in thetas]
        return np.array(to)

    return lattice_edges((height, width), between, orientations, reach=20, sides=(h, h), **rule)


def strip_energies(steps: np.ndarray, weights: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    """Of p^T x on a strip, and the least of all p^T x + f, for each pixel of a side.

    f depends on the row alone: the mean along the strip of any other one is as good. `steps` (N, 2)
    are across the strip and along it; each edge is one row of a least-squares problem.
    """
    equations, rises = [], []
    for row, (step, weight) in itertools.product(range(STRIP), zip(steps, weights, strict=True)):
        if 0 <= row + step[0] < STRIP:
            equation = np.zeros(STRIP)
            equation[row + step[0]] += 1
            equation[row] -= 1
            equations.append(math.sqrt(weight / 2) * equation)
            rises.append(math.sqrt(weight / 2) * (p @ step))
    matrix, target = np.array(equations), np.array(rises)
    layer = np.linalg.lstsq(matrix, -target, rcond=None)[0]
    return float(target @ target), float(((matrix @ layer + target) ** 2).sum())
