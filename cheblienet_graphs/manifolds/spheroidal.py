"""The spectrum of positions and axes: even spheroidal wave functions over each plane wave.

Over the wave exp(i k . x) the operator is eps^2 kappa^2 + xi^-2 (-Laplacian + q cos^2), kappa =
|k|, q = xi^2 kappa^2 (1 - eps^2), the cosine that of the angle between the axis and k. Its
eigenfunctions are spheroidal wave functions times exp(i m phi), of which those that are the same at
n and -n count. In normalised spherical harmonics of even degree it is a tridiagonal matrix for each
m.
"""

import itertools
import math
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from cheblienet_graphs.manifolds.metric import Metric
from cheblienet_graphs.manifolds.torus import smallest_over_waves
from cheblienet_graphs.typing import Floats


def spectrum_over_axes(count: int, metric: Metric, extent: tuple[float, ...]) -> Floats:
    """The smallest eigenvalues on a flat torus times the projective plane of axes.

    Args:
        count: number of eigenvalues, repeated by multiplicity.
        metric: R.
        extent: sides of the torus.

    Returns:
        (count,) ascending, 0 first.
    """

    def over(squared: float, cutoff: float) -> list[float]:
        return _over_wave(metric, squared, cutoff)

    def lowest(squared: float) -> float:
        return float(_spheroidal(metric, squared, 0, 0.0, select="i", select_range=(0, 0))[0])

    return smallest_over_waves(count, extent, over, lowest, 6 / metric.xi**2)


def _over_wave(metric: Metric, squared: float, cutoff: float) -> list[float]:
    """Eigenvalues up to a cutoff over |k|^2 = squared, both of m and -m, ascending."""
    limit = metric.xi**2 * (cutoff - metric.eps**2 * squared)
    found: list[float] = []
    for m in itertools.count():
        # The lowest degree alone costs this much, and cos^2 is not negative.
        if m * (m + 1) > limit:
            return sorted(found)
        values = _spheroidal(
            metric, squared, m, limit, select="v", select_range=(-math.inf, limit + 1)
        )
        kept = [float(value) for value in values if value <= cutoff]
        found += kept if m == 0 else 2 * kept
    raise AssertionError("unreachable")


def _spheroidal(metric: Metric, squared: float, m: int, limit: float, **selected: Any) -> Floats:
    """Eigenvalues for one m over |k|^2 = squared, those of the matrix up to a limit.

    Args:
        metric: R.
        squared: |k|^2.
        m: not negative.
        limit: of the eigenvalues of the matrix, which are those of the operator less
            eps^2 kappa^2, times xi^2.
        selected: which ones, for scipy's solver.
    """
    q = metric.xi**2 * squared * (1 - metric.eps**2)
    # Beyond the turning point l (l + 1) = limit vectors fall off like exp(-l^2 / (2 sqrt q)).
    terms = math.sqrt(max(limit, 0.0)) / 2 + min(0.6 * q**0.5, 5 * q**0.25)
    degree = m + m % 2 + 2.0 * np.arange(math.ceil(terms) + 12)
    here, above, top = (_squared_factor(degree + step, m) for step in range(3))
    diagonal = degree * (degree + 1) + q * (here + above)
    beside = q * np.sqrt(above * top)[:-1]
    values = eigvalsh_tridiagonal(diagonal, beside, **selected)
    shifted = metric.eps**2 * squared + values / metric.xi**2
    # A lower bound of all eigenvalues; where xi is tiny, rounding errors could be larger.
    bounded: Floats = np.maximum(shifted, metric.eps**2 * squared)
    return bounded


def _squared_factor(degree: Floats, m: int) -> Floats:
    """A_l^2, where cos Y_lm = A_(l+1) Y_(l+1)m + A_l Y_(l-1)m."""
    factor: Floats = (degree**2 - m**2) / (4 * degree**2 - 1)
    return factor
