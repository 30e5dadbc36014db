"""The points of a sampling that are inside a mask."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.maps import LevelMap
from cheblienet_graphs.samplings.sampling import Sampling, SamplingKind
from cheblienet_graphs.typing import Floats, Indices


class MaskedSampling(Sampling):
    """The vertices over the points inside, numbered in the order of the full sampling.

    Args:
        full: all points.
        places: (n_inside,) where the points inside are among them, ascending.
    """

    def __init__(self, full: SamplingKind, places: Indices) -> None:
        self.full, self.places = full, places
        self.orientations, self.fiber, self.periodic = full.orientations, full.fiber, full.periodic

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

    def among_all(self, vertices: Indices) -> Indices:
        """The numbers that vertices inside, (N,), have among those of the full sampling."""
        orientation, place = self._decoded(vertices)
        numbers: Indices = orientation * self.full.num_points + self.places[place]
        return numbers

    def edges(self, rows: Indices, columns: Indices) -> tuple[Indices, Indices, Indices]:
        """Edges of the full sampling, as those between vertices inside.

        Args:
            rows: (N,) one of their ends, numbered among all vertices.
            columns: (N,) the other one.

        Returns:
            (M,) rows, columns and places among all of the M edges with both ends inside.
        """
        (k, row), (j, column) = (np.divmod(ends, self.full.num_points) for ends in (rows, columns))
        row, column, count = self.inside[row], self.inside[column], self.num_points
        kept = np.flatnonzero((row >= 0) & (column >= 0))
        return (k * count + row)[kept], (j * count + column)[kept], kept

    @cached_property
    def inside(self) -> Indices:
        """(all points,) number of each among those inside; -1 outside."""
        return _numbers(self.places, self.full.num_points)

    @cached_property
    def mean_area(self) -> float:
        """The mean area of the points inside, in units of that of all points."""
        return float(self.full.base_areas[self.places].mean())

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas in units of their mean."""
        return self.full.base_areas[self.places] / self.mean_area

    def base_coordinates(self, points: Indices) -> Floats:
        """(N, d) coordinates along the base of some points, (N,), by the manifold's columns."""
        return self.full.base_coordinates(self.places[points])

    def pooling(self) -> LevelMap:
        """The map from the points to those of the next coarser level: means over those inside."""
        whole = self.full.pooling()
        return _restricted(whole, self._coarser(whole), self.inside)

    def unpooling(self) -> LevelMap:
        """The map to the points from those of the next coarser level.

        All sources of a point inside are inside, as it is pooled to them.
        """
        whole = self.full.unpooling()
        return _restricted(whole, self.inside, self._coarser(self.full.pooling()))

    def _coarser(self, pooling: LevelMap) -> Indices:
        """(all coarser points,) number of each among those inside; -1 outside."""
        pooled = np.logical_or.reduceat(self.inside[pooling.indices] >= 0, pooling.indptr[:-1])
        return _numbers(np.flatnonzero(pooled), len(pooled))

    def probes(self) -> Indices:
        """Points where the effective metric is measured.

        On a lattice the first of those farthest from all pixels outside and, where it is open, from
        the sides, counted in steps to any of the nearest pixels around; elsewhere all of them.
        """
        if not isinstance(self.full, Lattice):
            return np.arange(self.num_points)
        if self.whole().all():
            return self.full.probes()
        return np.searchsorted(self.places, [int(self.depth.argmax())])

    @cached_property
    def depth(self) -> Indices:
        """(all pixels,) steps to the nearest one not wholly inside, diagonal ones too; 0 of these.

        Pixels beyond the sides of an open lattice are outside.
        """
        from scipy.ndimage import distance_transform_cdt  # slow to import, builds do without

        shape = self.full.shape if isinstance(self.full, Lattice) else (self.full.num_points,)
        inside = self.whole().reshape(shape)
        around = shape if self.periodic else (1,) * len(shape)
        widths = [(n, n) for n in around]
        wide = np.pad(inside, widths, "wrap" if self.periodic else "constant")
        steps = distance_transform_cdt(wide, "chessboard")
        own = tuple(slice(n, n + side) for n, side in zip(around, shape, strict=True))
        return np.asarray(steps[own]).ravel()

    def whole(self) -> npt.NDArray[np.bool_]:
        """(all points,) which are inside."""
        return self.inside >= 0

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


def _numbers(places: Indices, count: int) -> Indices:
    """(count,) number of each point among those at some places, (N,); -1 elsewhere."""
    numbers = np.full(count, -1)
    numbers[places] = np.arange(len(places))
    return numbers


def _restricted(whole: LevelMap, rows: Indices, columns: Indices) -> LevelMap:
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
    return LevelMap.means(row[kept], column[kept], whole.data[kept], shape)
