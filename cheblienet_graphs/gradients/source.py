"""What rows of gradients come from: neighbors of some vertices with weights for each direction."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.samplings.sampling import Sampling
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


def spacing_of(sampling: Sampling, manifold: Manifold) -> float:
    """The side of a square, or a cube, with a point's mean area of a whole sampling."""
    extent = sampling.extent
    area = manifold.base.measure if extent is None else math.prod(extent)
    return float((area / sampling.num_points) ** (1 / manifold.base.dimension))
