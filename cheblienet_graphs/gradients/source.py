"""What rows of gradients come from: neighbors of some vertices with weights for each direction."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.manifolds.moments import logarithms
from cheblienet_graphs.samplings.sampling import Sampling, periods
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.typing import Floats, Indices


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


class Source(ABC):
    """Rows of gradients, of points or of vertices over them."""

    @abstractmethod
    def rows(self, start: int, stop: int) -> Iterator[Rows]:
        """The rows over points start..stop, those of some consecutive points after others.

        The vertices of each part are orientation-major.
        """


def units(spec: GraphSpec, level: int) -> Floats:
    """(fields,) the spacing of the points of a whole level; of a rotation, the step."""
    spacings = np.full(len(spec.geometry.frame), math.sqrt(spec.squared_spacing(level)))
    if spec.geometry.fiber.cyclic:
        spacings[-1] = spec.geometry.fiber.step(spec.orientations)
    return spacings


def components(
    manifold: Manifold, sampling: Sampling, spacings: Floats, starts: Floats, ends: Floats
) -> Floats:
    """(N, d) components of the shortest logarithms, in units of these spacings.

    Args:
        manifold: its frame.
        sampling: whose periods count.
        spacings: (d,) the unit along each direction.
        starts: (N, c) coordinates.
        ends: (N, c) those of neighbors; changed where they have nearer images.
    """
    base = manifold.base.dimension
    ends[:, :base] -= periods(sampling, ends[:, :base] - starts[:, :base])
    scaled = logarithms(manifold, starts, ends) / spacings[:, None]
    least = (scaled**2).sum(axis=1).argmin(axis=0)
    chosen: Floats = np.take_along_axis(scaled, least[None, None], axis=0)[0].T
    return chosen
