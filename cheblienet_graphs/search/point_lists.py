"""Neighbors of points that are given as an array: the engines of builds without a store.

Where no orientations lie over them, a tree alone finds the nearest. Distances on the base are then
the manifold's: chords on the sphere, which grow as arcs do, Euclidean ones elsewhere, on a torus to
the nearest image.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import KDTree

from cheblienet_graphs import limits
from cheblienet_graphs.errors import SpecError, Unquoted
from cheblienet_graphs.limits import integer
from cheblienet_graphs.machine.threads import threads_each
from cheblienet_graphs.search.choice import Choice, choose
from cheblienet_graphs.search.nearest import Shells
from cheblienet_graphs.search.neighbor_lists import SLACK, nearest_images, search_of
from cheblienet_graphs.search.point_columns import placed_points
from cheblienet_graphs.search.positions import Cloud, PlacedPoints, first_of_each, runs
from cheblienet_graphs.typing import Floats, Indices

CLOSE = 1e-6
"""Chords below this lose digits to the rounding of unit vectors."""
FAR = 1.0
"""Arcs of chords above this are measured anew, as arcsin loses digits toward 1."""
MOST_OVER_ONE = 4096
"""Most points over one place of the base: a search by places compares each two of them."""
QUERIES_AT_ONCE = 2**16
"""Number of points in one query of a tree; between queries Ctrl-C is heard."""


@dataclass(frozen=True)
class Pairs:
    """Points with the images that each of them lists.

    Args:
        cloud: of both.
        images: (N, K) the nearest first, -1 where there is none.
    """

    cloud: Cloud
    images: Indices

    @cached_property
    def others(self) -> Indices:
        """(N, K) the points that are listed, N where none is, or where it is the point itself."""
        count = self.cloud.points
        listed = np.where(self.images < 0, count, self.cloud.source[self.images])
        listed[listed == np.arange(count)[:, None]] = count
        return listed

    @cached_property
    def first(self) -> npt.NDArray[np.bool_]:
        """(N, K) whether another point is listed for the first time, by its nearest image."""
        listed = self.others < self.cloud.points
        if not self.cloud.periods:
            return listed
        order = np.argsort(self.others, axis=1, kind="stable")
        return first_of_each(self.others, order) & listed


def listed_pairs(points: PlacedPoints, choice: Choice, shells: Shells) -> Pairs:
    """The points that each point lists; on a torus among as many images as are within reach.

    Args:
        points: placed on their manifold.
        choice: the engine, "pruned" or "keops", and its device.
        shells: which of the nearest.

    Raises:
        SpecError: these are too many, or so are points over one place.
    """
    if points.manifold.oriented and choice.engine == "pruned" and len(points) > MOST_OVER_ONE:
        order, leader = runs(points.base)
        most = int((np.arange(len(order)) - leader).max()) + 1
        if most > MOST_OVER_ONE:
            accepted = f"at most {MOST_OVER_ONE:,} over one place with the engine pruned"
            found = Unquoted(f"{most:,} that coincide but for their orientations")
            remedy = "Leave some out, or use `engine='keops'`."
            raise SpecError("points", accepted, found, remedy)
    reach = points.likely_reach((shells.count + 1) / points.metric.eps)
    images = np.empty((len(points), shells.count), np.int64)
    while True:
        cloud, farthest = points.cloud(reach), 0.0
        given = search_of(choice, cloud), choice.engine, shells, 0, len(points)
        for first, (nearest,), within in nearest_images(*given):
            images[first : first + len(nearest)] = nearest
            farthest = max(farthest, within)
        if not cloud.periods or farthest * (1 + SLACK) < reach**2:
            return Pairs(cloud, images)
        reach = min(2 * reach, farthest**0.5 * (1 + SLACK)) if farthest > 0 else 2 * reach


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

    Distances are the same as in builds: great circles on "s2", Euclidean ones on "r2" and "r3",
    lengths of logarithms under R = diag(1, eps^-2, xi^2) on "se2", "so3" and "r3s2". Lists are not
    made mutual, as graphs are, and points may coincide. Of points that are equally far, up to
    rounding, any may be the last one.

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

    Example:
        >>> north = [[60.2, 24.9], [59.3, 18.1], [59.9, 10.8]]
        >>> indices, squared = nearest_neighbors(north, 1, manifold="s2", units="degrees")
        >>> indices.ravel().tolist()
        [1, 0, 1]
    """
    given = {"eps": eps, "xi": xi, "period": period, "periodic": periodic, "units": units}
    placed = placed_points(points, manifold=manifold, **given)
    most = min(len(placed) - 1, limits.NEIGHBORS.high)
    count = integer("k", k, limits.NEIGHBORS.low, most)
    choice = choose("random", engine, device)
    by_tree = engine == "auto" and device != "cuda" and not placed.manifold.oriented
    # Copies beyond the first K + 1 are nobody's neighbors, and have the neighbors of the last of
    # these.
    few, kept, places = placed.thinned(count + 1)
    found = nearest_by_tree(few, count) if by_tree else None
    nearest, squared = found or _nearest_by_engine(few, count, choice)
    if len(kept) == len(placed):
        return nearest, squared
    return kept[nearest][places], squared[places]


def _nearest_by_engine(points: PlacedPoints, count: int, choice: Choice) -> tuple[Indices, Floats]:
    """Neighbors as of `nearest_by_tree`, on any manifold."""
    width = count
    pairs = listed_pairs(points, choice, Shells(width, None))
    while pairs.first.sum(axis=1).min() < count:  # several images of few points are listed
        width *= 2
        pairs = listed_pairs(points, choice, Shells(width, None))
    kept = pairs.first & (pairs.first.cumsum(axis=1) <= count)
    rows = np.nonzero(kept)[0]
    columns = pairs.others[kept]
    squared = pairs.cloud.squared_distances(rows, columns)
    columns, squared = columns.reshape(-1, count), squared.reshape(-1, count)
    order = np.lexsort((columns, squared), axis=1)
    return np.take_along_axis(columns, order, 1), np.take_along_axis(squared, order, 1)


def nearest_by_tree(points: PlacedPoints, count: int) -> tuple[Indices, Floats] | None:
    """The others that are nearest to each point, and d^2, nearest first, equal ones by number.

    Args:
        points: of a manifold without orientations.
        count: K, less than the number of points.

    Returns:
        (N, K) and (N, K); None where points of a sphere are too close for chords.
    """
    flat = points.manifold.base.flat
    tree = KDTree(points.base, balanced_tree=False, boxsize=points.periods)
    chords, images = _without_self(*_listed(tree, count + 1))
    if flat:
        return _ordered(images, chords * chords)
    if chords[:, 0].min() < CLOSE:
        return None
    squared = np.square(2 * np.arcsin(np.minimum(chords / 2, 1)))
    far = chords > FAR
    if far.any():
        pairs = np.nonzero(far)[0], images[far]
        squared[far] = points.cloud().squared_distances(*pairs)
    return _ordered(images, squared)


def _listed(tree: KDTree, count: int) -> tuple[Floats, Indices]:
    """(N, count) distances and numbers of the nearest points of a tree's own ones.

    They are asked for leaf by leaf, so that what one of them reads serves the next.
    """
    threads = threads_each("pruned", processes=1)
    place = np.argsort(tree.indices)
    blocks = np.split(tree.indices, range(QUERIES_AT_ONCE, tree.n, QUERIES_AT_ONCE))
    found = [tree.query(tree.data[block], count, workers=threads) for block in blocks]
    chords, images = (np.concatenate(parts)[place] for parts in zip(*found, strict=True))
    return chords, images


def _without_self(chords: Floats, images: Indices) -> tuple[Floats, Indices]:
    """(N, K) of (N, K + 1): others alone; the last one goes where a point is not in its list."""
    own = np.arange(len(images))
    if (images[:, 0] == own).all():
        return chords[:, 1:], images[:, 1:]
    place = (images == own[:, None]).argmax(axis=1)
    place[images[own, place] != own] = images.shape[1] - 1
    kept = np.ones(images.shape, bool)
    kept[own, place] = False
    shape = len(images), -1
    return chords[kept].reshape(shape), images[kept].reshape(shape)


def _ordered(images: Indices, squared: Floats) -> tuple[Indices, Floats]:
    """Rows by (d^2, number); they are by d^2 already, except where these are equal to rounding."""
    rows = np.flatnonzero((squared[:, 1:] <= squared[:, :-1]).any(axis=1))
    images, squared = np.ascontiguousarray(images), np.ascontiguousarray(squared)
    order = np.lexsort((images[rows], squared[rows]), axis=1)
    images[rows] = np.take_along_axis(images[rows], order, 1)
    squared[rows] = np.take_along_axis(squared[rows], order, 1)
    return images, squared
