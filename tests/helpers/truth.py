"""The mathematics once more, from matrix logarithms, sharing no code with the package."""

import itertools
import math

import numpy as np
from scipy.linalg import logm


def matrix(x: float, y: float, theta: float) -> np.ndarray:
    cos, sin = math.cos(theta), math.sin(theta)
    return np.array([[cos, -sin, x], [sin, cos, y], [0, 0, 1.0]])


def log_distance(
    g: np.ndarray, h: np.ndarray, eps: float, xi: float, period: float = math.pi
) -> float:
    """min over k of |log(g^-1 h p^k)|_R^2 by scipy's logm, k in -1, 0, 1; modulo 2 pi k = 0."""
    best = math.inf
    for k in (-1, 0, 1) if period == math.pi else (0,):
        element = np.linalg.inv(g) @ h @ matrix(0, 0, k * math.pi)
        turn = math.atan2(element[1, 0], element[0, 0])
        if abs(abs(turn) - math.pi) < 1e-9:
            continue  # logm is not defined there; see test_distance for that case
        log = np.real(logm(element))
        c = (log[0, 2], log[1, 2], log[1, 0])
        best = min(best, c[0] ** 2 + (c[1] / eps) ** 2 + (xi * c[2]) ** 2)
    return best


def half_turn_distance(dx: float, dy: float, theta: float, eps: float, xi: float) -> float:
    """|log|_R^2 of the relative element with angle +-pi: the limit of the left Jacobian's inverse.

    At angle a the logarithm's translation is V(a)^-1 p with
    V = [[sin a, cos a - 1], [1 - cos a, sin a]] / a, so V^-1 at pi is (pi / 2) [[0, 1], [-1, 0]].
    """
    x = math.cos(theta) * dx + math.sin(theta) * dy
    y = -math.sin(theta) * dx + math.cos(theta) * dy
    c1, c2 = math.pi / 2 * y, -math.pi / 2 * x
    return c1**2 + (c2 / eps) ** 2 + (xi * math.pi) ** 2


def se2_squared_distance(
    dx: np.ndarray,
    dy: np.ndarray,
    theta_g: float,
    theta_h: float,
    eps: float,
    xi: float,
    period: float = math.pi,
) -> np.ndarray:
    """d^2 from (0, theta_g) to (dx, dy, theta_h) by the inverse Jacobian of the exponential.

    Written from V(a)^-1 = (a / 2) [[cot(a/2), 1], [-1, cot(a/2)]], the form printed in the paper,
    with its limits spelled out; tested against logm in test_distance.
    """
    x = math.cos(theta_g) * dx + math.sin(theta_g) * dy
    y = -math.sin(theta_g) * dx + math.cos(theta_g) * dy
    candidates = []
    for k in (-1, 0, 1) if period == math.pi else (0,):
        a = math.remainder(theta_h - theta_g + k * math.pi, 2 * math.pi)
        half_cot = 1.0 if abs(a) < 1e-12 else (a / 2) / math.tan(a / 2)
        c1, c2 = half_cot * x + a / 2 * y, -a / 2 * x + half_cot * y
        candidates.append(c1**2 + (c2 / eps) ** 2 + (xi * a) ** 2)
    return np.min(candidates, axis=0)


def brute_force_edges(
    width: int,
    height: int,
    n_o: int | None,
    *,
    eps: float,
    alpha: float,
    count: int,
    periodic: bool,
    period: float = math.pi,
) -> dict[tuple[int, int], float]:
    """All edges (a, b) -> d^2 by the neighbor rule, comparing every pair; n_o None: the plane."""
    h = 1 / width
    orientations = n_o or 1
    theta = [-period / 2 + i * period / orientations for i in range(orientations)]
    xi = math.sqrt(alpha * orientations * math.pi / period) * h

    def squared(dx: np.ndarray, dy: np.ndarray, i: int, k: int) -> np.ndarray:
        if n_o is None:
            return dx**2 + dy**2
        return se2_squared_distance(dx, dy, theta[i], theta[k], eps, xi, period)

    span = np.arange(-20, 21) * h
    grid_y, grid_x = np.meshgrid(span, span, indexing="ij")
    radii = []
    for i in range(orientations):
        near = np.concatenate([squared(grid_x, grid_y, i, k).ravel() for k in range(orientations)])
        near = np.sort(near)[1:]  # without the vertex itself
        assert near[count] < span[-1] ** 2  # the patch of the infinite lattice was large enough
        radius = 0.0
        for shell_end in range(1, count + 1):
            if near[shell_end] > near[shell_end - 1] * (1 + 1e-7):
                radius = near[shell_end - 1]
        radii.append(radius)
    assert max(radii) < (min(width, height) * h) ** 2  # one image each way is enough
    y, x = (index.ravel() for index in np.mgrid[:height, :width])
    dy, dx = (y[None] - y[:, None]) * h, (x[None] - x[:, None]) * h
    shifts = list(itertools.product((-1, 0, 1), repeat=2)) if periodic else [(0, 0)]
    edges = {}
    pixels = width * height
    for i, k in itertools.product(range(orientations), repeat=2):
        limit = min(radii[i], radii[k]) * (1 + 1e-7)
        images = [squared(dx + sx * width * h, dy + sy * height * h, i, k) for sy, sx in shifts]
        best = np.min(images, axis=0)
        for a, b in np.argwhere(best <= limit):
            if (i, a) != (k, b):
                edges[i * pixels + int(a), k * pixels + int(b)] = float(best[a, b])
    return edges
