"""Polynomials of a stored Laplacian applied to signals: heat, and the layers of networks."""

import numpy as np
from scipy.special import ive

from cheblienet_graphs.sparse.products import Product
from cheblienet_graphs.typing import Floats

TOLERANCE = 1e-10
"""Of heat: the sum of the coefficients left out, which bounds the error in the Euclidean norm."""
MOST_TERMS = 20_000
"""More terms of a series than a figure needs."""


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
    if len(weights) == 1:
        return total
    previous, current = x, product(x)
    total += current[:, :, None] * weights[1]
    for row in weights[2:]:
        following = product(current)
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


def diffused(product: Product, lambda_max: float, time: float, x: Floats) -> Floats:
    """(V,) exp(-t Delta) x.

    Args:
        product: x -> (2 Delta / lambda_max - I) x.
        lambda_max: of the graph.
        time: t, in units of 1 / Delta, from 0.
        x: (V,).
    """
    series = heat_series(time * lambda_max / 2)
    return chebyshev_sums(product, x[:, None], series[:, None])[:, 0, 0]
