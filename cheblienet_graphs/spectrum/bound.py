"""An upper bound of the largest eigenvalue, from a Lanczos recursion."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.linalg import eigh_tridiagonal

from cheblienet_graphs.spectrum.lanczos import EXHAUSTED, recursion, start_vector
from cheblienet_graphs.typing import Floats

NORMALIZED = 2.0
"""The spectrum of every normalized Laplacian lies in [0, 2]."""
ROUNDING = 3e-7
"""Upper bound of the change of a rescaled Laplacian's spectrum by storing it in float32."""


@dataclass(frozen=True)
class SpectralBound:
    """An upper bound of the spectrum, and its method: "lanczos", or "bound" for the limit."""

    value: float
    method: str


def largest_eigenvalue_bound(
    product: Callable[[Floats], Floats],
    size: int,
    *,
    limit: float = NORMALIZED,
    tolerance: float = 1e-6,
    max_steps: int = 600,
) -> SpectralBound:
    """Bound the largest eigenvalue of a symmetric positive semidefinite matrix from above.

    A Ritz value theta is a lower bound, but an eigenvalue lies within the norm of its residual, so
    theta + |residual| bounds the eigenvalue that the recursion converges to; from a random start
    that is the largest one. Rounded up to 1e-6 of limit / 2. The start vector is fixed, and so is
    the result.

    Args:
        product: x -> Delta x, (V,) float64, in a new array.
        size: V.
        limit: known upper bound of the spectrum; sets the scale.
        tolerance: residual at which to stop, in units of limit / 2.
        max_steps: most products; after them the last residual, however large, is added.

    Returns:
        The bound, never above the limit.
    """
    unit = limit / NORMALIZED

    def scaled(x: Floats) -> Floats:
        image = product(x)
        image /= unit
        return image

    theta, residual = largest_ritz_value(scaled, size, tolerance=tolerance, max_steps=max_steps)
    bound = math.ceil((theta + residual + ROUNDING) * 1e6) / 1e6 * unit
    return SpectralBound(bound, "lanczos") if bound < limit else SpectralBound(limit, "bound")


def largest_possible(degree: Floats, mass: Floats) -> float:
    """A bound of the spectrum of N^-1/2 (D - W) N^-1/2, N = mass: twice the largest d_i / n_i.

    For x^T (D - W) x = sum over edges of w (x_i - x_j)^2 <= 2 sum_i d_i x_i^2.
    """
    return float(2 * (degree / mass).max())


def largest_ritz_value(
    product: Callable[[Floats], Floats],
    size: int,
    *,
    tolerance: float = 1e-6,
    max_steps: int = 600,
) -> tuple[float, float]:
    """A lower bound of the largest eigenvalue of a symmetric matrix, and the norm of its residual.

    Arguments as in `largest_eigenvalue_bound`.
    """
    (pair,) = _ritz_pairs(product, size, [-1], tolerance, max_steps)
    return pair


def ritz_range(
    product: Callable[[Floats], Floats],
    size: int,
    *,
    tolerance: float = 1e-6,
    max_steps: int = 600,
) -> tuple[float, float]:
    """The smallest and largest Ritz values of a symmetric matrix, which lie within its spectrum.

    Arguments as in `largest_eigenvalue_bound`.
    """
    (smallest, _), (largest, _) = _ritz_pairs(product, size, [0, -1], tolerance, max_steps)
    return smallest, largest


def _ritz_pairs(
    product: Callable[[Floats], Floats],
    size: int,
    ends: list[int],
    tolerance: float,
    max_steps: int,
) -> list[tuple[float, float]]:
    """Ritz values and the norms of their residuals; 0 is the smallest one, -1 the largest."""
    diagonal: list[float] = []
    coupling: list[float] = []
    pairs: list[tuple[float, float]] = []
    for step, (own, beta) in enumerate(recursion(product, start_vector(size)), 1):
        diagonal.append(own)
        exhausted = beta < EXHAUSTED or step == max_steps
        if exhausted or step % 10 == 0:
            pairs = [_ritz_pair(diagonal, coupling, beta, end) for end in ends]
            if exhausted or all(residual < tolerance for _, residual in pairs):
                break
        coupling.append(beta)
    return pairs


def _ritz_pair(
    diagonal: list[float], coupling: list[float], beta: float, end: int
) -> tuple[float, float]:
    """An extreme eigenvalue of the tridiagonal matrix and the norm of its residual."""
    index = end % len(diagonal)
    values, vectors = eigh_tridiagonal(diagonal, coupling, select="i", select_range=(index, index))
    return float(values[0]), beta * abs(float(vectors[-1, 0]))
