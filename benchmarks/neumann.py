"""The spectrum of the operator on an open domain, where no formula is known for it."""

import itertools
import math
from collections.abc import Iterator

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
    m, cosine, sine = _fourier(frequency)
    one, every = np.eye(degree), np.eye(len(m))
    terms = [
        (mean * every + half * cosine, stiffness, one),
        (mean * every - half * cosine, one, stiffness / height**2),
        (half * sine, slope.T, slope / height),
        (half * sine, slope, slope.T / height),
        (np.diag((2 * m / xi) ** 2.0), one, one),
    ]
    matrix = sum(scipy.sparse.kron(scipy.sparse.kron(a, b), c) for a, b, c in terms).tocsr()
    values = [_smallest(matrix[part][:, part], count) for part in _sectors(m, degree)]
    return np.sort(np.concatenate(values))[:count].clip(min=0.0)


def _fourier(frequency: int) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """1, cos 2 theta, sin 2 theta, cos 4 theta and so on, normalised: frequencies and products.

    Returns:
        m of each, negative for sines; the matrices of the products by cos 2 theta and sin 2 theta.
    """
    m = np.array([0, *(s * k for k in range(1, frequency + 1) for s in (1, -1))])
    # Twice as many points as integrate products of three of them exactly.
    theta = np.arange(8 * frequency + 8) * np.pi / (8 * frequency + 8)
    waves = np.where(
        m[:, None] >= 0, np.cos(2 * np.outer(m, theta)), -np.sin(2 * np.outer(m, theta))
    )
    waves *= np.where(m[:, None] == 0, 1, math.sqrt(2)) / math.sqrt(len(theta))
    return m, (waves * np.cos(2 * theta)) @ waves.T, (waves * np.sin(2 * theta)) @ waves.T


def _sectors(m: NDArray[np.int64], degree: int) -> Iterator[NDArray[np.int64]]:
    """The functions of each parity under the half turn and under y, theta -> -y, -theta.

    No symmetry of the square forces two eigenvalues of one sector to be equal: Lanczos recursions
    may miss a copy of an eigenvalue.
    """
    wave, i, j = np.indices((len(m), degree, degree)).reshape(3, -1)
    turned, mirrored = (i + j) % 2, (j + (m[wave] < 0)) % 2
    for one, other in itertools.product((0, 1), repeat=2):
        yield np.flatnonzero((turned == one) & (mirrored == other))


def _smallest(matrix: scipy.sparse.csr_array, count: int) -> NDArray[np.float64]:
    start = np.random.default_rng(0).normal(size=matrix.shape[0])
    values: NDArray[np.float64]
    values = eigsh(matrix.tocsc(), count, sigma=-1.0, v0=start, return_eigenvectors=False)
    return values


def _legendre(degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Integrals of p_i' p_j' and of p_i p_j' over [0, 1], p the orthonormal polynomials."""
    x, weights = legendre.leggauss(degree + 1)
    scale = np.sqrt(2 * np.arange(degree) + 1)
    values = legendre.legvander(x, degree - 1) * scale
    slopes = legendre.legval(x, legendre.legder(np.eye(degree))).T * 2 * scale
    return (slopes.T * weights / 2) @ slopes, (values.T * weights / 2) @ slopes
