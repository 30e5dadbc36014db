"""The spectrum of the operator on an open domain, where no formula is known for it."""

import numpy as np
import scipy.sparse
from numpy.polynomial import legendre
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh


def neumann_spectrum(
    count: int,
    eps: float,
    xi: float,
    *,
    height: float = 1.0,
    degree: int = 14,
    frequency: int = 6,
) -> NDArray[np.float64]:
    """The smallest eigenvalues of -(A1^2 + eps^2 A2^2 + xi^-2 A3^2) on a rectangle times R / pi.

    It is [0, 1] x [0, height]. No heat flows through its edges: the natural condition of the form
    integral of (A1 f)^2 + eps^2 (A2 f)^2 + xi^-2 (A3 f)^2. That is minimised over products of
    Legendre polynomials in x and y and exp(2 i m theta), by Galerkin's method: with A1 along
    (cos theta, sin theta), the form's coefficients are Fourier polynomials in theta.

    Args:
        count: how many, multiplicities repeated.
        eps: of the metric.
        xi: of the metric, in units of the rectangle's width.
        height: of the rectangle.
        degree: of the polynomials, one less than this.
        frequency: largest m.

    Returns:
        (count,) ascending, 0 first; to 1e-5 for 31 of eps^2 = xi^2 = 0.1.
    """
    stiffness, slope = _legendre(degree)
    mean, half = (1 + eps**2) / 2, (1 - eps**2) / 2
    m = np.arange(-frequency, frequency + 1)
    raising = np.eye(len(m), k=-1)  # times exp(2 i theta)
    cosine, sine = (raising + raising.T) / 2, (raising - raising.T) / 2j
    one, every = np.eye(degree), np.eye(len(m))
    terms = [
        (mean * every + half * cosine, stiffness, one),
        (mean * every - half * cosine, one, stiffness / height**2),
        (half * sine, slope.T, slope / height),
        (half * sine, slope, slope.T / height),
        (np.diag((2 * m / xi) ** 2.0), one, one),
    ]
    matrix = sum(scipy.sparse.kron(scipy.sparse.kron(a, b), c) for a, b, c in terms)
    values: NDArray[np.float64]
    values = eigsh(matrix.tocsc(), count, sigma=-1.0, return_eigenvectors=False)
    return np.sort(values).clip(min=0.0)


def _legendre(degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Integrals of p_i' p_j' and of p_i p_j' over [0, 1], p the orthonormal polynomials."""
    x, weights = legendre.leggauss(degree + 1)
    scale = np.sqrt(2 * np.arange(degree) + 1)
    values = legendre.legvander(x, degree - 1) * scale
    slopes = legendre.legval(x, legendre.legder(np.eye(degree))).T * 2 * scale
    return (slopes.T * weights / 2) @ slopes, (values.T * weights / 2) @ slopes
