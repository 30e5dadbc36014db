"""Values between points: moving least squares with cubic polynomials."""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from cheblienet_graphs.typing import Floats, Indices

DEGREE = 3
NEIGHBOURS = {1: 8, 2: 24, 3: 56}
"""Points whose values are taken, by dimension: about twice as many as the polynomial has terms."""
NEAR = 0.2
"""Distance, in that of the farthest point taken, below which weights no longer grow."""
SINGULAR = 1e-3
"""Relative size of directions in which points don't determine a polynomial, as on a few lines."""
AT_ONCE = 2**12


@dataclass(frozen=True, eq=False)
class Interpolation:
    """Values at places as weighted sums of those at points.

    Args:
        points: (N, k) indices.
        weights: (N, k), summing to 1 in each row.
    """

    points: Indices
    weights: Floats

    def of(self, values: Floats) -> Floats:
        """(N, ...) values at the places, of (points, ...) at the points."""
        found: Floats = np.einsum("nk,nk...->n...", self.weights, values[self.points])
        return found


def interpolation(points: Floats, places: Floats) -> Interpolation:
    """The cubic polynomial that fits the values around each place best, evaluated there.

    Weights of the fit fall off as the fourth power of distance, so near a point the value is
    nearly that of the point. Where points are too few or on a line for a cubic, it is the smallest
    of all that fit best.

    Args:
        points: (P, d) positions.
        places: (N, d).
    """
    count = min(NEIGHBOURS[points.shape[1]], len(points))
    _, near = KDTree(points).query(places, k=[*range(1, count + 1)])
    found: Indices = near.astype(np.int64)
    weights = np.empty(found.shape)
    for start in range(0, len(places), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        weights[part] = _weights(points[found[part]] - places[part, None])
    return Interpolation(found, weights)


def _weights(offsets: Floats) -> Floats:
    """(N, k) weights of values at (N, k, d) offsets from where they are wanted."""
    squared = (offsets**2).sum(axis=2)
    farthest = np.maximum(squared.max(axis=1, keepdims=True), np.finfo(float).tiny)
    root = 1 / (squared / farthest + NEAR**2)
    unit = offsets / np.sqrt(farthest)[:, :, None]
    terms = [
        np.prod(unit[:, :, list(chosen)], axis=2)
        for degree in range(DEGREE + 1)
        for chosen in itertools.combinations_with_replacement(range(offsets.shape[2]), degree)
    ]
    scaled = np.stack(terms, axis=2) * root[:, :, None]
    # The fit's coefficients are pinv(scaled) (root values), of which the first is its value at 0.
    weights: Floats = np.linalg.pinv(scaled, rcond=SINGULAR)[:, 0] * root
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
