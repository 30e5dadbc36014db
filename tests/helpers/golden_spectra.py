"""Exact spectra from scipy's special functions and matrices of angular momenta."""

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.special


def spectrum(
    manifold: str, eps_squared: float, xi_squared: float, count: int, **domain: Any
) -> list[float]:
    """The smallest eigenvalues, repeated, on a torus of side 1 or on the unit sphere.

    `sides`, of r3s2 alone, are those of another torus.
    """
    return sorted(_SPECTRA[manifold](eps_squared, xi_squared, **domain))[:count]


def _over_waves(sides: Sequence[float], reach: int) -> list[float]:
    """|k|^2 for all 2 pi n / side with n in a box."""
    indices = itertools.product(range(-reach, reach + 1), repeat=len(sides))
    waves = [[n / side for n, side in zip(index, sides, strict=True)] for index in indices]
    return [4 * math.pi**2 * sum(n * n for n in wave) for wave in waves]


def _r2(_eps_squared: float, _xi_squared: float) -> list[float]:
    return _over_waves((1, 1), 6)


def _s2(_eps_squared: float, _xi_squared: float) -> list[float]:
    return [degree * (degree + 1) for degree in range(12) for _ in range(2 * degree + 1)]


def _se2(eps_squared: float, xi_squared: float) -> list[float]:
    """Characteristic values of Mathieu's equation, of period pi (DLMF 28.2)."""
    eigenvalues = []
    for squared in _over_waves((1, 1), 8):
        q = xi_squared * squared * (1 - eps_squared) / 4
        values = [scipy.special.mathieu_a(2 * m, q) for m in range(8)]
        values += [scipy.special.mathieu_b(2 * m, q) for m in range(1, 8)]
        eigenvalues += [squared * (1 + eps_squared) / 2 + float(a) / xi_squared for a in values]
    return eigenvalues


def _so3(eps_squared: float, xi_squared: float, step: int = 2) -> list[float]:
    """L_y^2 + eps^2 L_x^2 + L_z^2 / xi^2 of angular momenta, on even m; modulo 2 pi on all m."""
    eigenvalues = []
    for degree in range(30):
        m = np.arange(-degree, degree + 1)
        raised = np.diag(np.sqrt(degree * (degree + 1) - m[:-1] * (m[:-1] + 1)), -1)
        x, y = (raised + raised.T) / 2, (raised - raised.T) / 2j
        energy = (y @ y + eps_squared * x @ x).real + np.diag(m**2 / xi_squared)
        even = m % step == 0
        eigenvalues += (2 * degree + 1) * np.linalg.eigvalsh(energy[np.ix_(even, even)]).tolist()
    return eigenvalues


@functools.cache
def over_wave(
    squared: float, eps_squared: float, xi_squared: float, degree: int = 8
) -> list[float]:
    """Over positions of a wave |k|^2: prolate spheroidal functions, the same at n and -n."""
    c = math.sqrt(xi_squared * squared * (1 - eps_squared))
    values = []
    for m in range(degree + 1):
        for n in range(m + m % 2, degree + 1, 2):
            value = scipy.special.pro_cv(m, n, c) if c else n * (n + 1)
            values += [eps_squared * squared + float(value) / xi_squared] * (1 if m == 0 else 2)
    return values


def _r3s2(
    eps_squared: float, xi_squared: float, sides: Sequence[float] = (1, 1, 1)
) -> Iterator[float]:
    for squared in _over_waves(sides, 3):
        yield from over_wave(squared, eps_squared, xi_squared)


_SPECTRA = {"r2": _r2, "s2": _s2, "se2": _se2, "so3": _so3, "r3s2": _r3s2}
