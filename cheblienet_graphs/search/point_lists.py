"""Neighbors of points that are given as an array: the engines of builds without a store."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs import limits
from cheblienet_graphs.machine.threads import threads_each, torch_threads
from cheblienet_graphs.search.choice import Choice, choose
from cheblienet_graphs.search.cloud import Cloud
from cheblienet_graphs.search.isotropic import nearest_by_tree
from cheblienet_graphs.search.lists import SLACK, search_of
from cheblienet_graphs.search.nearest import Closest, Listing
from cheblienet_graphs.search.point_columns import PlacedPoints, first_of_each, placed_points
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.values import integer


@dataclass(frozen=True)
class Pairs:
    """Points with the images that each of them lists.

    Args:
        points: of both.
        source: (images,) the point that each image is of.
        shifts: (images, b) by which it is moved.
        images: (N, K) the nearest first, -1 where there is none.
    """

    points: PlacedPoints
    source: Indices
    shifts: Floats
    images: Indices

    @cached_property
    def others(self) -> Indices:
        """(N, K) the points that are listed, N where none is, or where it is the point itself."""
        count = len(self.points)
        listed = np.where(self.images < 0, count, self.source[self.images])
        listed[listed == np.arange(count)[:, None]] = count
        return listed

    @cached_property
    def first(self) -> npt.NDArray[np.bool_]:
        """(N, K) whether another point is listed for the first time, by its nearest image."""
        if self.points.periods is None:
            there: npt.NDArray[np.bool_] = self.others < len(self.points)
            return there
        order = np.argsort(self.others, axis=1, kind="stable")
        return first_of_each(self.others, order) & (self.others < len(self.points))

    def chosen(self, which: npt.NDArray[np.bool_]) -> tuple[Indices, Indices, Floats]:
        """Rows, columns and d^2 of some of the listed, (N, K), point after point."""
        rows, columns = np.nonzero(which)[0], self.others[which]
        shifts = self.shifts[self.images[which]]
        return rows, columns, self.points.squared_distances(rows, columns, shifts)


@dataclass(frozen=True)
class PointSearch:
    """Searches among given points, with an engine of builds.

    Args:
        points: placed on their manifold.
        choice: the engine, "pruned" or "keops", and its device.
    """

    points: PlacedPoints
    choice: Choice

    def pairs(self, listing: Listing) -> Pairs:
        """What each point lists; on a torus among as many images as are within reach.

        Raises:
            SpecError: these are too many.
        """
        reach = self._likely_reach(listing.count)
        while True:
            cloud, shifts = self.points.cloud(reach)
            farthest, images = self._listed(cloud, listing)
            if self.points.periods is None or farthest * (1 + SLACK) < reach**2:
                return Pairs(self.points, cloud.source, shifts, images)
            reach = min(2 * reach, farthest**0.5 * (1 + SLACK)) if farthest > 0 else 2 * reach

    def _listed(self, cloud: Cloud, listing: Listing) -> tuple[float, Indices]:
        """The largest d^2 that lists depend on, and (N, K) the images listed."""
        search, count = search_of(self.choice, cloud), len(self.points)
        images = np.empty((count, listing.count), np.int64)
        farthest, step = 0.0, search.points_at_once
        with torch_threads(threads_each(self.choice.engine, processes=1)):
            for start in range(0, count, step):
                stop = min(start + step, count)
                reach, nearest = search.nearest(start, stop, listing)
                images[start:stop] = nearest[0].numpy()
                farthest = max(farthest, float(reach.max()))
        return farthest, images

    def _likely_reach(self, count: int) -> float:
        """Distance on a torus within which so many points are likely."""
        sides = np.array(self.points.periods or (1.0,))
        share = min((count + 1) / self.points.metric.eps / len(self.points), 1.0)
        return float(1.5 * (share * sides.prod()) ** (1 / len(sides)))


def nearest_neighbors(
    points: npt.ArrayLike,
    k: Any,
    *,
    manifold: str,
    eps: Any = None,
    xi: Any = None,
    period: str | None = None,
    periodic: Any = None,
    units: str | None = None,
    engine: str = "auto",
    device: str = "auto",
) -> tuple[Indices, Floats]:
    """The k nearest others of each point, exactly, without a store.

    Distances are those of builds: great circles on "s2", Euclidean ones on "r2" and "r3", lengths
    of logarithms under R = diag(1, eps^-2, xi^2) on "se2", "so3" and "r3s2". Lists are not made
    mutual, as graphs are, and points may coincide. Of points that are equally far, up to rounding,
    any may be the last one.

    Args:
        points: (N, d) numbers: x, y on "r2"; x, y, z on "r3"; x, y, theta on "se2"; latitude,
            longitude on "s2", with the orientation from south toward east on "so3"; x, y, z, nx,
            ny, nz on "r3s2", the axis of any length. N in [2, 2^31 - 1].
        k: in [1, 1024], less than N.
        manifold: "r2", "r3", "se2", "s2", "so3" or "r3s2".
        eps: anisotropy in [0.001, 1] where there are orientations or axes; default sqrt(0.1).
        xi: length that one radian of rotation counts for, in [1e-6, 1e6], in the points' unit; on
            "so3" in radians of arc. Required where there are orientations or axes.
        period: of orientations, "pi" (default), of lines, or "2pi", of arrows.
        periodic: on a flat base the period along each axis, as many numbers; default none.
        units: of angles, "degrees" (default) or "radians". Say it where all angles are so small
            that they could be radians.
        engine: "auto", "pruned" or "keops"; "auto" is scipy's tree alone, on the CPU, where there
            are no orientations, unless the device is "cuda".
        device: "auto", "cpu" or "cuda".

    Returns:
        (N, k) int64 indices of points, the nearest first, and (N, k) float64 squared lengths, in
        squared units of the points, on the sphere in radians^2. On a torus each point counts once,
        by its nearest image. Pairs have the same length in both directions, to the last bit, or to
        rounding where two images tie.

    Raises:
        SpecError: an argument is out of range, or given where it does not apply.
        CheblienetError: KeOps does not work here.
    """
    given = {"eps": eps, "xi": xi, "period": period, "periodic": periodic, "units": units}
    placed = placed_points(points, manifold=manifold, **given)
    most = min(len(placed) - 1, limits.NEIGHBORS.high)
    count = width = integer("k", k, limits.NEIGHBORS.low, most)
    choice = choose("random", engine, device)
    by_tree = engine == "auto" and device != "cuda" and not placed.manifold.oriented
    if by_tree and (found := nearest_by_tree(placed, count)):
        return found
    search = PointSearch(placed, choice)
    pairs = search.pairs(Closest(width))
    while pairs.first.sum(axis=1).min() < count:  # several images of few points are listed
        width *= 2
        pairs = search.pairs(Closest(width))
    kept = pairs.first & (pairs.first.cumsum(axis=1) <= count)
    _, columns, squared = pairs.chosen(kept)
    columns, squared = columns.reshape(-1, count), squared.reshape(-1, count)
    order = np.lexsort((columns, squared), axis=1)
    return np.take_along_axis(columns, order, 1), np.take_along_axis(squared, order, 1)
