"""Spectra of domains without flux through their edge, from polynomials and Bessel functions."""

import numpy as np
import scipy.linalg
from numpy.polynomial import chebyshev
from scipy.optimize import brentq
from scipy.special import spherical_jn

from cheblienet_graphs import Polygons
from cheblienet_graphs.store.reader import LevelFolder

CENTER = np.array([0.503, 0.497])
"""Off the symmetries of any lattice."""


def turned(degrees: float) -> np.ndarray:
    turn = np.radians(degrees)
    return np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])


def elliptic(axes: np.ndarray, size: int) -> Polygons:
    """In pixels of an image of this width: axes times the unit disc."""
    angles = np.linspace(0, 2 * np.pi, 8001)[:-1]
    corners = (axes @ np.stack([np.cos(angles), np.sin(angles)])).T + CENTER
    return Polygons.of(corners * size)


def _polynomials(degree: int) -> tuple[np.ndarray, list[list[np.ndarray]]]:
    """Orthonormal polynomials on the unit disc: the integrals of their derivatives' products."""
    points, weights = np.polynomial.legendre.leggauss(degree + 4)
    radius, angles = (points + 1) / 2, np.arange(4 * degree) * np.pi / (2 * degree)
    x, y = (np.outer(radius, of(angles)).ravel() for of in (np.cos, np.sin))
    weight = np.repeat(weights * radius / 2 * np.pi / (2 * degree), len(angles))
    along = []
    for places in (x, y):
        slopes = [chebyshev.chebval(places, chebyshev.chebder(e)) for e in np.eye(degree + 1)]
        along.append((chebyshev.chebvander(places, degree), np.stack(slopes, 1)))
    (of_x, by_x), (of_y, by_y) = along
    a, b = zip(*[(a, b) for a in range(degree + 1) for b in range(degree + 1 - a)], strict=True)
    values = of_x[:, a] * of_y[:, b]
    basis = np.linalg.inv(np.linalg.cholesky((values * weight[:, None]).T @ values)).T
    slopes = [(by_x[:, a] * of_y[:, b]) @ basis, (of_x[:, a] * by_y[:, b]) @ basis]
    forms = [[(one * weight[:, None]).T @ other for other in slopes] for one in slopes]
    return basis, forms


def plane(axes: np.ndarray, diffusion: np.ndarray, count: int = 11) -> np.ndarray:
    """Of -div D grad on an ellipse, axes times the unit disc."""
    inverse = np.linalg.inv(axes)
    rates = inverse @ diffusion @ inverse.T
    _, forms = _polynomials(16)
    form = sum(rates[i, j] * forms[i][j] for i in (0, 1) for j in (0, 1))
    return scipy.linalg.eigvalsh(form, subset_by_index=[0, count - 1])


def oriented(radius: float, eps_squared: float, xi: float, count: int = 11) -> np.ndarray:
    """Of -(A_1^2 + eps^2 A_2^2 + A_3^2 / xi^2) over a disc, orientations modulo pi."""
    _, forms = _polynomials(12)
    (xx, xy), (yx, yy) = [[part / radius**2 for part in row] for row in forms]
    waves = np.arange(-8, 9)
    cosine = (np.eye(17, k=1) + np.eye(17, k=-1)) / 2
    sine = (np.eye(17, k=-1) - np.eye(17, k=1)) / 2j
    form = np.kron(np.eye(17), (1 + eps_squared) / 2 * (xx + yy))
    form = form + (1 - eps_squared) / 2 * (np.kron(cosine, xx - yy) + np.kron(sine, xy + yx))
    form = form + np.kron(np.diag(4 * waves**2 / xi**2), np.eye(len(xx)))
    return scipy.linalg.eigvalsh(form, subset_by_index=[0, count - 1])


def _roots(function, stop: float) -> list[float]:
    places = np.linspace(1e-3, stop, 4000)
    values = function(places)
    changes = np.flatnonzero(np.diff(np.sign(values)))
    return [brentq(function, places[n], places[n + 1]) for n in changes]


def ball(radius: float, count: int = 11) -> np.ndarray:
    found = [0.0]
    for m in range(8):
        roots = _roots(lambda k, m=m: spherical_jn(m, k, derivative=True), 12)
        found += [(k / radius) ** 2 for k in roots for _ in range(2 * m + 1)]
    return np.sort(found)[:count]


def eigenvalues(arrays: LevelFolder, count: int = 11) -> np.ndarray:
    """The smallest of a level, in units of the operator."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import eigsh

    facts = arrays.of_level
    rescaled = arrays.laplacian.astype(np.float64) + eye_array(facts.vertices)
    matrix = rescaled * (facts.lambda_max / 2 * facts.eigenvalue_scale)
    return np.sort(eigsh(matrix.tocsc(), k=count, sigma=-1.0, v0=np.ones(facts.vertices))[0])


def worst(values: np.ndarray, truth: np.ndarray) -> float:
    """The largest relative error of all but the first."""
    return float(abs(values[1:] / truth[1:] - 1).max())


def order(errors: list[float], sizes: list[int]) -> float:
    """The exponent of the error, between the first and the last size."""
    return float(np.log(errors[0] / errors[-1]) / np.log(sizes[-1] / sizes[0]))
