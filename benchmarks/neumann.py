"""The spectrum of the operator on an open domain, where no formula is known for it."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.special
from numpy.polynomial import legendre
from numpy.typing import NDArray
from scripts import smallest_eigenvalues


def neumann_spectrum(
    count: int, eps: float, xi: float, *, degree: int = 14, frequency: int = 6
) -> NDArray[np.float64]:
    """The smallest eigenvalues of -(A1^2 + eps^2 A2^2 + xi^-2 A3^2) on a unit square times R / pi.

    No heat flows through its edges: the natural condition of the form
    integral of (A1 f)^2 + eps^2 (A2 f)^2 + xi^-2 (A3 f)^2. That is minimized over products of
    Legendre polynomials in x and y and exp(2 i m theta), by Galerkin's method: with A1 along
    (cos theta, sin theta), the form's coefficients are Fourier polynomials in theta.

    Args:
        count: how many, multiplicities repeated.
        eps: of the metric.
        xi: of the metric, in units of the square's side.
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
        (mean * every - half * cosine, one, stiffness),
        (half * sine, slope.T, slope),
        (half * sine, slope, slope.T),
        (np.diag((2 * m / xi) ** 2.0), one, one),
    ]
    matrix = sum(scipy.sparse.kron(scipy.sparse.kron(a, b), c) for a, b, c in terms).tocsr()
    values = [smallest_eigenvalues(matrix[part][:, part], count) for part in _sectors(m, degree)]
    return np.sort(np.concatenate(values))[:count].clip(min=0.0)


def _fourier(frequency: int) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """1, cos 2 theta, sin 2 theta, cos 4 theta and so on, normalized: frequencies and products.

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


def neumann_spectrum_over_axes(
    count: int, eps: float, xi: float, *, degree: int = 7, harmonics: int = 6
) -> NDArray[np.float64]:
    """The smallest eigenvalues on a unit cube times the axes, no heat flowing through its faces.

    As `neumann_spectrum`, in products of Legendre polynomials in x, y and z and even spherical
    harmonics. The reflections in three planes, which turn axes as well, split these into eight
    sectors, of which those that rotations map to one another have the same eigenvalues.

    Args:
        count: how many, multiplicities repeated.
        eps: of the metric.
        xi: of the metric, in units of the cube's side.
        degree: of the polynomials, one less than this.
        harmonics: largest degree of these.

    Returns:
        (count,) ascending, 0 first.
    """
    stiffness, slope = _legendre(degree)
    axes, measure = _sphere(harmonics)
    basis, degrees, parities = _even_harmonics(harmonics, axes)
    sectors = []
    for sector, times in (((0, 0, 0), 1), ((1, 0, 0), 3), ((1, 1, 0), 3), ((1, 1, 1), 1)):
        powers = np.stack(np.meshgrid(*[np.arange(degree)] * 3, indexing="ij"), axis=-1)
        odd = (powers.reshape(1, -1, 3) + parities[:, None]) % 2
        kept = np.flatnonzero((odd == sector).all(axis=2))
        matrix = np.diag(np.repeat(degrees * (degrees + 1) / xi**2, degree**3)[kept])
        for a in range(3):
            for b in range(3):
                rate = eps**2 * (a == b) + (1 - eps**2) * axes[a] * axes[b]
                parts = [np.eye(degree)] * 3
                if a == b:
                    parts[a] = stiffness
                else:
                    parts[a], parts[b] = slope.T, slope
                outer = scipy.sparse.csr_array((basis * (measure * rate)) @ basis.T)
                outer.data[abs(outer.data) < 1e-13] = 0
                outer.eliminate_zeros()
                term = scipy.sparse.kron(scipy.sparse.kron(parts[0], parts[1]), parts[2])
                matrix += scipy.sparse.kron(outer, term, "csr")[kept][:, kept].toarray()
        values = scipy.linalg.eigvalsh(matrix, subset_by_index=[0, min(count, len(kept)) - 1])
        sectors.append(np.repeat(values, times))
    return np.sort(np.concatenate(sectors))[:count].clip(min=0.0)


def _sphere(degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(3, N) unit vectors, and (N,) weights exact up to twice this degree and 2 more."""
    nodes, weights = legendre.leggauss(degree + 2)
    turns = 2 * np.pi * np.arange(2 * degree + 4) / (2 * degree + 4)
    z, phi = (part.ravel() for part in np.meshgrid(nodes, turns, indexing="ij"))
    across = np.sqrt(1 - z * z)
    measure = np.repeat(weights, len(turns)) * 2 * np.pi / len(turns)
    return np.stack([across * np.cos(phi), across * np.sin(phi), z]), measure


def _even_harmonics(
    most: int, axes: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """(M, N) real orthonormal ones at axes, (M,) degrees, (M, 3) 1 where odd in x, y or z."""
    x, y, z = axes
    phi, rows, degrees, odd = np.arctan2(y, x), [], [], []
    for degree in range(0, most + 1, 2):
        for order in range(-degree, degree + 1):
            m = abs(order)
            size = math.factorial(degree - m) / math.factorial(degree + m)
            size *= (2 * degree + 1) / (4 * math.pi) * (2 if m else 1)
            turn = np.cos(m * phi) if order >= 0 else np.sin(m * phi)
            rows.append(math.sqrt(size) * scipy.special.lpmv(m, degree, z) * turn)
            degrees.append(degree)
            in_y = int(order < 0)
            odd.append(((m + in_y) % 2, in_y, (degree + m) % 2))
    return np.stack(rows), np.array(degrees, np.float64), np.array(odd)


def _legendre(degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Integrals of p_i' p_j' and of p_i p_j' over [0, 1], p the orthonormal polynomials."""
    x, weights = legendre.leggauss(degree + 1)
    scale = np.sqrt(2 * np.arange(degree) + 1)
    values = legendre.legvander(x, degree - 1) * scale
    slopes = legendre.legval(x, legendre.legder(np.eye(degree))).T * 2 * scale
    return (slopes.T * weights / 2) @ slopes, (values.T * weights / 2) @ slopes
