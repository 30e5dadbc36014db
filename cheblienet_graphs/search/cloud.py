"""The vertices of a sampling, in the form that searches take."""

from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.typing import Floats, Indices

PAIRS_AT_ONCE = 2**18
"""Most distances to images that are computed together."""


@dataclass(frozen=True)
class Cloud:
    """Base points, with their images where the domain is periodic, and the fiber over each.

    Args:
        manifold, metric: they define the distance.
        points: P, base points without images.
        base: (images, d) Cartesian coordinates; the first P are the points themselves.
        source: (images,) the point of which each is an image.
        elements: numbers that distances are computed from, each of shape (n_o, images).
        complete_within: distance from any point up to which no image is missing.
    """

    manifold: Manifold
    metric: Metric
    points: int
    base: Floats
    source: Indices
    elements: tuple[Floats, ...]
    complete_within: float

    @property
    def orientations(self) -> int:
        """n_o."""
        return len(self.elements[0])

    @property
    def images(self) -> int:
        """Base points and their images."""
        return len(self.base)

    def squared_distances(self, rows: Indices, columns: Indices) -> Floats:
        """d^2 of edges, to the nearest image, 0 where row and column coincide, shape of `rows`.

        Each pair is measured from its lower vertex, so both directions agree to the last bit.
        """
        low, high = np.minimum(rows, columns), np.maximum(rows, columns)
        start = self._at(low // self.points, low % self.points)
        orientation, point = np.divmod(high, self.points)
        shortest: Floats = np.full(rows.shape, np.inf)
        images = np.arange(0, self.images, self.points)[:, None]
        step = max(1, PAIRS_AT_ONCE // max(1, rows.size))
        for some in (images[first : first + step] for first in range(0, len(images), step)):
            end = self._at(orientation, point + some)
            squared = self.manifold.squared_distance(start, end, self.metric)
            np.minimum(shortest, squared.view(np.ndarray).min(axis=0), out=shortest)
        shortest[rows == columns] = 0
        return shortest

    def _at(self, orientation: Indices, image: Indices) -> tuple[Floats, ...]:
        index = orientation * self.images + image
        return tuple(array(element.reshape(-1)[index]) for element in self.elements)


def cloud(sampled: SampledManifold[Sampling], rings: int = 0) -> Cloud:
    """The vertices of a sampling, with `rings` rings of images around a periodic domain."""
    sampling, manifold, metric = sampled.sampling, sampled.manifold, sampled.metric
    dimension, steps = manifold.base.dimension, np.arange(-rings, rings + 1)
    shifts = np.array(np.meshgrid(*[steps] * dimension)).reshape(dimension, -1).T
    shifts = shifts[np.argsort(abs(shifts).sum(axis=1), kind="stable")]
    points, columns = sampling.num_points, sampling.coordinates().T
    by_orientation = [column.reshape(sampling.orientations, points) for column in columns]
    complete_within = np.inf
    if rings:
        extent = sampling.extent or (1.0,) * dimension
        offsets = shifts * np.array(extent)
        base = (sampling.base_points + offsets[:, None]).reshape(-1, dimension)
        moves = [*offsets.T, *[np.zeros(len(shifts))] * (len(columns) - dimension)]
        by_orientation = [
            (column[:, None] + move[:, None]).reshape(sampling.orientations, -1)
            for column, move in zip(by_orientation, moves, strict=True)
        ]
        complete_within = rings * min(extent)
    else:
        base = sampling.base_points
    elements = manifold.elements(tuple(array(column) for column in by_orientation))
    return Cloud(
        manifold,
        metric,
        points,
        base,
        np.tile(np.arange(points), len(shifts)),
        tuple(element.view(np.ndarray) for element in elements),
        complete_within,
    )
