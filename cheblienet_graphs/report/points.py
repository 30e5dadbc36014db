"""The points of a published level."""

import numpy as np

from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.point_sets import PointArrays
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.store.reader import LevelArrays


def points_of(arrays: LevelArrays) -> Sampling:
    """The sampling of a level, those of its points that are inside where it has a mask.

    Points of one's own come from its coordinates and areas: they are those of the build up to
    rounding, as areas are stored in float32, and points of the sphere as angles.

    Raises:
        StoreError: an array can't be read, or isn't of the shape that the facts imply.
    """
    spec, level = arrays.facts.spec, arrays.level
    if spec.coordinates is not None:
        return _own_points(arrays)
    full, places = spec.full_sampling(level), arrays.base_index
    return full if places is None else MaskedSampling(full, places)


def _own_points(arrays: LevelArrays) -> Sampling:
    """Points of one's own; without those outside a mask, which are not stored."""
    spec, level = arrays.facts.spec, arrays.level
    points = spec.base_points(level)
    base, area = arrays.coordinates[:points], arrays.area[:points].astype(np.float64)
    if spec.geometry.base.flat:
        places = np.array(base[:, :2])
    else:
        beta, gamma = base[:, -2:].T
        across = np.sin(beta)
        places = np.stack([across * np.cos(gamma), across * np.sin(gamma), np.cos(beta)], axis=1)
    known = PointArrays(places, area / area.mean())
    return spec.with_points({level: known}).full_sampling(level)
