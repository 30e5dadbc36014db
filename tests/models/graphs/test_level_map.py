"""Maps between levels as sources and weights."""

import numpy as np

from cheblienet_models import (
    LevelMap,
)
from cheblienet_models.store.csr import CsrArrays


def test_ragged_maps_are_padded() -> None:
    """Rows of unequal length, as at the pentagons of an icosphere."""
    indptr, indices = np.array([0, 3, 3 + 1], np.int32), np.array([0, 2, 3, 1], np.int32)
    data = np.array([0.5, 0.25, 0.25, 1], np.float32)
    level_map = LevelMap((list, ()), CsrArrays((2, 4), indptr, indices, data))
    assert level_map.sources.tolist() == [[0, 2, 3], [1, 1, 1]]
    assert level_map.weights.tolist() == [[0.5, 0.25, 0.25], [1, 0, 0]]
