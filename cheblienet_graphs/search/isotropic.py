"""The nearest of given points by a tree alone, where no orientations lie over them.

Distances on the base are then those of the manifold: chords on the sphere, which grow as arcs do,
Euclidean ones elsewhere, on a torus to the nearest image.
"""

import numpy as np
from scipy.spatial import KDTree

from cheblienet_graphs.machine.threads import threads_each
from cheblienet_graphs.search.point_columns import PlacedPoints
from cheblienet_graphs.typing import Floats, Indices

CLOSE = 1e-6
"""Chords below this lose digits to the rounding of unit vectors."""
SCATTERED = 8
"""Points in no order jump so many times as far as those of a leaf."""
SAMPLED = 1000
"""Of which so many are looked at."""
FAR = 1.0
"""Arcs of chords above this are measured anew, as arcsin loses digits toward 1."""


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
        squared[far] = points.squared_distances(*pairs, np.zeros((len(pairs[0]), 3)))
    return _ordered(images, squared)


def _listed(tree: KDTree, count: int) -> tuple[Floats, Indices]:
    """(N, count) distances and numbers of the nearest points of a tree's own ones.

    Those in no order are asked for leaf by leaf, so that what one of them reads serves the next.
    """
    threads = threads_each("pruned", processes=1)
    some = np.arange(0, tree.n - 1, max(1, tree.n // SAMPLED))
    if _jump(tree, some, some + 1) < SCATTERED * _jump(tree, *tree.indices[[some, some + 1]]):
        listed: tuple[Floats, Indices] = tree.query(tree.data, count, workers=threads)
        return listed
    place = np.argsort(tree.indices)
    chords, images = tree.query(tree.data[tree.indices], count, workers=threads)
    return chords[place], images[place]


def _jump(tree: KDTree, start: Indices, end: Indices) -> float:
    """Mean distance along one axis between points."""
    return float(abs(tree.data[end, 0] - tree.data[start, 0]).mean())


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
    """Rows by (d^2, number); they are by d^2 but for those that are equal to rounding."""
    rows = np.flatnonzero((squared[:, 1:] <= squared[:, :-1]).any(axis=1))
    images, squared = np.ascontiguousarray(images), np.ascontiguousarray(squared)
    order = np.lexsort((images[rows], squared[rows]), axis=1)
    images[rows] = np.take_along_axis(images[rows], order, 1)
    squared[rows] = np.take_along_axis(squared[rows], order, 1)
    return images, squared
