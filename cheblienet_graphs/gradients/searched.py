"""Gradients off lattices: weights of least norm on the nearest neighbors, whole shells of them.

These neighbors are not the Laplacian's. The metric that finds them is isotropic, with rotations by
the step between orientations as long as the spacing of points: on an elongated neighborhood weights
would be thousands of times as large. Shells are whole, as symmetries would break otherwise.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from cheblienet_graphs.errors import Remedy, SpecError, Words
from cheblienet_graphs.gradients.least_norm import least_norm
from cheblienet_graphs.gradients.source import Rows, Source
from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.manifolds.moments import logarithms
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling, periods
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.lists import NeighborLists
from cheblienet_graphs.typing import Floats, Indices

MORE = 24
"""Neighbors that are looked for beyond the fewest, so that their last shell is whole."""
SHELL = 1e-6
"""Relative width of a shell."""


class SearchedGradient(Source):
    """The derivatives along the frame at the vertices of a sampling off lattices.

    Args:
        sampling: its vertices: all, or those inside a mask.
        manifold: on which they lie; its frame.
        spacing: of the points of the whole sampling, the root of their mean area.
        fewest: neighbors that a vertex has at least, where there are so many.
        choice: the search, and its device.
    """

    def __init__(
        self, sampling: Sampling, manifold: Manifold, spacing: float, fewest: int, choice: Choice
    ) -> None:
        step = manifold.fiber.step(sampling.orientations)
        metric = Metric(1.0, spacing / step if step else 0.0)
        self._sampled, self._fewest = SampledManifold(sampling, manifold, metric), fewest
        most = min(fewest + MORE, max(1, sampling.num_vertices - 1))
        rings = int(sampling.periodic)
        self._lists = NeighborLists(self._sampled, most, choice, rings=rings)
        self._units = np.sqrt(manifold.weights(metric)) / spacing

    def rows(self, start: int, stop: int) -> Iterator[Rows]:
        """As `Source.rows`, of vertices; weights per unit of length or radian.

        Raises:
            SpecError: a periodic domain has too few points.
        """
        sampling = self._sampled.sampling
        for first, lists, reach in self._lists.of(start, stop):
            if self._lists.enough_rings(reach) > sampling.periodic:
                remedy = Words("Or use ", Remedy("boundary", "open"), ".")
                accepted = "more with gradients, whose neighbors reach around the domain here"
                raise SpecError("points", accepted, sampling.num_points, remedy)
            own = np.arange(sampling.orientations)[:, None] * sampling.num_points
            own = (own + np.arange(first, first + lists.shape[1])).ravel()
            yield self._of_vertices(own, lists.reshape(len(own), -1)).ascending()

    def _of_vertices(self, own: Indices, lists: Indices) -> Rows:
        columns = np.where(lists < self._sampled.sampling.num_vertices, lists, -1)
        components = self._components(own, columns)
        squared = np.where(columns < 0, np.inf, (components**2).sum(axis=2))
        order = np.argsort(squared, axis=1, kind="stable")
        columns, squared = (np.take_along_axis(part, order, axis=1) for part in (columns, squared))
        components = np.take_along_axis(components, order[:, :, None], axis=1)
        kept = np.arange(columns.shape[1]) < _whole_shells(squared, self._fewest)[:, None]
        kept &= columns >= 0
        weights = least_norm(np.where(kept[:, :, None], components, 0.0))
        weights *= np.where(kept, self._units[:, None, None], 0.0)
        columns = np.column_stack([own, np.where(kept, columns, -1)])
        weights = np.concatenate([-weights.sum(axis=2, keepdims=True), weights], axis=2)
        return Rows(own, columns, weights)

    @cached_property
    def _coordinates(self) -> Floats:
        return self._sampled.sampling.coordinates()

    def _components(self, own: Indices, columns: Indices) -> Floats:
        """(N, K, d) of the logarithms to neighbors, in units of the metric and the spacing."""
        sampled, base = self._sampled, self._sampled.manifold.base.dimension
        both = np.repeat(own, columns.shape[1]), columns.ravel()
        starts, ends = (self._coordinates[vertices] for vertices in both)
        ends[:, :base] -= periods(sampled.sampling, ends[:, :base] - starts[:, :base])
        scaled = logarithms(sampled.manifold, starts, ends) * self._units[:, None]
        least = (scaled**2).sum(axis=1).argmin(axis=0)
        chosen: Floats = np.take_along_axis(scaled, least[None, None], axis=0)[0].T
        return chosen.reshape(*columns.shape, -1)


def _whole_shells(squared: Floats, fewest: int) -> Indices:
    """(N,) lengths of the shortest runs of whole shells with at least so many members.

    Args:
        squared: (N, K) d^2 ascending, infinite for none.
        fewest: members; all there are where there are fewer.
    """
    count = squared.shape[1]
    ends = np.ones(squared.shape, bool)
    ends[:, :-1] = squared[:, 1:] > squared[:, :-1] * (1 + SHELL)
    ends &= np.arange(1, count + 1) >= min(fewest, count)
    lengths: Indices = ends.argmax(axis=1) + 1
    return lengths
