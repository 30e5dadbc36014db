"""Vertices placed on a manifold with a metric, with their images where the base is a torus.

Builds, searches among given points and maps take their images, and lengths to the nearest of them,
from here.
"""

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.manifolds import Manifold, Metric, Point
from cheblienet_graphs.manifolds.moments import array
from cheblienet_graphs.samplings.given_tables import POLE, again_on_poles
from cheblienet_graphs.samplings.points import base_places
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.typing import Floats, Indices

MOST_IMAGES = 2**23
"""Most vertices and images of a search that needs more than one ring of images."""
ODD = np.uint64(0x9E3779B97F4A7C15)
"""Times which bits of coordinates are mixed, so that equal points come together when sorted."""
PAIRS_AT_ONCE = 2**18
"""Most distances to images that are computed together."""


@dataclass(frozen=True)
class Cloud:
    """Base points, with their images where the base is a torus, and the fiber over each.

    Args:
        manifold, metric: they define the distance.
        points: P, base points without images.
        base: (images, b) Cartesian coordinates; the first P are the points themselves.
        source: (images,) the point of which each is an image.
        elements: numbers that distances are computed from, each of shape (n_o, images).
        periods: of a torus, along each axis; else empty.
        complete_within: distance from any point up to which no image is missing.
    """

    manifold: Manifold
    metric: Metric
    points: int
    base: Floats
    source: Indices
    elements: tuple[Floats, ...]
    periods: tuple[float, ...]
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

    def at(self, vertices: Indices) -> Point:
        """The numbers that distances are computed from, of some vertices, each of their shape."""
        index = vertices // self.points * self.images + vertices % self.points
        return tuple(array(element.reshape(-1)[index]) for element in self.elements)

    def measured(self, start: Point, end: Point) -> Floats:
        """d^2 between elements, of any shape; not negative by rounding."""
        squared = self.manifold.squared_distance(start, end, self.metric)
        positive: Floats = np.maximum(squared.view(np.ndarray), 0)
        return positive

    def squared_distances(self, rows: Indices, columns: Indices) -> Floats:
        """(N,) d^2 of edges, to the nearest image.

        Each pair is measured from its lower vertex, so both directions agree to the last bit.
        """
        return lengths(self, self, np.minimum(rows, columns), np.maximum(rows, columns))


def moved(elements: Point, shifts: Floats) -> Point:
    """Elements over a flat base, which begin with the place there, moved by shifts (..., b)."""
    along = np.moveaxis(shifts, -1, 0)
    places = (place + by for place, by in zip(elements, along, strict=False))
    return *places, *elements[len(along) :]


def lengths(sources: Cloud, targets: Cloud, rows: Indices, columns: Indices) -> Floats:
    """(N,) d^2 between vertices of targets, (N,), and of sources, (N,), by the nearest image.

    Args:
        sources: complete within the largest of these distances.
        targets: on the same manifold with the same metric.
        rows: the targets.
        columns: the sources.
    """
    rings = (math.ceil(sources.complete_within / period) for period in sources.periods)
    steps = np.array([*itertools.product(*(range(-n, n + 1) for n in rings))])
    moves = (steps * np.array(sources.periods))[:, None]
    squared = np.empty(len(rows))
    few = max(1, PAIRS_AT_ONCE // len(moves))
    for lo in range(0, len(rows), few):
        some = slice(lo, lo + few)
        start = targets.at(rows[some])
        end = moved(sources.at(columns[some]), moves)
        squared[some] = np.atleast_2d(targets.measured(start, end)).min(axis=0)
    return squared


@dataclass(frozen=True)
class PlacedPoints:
    """Vertices over any points of a base, on a grid or not, on a manifold with a metric.

    Args:
        manifold, metric: they define the distance; on a flat base in the points' unit of length.
        columns: (V, d) coordinates by the manifold's columns, angles in radians; where several
            vertices are over a point, orientation-major.
        base: (P, b) Cartesian coordinates on the base; on a torus in [0, period].
        periods: of a torus, along each axis; None elsewhere.
    """

    manifold: Manifold
    metric: Metric
    columns: Floats
    base: Floats
    periods: tuple[float, ...] | None

    @classmethod
    def of(cls, sampled: SampledManifold[Sampling]) -> "PlacedPoints":
        """The vertices of a sampling."""
        sampling = sampled.sampling
        periods = sampling.extent if sampling.periodic else None
        places = sampling.coordinates(), sampling.base_points
        return cls(sampled.manifold, sampled.metric, *places, periods)

    @classmethod
    def at(
        cls,
        manifold: Manifold,
        metric: Metric,
        periods: tuple[float, ...] | None,
        coordinates: Floats,
    ) -> "PlacedPoints":
        """The vertices at coordinates, (V, d) by the manifold's columns."""
        base = base_places(manifold.base, coordinates)
        return cls(manifold, metric, coordinates, base, periods)

    def __len__(self) -> int:
        return len(self.base)

    @cached_property
    def first_there(self) -> Indices:
        """(V,) the first vertex at the place of each: of a row of given points on a pole.

        Vertices are elsewhere at places of their own.
        """
        first = np.arange(len(self))
        again = () if self.manifold.base.flat else again_on_poles(self.base)
        if len(again):
            on_pole = np.flatnonzero(np.hypot(*self.base[:, :2].T) < POLE)
            places = np.column_stack([self.columns[on_pole, :-2], self.base[on_pole, 2] > 0])
            _, start, which = np.unique(places, axis=0, return_index=True, return_inverse=True)
            first[on_pole] = on_pole[start[which.ravel()]]
        return first

    def at_own_places(self) -> "PlacedPoints":
        """The first vertices of all places alone, in their order."""
        own = np.flatnonzero(self.first_there == np.arange(len(self)))
        if len(own) == len(self):
            return self
        return replace(self, columns=self.columns[own], base=self.base[own])

    def sharing(self, vertices: Indices) -> Indices | None:
        """(N,) how many are at the place of each of some vertices; None where all are alone."""
        if len(self.at_own_places()) == len(self):
            return None
        counts: Indices = np.bincount(self.first_there, minlength=len(self))
        return counts[self.first_there[vertices]]

    def with_all(
        self, indptr: Indices, places: Indices, squared: Floats
    ) -> tuple[Indices, Indices, Floats]:
        """Entries by columns of `at_own_places`, with all vertices there, columns ascending."""
        first = self.first_there
        own = np.flatnonzero(first == np.arange(len(self)))
        if len(own) == len(self):
            return indptr, places, squared
        at_place = np.bincount(first, minlength=len(self))
        order = np.argsort(first, kind="stable")
        start = np.searchsorted(first[order], own[places])
        counts = at_place[own[places]]
        place = np.repeat(np.arange(len(places)), counts)
        step = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
        columns = order[start[place] + step]
        ends = np.append(0, np.cumsum(counts))[indptr]
        row = np.repeat(np.arange(len(indptr) - 1), np.diff(ends))
        ascending = np.lexsort((columns, row))
        return ends, columns[ascending], squared[place][ascending]

    def thinned(self, copies: int) -> tuple["PlacedPoints", Indices, Indices]:
        """The points, of which no more are left where they coincide: trees can't part these.

        Args:
            copies: most at one place, the first by number.

        Returns:
            These points, of a manifold with one vertex over each; (M,) their numbers, ascending;
            and (N,) for each point its place among them, of one left out that of the last copy.
        """
        order, first = runs(self.columns)
        last = np.minimum(np.arange(len(order)), first + copies - 1)
        stands = np.empty_like(order)
        stands[order] = order[last]
        kept = np.flatnonzero(stands == np.arange(len(self)))
        if len(kept) == len(self):
            return self, kept, kept
        few = replace(self, columns=self.columns[kept], base=self.base[kept])
        return few, kept, np.searchsorted(kept, stands)

    def images(self, reach: float) -> tuple[Indices, Floats]:
        """The points, and all their images within a distance of the domain.

        Args:
            reach: the distance.

        Returns:
            (images,) the point that each is of, and (images, b) shifts, (images, 0) where the base
            is no torus; the points come first.

        Raises:
            SpecError: there would be more than MOST_IMAGES, over more than one period.
        """
        periods = self.periods or ()
        source, shifts = np.arange(len(self)), np.zeros((len(self), len(periods)))
        expected = len(self.columns) * math.prod(1 + 2 * reach / period for period in periods)
        if reach > min(periods, default=math.inf) and expected > MOST_IMAGES:
            accepted = f"such that at most {MOST_IMAGES:,} images of points are within reach"
            remedy = "Use fewer neighbors, a larger `eps` or longer periods."
            raise SpecError("periodic", accepted, self.periods, remedy)
        for axis, period in enumerate(periods):
            rings = math.ceil(reach / period)
            moves = np.array(sorted(range(-rings, rings + 1), key=abs)) * period
            places = self.base[source, axis] + moves[:, None]
            move, chosen = np.nonzero((places >= -reach) & (places <= period + reach))
            source, shifts = source[chosen], shifts[chosen]
            shifts[:, axis] = moves[move]
        return source, shifts

    def likely_reach(self, count: float) -> float:
        """Distance on a torus within which so many points are likely."""
        sides = np.array(self.periods or (1.0,))
        share = min(count / len(self), 1.0)
        return float(1.5 * (share * sides.prod()) ** (1 / len(sides)))

    def cloud(self, reach: float = 0.0) -> Cloud:
        """The points for searches, with the images that are within reach.

        Raises:
            SpecError: as `images`.
        """
        source, shifts = self.images(reach)
        base = self.base[source]
        base[:, : shifts.shape[1]] += shifts
        columns = (column.copy().reshape(-1, len(self)) for column in self.columns.T)
        elements = self.manifold.elements(tuple(map(array, columns)))
        if self.periods is not None:
            elements = moved(tuple(element[:, source] for element in elements), shifts)
        return Cloud(
            self.manifold,
            self.metric,
            len(self),
            base,
            source,
            tuple(element.view(np.ndarray) for element in elements),
            self.periods or (),
            math.inf if self.periods is None else reach,
        )


def runs(rows: Floats) -> tuple[Indices, Indices]:
    """An order in which equal rows come together, by number, in time linear but for sorting.

    Returns:
        (N,) the order of rows (N, d), and for each place in it that of the first equal one.
    """
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys = keys * ODD + np.ascontiguousarray(column + 0.0).view(np.uint64)
    order = np.argsort(keys, kind="stable")
    ordered = rows[order]
    new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    return order, np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))


def first_of_each(numbers: Indices, order: Indices) -> npt.NDArray[np.bool_]:
    """(rows, M) where in each row a number comes for the first time.

    Args:
        numbers: (rows, M).
        order: (rows, M) places in which they ascend, of equal ones the first one first.
    """
    ascending = np.take_along_axis(numbers, order, axis=1)
    new = np.ones(numbers.shape, bool)
    new[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    first = np.empty_like(new)
    np.put_along_axis(first, order, new, axis=1)
    return first
