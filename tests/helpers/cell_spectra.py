"""Weights of Voronoi cells as a matrix, and the first eigenvalues of its Laplacian."""

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import eigsh

from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.weights.cells import voronoi_entries


def cell_weights(sampling: Sampling) -> scipy.sparse.csr_array:
    rows, columns, values = voronoi_entries(sampling)
    shape = (sampling.num_points,) * 2
    return scipy.sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()


def first_eigenvalues(sampling: Sampling, count: int) -> np.ndarray:
    """Those of D - W, masses being areas."""
    weights, root = cell_weights(sampling), scipy.sparse.diags_array(sampling.areas() ** -0.5)
    laplacian = scipy.sparse.diags_array(weights.sum(axis=1)) - weights
    scaled = (root @ laplacian @ root).tocsc()
    start = np.ones(sampling.num_points)
    return np.sort(eigsh(scaled, count, sigma=-0.5, v0=start, return_eigenvectors=False))
