"""Gradients off lattices: weights of least norm on the nearest neighbors, whole shells of them.

These neighbors are not the Laplacian's. The metric that finds them is isotropic, with rotations by
the step between orientations as long as the spacing of points: on an elongated neighborhood weights
would be thousands of times as large. Shells are whole, as symmetries would break otherwise, and for
the same reason neighbors that are equally far two ways around are none.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from cheblienet_graphs.gradients.source import Rows, components, equally_far, least_norm
from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.neighbor_lists import NeighborLists
from cheblienet_graphs.typing import Floats, Indices

SHELL = 1e-6
"""Relative width of a shell."""
ROUNDING = 1e-12
"""Size of weights, in units of 1 / spacing, below which a row is 0."""


class SearchedGradient:
    """The derivatives along the frame at the vertices of a sampling off lattices.

    Args:
        sampling: its vertices: all, or only the ones inside a mask.
        manifold: on which they lie; its frame.
        spacings: (d,) of the points of the whole sampling; of a rotation, the step.
        counts: neighbors that a vertex has at least, where there are so many, and that are looked
            for, so that their last shell is whole.
        choice: the search, and its device.
    """

    def __init__(
        self,
        sampling: Sampling,
        manifold: Manifold,
        spacings: Floats,
        counts: tuple[int, int],
        choice: Choice,
    ) -> None:
        metric = Metric(1.0, float(spacings[0] / spacings[-1]) if manifold.oriented else 0.0)
        self._spacings = spacings
        self._sampled = SampledManifold(sampling, manifold, metric)
        self._fewest = counts[0]
        self._most = min(counts[1], max(1, sampling.num_vertices - 1))
        self._choice = choice
        self._lists = self._among(int(sampling.periodic))

    def _among(self, rings: int) -> NeighborLists:
        """The search among so many rings of images."""
        return NeighborLists(self._sampled, self._most, self._choice, rings=rings)

    def rows(self, start: int, stop: int) -> Iterator[Rows]:
        """A `Source` of vertices; weights are per unit of length or radian."""
        sampling = self._sampled.sampling
        search = self._lists
        for first, lists, reach in search.of(start, stop):
            if (rings := search.enough_rings(reach)) > search.rings:  # in long, narrow domains
                self._lists = self._among(rings)
                yield from self.rows(first, stop)
                return
            own = np.arange(sampling.orientations)[:, None] * sampling.num_points
            own = (own + np.arange(first, first + lists.shape[1])).ravel()
            yield self._of_vertices(own, lists.reshape(len(own), -1)).ascending()

    def _of_vertices(self, own: Indices, lists: Indices) -> Rows:
        columns = np.where(lists < self._sampled.sampling.num_vertices, lists, -1)
        parts, columns = self._components(own, columns)
        squared = np.where(columns < 0, np.inf, (parts**2).sum(axis=2))
        order = np.argsort(squared, axis=1, kind="stable")
        columns, squared = (np.take_along_axis(part, order, axis=1) for part in (columns, squared))
        parts = np.take_along_axis(parts, order[:, :, None], axis=1)
        kept = np.arange(columns.shape[1]) < _whole_shells(squared, self._fewest)[:, None]
        kept &= columns >= 0
        weights = least_norm(np.where(kept[:, :, None], parts, 0.0))
        # Along directions that no neighbor lies in, rows are rounding alone.
        weights[abs(weights).max(axis=2) < ROUNDING] = 0.0
        weights *= np.where(kept, 1 / self._spacings[:, None, None], 0.0)
        columns = np.column_stack([own, np.where(kept, columns, -1)])
        weights = np.concatenate([-weights.sum(axis=2, keepdims=True), weights], axis=2)
        return Rows(own, columns, weights)

    @cached_property
    def _coordinates(self) -> Floats:
        return self._sampled.sampling.coordinates()

    def _components(self, own: Indices, columns: Indices) -> tuple[Floats, Indices]:
        """(N, K, d) of the logarithms to neighbors, in units of the spacing and the step.

        They come with the neighbors' columns, -1 where these are equally far two ways around.
        """
        both = np.repeat(own, columns.shape[1]), columns.ravel()
        starts, ends = (self._coordinates[vertices] for vertices in both)
        manifold, sampling = self._sampled.manifold, self._sampled.sampling
        twice = equally_far(manifold, self._spacings, starts, ends).reshape(columns.shape)
        parts = components(manifold, sampling, self._spacings, starts, ends)
        return parts.reshape(*columns.shape, -1), np.where(twice, -1, columns)


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
