"""The sampling of a stored level, from its arrays where the specification does not make it."""

import numpy as np

from cheblienet_graphs.samplings.point_sets import PointArrays
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.spec.sampling import sampling
from cheblienet_graphs.store.reader import LevelArrays


def stored_sampling(arrays: LevelArrays) -> Sampling:
    """The sampling of a level; points of one's own come from its coordinates and areas.

    These are those of the build up to rounding: areas are stored in float32, and points of the
    sphere as angles.

    Raises:
        StoreError: an array can't be read, or isn't of the shape that the facts imply.
    """
    spec, level = arrays.facts.spec, arrays.level
    if spec.coordinates is None:
        return sampling(spec, level)
    points = spec.base_points(level)
    base, area = arrays.coordinates[:points], arrays.area[:points].astype(np.float64)
    if spec.geometry.base.flat:
        places = np.array(base[:, :2])
    else:
        beta, gamma = base[:, -2:].T
        across = np.sin(beta)
        places = np.stack([across * np.cos(gamma), across * np.sin(gamma), np.cos(beta)], axis=1)
    known = PointArrays(places, area / area.mean())
    return sampling(spec.with_points({level: known}), level)
