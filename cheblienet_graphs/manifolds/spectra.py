"""Exact spectra of the manifolds' Laplace-Beltrami operators.

On a flat torus the operator acts separately on each plane wave exp(i k . x): over it on the fiber
as a matrix, tridiagonal in a suitable basis.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from cheblienet_graphs.manifolds.manifold import Metric
from cheblienet_graphs.typing import Floats

OverWave = Callable[[float, float], list[float]]
"""(|2 pi k|^2, cutoff) -> the eigenvalues over that frequency up to the cutoff, ascending."""

Lowest = Callable[[float], float]
"""|2 pi k|^2 -> the lowest eigenvalue over that frequency; grows with the frequency."""


def over_points(count: int, extent: tuple[float, ...]) -> Floats:
    """The smallest |2 pi k|^2 on a torus.

    Args:
        count: number of eigenvalues, repeated by multiplicity.
        extent: sides of the torus.
    """
    return _smallest_over_waves(count, extent, lambda f, _: [f], lambda f: f, math.inf)


def over_angles(count: int, metric: Metric, extent: tuple[float, ...], period: float) -> Floats:
    """The smallest eigenvalues on a torus times orientations, R / period.

    For a base frequency kappa the operator acts on the fiber as
    kappa^2 (1 + eps^2)/2 + xi^-2 (-d^2/dtheta^2 + 2 q cos 2 theta),
    q = xi^2 kappa^2 (1 - eps^2) / 4: Mathieu's operator on functions of period pi or 2 pi. The
    latter are those and the odd ones, which change sign over half a turn.
    """
    parities = (0,) if period == math.pi else (0, 1)

    def over(squared: float, cutoff: float) -> list[float]:
        shift = squared * (1 + metric.eps**2) / 2
        below = (-math.inf, metric.xi**2 * (cutoff - shift) + 1)
        selected = {"select": "v", "select_range": below}
        values = [_mathieu(metric, squared, cutoff, odd, **selected) for odd in parities]
        return sorted(float(value) for value in np.concatenate(values) if value <= cutoff)

    def lowest(squared: float) -> float:
        return float(_mathieu(metric, squared, 0.0, 0, select="i", select_range=(0, 0))[0])

    first = (2 * math.pi / period / metric.xi) ** 2
    return _smallest_over_waves(count, extent, over, lowest, first)


def over_axes(count: int, metric: Metric, extent: tuple[float, ...]) -> Floats:
    """The smallest eigenvalues on a flat torus times the projective plane of axes.

    Over a wave the operator is eps^2 kappa^2 + xi^-2 (-Laplacian + q cos^2), kappa = |k|,
    q = xi^2 kappa^2 (1 - eps^2), the cosine that of the angle between the axis and k. Its
    eigenfunctions are spheroidal wave functions times exp(i m phi), of which those that are the
    same at n and -n count: spherical harmonics of even degree.
    """

    def over(squared: float, cutoff: float) -> list[float]:
        limit = metric.xi**2 * (cutoff - metric.eps**2 * squared)
        below = {"select": "v", "select_range": (-math.inf, limit + 1)}
        eigenvalues: list[float] = []
        # The lowest degree alone costs m (m + 1), and cos^2 is not negative.
        for m in itertools.takewhile(lambda m: m * (m + 1) <= limit, itertools.count()):
            values = _spheroidal(metric, squared, m, limit, **below)
            # Those of m and of -m.
            eigenvalues += (1 if m == 0 else 2) * [float(v) for v in values if v <= cutoff]
        return sorted(eigenvalues)

    def lowest(squared: float) -> float:
        return float(_spheroidal(metric, squared, 0, 0.0, select="i", select_range=(0, 0))[0])

    return _smallest_over_waves(count, extent, over, lowest, 6 / metric.xi**2)


def of_asymmetric_top(count: int, metric: Metric, period: float) -> Floats:
    """The smallest eigenvalues on SO(3), orientations modulo pi or 2 pi.

    In the basis of Wigner's functions of degree J and body-fixed index K, even modulo pi, the
    operator is tridiagonal among even K and among odd K, H_KK = (1 + eps^2)/2 (J(J+1) - K^2) +
    K^2 / xi^2 and H_K,K+2 = -(1 - eps^2)/4 sqrt([J(J+1) - K(K+1)] [J(J+1) - (K+1)(K+2)]); each
    eigenvalue occurs 2 J + 1 times.
    """
    parities = (0,) if period == math.pi else (0, 1)
    eigenvalues: Floats = np.empty(0)
    lowest = [0.0]
    degree = 0
    # The lowest eigenvalue grows with J, of odd and of even degrees apart.
    while len(eigenvalues) < count or (count and min(lowest[-2:]) <= eigenvalues[-1]):
        most = count // (2 * degree + 1)
        of_degree = [_of_top(degree, odd, metric, most) for odd in parities if degree >= odd]
        values = np.concatenate(of_degree)
        lowest.append(float(values.min()))
        eigenvalues = np.sort(np.append(eigenvalues, np.repeat(values, 2 * degree + 1)))[:count]
        degree += 1
    return np.maximum(eigenvalues, 0.0)


def _of_top(degree: int, odd: int, metric: Metric, most: int) -> Floats:
    """The lowest eigenvalues, `most` + 1 of them, among the even or the odd K of a degree."""
    index = np.arange(-degree + (degree + odd) % 2, degree + 1, 2)
    length, low = degree * (degree + 1), index[:-1]
    diagonal = (1 + metric.eps**2) / 2 * (length - index**2) + index**2 / metric.xi**2
    ladder = (length - low * (low + 1)) * (length - (low + 1) * (low + 2))
    coupling = -(1 - metric.eps**2) / 4 * np.sqrt(ladder)
    needed = (0, min(len(index) - 1, most))
    values: Floats = eigvalsh_tridiagonal(diagonal, coupling, select="i", select_range=needed)
    return values


def _smallest_over_waves(
    count: int, extent: tuple[float, ...], over: OverWave, lowest: Lowest, first_of_fiber: float
) -> Floats:
    """All eigenvalues up to a cutoff that is doubled until there are enough.

    The cutoff starts at the smallest eigenvalue that is not 0. The lowest eigenvalue grows with the
    base frequency, so frequencies are tried in ascending order, up to the first without eigenvalues
    below the cutoff.

    Args:
        count: number of eigenvalues.
        extent: sides of the torus.
        over: the eigenvalues over a frequency.
        lowest: the smallest of these.
        first_of_fiber: the first eigenvalue over frequency 0 that is not 0.

    Returns:
        (count,) ascending, multiplicities repeated.
    """
    highest = 4 * math.pi**2 / max(extent) ** 2
    cutoff = min(lowest(highest), first_of_fiber)
    while True:
        while lowest(highest) <= cutoff:
            highest *= 2
        eigenvalues: list[float] = []
        for squared, times in sorted(_squared_frequencies(math.sqrt(highest), extent).items()):
            values = over(squared, cutoff)
            if not values:
                break  # all further frequencies have higher ones
            eigenvalues += values * times
        if len(eigenvalues) >= count:
            smallest: Floats = np.maximum(np.sort(eigenvalues)[:count], 0.0)
            return smallest
        cutoff *= 2


def _squared_frequencies(largest: float, extent: tuple[float, ...]) -> Counter[float]:
    """|2 pi k|^2 up to largest^2 over the dual lattice, k_i in Z / side, with multiplicities."""
    reach = [int(largest * side / (2 * math.pi)) for side in extent]
    multiplicities: Counter[float] = Counter()
    for k in itertools.product(*(range(-most, most + 1) for most in reach)):
        squared = 4 * math.pi**2 * sum((n / side) ** 2 for n, side in zip(k, extent, strict=True))
        if squared <= largest**2:
            multiplicities[squared] += 1
    return multiplicities


def _mathieu(metric: Metric, squared: float, cutoff: float, odd: int, **selected: Any) -> Floats:
    """Eigenvalues over |2 pi k|^2 = squared, from the tridiagonal matrix in exp(2 i m theta).

    Of odd functions over half a turn in exp((2 m + 1) i theta).
    """
    q = metric.xi**2 * squared * (1 - metric.eps**2) / 4
    largest = metric.xi * math.sqrt(cutoff) / 2
    # Beyond the turning point 4 m^2 = a + 2 q vectors fall off like exp(-m^2 / sqrt q).
    reach = math.ceil(largest + min(1.2 * q**0.5, 7 * q**0.25)) + 12
    m = np.arange(-reach, reach + 1)
    values = eigvalsh_tridiagonal((2.0 * m + odd) ** 2, np.full(2 * reach, q), **selected)
    shifted = squared * (1 + metric.eps**2) / 2 + values / metric.xi**2
    return _bounded(metric, squared, shifted)


def _spheroidal(metric: Metric, squared: float, m: int, limit: float, **selected: Any) -> Floats:
    """Eigenvalues for one m >= 0 over |k|^2 = squared, those of the matrix up to a limit.

    The matrix is the operator's less eps^2 kappa^2, times xi^2, in normalized spherical harmonics.
    """
    q = metric.xi**2 * squared * (1 - metric.eps**2)
    # Beyond the turning point l (l + 1) = limit vectors fall off like exp(-l^2 / (2 sqrt q)).
    terms = math.sqrt(max(limit, 0.0)) / 2 + min(0.6 * q**0.5, 5 * q**0.25)
    degree = m + m % 2 + 2.0 * np.arange(math.ceil(terms) + 12)
    # A_l^2, where cos Y_lm = A_(l+1) Y_(l+1)m + A_l Y_(l-1)m.
    degrees = degree, degree + 1, degree + 2
    here, above, top = ((d**2 - m**2) / (4 * d**2 - 1) for d in degrees)
    diagonal = degree * (degree + 1) + q * (here + above)
    values = eigvalsh_tridiagonal(diagonal, q * np.sqrt(above * top)[:-1], **selected)
    return _bounded(metric, squared, metric.eps**2 * squared + values / metric.xi**2)


def _bounded(metric: Metric, squared: float, values: Floats) -> Floats:
    """The values, at least their lower bound, which rounding misses where xi is tiny."""
    bounded: Floats = np.maximum(values, metric.eps**2 * squared)
    return bounded
