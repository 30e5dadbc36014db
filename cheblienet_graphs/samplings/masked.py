"""The points of a sampling that are inside a mask, and the pixels that the edge of a domain cuts.

Each pixel that is cut has a fraction, the part of it in the domain. Pixels with a small one are no
vertices: their part goes to the nearest pixels that are, and so does what a map of all pixels shows
there.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.csr import Csr
from cheblienet_graphs.inputs.polygons import UNIT, block_means
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.maps import Parents, nearest, numbers_of
from cheblienet_graphs.samplings.sampling import Sampling, SamplingKind
from cheblienet_graphs.typing import Floats, Indices

SMALL = 13_107 * UNIT
"""Pixels with a fraction below this, about 1/5, are no vertices."""
FAR = 3
"""Most steps along an axis between a small part of the domain and the vertex that it goes to."""


class MaskedSampling(Sampling):
    """The vertices over the points inside, numbered in the order of the full sampling.

    Args:
        full: all points.
        places: (n_inside,) where the points inside are among them, ascending.
    """

    places: Indices

    def __init__(self, full: SamplingKind, places: Indices) -> None:
        self._full, self.places = full, places
        self.orientations, self.fiber, self.periodic = full.orientations, full.fiber, full.periodic

    @property
    def full(self) -> SamplingKind:
        """All points."""
        return self._full

    @property
    def lattice(self) -> Lattice | None:
        """The lattice that they are some pixels of."""
        return self.full.lattice

    @property
    def celled(self) -> Sampling:
        """All points: the cells belong to the whole sampling."""
        return self.full

    @property
    def outside(self) -> Floats:
        """(N, d) Cartesian coordinates of the points outside."""
        outside: Floats = np.delete(self.full.base_points, self.places, axis=0)
        return outside

    @property
    def num_points(self) -> int:
        """Points inside."""
        return len(self.places)

    @cached_property
    def base_points(self) -> Floats:
        """(points, d) Cartesian coordinates; unit vectors on the sphere."""
        return self.full.base_points[self.places]

    @property
    def extent(self) -> tuple[float, ...] | None:
        """Sides of the full domain of a flat base."""
        return self.full.extent

    def among_all(self, vertices: Indices) -> Indices:
        """The numbers of vertices inside, (N,), in the full sampling."""
        orientation, place = self._decoded(vertices)
        return orientation * self.full.num_points + self.places[place]

    def edges(self, rows: Indices, columns: Indices) -> tuple[Indices, Indices, Indices]:
        """Edges of the full sampling between vertices inside, as `Sampling.edges`."""
        (k, row), (j, column) = (np.divmod(ends, self.full.num_points) for ends in (rows, columns))
        row = self.inside[row]
        column = self.inside[column]
        count = self.num_points
        kept = np.flatnonzero((row >= 0) & (column >= 0))
        return (k * count + row)[kept], (j * count + column)[kept], kept

    def numbers_inside(self, points: Indices) -> Indices:
        """(N,) the numbers of all points among the points inside; -1 outside."""
        return self.inside[points]

    @cached_property
    def inside(self) -> Indices:
        """(all points,) number of each among the points inside; -1 outside."""
        return numbers_of(self.places, self.full.num_points)

    @cached_property
    def mean_area(self) -> float:  # type: ignore[override]
        """The mean area of the points inside, in units of that of all points."""
        return float(self.full.base_areas[self.places].mean())

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas in units of their mean."""
        return self.full.base_areas[self.places] / self.mean_area

    def base_coordinates(self, points: Indices) -> Floats:
        """(N, d) coordinates along the base of some points, (N,), by the manifold's columns."""
        return self.full.base_coordinates(self.places[points])

    def pooling(self) -> Csr:
        """The map from the points to the next coarser level: means over the points inside."""
        whole = self.full.pooling()
        return _restricted(whole, self._coarser(whole), self.inside)

    def unpooling(self) -> Csr:
        """The map to the points from the next coarser level.

        All sources of a point inside are inside, as it is pooled to them.
        """
        whole = self.full.unpooling()
        return _restricted(whole, self.inside, self._coarser(self.full.pooling()))

    def _coarser(self, pooling: Csr) -> Indices:
        """(all coarser points,) number of each among the points inside; -1 outside."""
        pooled = np.logical_or.reduceat(self.inside[pooling.indices] >= 0, pooling.indptr[:-1])
        return numbers_of(np.flatnonzero(pooled), len(pooled))

    def probes(self) -> Indices:
        """Points where the effective metric is measured.

        On a lattice the first of the points farthest from all pixels outside and, where it is open,
        from the sides, counted in steps to any of the nearest pixels around; elsewhere all points.
        """
        if self.lattice is None:
            return np.arange(self.num_points)
        if self.whole().all():
            return self.full.probes()
        return np.searchsorted(self.places, [int(self.depth.argmax())])

    def without_fiber(self) -> "MaskedSampling":
        """The points alone, without orientations."""
        return MaskedSampling(self.full.without_fiber(), self.places)

    @property
    def points_at_edge(self) -> int:
        """Points with a `depth` of 1 at most."""
        return int((self.depth[self.places] <= 1).sum())

    def depth_of(self, point: int) -> int:
        """The point's `depth`."""
        return int(self.depth[self.places[point]])

    @cached_property
    def depth(self) -> Indices:
        """(all pixels,) steps to the nearest one not wholly inside, diagonal ones too; 0 of these.

        Pixels beyond the sides of an open lattice are outside.
        """
        from scipy.ndimage import distance_transform_cdt  # slow to import, builds do without

        shape = self.lattice.shape if self.lattice else (self.full.num_points,)
        inside = self.whole().reshape(shape)
        # Around a torus the nearest pixel outside is half a side away at most, along each axis.
        around = [side // 2 if self.periodic else 1 for side in shape]
        widths = [(n, n) for n in around]
        wide = np.pad(inside, widths, "wrap" if self.periodic else "constant")
        steps = distance_transform_cdt(wide, "chessboard")
        own = tuple(slice(n, n + side) for n, side in zip(around, shape, strict=True))
        return np.asarray(steps[own]).ravel()

    @cached_property
    def fraction(self) -> Floats:
        """(all points,) the part of each in the domain: 1 inside, else 0."""
        return (self.inside >= 0).astype(np.float64)

    def whole(self) -> npt.NDArray[np.bool_]:
        """(all points,) which are in the domain wholly."""
        return self.fraction >= 1

    def symmetries(self, *more: str) -> Iterator[tuple[str, Indices]]:
        """Names and permutations (V,) of the full sampling's symmetries that keep the domain."""
        points = self.full.num_points
        count = self.num_points
        orientations = np.arange(self.orientations)
        vertices = (orientations[:, None] * points + self.places).ravel()
        for name, permutation in self.full.symmetries(*more):
            if np.array_equal(self.fraction[permutation[:points] % points], self.fraction):
                image = permutation[vertices]
                yield name, image // points * count + self.inside[image % points]


def _restricted(whole: Csr, rows: Indices, columns: Indices) -> Csr:
    """The rows and columns of a map that have a number, rows summing to 1 again.

    Args:
        whole: the map between all points.
        rows: (targets,) new numbers, ascending; -1 where they are left out.
        columns: (origins,) likewise.
    """
    row = np.repeat(rows, np.diff(whole.indptr))
    column = columns[whole.indices]
    kept = (row >= 0) & (column >= 0)
    shape = int(rows.max()) + 1, int(columns.max()) + 1
    return Csr.means(row[kept], column[kept], whole.data[kept], shape)


def centers(sampling: Sampling) -> Floats:
    """(V, d) coordinates by the manifold's columns, of pixels and voxels at their centers.

    On a lattice `Sampling.coordinates` begin at 0, whatever the size of a pixel, so that lattices
    of two sizes, or a lattice and given points, are apart by half a pixel of each.
    """
    coordinates = sampling.coordinates()
    if (lattice := sampling.lattice) is not None:
        sides = np.array(lattice.extent) / lattice.shape[::-1]
        coordinates[:, : len(sides)] += sides / 2
    return coordinates


def shells(sides: Sequence[float]) -> list[Indices]:
    """Offsets of at most FAR steps along each axis but 0, (N, d), by their length, least first.

    Args:
        sides: of a pixel along each axis.
    """
    offsets = np.indices([2 * FAR + 1] * len(sides)).reshape(len(sides), -1).T - FAR
    squared = ((offsets * np.array(sides)) ** 2).sum(axis=1).round(9)
    return [offsets[squared == length] for length in np.unique(squared)[1:]]


def coarsened(fraction: Floats) -> Floats:
    """Fractions of the half pixels of the next coarser level, from fractions of pixels."""
    return np.floor(fraction / UNIT) * UNIT


class CutSampling(MaskedSampling):
    """The vertices over pixels with a fraction of at least SMALL, in the order of the lattice.

    Args:
        full: all pixels.
        fraction: (points,) or of the lattice's shape: the part of each pixel in the domain.
    """

    def __init__(self, full: Lattice, fraction: Floats) -> None:
        self._lattice, self.fraction = full, np.asarray(fraction, np.float64).ravel()
        super().__init__(full, np.flatnonzero(self.fraction >= SMALL))

    @property
    def full(self) -> Lattice:
        """All pixels."""
        return self._lattice

    @cached_property
    def filling(self) -> Csr:  # type: ignore[override]
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
        return Csr.means(row, column, np.ones(len(row)), (count, self.num_points))

    @cached_property
    def masses(self) -> Floats:
        """(points,) the part of the domain that each vertex stands for, in pixels."""
        filling = self.filling
        parts = np.repeat(self.fraction, np.diff(filling.indptr)) * filling.data
        return np.bincount(filling.indices, parts, self.num_points).astype(np.float64)

    @cached_property
    def mean_area(self) -> float:  # type: ignore[override]
        """The mean mass, in pixels."""
        return float(self.masses.mean())

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) masses in units of their mean."""
        return self.masses / self.mean_area

    @property
    def inside_share(self) -> float:
        """The share of the area inside."""
        return float(self.masses.sum() / self.full.num_points)

    @property
    def cut_statistics(self) -> dict[str, float] | None:
        """The share of points with cut pixels, and the least and the largest mass."""
        share = 1 - self.whole()[self.places].mean()
        masses = self.masses
        return {"share": float(share), "least": float(masses.min()), "most": float(masses.max())}

    @cached_property
    def coarser(self) -> "CutSampling":
        """The next coarser level."""
        fraction = self.fraction.reshape(self.full.shape)
        return CutSampling(self.full.coarser_lattice, block_means(coarsened(fraction), 2))

    @property
    def parents(self) -> Parents:
        """The coarser vertices that show each: its block, or if there is none, the nearest."""
        coarser = self.coarser
        block = self.full.parents.coarser[self.places]
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

    def pooling(self) -> Csr:
        """The map from the points to the next coarser level: means by mass."""
        return self.parents.pooling(self.masses)

    def unpooling(self) -> Csr:
        """The map to the points: the coarser pixel's value, or the mean of the nearest ones."""
        return self.parents.unpooling()
