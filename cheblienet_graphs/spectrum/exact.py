"""Exact eigenvalues of the Laplace-Beltrami operator -(A1^2 + eps^2 A2^2 + xi^-2 A3^2)."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.neighbours import Floats

Fibre = Callable[[float, float], list[float]]
"""(|2 pi k|^2, cutoff) -> the eigenvalues over that base frequency, at least those below it."""


def periodic_plane(count: int, aspect: float = 1.0) -> Floats:
    """The smallest eigenvalues on the torus [0, 1) x [0, aspect): kappa^2 = |2 pi k|^2.

    Args:
        count: how many, multiplicities repeated.
        aspect: height / width.

    Returns:
        (count,) ascending, 0 first.
    """
    return _smallest(count, 1.0, aspect, lambda squared, _: [squared])


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

    def fibre(squared: float, cutoff: float) -> list[float]:
        q = metric.xi**2 * squared * (1 - metric.eps**2) / 4
        largest = metric.xi * math.sqrt(cutoff) / 2
        m = np.arange(-(reach := math.ceil(largest + 1.2 * math.sqrt(q)) + 12), reach + 1)
        values = eigvalsh_tridiagonal(4.0 * m**2, np.full(2 * reach, q))
        shifted = squared * (1 + metric.eps**2) / 2 + values / metric.xi**2
        return [float(value) for value in shifted if value <= cutoff]

    return _smallest(count, metric.eps, aspect, fibre)


def _smallest(count: int, eps: float, aspect: float, fibre: Fibre) -> Floats:
    """All eigenvalues up to a cutoff that is doubled until there are enough.

    Each is at least eps^2 kappa^2, so the base frequencies to look at are finite in number.
    """
    cutoff = 4 * math.pi**2
    while True:
        found = [
            value
            for squared in _squared_frequencies(math.sqrt(cutoff) / eps, aspect)
            for value in fibre(squared, cutoff)
            if value <= cutoff
        ]
        if len(found) >= count:
            smallest: Floats = np.maximum(np.sort(found)[:count], 0.0)
            return smallest
        cutoff *= 2


def _squared_frequencies(largest: float, aspect: float) -> Iterator[float]:
    """|2 pi k|^2 up to largest^2 over the dual lattice Z x Z/aspect."""
    reach_x = int(largest / (2 * math.pi))
    reach_y = int(largest * aspect / (2 * math.pi))
    for kx in range(-reach_x, reach_x + 1):
        for ky in range(-reach_y, reach_y + 1):
            squared = 4 * math.pi**2 * (kx**2 + (ky / aspect) ** 2)
            if squared <= largest**2:
                yield squared


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
