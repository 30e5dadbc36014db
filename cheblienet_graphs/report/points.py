"""The points of a published level."""

from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.spec.sampling import sampling
from cheblienet_graphs.store.reader import LevelArrays


def points_of(arrays: LevelArrays) -> Sampling:
    """The sampling of a level, those of its points that are inside where it has a mask.

    Raises:
        StoreError: the places of the points inside can't be read.
    """
    full, places = sampling(arrays.facts.spec, arrays.level), arrays.base_index
    return full if places is None else MaskedSampling(full, places)
