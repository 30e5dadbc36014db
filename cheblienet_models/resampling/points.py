"""The points of a level on the sphere, and about them the ones that its mask left out."""

import numpy as np

from cheblienet_graphs.samplings.given_tables import PointArrays
from cheblienet_graphs.samplings.maps import nearest
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.points import unit_vectors
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_graphs.typing import Flags, Floats

GAP = 1.5
"""Distance from its nearest point, in roots of that point's area, beyond which a place is in the
void, where the full sampling is not known."""


def sampling_of(stored: LevelFolder) -> Sampling:
    """The points of a level on the sphere among all.

    Where points outside a mask are not known, among rings in the void.
    """
    known = stored.sampling
    if known.places is not None or stored.base_index is None:
        return known
    share = 4 * np.pi / stored.spec.full_points(stored.level)
    count = known.num_points
    areas = stored.area[:count].astype(np.float64) * share
    every = np.concatenate([known.base_points, _void(known.base_points, areas)])
    spec = stored.spec.with_points({stored.level: PointArrays(every, None)})
    return MaskedSampling(spec.full_sampling(stored.level), np.arange(count))


def _void(points: Floats, areas: Floats) -> Floats:
    """(k, 3) rings of points, as dense as the points inside (n, 3), where these are far.

    Args:
        points: (n, 3) unit vectors.
        areas: (n,) of their cells, steradians.
    """
    spacing = float(np.sqrt(areas.mean()))
    circles = max(2, round(np.pi / spacing))
    beta = (np.arange(circles) + 0.5) * np.pi / circles
    counts = np.maximum(3, np.rint(2 * np.pi * np.sin(beta) / spacing).astype(np.int64))
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    rings = unit_vectors(np.repeat(beta, counts), place * np.repeat(2 * np.pi / counts, counts))
    near = nearest(points, rings)
    distance = np.arccos((rings * points[near]).sum(1).clip(-1, 1))
    is_far: Flags = distance > GAP * np.sqrt(areas[near])
    return rings[is_far]
