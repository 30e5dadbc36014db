"""Selling's stencils: the fewest neighbours that make a lattice's Laplacian the metric's.

With D = Rot(theta) diag(1, eps^2) Rot(theta)^T and an obtuse superbase b0 + b1 + b2 = 0 of Z^2,
b_j^T D b_k <= 0, Selling's formula D = sum_i rho_i v_i v_i^T holds with rho_i = -b_j^T D b_k >= 0
and v_i = b_i turned by 90 degrees. So weights rho_i / h^2 on the offsets +-v_i realise D exactly.
Source: Fehrenbach, Mirebeau, "Sparse non-negative stencils for anisotropic diffusion", J. Math.
Imaging Vision 49 (2014).
"""

import math

import numpy as np

from cheblienet_graphs.typing import Floats, Indices

OBTUSE = 1e-12
"""Products of a superbase up to this count as 0."""


def selling(theta: Floats, eps: float, xi: float) -> list[tuple[Indices, Floats]]:
    """The stencil of each orientation: at most six offsets within it, and its two neighbours.

    The weights are those of the operator -(A1^2 + eps^2 A2^2 + xi^-2 A3^2), lengths in pixels. The
    edges across orientations have weight 1 / (xi sin delta)^2, delta = pi / n_o, instead of
    1 / (xi delta)^2: the lowest mode along the fibre, cos 2 theta, then has its exact eigenvalue.

    Args:
        theta: (n_o,) angles of all orientations, radians.
        eps: of the metric.
        xi: of the metric, lengths in pixels; not used with one orientation.

    Returns:
        For each orientation (3, N) orientation, dy, dx of the neighbours, and (N,) weights.
    """
    found = []
    for k, angle in enumerate(theta):
        offsets = [(k, dy, dx, weight) for dx, dy, weight in _plane_offsets(float(angle), eps)]
        if len(theta) > 1:
            weight = (xi * math.sin(math.pi / len(theta))) ** -2
            around = {(k - 1) % len(theta), (k + 1) % len(theta)}
            # With two orientations both steps lead to the same one.
            offsets += [(other, 0, 0, weight * 2 / len(around)) for other in around]
        columns = np.array(sorted(offsets)).T
        found.append((columns[:3].astype(np.int64), columns[3]))
    return found


def _plane_offsets(theta: float, eps: float) -> list[tuple[int, int, float]]:
    """(dx, dy, weight) with sum of weight v v^T = 2 D, both v and -v listed."""
    base = _obtuse_superbase(theta, eps)
    offsets = []
    for i in range(3):
        weight = -_product(base[i - 1], base[i - 2], theta, eps)
        if weight > OBTUSE:
            x, y = base[i]
            offsets += [(-y, x, weight), (y, -x, weight)]
    return offsets


def _obtuse_superbase(theta: float, eps: float) -> list[tuple[int, int]]:
    """Three vectors of Z^2 with sum 0, of which no two are at an acute angle under D."""
    base = [(-1, -1), (1, 0), (0, 1)]
    while True:
        for i in range(3):
            b, c = base[i - 1], base[i - 2]
            if _product(b, c, theta, eps) > OBTUSE:
                base = [(-b[0], -b[1]), c, (b[0] - c[0], b[1] - c[1])]
                break
        else:
            return base


def _product(b: tuple[int, int], c: tuple[int, int], theta: float, eps: float) -> float:
    """b^T D c from components along and across theta, whose sum does not cancel."""
    cos, sin = math.cos(theta), math.sin(theta)
    along = (b[0] * cos + b[1] * sin) * (c[0] * cos + c[1] * sin)
    across = (b[1] * cos - b[0] * sin) * (c[1] * cos - c[0] * sin)
    return along + eps**2 * across
