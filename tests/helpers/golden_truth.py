"""The numbers that the pages of docs/explanation state, computed without the package.

Matrix logarithms, Mathieu functions, spheroidal eigenvalues, sums over lattices, Voronoi cells and
least squares of scipy's. Each function of `TRUTH` returns the numbers of one name.
"""

import itertools
import math
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.special
from axes_edges import squared_norm
from golden_axes import AXES, axes, cell_ratio, icosphere, widest_tilts
from scipy.linalg import logm
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from sphere_truth import rotations, so3_squared_distance
from truth import (
    STRIP,
    half_turn_distance,
    log_distance,
    matrix,
    plane_moments,
    se2_squared_distance,
    squared_radius,
    strip_energies,
)

EPS = math.sqrt(0.1)
ELEMENTS = {
    "se2": ((0.1, 0.2, 0.3), (0.4, 0.1, 1.1)),
    "so3": ((0.1, 0.5, 0.2), (0.4, 0.8, 0.3)),
    "r3s2": ((0.0, 0.0, 0.0, 0.0, 0.0, 1.0), (0.1, 0.2, 0.3, 0.6, 0.0, 0.8)),
}
"""Pairs of elements of which the pages tell distances, with eps^2 = 0.1 and xi = 0.3."""
XI = 0.3
SIDE_ANGLE = math.radians(75)
TOLERANCE = 1e-6

Numbers = list[float]


def se2_logarithm() -> Numbers:
    g, h = (matrix(*element) for element in ELEMENTS["se2"])
    log = logm(np.linalg.inv(g) @ h)
    return [log[0, 2], log[1, 2], log[1, 0]]


def se2_distance() -> Numbers:
    g, h = (matrix(*element) for element in ELEMENTS["se2"])
    return [math.sqrt(log_distance(g, h, EPS, XI))]


def se2_sideways() -> Numbers:
    """Between two elements side by side, by an xi for which turning round is shorter."""
    x, y, xi = 0.0, 0.3, 0.1
    return [y / EPS, math.sqrt(half_turn_distance(x, y, 0.0, EPS, xi))]


def se2_triangle() -> Numbers:
    a, b, c = matrix(0, 0, 0), matrix(0, 0, 0.5), matrix(0.2, 0.2, 0.5)
    return [math.sqrt(log_distance(*pair, EPS, XI)) for pair in ((a, b), (b, c), (a, c))]


def _so3() -> list[Rotation]:
    return [rotations(np.array(element)) for element in ELEMENTS["so3"]]


def so3_logarithm() -> Numbers:
    """(w_y, -w_x, w_z) of the rotation vector w."""
    g, h = _so3()
    x, y, z = (g.inv() * h).as_rotvec()
    return [y, -x, z]


def so3_distance() -> Numbers:
    return [math.sqrt(so3_squared_distance(*_so3(), EPS, XI))]


def r3s2_distance() -> Numbers:
    """The lengths to both ends of the axis."""
    start, end = (np.array(element)[None] for element in ELEMENTS["r3s2"])
    steps, axis = end[:, :3] - start[:, :3], start[:, 3:]
    both = [squared_norm(steps, axis, sign * end[:, 3:], EPS, XI) for sign in (1, -1)]
    return [math.sqrt(float(squared[0])) for squared in both]


def icosphere_areas() -> Numbers:
    """Largest over smallest Voronoi cell, of 1 to 4 subdivisions."""
    return [cell_ratio(icosphere(level)) for level in range(1, 5)]


def gaussian_points() -> Numbers:
    octahedral = 2 * sum(4 * row + 16 for row in range(1, 33))
    return [octahedral, 64 * 128]


def xi_squared() -> Numbers:
    """On 96 x 96 pixels, and on 2,562 points of the sphere, six orientations, alpha = 1."""
    return [6 / 96**2, 6 * 4 * math.pi / 2562]


def auto_alpha() -> Numbers:
    """Of continuous orientations' discs: six orientations, K = 16, f = 0.4."""
    delta = math.pi / 6

    def excess(rho: float) -> float:
        steps = (k for k in range(-2, 4) if k)
        share = (
            max(0.0, 1 - k**2 * rho) * (math.sin(k * delta / 2) / (k * delta / 2)) ** 2
            for k in steps
        )
        return sum(share) - (1 - 0.4) / 0.4

    return [brentq(excess, 1e-6, 1) * 0.4 * 16 / (math.pi * EPS) / delta**2 / 6]


def neighborhoods(eps: float, alpha: float, count: int) -> tuple[np.ndarray, ...]:
    """x, y, both orientations and d^2 of all edges of six orientations by the rule, spacing 1."""
    theta = -math.pi / 2 + np.arange(6) * math.pi / 6
    y, x = np.indices((17, 17)).reshape(2, -1) - 8
    xi = math.sqrt(alpha * 6)
    squared = np.array([[se2_squared_distance(x, y, a, b, eps, xi) for b in theta] for a in theta])
    radii = np.array([squared_radius(np.sort(own.ravel())[1:], count) for own in squared])
    near = squared <= np.minimum(radii, radii[:, None])[..., None] * (1 + 1e-7)
    near[range(6), range(6), len(x) // 2] = False
    i, k, n = np.nonzero(near)
    return x[n], y[n], i, k, squared[near]


def degrees(eps: float, count: int) -> Numbers:
    """Degrees at -90, -60 and -30 degrees, then those within the orientation."""
    _, _, i, k, _ = neighborhoods(eps, 1.0, count)
    return [*np.bincount(i)[:3].tolist(), *np.bincount(i[i == k])[:3].tolist()]


def alpha_plateau() -> Numbers:
    """The least and the largest alpha, to 1e-3, with two fifths of the edges in the plane."""

    def fits(thousandths: int) -> bool:
        _, _, i, k, _ = neighborhoods(EPS, thousandths / 1000, 16)
        return bool(5 * (i == k).sum() == 2 * len(i))

    ends = []
    for far in (800, 1300):
        near = 1000
        while abs(far - near) > 1:
            middle = (far + near) // 2
            near, far = (middle, far) if fits(middle) else (near, middle)
        ends.append(near / 1000)
    return ends


def shells(dimension: int) -> Numbers:
    """Numbers of points of Z^d in the first six balls around 0, 0 left out."""
    squares = (np.indices([9] * dimension) - 4).reshape(dimension, -1) ** 2
    _, counts = np.unique(squares.sum(axis=0), return_counts=True)
    return counts[1:7].cumsum().tolist()


def kernels() -> Numbers:
    """Weights of an edge whose d^2 is the mean: u = 1 / 0.8."""
    u = 1 / 0.8
    return [math.exp(-u), math.exp(-math.sqrt(u)), 1 / (1 + u)]


def _gaussian(squared: np.ndarray) -> np.ndarray:
    return np.exp(-squared / (0.8 * squared.mean()))


def largest_eigenvalues() -> Numbers:
    """Of normalized Laplacians of periodic SE(2), K = 8, 16, 32, by Fourier series."""
    largest_of_each = []
    for count in (8, 16, 32):
        *offsets, rows, columns, squared = neighborhoods(EPS, 1.0, count)
        weights = _gaussian(squared)
        degree = np.bincount(rows, weights)
        scaled = weights / np.sqrt(degree[rows] * degree[columns])
        largest = 0.0
        for wave in itertools.product(range(7), range(12)):
            block = np.zeros((6, 6), complex)
            np.add.at(
                block,
                (rows, columns),
                scaled * np.exp(2j * np.pi / 12 * np.array(offsets).T @ wave),
            )
            largest = max(largest, 1 - np.linalg.eigvalsh(block)[0])
        largest_of_each.append(float(largest))
    return largest_of_each


def largest_eigenvalues_in_space() -> Numbers:
    """The same of periodic R^3, K = 6, 18, 26, 32."""
    largest_of_each = []
    points = np.array(list(itertools.product(range(-2, 3), repeat=3)))
    squares = (points**2).sum(axis=1)
    waves = np.array(list(itertools.product(range(9), repeat=3))) * 2 * np.pi / 16
    for most in (1, 2, 3, 4):
        near = (squares > 0) & (squares <= most)
        weights = _gaussian(squares[near].astype(float))
        symbol = 1 - np.cos(waves @ points[near].T) @ weights / weights.sum()
        largest_of_each.append(float(symbol.max()))
    return largest_of_each


def effective_eps(count: int) -> Numbers:
    """eps^2 that the paper's graph realizes at -90 and at -60 degrees."""
    x, y, i, k, squared = neighborhoods(EPS, 1.0, count)
    weighted = _gaussian(squared)[:, None, None] * plane_moments(x, y, i, k, 6)[1]
    totals = [weighted[i == orientation].sum(axis=0) for orientation in (0, 1)]
    return [float(total[1, 1] / total[0, 0]) for total in totals]


def _tensor(angle: float, eps_squared: float) -> np.ndarray:
    """Diffusion along an angle, eps^2 across."""
    e = np.array([math.cos(angle), math.sin(angle)])
    return np.outer(e, e) + eps_squared * (np.eye(2) - np.outer(e, e))


def selling_stencil(angle: float, eps_squared: float) -> list[tuple[np.ndarray, float]]:
    """Offsets, one of each pair, and weights: shortest vectors of each parity under D^-1.

    They are the vectors next to 0 of the lattice's Voronoi cell; the weights then solve three
    linear equations.
    """
    tensor = _tensor(angle, eps_squared)
    near = np.array(list(itertools.product(range(-12, 13), repeat=2)))
    length = np.einsum("na,ab,nb->n", near, np.linalg.inv(tensor), near)
    offsets = []
    for parity in ((1, 0), (0, 1), (1, 1)):
        of_class = np.flatnonzero((near % 2 == parity).all(axis=1))
        offsets.append(near[of_class[length[of_class].argmin()]])
    equations = np.array([[v[0] ** 2, v[1] ** 2, v[0] * v[1]] for v in offsets]).T
    weights = np.linalg.solve(equations, [tensor[0, 0], tensor[1, 1], tensor[0, 1]])
    return [(v, float(w)) for v, w in zip(offsets, weights, strict=True) if w > 1e-9]


def selling_weights() -> Numbers:
    return sorted(weight for _, weight in selling_stencil(-math.pi / 3, 0.1))


def selling_reach() -> Numbers:
    """The longest offset over all angles, eps^2 = 0.1 and 0.01."""
    angles = np.linspace(0, math.pi / 4, 91)
    return [
        max(float(np.linalg.norm(v)) for angle in angles for v, _ in selling_stencil(angle, e))
        for e in (0.1, 0.01)
    ]


def side_energy() -> Numbers:
    """What an open side takes at 75 degrees: cut off, and with the layer beside it.

    For the gradient (1, p) without flow across the side.
    """
    tensor = _tensor(SIDE_ANGLE, 0.1)
    gradient = np.array([1.0, -tensor[0, 1] / tensor[1, 1]])
    stencil = selling_stencil(SIDE_ANGLE, 0.1)
    steps = np.array([sign * v[::-1] for v, _ in stencil for sign in (1, -1)])
    weights = np.repeat([weight for _, weight in stencil], 2)
    whole = STRIP * gradient @ tensor @ gradient
    energies = strip_energies(steps, weights, gradient[::-1])
    return [float(whole - energy) / 2 for energy in energies]


def heat_degrees() -> Numbers:
    """Degrees for exp(-t lambda) on [0, 2] to a tolerance, by Bessel functions: z = t."""
    degrees_of_times = []
    for z in (1.0, 10.0, 100.0, 1000.0):
        orders = np.arange(int(z) + 200)
        sizes = 2 * scipy.special.ive(orders, z)
        left_out = sizes[::-1].cumsum()[::-1] - sizes
        degrees_of_times.append(float((left_out > TOLERANCE / (2 + 2 * TOLERANCE)).sum()))
    return degrees_of_times


def first_fiber_mode() -> Numbers:
    step = math.pi / 6
    return [(step / math.sin(step)) ** 2]


def quarter_turn_excess() -> Numbers:
    return [math.pi**2 / 8 - 1]


TRUTH: dict[str, Callable[[], Numbers]] = {
    "se2.logarithm": se2_logarithm,
    "se2.distance": se2_distance,
    "se2.sideways": se2_sideways,
    "se2.triangle": se2_triangle,
    "so3.logarithm": so3_logarithm,
    "so3.distance": so3_distance,
    "r3s2.distance": r3s2_distance,
    "icosphere.areas": icosphere_areas,
    "gaussian.points": gaussian_points,
    "xi.squared": xi_squared,
    "xi.auto": auto_alpha,
    "xi.plateau": alpha_plateau,
    "degrees": partial(degrees, EPS, 16),
    "degrees.narrow": partial(degrees, 0.1, 16),
    "degrees.narrow.32": partial(degrees, 0.1, 32),
    "shells.plane": partial(shells, 2),
    "shells.space": partial(shells, 3),
    "kernels": kernels,
    "lambda_max.se2": largest_eigenvalues,
    "lambda_max.r3": largest_eigenvalues_in_space,
    **{f"realized.{count}": partial(effective_eps, count) for count in (8, 16, 32, 64)},
    "selling.weights": selling_weights,
    "selling.reach": selling_reach,
    "side.energy": side_energy,
    "heat.degrees": heat_degrees,
    "fiber.moment": first_fiber_mode,
    "r3s2.excess": quarter_turn_excess,
    **{f"axes.{name}": partial(axes, name) for name in AXES},
    "tilts": widest_tilts,
}
"""The numbers of each name."""
