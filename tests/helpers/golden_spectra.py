"""Exact spectra from scipy's special functions and matrices of angular momenta."""

import itertools
import math

import numpy as np
import scipy.special


def spectrum(manifold: str, eps_squared: float, xi_squared: float, count: int) -> list[float]:
    """The smallest eigenvalues, repeated, on a torus of side 1 or on the unit sphere."""
    return sorted(_SPECTRA[manifold](eps_squared, xi_squared))[:count]


def _over_waves(dimension: int, reach: int) -> list[float]:
    """|2 pi k|^2 for all k in a box."""
    waves = itertools.product(range(-reach, reach + 1), repeat=dimension)
    return [4 * math.pi**2 * sum(n * n for n in wave) for wave in waves]


def _r2(_eps_squared: float, _xi_squared: float) -> list[float]:
    return _over_waves(2, 6)


def _s2(_eps_squared: float, _xi_squared: float) -> list[float]:
    return [degree * (degree + 1) for degree in range(12) for _ in range(2 * degree + 1)]


def _se2(eps_squared: float, xi_squared: float) -> list[float]:
    """Characteristic values of Mathieu's equation, of period pi (DLMF 28.2)."""
    found = []
    for squared in _over_waves(2, 8):
        q = xi_squared * squared * (1 - eps_squared) / 4
        values = [scipy.special.mathieu_a(2 * m, q) for m in range(8)]
        values += [scipy.special.mathieu_b(2 * m, q) for m in range(1, 8)]
        found += [squared * (1 + eps_squared) / 2 + float(a) / xi_squared for a in values]
    return found


def _so3(eps_squared: float, xi_squared: float) -> list[float]:
    """L_y^2 + eps^2 L_x^2 + L_z^2 / xi^2 of angular momenta, on even m."""
    found = []
    for degree in range(16):
        m = np.arange(-degree, degree + 1)
        raised = np.diag(np.sqrt(degree * (degree + 1) - m[:-1] * (m[:-1] + 1)), -1)
        x, y = (raised + raised.T) / 2, (raised - raised.T) / 2j
        energy = (y @ y + eps_squared * x @ x).real + np.diag(m**2 / xi_squared)
        even = m % 2 == 0
        found += (2 * degree + 1) * np.linalg.eigvalsh(energy[np.ix_(even, even)]).tolist()
    return found


def _r3s2(eps_squared: float, xi_squared: float) -> list[float]:
    """Characteristic values of prolate spheroidal functions that are the same at n and -n."""
    found = [degree * (degree + 1) / xi_squared for degree in (0, 2) for _ in range(2 * degree + 1)]
    for squared in _over_waves(3, 3):
        if squared:
            c = math.sqrt(xi_squared * squared * (1 - eps_squared))
            for m in range(4):
                values = [scipy.special.pro_cv(m, degree, c) for degree in range(m + m % 2, 8, 2)]
                shifted = [eps_squared * squared + float(v) / xi_squared for v in values]
                found += shifted * (1 if m == 0 else 2)
    return found


_SPECTRA = {"r2": _r2, "s2": _s2, "se2": _se2, "so3": _so3, "r3s2": _r3s2}
