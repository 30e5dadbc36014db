"""Sources of the rows of gradients: neighbors of vertices, with weights for each direction.

With c_j the components of neighbor j in an orthonormal frame, sum_j w_j (f_j - f) is the derivative
along direction a for all quadratic functions where sum_j w_j c_j = e_a and sum_j w_j c_j c_j^T = 0.
Among all such weights, the ones of least norm sum_j w_j^2 amplify noise least.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.manifolds.moments import logarithms
from cheblienet_graphs.samplings.sampling import Sampling, periods
from cheblienet_graphs.typing import Floats, Indices

SINGULAR = 1e-2
"""Combinations of moments with smaller singular values, in units of the largest, are left
alone: on points of a conic, as on a circle around a pole, weights would grow without bound."""
EQUAL = 1e-6
"""Relative difference of lengths that are equal."""
NEARBY = 1e-9
"""Angles, radians, that are this at least where the other way around is measured."""
COLLINEAR = 1e-3
"""Singular value, in units of the largest, below which a direction is missing."""


class Rows(NamedTuple):
    """Rows of the derivatives along all directions.

    Args:
        own: (N,) vertices or points.
        columns: (N, w) ascending, then -1 for none.
        weights: (d, N, w) along each direction; 0 where a column is none.
    """

    own: Indices
    columns: Indices
    weights: Floats

    def ascending(self) -> "Rows":
        """The same, columns that are in any order brought into theirs."""
        last = np.iinfo(self.columns.dtype).max
        order = np.argsort(np.where(self.columns < 0, last, self.columns), axis=1, kind="stable")
        columns = np.take_along_axis(self.columns, order, axis=1)
        return Rows(self.own, columns, np.take_along_axis(self.weights, order[None], axis=2))


Source = Callable[[int, int], Iterator[Rows]]
"""Gives the rows over points start..stop, of points or of vertices, in pieces of consecutive
points. The vertices of each part are orientation-major."""


def components(
    manifold: Manifold, sampling: Sampling, spacings: Floats, starts: Floats, ends: Floats
) -> Floats:
    """(N, d) components of the shortest logarithms, in units of these spacings.

    Args:
        manifold: its frame.
        sampling: of the vertices; its periods count.
        spacings: (d,) the unit along each direction.
        starts: (N, c) coordinates.
        ends: (N, c) coordinates of neighbors; changed where they have nearer images.
    """
    base = manifold.base.dimension
    ends[:, :base] -= periods(sampling, ends[:, :base] - starts[:, :base])
    scaled = logarithms(manifold, starts, ends) / spacings[:, None]
    least = (scaled**2).sum(axis=1).argmin(axis=0)
    chosen: Floats = np.take_along_axis(scaled, least[None, None], axis=0)[0].T
    return chosen


def equally_far(
    manifold: Manifold, spacings: Floats, starts: Floats, ends: Floats
) -> npt.NDArray[np.bool_]:
    """(N,) whether neighbors on the sphere have two shortest logarithms, as at half a period.

    A function there has two Taylor series, and rounding would choose between them.

    Args:
        manifold: of which these are points.
        spacings: (d,) the unit along each direction.
        starts: (N, c) coordinates.
        ends: (N, c) coordinates of neighbors.
    """
    if manifold.base.flat:
        return np.zeros(len(starts), bool)
    logs = logarithms(manifold, starts, ends)
    angles = np.sqrt((logs**2).sum(axis=1))  # of rotations, or arcs: 2 pi leads back
    lengths = np.sqrt(((logs / spacings[:, None]) ** 2).sum(axis=1))
    back = lengths * (2 * np.pi / np.maximum(angles, NEARBY) - 1)
    least, second = np.sort(np.concatenate([lengths, back]), axis=0)[:2]
    equal: npt.NDArray[np.bool_] = second <= least * (1 + EQUAL)
    return equal


def least_norm(components: Floats) -> Floats:
    """Weights of least norm with exact first and vanishing second moments.

    Where there are none, or only much larger ones, first moments are exact in all directions that
    neighbors lie in, and second moments as small as these allow.

    Args:
        components: (N, K, d) of the neighbors of N points; 0 where there are fewer.

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
    return inverse - free @ constrained @ second @ inverse


def _pseudoinverse(matrices: Floats, cutoff: float) -> Floats:
    return np.asarray(np.linalg.pinv(matrices, rcond=cutoff), np.float64)
