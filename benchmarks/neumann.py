"""The spectrum of the operator on an open domain, where no formula is known for it."""

import itertools
import math
from dataclasses import dataclass
from functools import reduce

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.special
from numpy.polynomial import legendre
from numpy.typing import NDArray

from cheblienet_graphs.typing import Floats

NEGLIGIBLE = 1e-13
"""Products of functions of the fiber that are 0 but for rounding."""


def neumann_spectrum(
    count: int, eps: float, xi: float, *, degree: int = 14, frequency: int = 6
) -> Floats:
    """The smallest eigenvalues of -(A1^2 + eps^2 A2^2 + xi^-2 A3^2) on a unit square times R / pi.

    No heat flows through its edges: the natural condition of the form
    integral of (A1 f)^2 + eps^2 (A2 f)^2 + xi^-2 (A3 f)^2. That is minimized over products of
    Legendre polynomials in x and y and exp(2 i m theta), by Galerkin's method.

    Args:
        count: how many, multiplicities repeated.
        eps: of the metric.
        xi: of the metric, in units of the square's side.
        degree: of the polynomials, one less than this.
        frequency: largest m.

    Returns:
        (count,) ascending, 0 first; to 1e-5 for 31 of eps^2 = xi^2 = 0.1.
    """
    return _spectrum(count, eps, xi, degree, _half_circle(frequency))


def neumann_spectrum_over_axes(
    count: int, eps: float, xi: float, *, degree: int = 7, harmonics: int = 6
) -> Floats:
    """The smallest eigenvalues on a unit cube times the axes, no heat flowing through its faces.

    As `neumann_spectrum`, in products of Legendre polynomials in x, y and z and even spherical
    harmonics.

    Args:
        count: how many, multiplicities repeated.
        eps: of the metric.
        xi: of the metric, in units of the cube's side.
        degree: of the polynomials, one less than this.
        harmonics: largest degree of these.

    Returns:
        (count,) ascending, 0 first.
    """
    return _spectrum(count, eps, xi, degree, _sphere(harmonics))


@dataclass(frozen=True)
class _Fiber:
    """Functions of the axis along which it costs least to move, in d dimensions.

    Args:
        axes: (d, N) unit vectors, the nodes of a quadrature.
        values: (M, N) of the functions there, times the roots of its weights: orthonormal.
        energies: (M,) eigenvalues of the fiber's Laplacian that they have, xi 1.
        parities: (M, d) 1 where they are odd in x, y and so on.
    """

    axes: Floats
    values: Floats
    energies: Floats
    parities: NDArray[np.int64]


def _spectrum(count: int, eps: float, xi: float, degree: int, fiber: _Fiber) -> Floats:
    """(count,) of the form on a unit square or cube times a fiber.

    The reflections along each axis, which turn the fiber as well, split the functions into sectors,
    of which those that rotations map to one another have the same eigenvalues.
    """
    stiffness, slope = _legendre(degree)
    dimension = len(fiber.axes)
    powers = np.indices((degree,) * dimension).reshape(dimension, -1).T
    odd = (powers + fiber.parities[:, None]) % 2
    found = []
    for number in range(dimension + 1):
        sector = np.arange(dimension) < number
        kept = np.flatnonzero((odd == sector).all(axis=2))
        matrix = np.diag(np.repeat(fiber.energies / xi**2, len(powers))[kept])
        for a, b in itertools.product(range(dimension), repeat=2):
            rate = eps**2 * (a == b) + (1 - eps**2) * fiber.axes[a] * fiber.axes[b]
            outer = (fiber.values * rate) @ fiber.values.T
            outer[abs(outer) < NEGLIGIBLE] = 0
            parts = [np.eye(degree)] * dimension
            if a == b:
                parts[a] = stiffness
            else:
                parts[a], parts[b] = slope.T, slope
            term = reduce(scipy.sparse.kron, parts, scipy.sparse.csr_array(outer)).tocsr()
            matrix += term[kept][:, kept].toarray()
        least = scipy.linalg.eigvalsh(matrix, subset_by_index=[0, min(count, len(kept)) - 1])
        found.append(np.repeat(least, math.comb(dimension, number)))
    return np.sort(np.concatenate(found))[:count].clip(min=0.0)


def _half_circle(frequency: int) -> _Fiber:
    """1, cos 2 theta, sin 2 theta, cos 4 theta and so on."""
    m = np.array([0, *(s * k for k in range(1, frequency + 1) for s in (1, -1))])
    # Twice as many points as integrate products of three of them exactly.
    theta = np.arange(8 * frequency + 8) * np.pi / (8 * frequency + 8)
    angles = 2 * np.outer(m, theta)
    waves = np.where(m[:, None] >= 0, np.cos(angles), np.sin(angles))
    waves *= np.where(m[:, None] == 0, 1, math.sqrt(2)) / math.sqrt(len(theta))
    parities = np.repeat((m < 0).astype(np.int64)[:, None], 2, axis=1)
    return _Fiber(np.stack([np.cos(theta), np.sin(theta)]), waves, (2.0 * m) ** 2, parities)


def _sphere(most: int) -> _Fiber:
    """Real spherical harmonics of even degrees; nodes are exact up to twice the largest and 2."""
    nodes, weights = legendre.leggauss(most + 2)
    turns = 2 * np.pi * np.arange(2 * most + 4) / (2 * most + 4)
    z, phi = (part.ravel() for part in np.meshgrid(nodes, turns, indexing="ij"))
    across = np.sqrt(1 - z * z)
    measure = np.repeat(weights, len(turns)) * 2 * np.pi / len(turns)
    rows, energies, parities = [], [], []
    for degree in range(0, most + 1, 2):
        for order in range(-degree, degree + 1):
            m, in_y = abs(order), int(order < 0)
            size = math.factorial(degree - m) / math.factorial(degree + m)
            size *= (2 * degree + 1) / (4 * math.pi) * (2 if m else 1)
            turn = np.sin(m * phi) if in_y else np.cos(m * phi)
            rows.append(np.sqrt(size * measure) * scipy.special.lpmv(m, degree, z) * turn)
            energies.append(degree * (degree + 1.0))
            parities.append(((m + in_y) % 2, in_y, (degree + m) % 2))
    axes = np.stack([across * np.cos(phi), across * np.sin(phi), z])
    return _Fiber(axes, np.stack(rows), np.array(energies), np.array(parities))


def _legendre(degree: int) -> tuple[Floats, Floats]:
    """Integrals of p_i' p_j' and of p_i p_j' over [0, 1], p the orthonormal polynomials."""
    x, weights = legendre.leggauss(degree + 1)
    scale = np.sqrt(2 * np.arange(degree) + 1)
    values = legendre.legvander(x, degree - 1) * scale
    slopes = legendre.legval(x, legendre.legder(np.eye(degree))).T * 2 * scale
    return (slopes.T * weights / 2) @ slopes, (values.T * weights / 2) @ slopes
