"""Exact spectra of the manifolds' Laplace-Beltrami operators.

On a flat torus the operator acts separately on each plane wave exp(i k . x): over it on the fiber
as a matrix, tridiagonal in a suitable basis.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from cheblienet_graphs.manifolds.base import Fiber, Metric
from cheblienet_graphs.typing import Floats

Extent = tuple[float, ...]
"""Sides of the torus; of no matter on the sphere."""

OverWave = Callable[[float, float], list[float]]
"""(|2 pi k|^2, cutoff) -> the eigenvalues over that frequency up to the cutoff, ascending."""


def over_points(count: int, _metric: Metric, extent: Extent, _fiber: Fiber) -> Floats:
    """The smallest |2 pi k|^2 on a torus."""
    return _smallest_over_waves(count, extent, lambda f, cutoff: [f][: f <= cutoff], math.inf)


def over_boxes(count: int, extent: Extent) -> Floats:
    """The smallest eigenvalues pi^2 sum (k_i / L_i)^2 on a box without flux through its sides.

    Of the sums of two ascending lists the j-th with the k-th, from 0, has (j + 1) (k + 1) - 1 sums
    before it, so it is one of the smallest only if (j + 1) (k + 1) <= count.

    Args:
        count: number of eigenvalues, repeated by multiplicity.
        extent: sides L_i of the box.

    Returns:
        (count,) ascending, 0 first.
    """
    values: Floats = np.zeros(1)
    for side in extent:
        waves = [(math.pi * k / side) ** 2 for k in range(max(count, 1))]
        sums = [values[: count // k] + wave for k, wave in enumerate(waves, start=1)]
        values = np.sort(np.concatenate(sums))[:count]
    return values


def over_angles(count: int, metric: Metric, extent: Extent, fiber: Fiber) -> Floats:
    """The smallest eigenvalues on a torus times orientations, modulo pi or 2 pi.

    For a base frequency kappa the operator acts on the fiber as kappa^2 (1 + eps^2)/2 + xi^-2
    (-d^2/dtheta^2 + 2 q cos 2 theta), q = xi^2 kappa^2 (1 - eps^2) / 4: Mathieu's operator on
    functions of the fiber's period. The functions of period 2 pi are the even ones, of period pi,
    and the odd ones under half a turn.
    """
    parities = _parities(fiber)

    def over(squared: float, cutoff: float) -> list[float]:
        q = metric.xi**2 * squared * (1 - metric.eps**2) / 4
        shift = squared * (1 + metric.eps**2) / 2
        # Beyond the turning point 4 m^2 = a + 2 q vectors fall off like exp(-m^2 / sqrt q).
        largest = metric.xi * math.sqrt(cutoff) / 2
        reach = math.ceil(largest + min(1.2 * q**0.5, 7 * q**0.25)) + 12
        m = np.arange(-reach, reach + 1)
        limit = metric.xi**2 * (cutoff - shift)
        coupling = np.full(2 * reach, q)  # of exp(i (2 m + odd) theta)
        each = [_up_to(limit + 1, (2.0 * m + odd) ** 2, coupling) for odd in parities]
        values = np.sort(np.concatenate(each))
        return _bounded(metric, squared, cutoff, shift + values / metric.xi**2)

    return _smallest_over_waves(count, extent, over, (2 / len(parities) / metric.xi) ** 2)


def over_axes(count: int, metric: Metric, extent: Extent, _fiber: Fiber) -> Floats:
    """The smallest eigenvalues on a flat torus times the projective plane of axes.

    Over a wave the operator is eps^2 kappa^2 + xi^-2 (-Laplacian + q cos^2), kappa = |k|, q = xi^2
    kappa^2 (1 - eps^2), the cosine that of the angle between the axis and k. Its eigenfunctions are
    spheroidal wave functions times exp(i m phi); the ones that are equal at n and -n count:
    spherical harmonics of even degree.
    """

    def over(squared: float, cutoff: float) -> list[float]:
        limit = metric.xi**2 * (cutoff - metric.eps**2 * squared)
        eigenvalues: list[float] = []
        # The lowest degree alone costs m (m + 1), and cos^2 is not negative.
        for m in itertools.takewhile(lambda m: m * (m + 1) <= limit, itertools.count()):
            values = metric.eps**2 * squared + _spheroidal(metric, squared, m, limit) / metric.xi**2
            # For m and for -m.
            eigenvalues += (1 if m == 0 else 2) * _bounded(metric, squared, cutoff, values)
        return sorted(eigenvalues)

    return _smallest_over_waves(count, extent, over, 6 / metric.xi**2)


def of_degrees(count: int, _metric: Metric, _extent: Extent, _fiber: Fiber) -> Floats:
    """On S^2 degrees l have the eigenvalue l (l + 1), 2 l + 1 times."""
    degree: Floats = np.floor(np.sqrt(np.arange(count)))
    return degree * (degree + 1)


def of_asymmetric_top(count: int, metric: Metric, _extent: Extent, fiber: Fiber) -> Floats:
    """The smallest eigenvalues on SO(3), orientations modulo pi or 2 pi.

    In the basis of Wigner's functions of degree J and body-fixed index K, even modulo pi, the
    operator is tridiagonal among even K and among odd K, H_KK = (1 + eps^2)/2 (J(J+1) - K^2) +
    K^2 / xi^2 and H_K,K+2 = -(1 - eps^2)/4 sqrt([J(J+1) - K(K+1)] [J(J+1) - (K+1)(K+2)]); each
    eigenvalue occurs 2 J + 1 times.
    """
    parities = _parities(fiber)
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


def _parities(fiber: Fiber) -> tuple[int, ...]:
    """Parities of functions under half a turn: even ones, 0, and modulo 2 pi odd ones, 1."""
    return (0,) if len(fiber.turns) > 1 else (0, 1)


def _of_top(degree: int, odd: int, metric: Metric, most: int) -> Floats:
    """The lowest eigenvalues, `most` + 1 of them, among the even or the odd K of a degree."""
    from scipy.linalg import eigvalsh_tridiagonal  # slow to import, opening does without

    index = np.arange(-degree + (degree + odd) % 2, degree + 1, 2)
    length = degree * (degree + 1)
    low = index[:-1]
    diagonal = (1 + metric.eps**2) / 2 * (length - index**2) + index**2 / metric.xi**2
    ladder = (length - low * (low + 1)) * (length - (low + 1) * (low + 2))
    coupling = -(1 - metric.eps**2) / 4 * np.sqrt(ladder)
    needed = (0, min(len(index) - 1, most))
    values: Floats = eigvalsh_tridiagonal(diagonal, coupling, select="i", select_range=needed)
    return values


def _smallest_over_waves(
    count: int, extent: Extent, over: OverWave, first_of_fiber: float
) -> Floats:
    """All eigenvalues up to a cutoff that is doubled until there are enough.

    The cutoff starts at a bound of the smallest eigenvalue that is not 0. The lowest eigenvalue
    grows with the base frequency, so frequencies are tried in ascending order, up to the first
    without eigenvalues below the cutoff.

    Args:
        count: number of eigenvalues.
        extent: sides of the torus.
        over: the eigenvalues over a frequency.
        first_of_fiber: the first eigenvalue over frequency 0 that is not 0.

    Returns:
        (count,) ascending, multiplicities repeated.
    """
    highest = 4 * math.pi**2 / max(extent) ** 2
    cutoff = min(highest, first_of_fiber)
    while True:
        while over(highest, cutoff):
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


def _squared_frequencies(largest: float, extent: Extent) -> Counter[float]:
    """|2 pi k|^2 up to largest^2 over the dual lattice, k_i in Z / side, with multiplicities."""
    reach = [int(largest * side / (2 * math.pi)) for side in extent]
    multiplicities: Counter[float] = Counter()
    for k in itertools.product(*(range(-most, most + 1) for most in reach)):
        squared = 4 * math.pi**2 * sum((n / side) ** 2 for n, side in zip(k, extent, strict=True))
        if squared <= largest**2:
            multiplicities[squared] += 1
    return multiplicities


def _spheroidal(metric: Metric, squared: float, m: int, limit: float) -> Floats:
    """Eigenvalues for one m >= 0 over |k|^2 = squared, of the matrix up to limit + 1.

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
    return _up_to(limit + 1, diagonal, q * np.sqrt(above * top)[:-1])


def _up_to(limit: float, diagonal: Floats, coupling: Floats) -> Floats:
    """The eigenvalues of a tridiagonal matrix up to a limit."""
    from scipy.linalg import eigvalsh_tridiagonal  # slow to import, opening does without

    below = (-math.inf, limit)
    values: Floats = eigvalsh_tridiagonal(diagonal, coupling, select="v", select_range=below)
    return values


def _bounded(metric: Metric, squared: float, cutoff: float, values: Floats) -> list[float]:
    """Values to a cutoff, at least their lower bound, which rounding misses where xi is tiny."""
    bounded: list[float] = np.maximum(values, metric.eps**2 * squared).tolist()
    return [value for value in bounded if value <= cutoff]


SPECTRA: dict[str, Callable[[int, Metric, Extent, Fiber], Floats]] = {
    "r2": over_points,
    "r3": over_points,
    "se2": over_angles,
    "r3s2": over_axes,
    "s2": of_degrees,
    "so3": of_asymmetric_top,
}
"""(number of eigenvalues, metric, sides, fiber) -> the smallest eigenvalues, on each manifold."""
