"""Weights of differences to neighbors that make a gradient, the least ones.

With c_j the components of neighbor j in an orthonormal frame, sum_j w_j (f_j - f) is the derivative
along direction a for all quadratic functions where sum_j w_j c_j = e_a and sum_j w_j c_j c_j^T = 0.
Of all such weights those of least norm sum_j w_j^2 amplify noise least.
"""

import numpy as np

from cheblienet_graphs.typing import Floats

SINGULAR = 1e-2
"""Combinations of moments whose singular values are smaller, in units of the largest, are left
alone: on points of a conic, as on a circle around a pole, weights would grow without bound."""
COLLINEAR = 1e-3
"""Directions whose singular values are smaller, in units of the largest, are not there."""


def least_norm(components: Floats) -> Floats:
    """Weights of least norm with exact first and vanishing second moments.

    Where there are none, or only much larger ones, first moments are exact in all directions that
    neighbors lie in, and second moments as small as these allow.

    Args:
        components: (N, K, d) of the neighbors of N points; 0 of those that are not there.

    Returns:
        (d, N, K) weights.
    """
    squared = (components**2).sum(axis=2)
    scale = np.sqrt(squared.sum(axis=1) / np.maximum((squared > 0).sum(axis=1), 1))
    scale[scale == 0] = 1
    first = np.ascontiguousarray(np.moveaxis(components / scale[:, None, None], 2, 1))
    d = first.shape[1]
    pairs = np.triu_indices(d)
    second = first[:, pairs[0]] * first[:, pairs[1]]
    moments = np.concatenate([first, second], axis=1)
    values, vectors = np.linalg.eigh(moments @ np.moveaxis(moments, 2, 1))
    posed = values[:, 0] > SINGULAR**2 * values[:, -1]
    weights: Floats = np.empty((len(moments), moments.shape[2], d))
    weights[posed] = _exact(
        moments[posed], values[posed], vectors[posed], np.eye(moments.shape[1], d)
    )
    weights[~posed] = _linear(first[~posed], second[~posed])
    return np.moveaxis(weights / scale[:, None, None], 2, 0)


def _exact(moments: Floats, values: Floats, vectors: Floats, targets: Floats) -> Floats:
    """(N, K, d) weights M^T (M M^T)^-1 T; refined once.

    Args:
        moments: (N, m, K) M.
        values: (N, m) eigenvalues of M M^T.
        vectors: (N, m, m) its eigenvectors.
        targets: (m, d) T, the moments asked for.
    """
    inverse: Floats = np.moveaxis(moments, 2, 1) @ (
        vectors / values[:, None] @ np.moveaxis(vectors, 2, 1)
    )
    weights: Floats = inverse @ targets
    weights += inverse @ (targets - moments @ weights)
    return weights


def _linear(first: Floats, second: Floats) -> Floats:
    """(N, K, d) weights exact for linear functions, second moments by least squares."""
    inverse = _pseudoinverse(first, COLLINEAR)
    free = np.eye(first.shape[2]) - inverse @ first
    constrained = _pseudoinverse(second @ free, SINGULAR)
    weights: Floats = inverse - free @ constrained @ second @ inverse
    return weights


def _pseudoinverse(matrices: Floats, cutoff: float) -> Floats:
    return np.asarray(np.linalg.pinv(matrices, rcond=cutoff), np.float64)
