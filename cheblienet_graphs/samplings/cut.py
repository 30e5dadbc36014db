"""The vertices of a lattice whose pixels are cut by the edge of a domain.

Each pixel has a fraction, the part of it in the domain. Pixels with a small one are no vertices:
their part goes to the nearest pixels that are, and so does what a map of all pixels shows there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.inputs.fractions import UNIT
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.maps import LevelMap, Parents, nearest
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.typing import Floats, Indices

SMALL = 13_107 * UNIT
"""Pixels with a fraction below this, about 1/5, are no vertices."""
FAR = 3
"""Most steps along an axis between a small part of the domain and the vertex that it goes to."""


def shells(sides: Sequence[float], most: int = FAR) -> list[Indices]:
    """Offsets of at most so many steps along each axis but 0, (N, d), by their length, least first.

    Args:
        sides: of a pixel along each axis.
        most: steps.
    """
    offsets = np.indices([2 * most + 1] * len(sides)).reshape(len(sides), -1).T - most
    squared = ((offsets * np.array(sides)) ** 2).sum(axis=1).round(9)
    return [offsets[squared == length] for length in np.unique(squared)[1:]]


def pixel_means(values: Floats) -> Floats:
    """The means of blocks of 2 pixels a side, the domain's sides even."""
    split = [part for side in values.shape for part in (side // 2, 2)]
    means: Floats = values.reshape(split).mean(axis=tuple(range(1, 2 * values.ndim, 2)))
    return means


def coarsened(fraction: Floats) -> Floats:
    """Fractions of the half pixels of the next coarser level, from those of pixels."""
    return np.floor(fraction / UNIT) * UNIT


class CutSampling(MaskedSampling):
    """The vertices over pixels with a fraction of at least SMALL, in the order of the lattice.

    Args:
        full: all pixels.
        fraction: (points,) or of the lattice's shape: the part of each pixel in the domain.
    """

    full: Lattice

    def __init__(self, full: Lattice, fraction: Floats) -> None:
        self.fraction = np.asarray(fraction, np.float64).ravel()
        super().__init__(full, np.flatnonzero(self.fraction >= SMALL))

    @cached_property
    def filling(self) -> LevelMap:
        """(all pixels, points) what each pixel of the domain shows: itself, or the mean of others.

        Rows are empty where nothing of the domain is, or no vertex is near.
        """
        full, count = self.full, self.full.num_points
        small = np.flatnonzero((self.fraction > 0) & (self.inside < 0))
        rows, columns = [self.places], [np.arange(self.num_points)]
        for offsets in shells(full.sides):
            _, places = full.decode(small[:, None])
            steps = zip(places, offsets.T, full.shape, strict=True)
            ends, within = [], np.ones((len(small), len(offsets)), bool)
            for place, step, side in steps:
                end = place + step
                within &= full.periodic | ((end >= 0) & (end < side))
                ends.append(end % side)
            there = np.where(within, self.inside[full.encode(np.zeros_like(ends[0]), ends)], -1)
            row, which = np.nonzero(there >= 0)
            rows.append(small[row])
            columns.append(there[row, which])
            small = small[~(there >= 0).any(axis=1)]
        row, column = np.concatenate(rows), np.concatenate(columns)
        once = np.unique(row * self.num_points + column)  # small periodic lattices see one twice
        row, column = np.divmod(once, self.num_points)
        return LevelMap.means(row, column, np.ones(len(row)), (count, self.num_points))

    @cached_property
    def masses(self) -> Floats:
        """(points,) the part of the domain that each vertex stands for, in pixels."""
        filling = self.filling
        parts = np.repeat(self.fraction, np.diff(filling.indptr)) * filling.data
        return np.bincount(filling.indices, parts, self.num_points).astype(np.float64)

    @cached_property
    def mean_area(self) -> float:
        """The mean mass, in pixels."""
        return float(self.masses.mean())

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) masses in units of their mean."""
        return self.masses / self.mean_area

    @cached_property
    def coarser(self) -> "CutSampling":
        """The next coarser level."""
        shape = self.full.shape
        full = replace(self.full, shape=tuple(side // 2 for side in shape))
        return CutSampling(full, pixel_means(coarsened(self.fraction.reshape(shape))))

    @property
    def parents(self) -> Parents:
        """The coarser vertices that show each: its block, or those nearest where that is none."""
        coarser, block = self.coarser, self.full.owners[self.places]
        filling = coarser.filling
        counts = np.diff(filling.indptr)[block]
        starts = np.cumsum(counts) - counts
        entry = np.arange(counts.sum()) + np.repeat(filling.indptr[block] - starts, counts)
        fine = np.repeat(np.arange(self.num_points), counts)
        parts = fine, filling.indices[entry], filling.data[entry]
        parents = Parents(*parts, (self.num_points, coarser.num_points))
        if len(lost := np.flatnonzero(counts == 0)):  # the domain is no vertex there
            periods = self.extent if self.periodic else None
            near = nearest(coarser.base_points, self.base_points[lost], periods)
            parents = parents.joined(lost, near)
        return parents

    def pooling(self) -> LevelMap:
        """The map from the points to those of the next coarser level: means by mass."""
        return self.parents.pooling(self.masses)

    def unpooling(self) -> LevelMap:
        """The map to the points: the value of the coarser pixel, or the mean of those nearest."""
        return self.parents.unpooling()

    def whole(self) -> npt.NDArray[np.bool_]:
        """(all pixels,) which are in the domain wholly."""
        return self.fraction >= 1

    def symmetries(self) -> Iterator[tuple[str, Indices]]:
        """Names and permutations (V,) of the lattice's symmetries that keep the fractions."""
        points = self.full.num_points
        kept = {
            name
            for name, permutation in self.full.symmetries()
            if np.array_equal(self.fraction[permutation[:points] % points], self.fraction)
        }
        return ((name, image) for name, image in super().symmetries() if name in kept)
