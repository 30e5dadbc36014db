"""The points of a sampling that are inside a mask."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.maps import LevelMap
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.typing import Floats, Indices


class MaskedSampling(Sampling):
    """The vertices over the points inside, numbered in the order of the full sampling.

    Args:
        full: all points.
        places: (n_inside,) where the points inside are among them, ascending.
    """

    def __init__(self, full: Sampling, places: Indices) -> None:
        self.full, self.places = full, places
        self.orientations, self.periodic = full.orientations, full.periodic

    @property
    def num_points(self) -> int:
        """Points inside."""
        return len(self.places)

    @cached_property
    def base_points(self) -> Floats:
        """(points, d) Cartesian coordinates; unit vectors on the sphere."""
        points: Floats = self.full.base_points[self.places]
        return points

    @property
    def extent(self) -> tuple[float, ...] | None:
        """Sides of the full domain of a flat base."""
        return self.full.extent

    @cached_property
    def inside(self) -> Indices:
        """(all points,) number of each among those inside; -1 outside."""
        numbers = np.full(self.full.num_points, -1)
        numbers[self.places] = np.arange(self.num_points)
        return numbers

    @cached_property
    def mean_area(self) -> float:
        """The mean area of the points inside, in units of that of all points."""
        if isinstance(self.full, Lattice):
            return 1.0
        return float(self.full.areas(0, self.full.num_points)[self.places].mean())

    def coordinates(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V, d) coordinates by the manifold's columns, or those of the vertices start..stop."""
        pieces = [self.full.coordinates(lo, hi)[at] for lo, hi, at in self._pieces(start, stop)]
        return np.concatenate(pieces) if pieces else self.full.coordinates(0, 0)

    def areas(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V,) areas in units of their mean, or those of the vertices start..stop."""
        pieces = [self.full.areas(lo, hi)[at] for lo, hi, at in self._pieces(start, stop)]
        areas: Floats = np.concatenate(pieces) if pieces else self.full.areas(0, 0)
        areas /= self.mean_area
        return areas

    def _pieces(self, start: int, stop: int | None) -> Iterator[tuple[int, int, Indices]]:
        """For each orientation with vertices in a range: theirs among all, first and last + 1.

        And where they are between these two.
        """
        first, last, _ = slice(start, stop).indices(self.num_vertices)
        points, count = self.full.num_points, self.num_points
        for k in range(first // count, -(-last // count)):
            places = self.places[max(first - k * count, 0) : min(last - k * count, count)]
            if len(places):
                lo, hi = k * points + int(places[0]), k * points + int(places[-1]) + 1
                yield lo, hi, places - places[0]

    def pooling(self) -> LevelMap:
        """The map from the points to those of the next coarser level: means over those inside."""
        whole = self.full.pooling()
        return _restricted(whole, self._coarser_places(whole), self.inside)

    def unpooling(self) -> LevelMap:
        """The map to the points from those of the next coarser level.

        All sources of a point inside are inside, as it is pooled to them.
        """
        whole, pooling = self.full.unpooling(), self.full.pooling()
        numbers = np.full(whole.shape[1], -1)
        coarser = self._coarser_places(pooling)
        numbers[coarser] = np.arange(len(coarser))
        return _restricted(whole, self.places, numbers)

    def _coarser_places(self, pooling: LevelMap) -> Indices:
        """Where the points inside are on the next coarser level."""
        pooled = np.logical_or.reduceat(self.inside[pooling.indices] >= 0, pooling.indptr[:-1])
        return np.flatnonzero(pooled)

    def probes(self) -> Indices:
        """Points where the effective metric is measured.

        On a lattice the first of those farthest from all pixels outside and, where it is open, from
        the sides, counted in steps to any of the nearest pixels around; elsewhere all of them.
        """
        if not isinstance(self.full, Lattice):
            return np.arange(self.num_points)
        if self.num_points == self.full.num_points:
            return self.full.probes()
        return np.searchsorted(self.places, [int(self.depth.argmax())])

    @cached_property
    def depth(self) -> Indices:
        """(all pixels,) steps to the nearest pixel outside, diagonal ones too; 0 outside.

        Pixels beyond the sides of an open lattice are outside.
        """
        from scipy.ndimage import distance_transform_cdt  # slow to import, builds do without

        shape = self.full.shape if isinstance(self.full, Lattice) else (self.full.num_points,)
        inside = np.zeros(shape, bool)
        inside.ravel()[self.places] = True
        around = shape if self.periodic else (1,) * len(shape)
        widths = [(n, n) for n in around]
        wide = np.pad(inside, widths, mode="wrap") if self.periodic else np.pad(inside, widths)
        steps = distance_transform_cdt(wide, "chessboard")
        own = tuple(slice(n, n + side) for n, side in zip(around, shape, strict=True))
        return np.asarray(steps[own]).ravel()

    def symmetries(self) -> Iterator[tuple[str, Indices]]:
        """Names and permutations (V,) of the full sampling's symmetries that keep the mask."""
        points, count = self.full.num_points, self.num_points
        orientations = np.arange(self.orientations)
        vertices = (orientations[:, None] * points + self.places).ravel()
        for name, permutation in self.full.symmetries():
            image = permutation[vertices]
            number = self.inside[image % points]
            if (number >= 0).all():
                yield name, image // points * count + number


def _restricted(whole: LevelMap, rows: Indices, numbers: Indices) -> LevelMap:
    """Some rows of a map, with the columns that have a number, summing to 1 again.

    Args:
        whole: the map between all points.
        rows: (targets,) those kept.
        numbers: (origins,) new numbers of the columns; -1 where they are left out.
    """
    counts = np.diff(whole.indptr)[rows]
    ends = np.cumsum(counts)
    entry = np.arange(ends[-1]) + np.repeat(whole.indptr[rows] - ends + counts, counts)
    column, row = numbers[whole.indices[entry]], np.repeat(np.arange(len(rows)), counts)
    kept = column >= 0
    row, column, data = row[kept], column[kept], whole.data[entry][kept]
    known = np.bincount(row, minlength=len(rows))
    sums = np.bincount(row, data, len(rows))
    indptr = np.concatenate([[0], np.cumsum(known)])
    shape = len(rows), int((numbers >= 0).sum())
    return LevelMap(shape, indptr, column, data / sums[row])
