"""Lanczos recursions that keep three vectors, whatever the number of steps; bounds from them.

Without reorthogonalisation rounding makes copies of eigenvalues that have converged. Copies are
identified by the rules of Cullum and Willoughby ("Lanczos Algorithms for Large Symmetric Eigenvalue
Computations", 1985): eigenvalues of the tridiagonal matrix T that agree with one another are one
eigenvalue that has converged; a single one that is also an eigenvalue of T without its first row
and column is a copy that has not converged yet: its eigenvector of T has no first component.

A single vector sees each distinct eigenvalue once, however multiple it is.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.linalg import eigh_tridiagonal

from cheblienet_graphs.sparse import Product
from cheblienet_graphs.typing import Floats

Progress = Callable[[int, int], None]
"""Called with the numbers of products done and of the most there may be."""

EXHAUSTED = 1e-12
"""Coupling below which the vectors span an invariant subspace, and the recursion ends."""
SEPARATE = 1e-9
"""Eigenvalues of T closer than this are one, in units of the spectrum's radius."""
FIRST_COMPONENT = 1e-10
"""Size below which first components count as 0; true eigenvectors have about V^-1/2."""
SUMMED_TOGETHER = 2**16
"""Products that are summed in floating point before they are added to the exact sum."""
CONVERGED = 1e-7
"""Residual of an eigenvalue that counts as converged, if at two checks in a row."""
RESIDUAL = 1e-6
"""Residual at which the search for an extreme eigenvalue stops, in units of limit / 2."""
MAX_STEPS = 600
"""Products after which that search stops, at most."""
MAX_PRODUCTS = 20_000
"""Products after which a search for many eigenvalues ends without convergence."""
NORMALIZED = 2.0
"""The spectrum of every normalized Laplacian lies in [0, 2]."""
ROUNDING = 3e-7
"""Upper bound of the change of a rescaled Laplacian's spectrum by storing it in float32."""


def dot(x: Floats, y: Floats) -> float:
    """Inner product with bits that do not depend on the linear algebra library's threads."""
    return math.fsum(float(np.einsum("i,i", x[piece], y[piece])) for piece in _pieces(len(x)))


def _pieces(size: int) -> Iterator[slice]:
    """Parts of vectors that are summed together, and that stay in a core's cache."""
    starts = range(0, size, SUMMED_TOGETHER)
    return (slice(start, start + SUMMED_TOGETHER) for start in starts)


def _subtract(x: Floats, scale: float, y: Floats, product: Floats, other: Floats) -> float:
    """Take scale y, which `product` then holds, off x, piece by piece; gives x . other."""
    sums = []
    for piece in _pieces(len(x)):
        np.multiply(y[piece], scale, out=product[piece])
        x[piece] -= product[piece]
        sums.append(float(np.einsum("i,i", x[piece], other[piece])))
    return math.fsum(sums)


def start_vector(size: int) -> Floats:
    """(V,) the fixed random vector with which recursions start."""
    return np.random.default_rng(0).standard_normal(size)


def recursion(
    product: Product, start: Floats, project: Callable[[Floats], None] | None = None
) -> Iterator[tuple[float, float]]:
    """The diagonal entry of T and the coupling to the next one, step after step, without end.

    The caller stops where the coupling vanishes. In memory are three vectors of size V.

    Args:
        product: x -> A x, symmetric.
        start: (V,), not 0; overwritten.
        project: applied in place to each new vector, to keep it in a subspace.
    """
    start /= math.sqrt(dot(start, start))
    previous, current, coupling = np.zeros_like(start), start, 0.0
    del start
    while True:
        following = product(current)
        diagonal = _subtract(following, coupling, previous, previous, current)
        squared = _subtract(following, diagonal, current, previous, following)
        if project:
            project(following)
            squared = dot(following, following)
        coupling = math.sqrt(squared)
        yield diagonal, coupling
        following /= coupling
        previous, current = current, following
        del following


@dataclass(frozen=True)
class Eigenvalues:
    """Eigenvalues of a matrix.

    Args:
        values: (M,) ascending; descending where the largest were asked for. Repeated by
            multiplicity; with "lanczos" some copies may be missed.
        converged: whether all residuals are small.
        method: "bloch", "dense", "chebyshev", "shift-invert" or "lanczos".
    """

    values: Floats
    converged: bool
    method: str

    def first(self, count: int) -> Self:
        """The first of them, with their vectors if there are any."""
        return replace(self, values=self.values[:count])


def lanczos_eigenvalues(
    product: Product,
    size: int,
    count: int,
    *,
    cutoff: float | None = None,
    project: Callable[[Floats], None] | None = None,
    max_products: int = MAX_PRODUCTS,
    progress: Progress | None = None,
) -> Eigenvalues:
    """The smallest distinct eigenvalues of a symmetric matrix, with three vectors.

    Where they converged, by the residuals, none before the last is missing.

    Args:
        product: x -> A x, (V,) float64; its spectrum lies in [-1, 1].
        size: V.
        count: M, number of eigenvalues; fewer are returned where fewer exist.
        cutoff: value beyond which no eigenvalues are wanted, if there is one.
        project: in place, onto an invariant subspace to which the search is confined.
        max_products: after which the search ends without convergence.
        progress: of the products.
    """
    start = start_vector(size)
    if project:
        project(start)
        if dot(start, start) < EXHAUSTED * size:
            return Eigenvalues(np.empty(0), converged=True, method="lanczos")
    steps = recursion(product, start, project)
    del start  # else it would be kept as a fourth vector
    limit = math.inf if cutoff is None else cutoff
    diagonal: list[float] = []
    coupling: list[float] = []
    values, known, check = np.empty(0), np.empty(0), 10
    for step, (own, beta) in enumerate(steps, 1):
        diagonal.append(own)
        exhausted = beta < EXHAUSTED
        if exhausted or step in {check, max_products}:
            values, residuals = _ritz_values(diagonal, coupling, beta, count)
            needed = 1 + int(np.searchsorted(values, limit, side="right"))
            settled = exhausted or bool((residuals[:needed] < CONVERGED).all())
            values = values[:needed]
            same = len(known) == len(values) and bool((abs(known - values) < CONVERGED).all())
            if exhausted or (settled and same) or step == max_products:
                converged = settled and (exhausted or same)
                return Eigenvalues(values[values <= limit], converged, "lanczos")
            known = values if settled else np.empty(0)
            check = step + max(10, step // 8)
            if progress:
                progress(step, max_products)
        coupling.append(beta)
    raise AssertionError


def _ritz_values(
    diagonal: list[float], coupling: list[float], beta: float, count: int
) -> tuple[Floats, Floats]:
    """The smallest distinct eigenvalues of T that are no copies, and the norms of their residuals.

    At most `count`. Eigenvalues of T that agree with one another have converged: residual 0.
    """
    steps = len(diagonal)
    asked = 0
    while True:
        asked = min(2 * asked + count + 8, steps)
        values, vectors = eigh_tridiagonal(
            diagonal, coupling, select="i", select_range=(0, asked - 1)
        )
        groups = np.split(np.arange(asked), 1 + np.flatnonzero(np.diff(values) > SEPARATE))
        whole = groups if asked == steps else groups[:-1]
        good = [g for g in whole if len(g) > 1 or abs(vectors[0, g[0]]) > FIRST_COMPONENT]
        if len(good) >= count or asked == steps:
            first = np.array([g[0] for g in good[:count]], dtype=np.int64)
            single = np.array([len(g) == 1 for g in good[:count]], dtype=bool)
            return values[first], np.where(single, beta * abs(vectors[-1, first]), 0.0)


@dataclass(frozen=True)
class SpectralBound:
    """An upper bound of the spectrum, and its method: "bound" for a proven one, else "lanczos"."""

    value: float
    method: str


def largest_eigenvalue_bound(
    product: Product, size: int, *, limit: float = NORMALIZED
) -> SpectralBound:
    """Bound the largest eigenvalue of a symmetric positive semidefinite matrix from above.

    A Ritz value theta is a lower bound, but an eigenvalue lies within the norm of its residual, so
    theta + |residual| bounds the eigenvalue that the recursion converges to; from a random start
    that is the largest one. Rounded up to 1e-6 of limit / 2. The start vector is fixed, and so is
    the result. After MAX_STEPS products the last residual, however large, is added.

    Args:
        product: x -> Delta x, (V,) float64, in a new array.
        size: V.
        limit: known upper bound of the spectrum; sets the scale.

    Returns:
        The bound, never above the limit.
    """
    unit = limit / NORMALIZED

    def scaled(x: Floats) -> Floats:
        image = product(x)
        image /= unit
        return image

    ((theta, residual),) = ritz_pairs(scaled, size, [-1], RESIDUAL)
    return stored_bound(theta + residual, limit)


def stored_bound(scaled: float, limit: float, *, proven: bool = False) -> SpectralBound:
    """A bound of a spectrum, with what storing in float32 may add, never above a known one.

    Args:
        scaled: the bound in units of limit / 2, in which it is rounded up to 1e-6.
        limit: known upper bound.
        proven: whether the bound is.
    """
    value = min(math.ceil((scaled + ROUNDING) * 1e6) / 1e6 * (limit / NORMALIZED), limit)
    return SpectralBound(value, "bound" if proven or value == limit else "lanczos")


def largest_possible(degree: Floats, mass: Floats) -> float:
    """A bound of the spectrum of N^-1/2 (D - W) N^-1/2, N = mass: twice the largest d_i / n_i.

    For x^T (D - W) x = sum over edges of w (x_i - x_j)^2 <= 2 sum_i d_i x_i^2.
    """
    return float(2 * (degree / mass).max())


def ritz_pairs(
    product: Product, size: int, ends: list[int], tolerance: float
) -> list[tuple[float, float]]:
    """Extreme Ritz values, which lie within the spectrum, and the norms of their residuals.

    Args:
        product: x -> A x, (V,) float64, in a new array.
        size: V.
        ends: which values: 0 for the smallest one, -1 for the largest.
        tolerance: residual at which to stop, or after MAX_STEPS products.
    """
    diagonal: list[float] = []
    coupling: list[float] = []
    pairs: list[tuple[float, float]] = []
    for step, (own, beta) in enumerate(recursion(product, start_vector(size)), 1):
        diagonal.append(own)
        exhausted = beta < EXHAUSTED or step == MAX_STEPS
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
