"""Polynomials of a stored Laplacian applied to signals: heat, and a random layer."""

import math

import numpy as np
import scipy.sparse
from scipy.special import ive

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.sparse import Product, inverse_root, mapped_product
from cheblienet_graphs.store.reader import LevelArrays
from cheblienet_graphs.typing import Floats, Indices

TOLERANCE = 1e-10
"""Of heat: the sum of the coefficients left out, which bounds the error in the Euclidean norm."""
MOST_TERMS = 20_000
"""More terms of a series than a figure needs."""
TERMS = 5
"""Chebyshev polynomials of the layer, of degrees 0 .. 4."""
CHANNELS = 4


def chebyshev_sums(product: Product, x: Floats, weights: Floats) -> Floats:
    """sum_k T_k(L) x w_kc, by the recursion T_k+1 = 2 L T_k - T_k-1.

    Args:
        product: x -> L x, the spectrum of L in [-1, 1].
        x: (V, m).
        weights: (K, C) w, K at least 1.

    Returns:
        (V, m, C).
    """
    total: Floats = x[:, :, None] * weights[0]
    previous, current = x, x
    for number, row in enumerate(weights[1:]):
        following = product(current)
        if number:
            following *= 2
            following -= previous
        total += following[:, :, None] * row
        previous, current = current, following
    return total


def heat_series(z: float, tolerance: float = TOLERANCE) -> Floats:
    """(K,) coefficients c_k with exp(-z (1 + mu)) = sum_k c_k T_k(mu) on [-1, 1].

    c_k = (2 - [k = 0]) (-1)^k exp(-z) I_k(z). They are divided by the value of the cut series at
    mu = -1, which then is 1, so that constants stay as they are.

    Args:
        z: from 0: t lambda_max / 2.
        tolerance: of what is left out.

    Raises:
        ValueError: that takes more than MOST_TERMS.
    """
    count = int(min(MOST_TERMS, 40 + z + 10 * np.sqrt(z)))
    sizes = ive(np.arange(count + 1), z)
    sizes[1:] *= 2
    left_out = np.cumsum(sizes[::-1])[::-1]
    kept = int((left_out > tolerance).sum())
    if kept > count:
        raise ValueError(f"heat after z = {z:g} takes more than {MOST_TERMS:,} terms")
    series: Floats = sizes[:kept] * (-1.0) ** np.arange(kept)
    series /= sizes[:kept].sum()
    return series


def heat_on(arrays: LevelArrays, vertex: int, time: float) -> Floats:
    """(V,) N^-1/2 exp(-t Delta) N^1/2 of an impulse, as heat per vertex of mean mass.

    The sum over vertices of this times N / mean(N), N the masses, is 1 at all times.

    Args:
        arrays: of the level.
        vertex: that of the impulse.
        time: t, in units of 1 / Delta.

    Raises:
        NotDrawnError: the vertex has no mass, as it has no neighbors.
    """
    mass = arrays.mass.astype(np.float64)
    if mass[vertex] <= 0:
        raise NotDrawnError(f"vertex {vertex} has no neighbors, so no heat leaves it.")
    start = np.zeros(len(mass))
    start[vertex] = mass.mean() / math.sqrt(mass[vertex])
    series = heat_series(time * arrays.of_level.lambda_max / 2)
    product = mapped_product(arrays.laplacian)
    density: Floats = chebyshev_sums(product, start[:, None], series[:, None])[:, 0, 0]
    density *= inverse_root(mass)
    return density


def random_weights(seed: int) -> Floats:
    """(TERMS, CHANNELS) normal weights of variance 1 / TERMS, from one channel to several."""
    weights = np.random.default_rng(seed).standard_normal((TERMS, CHANNELS))
    weights /= np.sqrt(TERMS)
    return weights


def part_around(
    laplacian: scipy.sparse.csr_array, vertices: Indices, degree: int
) -> tuple[Indices, scipy.sparse.csr_array]:
    """The part of a graph that outputs at some vertices depend on.

    Args:
        laplacian: (V, V) the rescaled one, possibly over mapped files.
        vertices: where outputs are wanted.
        degree: of the layer.

    Returns:
        (N,) ascending: these vertices and all within as many steps as the degree; (N, N) the
        entries between them.
    """
    inside = np.unique(vertices)
    newest = inside
    for _ in range(degree):
        reached = np.unique(laplacian[newest].indices.astype(np.int64))
        newest = np.setdiff1d(reached, inside, assume_unique=True)
        inside = np.union1d(inside, newest)
    return inside, scipy.sparse.csr_array(laplacian[inside][:, inside])
