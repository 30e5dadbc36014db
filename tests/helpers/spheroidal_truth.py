"""Independent truth on the spectrum over axes: spherical harmonics and quadrature, any wave."""

import itertools
import math

import numpy as np
import scipy.special


def wave_eigenvalues(
    wave: np.ndarray, eps_squared: float, xi_squared: float, degree: int
) -> np.ndarray:
    """Eigenvalues over exp(i wave . x), by Galerkin's method in all even spherical harmonics.

    The potential is (wave . n)^2 as it is: no frame, no recursion, no m.
    """
    nodes, weights = np.polynomial.legendre.leggauss(degree + 2)
    around = 2 * degree + 4
    theta = np.repeat(np.arccos(nodes), around)
    phi = np.tile(2 * np.pi * np.arange(around) / around, len(nodes))
    measure = np.repeat(weights, around) * 2 * np.pi / around
    pairs = [(n, m) for n in range(0, degree + 1, 2) for m in range(-n, n + 1)]
    basis = np.stack([_harmonic(n, m, theta, phi) for n, m in pairs])
    axis = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
    potential = (wave @ axis) ** 2
    degrees = np.array([n for n, _ in pairs])
    operator = np.diag(degrees * (degrees + 1) / xi_squared + eps_squared * wave @ wave)
    operator += (1 - eps_squared) * (basis * (measure * potential)) @ basis.T
    return np.linalg.eigvalsh(operator)


def spectrum(
    count: int,
    eps_squared: float,
    xi_squared: float,
    sides: tuple[float, ...],
    reach: int,
    most: float = 110.0,
) -> np.ndarray:
    """The smallest over all waves with indices up to `reach`; opposite ones are the same.

    Those over a wave are at least eps^2 |wave|^2, so most waves are left out.
    """
    found = []
    for index in itertools.product(range(-reach, reach + 1), repeat=3):
        if index >= (0, 0, 0):
            wave = 2 * np.pi * np.array(index) / np.array(sides)
            if eps_squared * wave @ wave < most:
                values = wave_eigenvalues(wave, eps_squared, xi_squared, 12)[:count]
                found += [values] * (2 if any(index) else 1)
    values = np.sort(np.concatenate(found))[:count]
    assert values[-1] < most
    return values


def _harmonic(degree: int, order: int, theta: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Real and orthonormal."""
    m = abs(order)
    ratio = math.factorial(degree - m) / math.factorial(degree + m)
    size = math.sqrt((2 * degree + 1) / (4 * np.pi) * ratio * (2 if m else 1))
    turn = np.cos(m * phi) if order >= 0 else np.sin(m * phi)
    return size * scipy.special.lpmv(m, degree, np.cos(theta)) * turn
