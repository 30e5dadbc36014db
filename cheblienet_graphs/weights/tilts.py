"""Edges between axes over the same point of space.

With s the part of another axis m across n, weights w on edges from n to m approximate the Laplacian
on the projective plane where sum w s s^T = 2 a I and sum w (n . m) s = 0, a the area of n's cell:
then functions n^T S n, S any matrix, have exactly the eigenvalue 6 where the trace of S is 0. As s
is as long as the sine of the angle, and not as the angle, wide edges count for what they do.
"""

import functools
from bisect import bisect_left
from typing import TypeAlias

import numpy as np

from cheblienet_graphs.samplings.axes import Axes
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.weights.matching import (
    Matching,
    SparseSystem,
    nearest,
    realizing,
    sums_by_vertex,
)

SAME_ANGLE = 1e-6
"""Angles this close, radians, are the same, so that symmetric pairs of axes are told together."""


FiberEdges: TypeAlias = list[tuple[int, float]]
"""Orientations that edges lead to, and their weights."""


TILT_TARGETS = (2.0, 2.0, 0.0, 0.0, 0.0)
"""Of the sums of `tilt_moments` over the edges of an axis, over its area."""


def tilt_moments(axes: Floats, others: Floats) -> tuple[Floats, Floats]:
    """Moments of edges of unit weight from axes to others, radians.

    Args:
        axes: (N, 3) unit vectors n.
        others: (N, 3) unit vectors m; -m is the same.

    Returns:
        (N, 3) s_1^2, s_2^2 and s_1 s_2, and (N, 2) (n . m) s, along two directions across n.
    """
    least = np.eye(3)[abs(axes).argmin(axis=1)]
    across = np.cross(axes, least)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    first = (across * others).sum(axis=1)
    second = (np.cross(axes, across) * others).sum(axis=1)
    along = (axes * others).sum(axis=1)
    squares = np.stack([first * first, second * second, first * second], axis=1)
    return squares, np.stack([along * first, along * second], axis=1)


def tilt_edges(axes: Axes, xi: float) -> list[FiberEdges]:
    """For each axis those that edges lead to, and the weights of these.

    They are the pairs of axes within the smallest angle at which there are weights that are not
    negative; of these the least in norm, which are unique and so have the symmetries of the set.

    Args:
        axes: a set of them.
        xi: length of one radian.
    """
    weights = _least(axes) / xi**2
    return [[(int(j), float(row[j])) for j in np.flatnonzero(row)] for row in weights]


@functools.cache
def _least(axes: Axes) -> Floats:
    """(n_o, n_o) weights per radian^2, symmetric, 0 where there is no edge."""
    pairs = _Pairs(axes)
    limits = np.sort(pairs.angles[pairs.angles > 0])
    limits = limits[np.diff(limits, append=np.inf) > SAME_ANGLE] + SAME_ANGLE / 2
    # A solution remains one with more pairs, so the smallest angle is found by halving.
    widest = range(len(limits) - 1)
    enough = bisect_left(widest, 1, key=lambda n: pairs.least(float(limits[n]))[0].converged)
    solution, weights = pairs.least(float(limits[enough]))
    if not solution.converged:
        raise ValueError("no weights between these axes approximate a Laplacian")
    weights.setflags(write=False)
    return weights


class _Pairs:
    """Pairs of axes; those that rotations of the cube map to one another have equal weights.

    Args:
        axes: a set of them.
    """

    def __init__(self, axes: Axes) -> None:
        self._areas, points, count = axes.areas, axes.points, len(axes)
        moved = np.stack([image for _, image in axes.rotations])
        # One axis of each orbit stands for all others.
        first = np.unique(moved.min(axis=0))
        start, end = (part.ravel() for part in np.meshgrid(first, np.arange(count), indexing="ij"))
        self._start, self._end = start[start != end], end[start != end]
        number = np.arange(count**2).reshape(count, count)
        number = np.minimum(number, number.T)
        orbit = number[moved[:, :, None], moved[:, None]].min(axis=0)
        keys, unknown, times = np.unique(orbit, return_inverse=True, return_counts=True)
        self._unknown, self._times = unknown.reshape(orbit.shape), times
        self.angles: Floats = axes.angles.ravel()[keys]
        squares, drift = tilt_moments(points[self._start], points[self._end])
        self._moments = np.concatenate([squares, drift], axis=1)
        self._rows, self._first = np.searchsorted(first, self._start), first

    def least(self, limit: float) -> tuple[Matching, Floats]:
        """The least weights of pairs within an angle, and these as a matrix (n_o, n_o).

        With p the squared sine of a pair's angle, sum p w is the same for all solutions. So the
        solution nearest to c p, in the norm of w, is the least one, whatever c is.
        """
        near = (self.angles > 0) & (self.angles <= limit)
        kept = near[self._unknown[self._start, self._end]]
        pairs = self._start[kept], self._end[kept]
        columns = (np.cumsum(near) - 1)[self._unknown[pairs]]
        shape = len(self._first), int(near.sum())
        constraints = sums_by_vertex(self._moments[kept], self._rows[kept], columns, shape)
        targets = np.outer(self._areas[self._first], TILT_TARGETS).ravel()
        prior = realizing(np.sin(self.angles[near]) ** 2, constraints, targets)
        system = SparseSystem(constraints)
        nearby = nearest(system, targets, prior, prior * self._times[near])
        values = np.zeros(len(near))
        values[near] = np.where(nearby.kept, nearby.values, 0)
        return nearby, values[self._unknown]
