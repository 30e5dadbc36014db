"""The offsets of a plane lattice within a distance, listed without looking at others.

A logarithm on the plane is linear in the displacement, so vertices of one orientation that are
within a distance fill an ellipse for each candidate of the logarithm. Its rows are intervals: the
work is that of the rows and of what lies in them, however elongated the ellipse is.
"""

from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.typing import Floats, Indices

SLACK = 1e-6
"""By how much ellipses are larger than they need be, relatively; far beyond rounding."""


@dataclass(frozen=True)
class Ellipses:
    """d^2 = a x^2 + 2 b x y + c y^2 + least, lengths in pixels; one for each candidate.

    Args:
        orientation: (N,) of the vertices at the other end.
        a, b, c, determinant, least: (N,) the coefficients, and a c - b^2.
    """

    orientation: Indices
    a: Floats
    b: Floats
    c: Floats
    determinant: Floats
    least: Floats

    @classmethod
    def around(cls, manifold: Manifold, metric: Metric, theta: Floats, k: int) -> "Ellipses":
        """Those of a vertex of orientation k, to all orientations.

        Args:
            manifold: with a plane as its base.
            metric: lengths in pixels.
            theta: (n_o,) angles of the orientations.
            k: of the vertex.
        """
        zero, one = array(np.zeros(len(theta))), array(np.ones(len(theta)))
        start = (zero, zero, array(np.full(len(theta), theta[k])))
        still, right, down = (
            tuple(manifold.logarithms(start, (x, y, array(theta))))
            for x, y in ((zero, zero), (one, zero), (zero, one))
        )
        orientation, parts = np.arange(len(theta)), []
        scale = np.sqrt(metric.diagonal)
        for turn, x, y in zip(still, right, down, strict=True):
            (x0, x1), (y0, y1) = (
                (np.asarray(c[0]) * scale[0], np.asarray(c[1]) * scale[1]) for c in (x, y)
            )
            angle = np.asarray(turn[2]) * scale[2] if len(turn) > 2 else np.zeros(len(theta))
            cross = x0 * y1 - x1 * y0
            parts.append((x0**2 + x1**2, x0 * y0 + x1 * y1, y0**2 + y1**2, cross**2, angle**2))
        coefficients = (np.concatenate(c) for c in zip(*parts, strict=True))
        return cls(np.tile(orientation, len(parts)), *coefficients)

    def offsets(self, squared_radius: float) -> tuple[Indices, Indices, Indices]:
        """Orientation, dy and dx of all offsets within a radius, ascending; few beyond it."""
        left = squared_radius * (1 + SLACK) - self.least
        kept = np.flatnonzero(left >= 0)
        left, a, b = left[kept], self.a[kept], self.b[kept]
        slope = self.determinant[kept] / a
        reach = np.floor(np.sqrt(left / slope) * (1 + SLACK)).astype(np.int64)
        which, y = _intervals(-reach, reach)
        centre = -b[which] * y / a[which]
        half = np.sqrt(np.maximum(left[which] - slope[which] * y**2, 0) / a[which])
        slack = SLACK * (1 + abs(centre) + half)
        low, high = np.ceil(centre - half - slack), np.floor(centre + half + slack)
        row, x = _intervals(low.astype(np.int64), high.astype(np.int64))
        orientation, y = self.orientation[kept][which[row]], y[row]
        # Both candidates may reach a vertex: number the offsets to list it once.
        most_y, most_x = (int(abs(side).max(initial=0)) for side in (y, x))
        rows = orientation * (2 * most_y + 1) + y + most_y
        found = np.unique(rows * (2 * most_x + 1) + x + most_x)
        rows, x = np.divmod(found, 2 * most_x + 1)
        orientation, y = np.divmod(rows, 2 * most_y + 1)
        return orientation, y - most_y, x - most_x


def _intervals(low: Indices, high: Indices) -> tuple[Indices, Indices]:
    """The integers of closed intervals one after the other: which interval, and the integer."""
    counts = np.maximum(high - low + 1, 0)
    which = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    return which, np.arange(len(which)) - (ends - counts)[which] + low[which]
