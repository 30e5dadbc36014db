"""Maps between levels as matrices of scipy."""

import numpy as np
from scipy.sparse import csr_matrix

from cheblienet_graphs.csr import Csr


def sparse(level_map: Csr) -> csr_matrix:
    parts = level_map.data, level_map.indices, level_map.indptr
    matrix = csr_matrix(parts, shape=level_map.shape)
    assert matrix.has_canonical_format
    return matrix


def dense(level_map: Csr) -> np.ndarray:
    return sparse(level_map).toarray()
