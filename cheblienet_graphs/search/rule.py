"""The rule by which vertices are neighbors; what finds and measures edges, and what it searches.

The rule makes graphs symmetric and keeps the symmetries of their samplings: the radius r_a of
a vertex is that of the largest union of whole shells of equally distant vertices with at most K
members; an edge joins a and b where d(a, b) <= min(r_a, r_b). On lattices r_a is that of the
infinite lattice, so vertices at the boundary have fewer neighbors but no longer edges.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import Remedy, SpecError, Words
from cheblienet_graphs.limits import NEIGHBORS
from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.manifolds.moments import array
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.sparse import RowBlock, with_diagonal
from cheblienet_graphs.typing import Floats, Indices

Scratch = Callable[[tuple[int, ...], str], npt.NDArray[Any]]
"""(shape, dtype) -> a new array, possibly on disk."""
PAIRS_AT_ONCE = 2**18
"""Most distances to images that are computed together."""


class Engine(ABC):
    """Finds the neighbors of consecutive vertices; none is its own neighbor."""

    @abstractmethod
    def pieces(self, start: int, stop: int) -> Iterator[tuple[Indices, Indices]]:
        """What `neighbors` gives, for some of the vertices start..stop at a time."""

    def neighbors(self, start: int, stop: int) -> tuple[Indices, Indices]:
        """The neighbors of the vertices start..stop.

        Returns:
            (stop - start,) their numbers, and all of them, (sum of these,), vertex after vertex,
            ascending in each.
        """
        none = np.empty(0, np.int64)
        numbers, vertices = zip((none, none), *self.pieces(start, stop), strict=True)
        return np.concatenate(numbers), np.concatenate(vertices)

    def block(self, start: int, stop: int) -> RowBlock:
        """The rows of the vertices start..stop, each itself among its neighbors."""
        return with_diagonal(start, *self.neighbors(start, stop))


class Lengths(Protocol):
    """Lengths of edges, the same whichever engine found these."""

    def squared_distances(self, rows: Indices, columns: Indices) -> Floats:
        """d^2 of edges, 0 where row and column coincide, shape of `rows`."""


def too_few(neighbors: int, has_edges: Callable[[int], bool]) -> SpecError:
    """The error where K gives no edges; it names the smallest K that does.

    Radii grow with K, so no edge is lost with a larger one: bisection finds the smallest K.

    Args:
        neighbors: K, for which there are no edges.
        has_edges: K -> whether there are edges.
    """
    without, enough = neighbors, min(2 * neighbors, NEIGHBORS.high)
    while not has_edges(enough):
        if enough == NEIGHBORS.high:
            accepted = f"more than {enough} here, the most there may be, for there to be edges"
            larger = Words("a larger ", Remedy("eps"), ", another ", Remedy("xi"))
            remedy = Words("Use ", larger, " or more ", Remedy("points"), ".")
            return SpecError("neighbors", accepted, neighbors, remedy)
        without, enough = enough, min(2 * enough, NEIGHBORS.high)
    enough = bisect_left(range(enough), 1, lo=without + 1, key=has_edges)
    accepted = f"at least {enough} here, where the nearest shell of equally distant vertices ends"
    return SpecError("neighbors", accepted, neighbors)


def last_whole_shell(squared_distances: Floats, count: int, tolerance: float) -> float:
    """The radius^2 of the largest union of whole shells with at most `count` members.

    Distances that differ by no more than `tolerance`, relatively, belong to one shell: "K nearest"
    is ambiguous on a lattice, and taking part of a shell would break its symmetries.

    Args:
        squared_distances: (N,) d^2 to the other points, self left out; all of them, or at least
            the `count` + 1 nearest.
        count: K.
        tolerance: relative.

    Returns:
        r^2, or 0 where not even the nearest shell fits.
    """
    ascending = np.sort(np.append(squared_distances, np.inf))[: count + 1]
    ends = 1 + np.flatnonzero(ascending[1:] > ascending[:-1] * (1 + tolerance))
    return float(ascending[ends[-1] - 1]) if ends.size else 0.0


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

    def bound(self, chords: Floats, candidates: int) -> Floats:
        """(N,) d^2 from points below which the images nearest on the base include everything.

        Where they are all images, that is the distance up to which no image is missing; else the
        distance on the base, to which the projection is 1-Lipschitz: R11 = 1, R22 = eps^-2 >= 1.

        Args:
            chords: (N,) Cartesian distances to the last of them.
            candidates: how many they are.
        """
        if candidates == self.images:
            return np.full(len(chords), self.complete_within**2)
        arcs: Floats = self.manifold.base.distance(chords)
        return arcs**2

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
