"""Exact eigenvalues of the Laplace-Beltrami operator -(A1^2 + eps^2 A2^2 + xi^-2 A3^2)."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.typing import Floats

Fibre = Callable[[float, float], list[float]]
"""(|2 pi k|^2, cutoff) -> the eigenvalues over that base frequency up to the cutoff, ascending."""

Lowest = Callable[[float], float]
"""|2 pi k|^2 -> the lowest eigenvalue over that base frequency; grows with the frequency."""


def periodic_plane(count: int, aspect: float = 1.0) -> Floats:
    """The smallest eigenvalues on the torus [0, 1) x [0, aspect): kappa^2 = |2 pi k|^2.

    Args:
        count: how many, multiplicities repeated.
        aspect: height / width.

    Returns:
        (count,) ascending, 0 first.
    """
    return _smallest(count, aspect, lambda squared, _: [squared], lambda squared: squared, math.inf)


def periodic_se2(count: int, metric: Metric, aspect: float = 1.0) -> Floats:
    """The smallest eigenvalues on the torus times R / pi.

    For a base frequency kappa the operator acts on the fibre as
    kappa^2 (1 + eps^2)/2 + xi^-2 (-d^2/dtheta^2 + 2 q cos 2 theta), q = xi^2 kappa^2 (1 - eps^2)/4:
    Mathieu's operator on functions of period pi. Its characteristic values come from its
    tridiagonal matrix in the basis exp(2 i m theta).

    Args:
        count: how many, multiplicities repeated.
        metric: eps and xi, lengths in units of the width.
        aspect: height / width.

    Returns:
        (count,) ascending, 0 first.
    """

    def mathieu(squared: float, cutoff: float, **selected: Any) -> Floats:
        q = metric.xi**2 * squared * (1 - metric.eps**2) / 4
        largest = metric.xi * math.sqrt(cutoff) / 2
        # Beyond the turning point 4 m^2 = a + 2 q vectors fall off like exp(-m^2 / sqrt q).
        reach = math.ceil(largest + min(1.2 * q**0.5, 7 * q**0.25)) + 12
        m = np.arange(-reach, reach + 1)
        values = eigvalsh_tridiagonal(4.0 * m**2, np.full(2 * reach, q), **selected)
        shifted = squared * (1 + metric.eps**2) / 2 + values / metric.xi**2
        # None is smaller than that; where xi is tiny rounding could say otherwise.
        bounded: Floats = np.maximum(shifted, metric.eps**2 * squared)
        return bounded

    def fibre(squared: float, cutoff: float) -> list[float]:
        below = (-math.inf, metric.xi**2 * (cutoff - squared * (1 + metric.eps**2) / 2) + 1)
        values = mathieu(squared, cutoff, select="v", select_range=below)
        return [float(value) for value in values if value <= cutoff]

    def lowest(squared: float) -> float:
        return float(mathieu(squared, 0.0, select="i", select_range=(0, 0))[0])

    return _smallest(count, aspect, fibre, lowest, 4 / metric.xi**2)


def _smallest(
    count: int, aspect: float, fibre: Fibre, lowest: Lowest, first_of_fibre: float
) -> Floats:
    """All eigenvalues up to a cutoff that is doubled until there are enough.

    The cutoff starts at the smallest eigenvalue that is not 0. As the lowest eigenvalue grows with
    the base frequency, no frequency is looked at that has none below the cutoff, but for those up
    to the first power of two that is high enough.

    Args:
        count: how many.
        aspect: height / width.
        fibre: the eigenvalues over a frequency.
        lowest: the first of them.
        first_of_fibre: the first eigenvalue over frequency 0 that is not 0.
    """
    highest = 4 * math.pi**2 / max(1.0, aspect) ** 2
    cutoff = min(lowest(highest), first_of_fibre)
    while True:
        while lowest(highest) <= cutoff:
            highest *= 2
        found: list[float] = []
        for squared, times in sorted(_squared_frequencies(math.sqrt(highest), aspect).items()):
            values = fibre(squared, cutoff)
            if not values:
                break  # those that follow are higher
            found += values * times
        if len(found) >= count:
            smallest: Floats = np.maximum(np.sort(found)[:count], 0.0)
            return smallest
        cutoff *= 2


def _squared_frequencies(largest: float, aspect: float) -> Counter[float]:
    """|2 pi k|^2 up to largest^2 over the dual lattice Z x Z/aspect, and how often each occurs."""
    reach_x = int(largest / (2 * math.pi))
    reach_y = int(largest * aspect / (2 * math.pi))
    found: Counter[float] = Counter()
    for kx in range(-reach_x, reach_x + 1):
        for ky in range(-reach_y, reach_y + 1):
            squared = 4 * math.pi**2 * (kx**2 + (ky / aspect) ** 2)
            if squared <= largest**2:
                found[squared] += 1
    return found


def sphere(count: int) -> Floats:
    """The smallest eigenvalues on S^2: l (l + 1), 2 l + 1 times each.

    Returns:
        (count,) ascending, 0 first.
    """
    degree: Floats = np.floor(np.sqrt(np.arange(count)))
    values: Floats = degree * (degree + 1)
    return values


def rotations(count: int, metric: Metric) -> Floats:
    """The smallest eigenvalues on SO(3), orientations modulo pi.

    The operator is the Hamiltonian of an asymmetric top. In the basis of Wigner's functions of
    degree J and even body-fixed index K it is tridiagonal,
    H_KK = (1 + eps^2)/2 (J(J+1) - K^2) + K^2 / xi^2 and H_K,K+2 = -(1 - eps^2)/4
    sqrt([J(J+1) - K(K+1)] [J(J+1) - (K+1)(K+2)]); each eigenvalue occurs 2 J + 1 times.

    Args:
        count: how many, multiplicities repeated.
        metric: eps and xi.

    Returns:
        (count,) ascending, 0 first.
    """
    found: Floats = np.empty(0)
    lowest = [0.0]
    degree = 0
    # The lowest eigenvalue grows with J, of odd and of even degrees apart.
    while len(found) < count or (count and min(lowest[-2:]) <= found[-1]):
        index = np.arange(-(degree - degree % 2), degree + 1, 2)
        length, low = degree * (degree + 1), index[:-1]
        diagonal = (1 + metric.eps**2) / 2 * (length - index**2) + index**2 / metric.xi**2
        ladder = (length - low * (low + 1)) * (length - (low + 1) * (low + 2))
        coupling = -(1 - metric.eps**2) / 4 * np.sqrt(ladder)
        needed = (0, min(len(index) - 1, count // (2 * degree + 1)))
        values = eigvalsh_tridiagonal(diagonal, coupling, select="i", select_range=needed)
        lowest.append(float(values[0]))
        found = np.sort(np.append(found, np.repeat(values, 2 * degree + 1)))[:count]
        degree += 1
    return np.maximum(found, 0.0)
