"""Measurements on a stored matrix: components, symmetries, weights."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.sparse import ENTRIES, row_blocks, rows
from cheblienet_graphs.store.mapped import MappedWeights
from cheblienet_graphs.typing import Indices


def components(laplacian: scipy.sparse.csr_array, *, entries: int = ENTRIES) -> int:
    """Connected components; an isolated vertex is one.

    Each set of vertices known to be connected is a tree whose root is its first vertex; the edges
    of each block of rows join trees.

    Args:
        laplacian: (V, V), whose stored entries are the edges; possibly over mapped files.
        entries: stored entries of a block.
    """
    parent = np.arange(laplacian.shape[0])
    numbers = np.empty_like(parent)
    for start, stop in row_blocks(laplacian.indptr, entries):
        block = rows(laplacian, start, stop)
        first = np.repeat(_roots(parent, np.arange(start, stop)), np.diff(block.indptr))
        second = _roots(parent, block.indices)
        joined = np.flatnonzero(first != second)
        if len(joined):
            _join(parent, first[joined], second[joined], numbers)
    return int((parent == np.arange(len(parent))).sum())


def _roots(parent: Indices, vertices: npt.NDArray[Any]) -> Indices:
    """The roots of vertices' trees; the vertices then point to them directly."""
    roots: Indices = parent[vertices]
    while not np.array_equal(further := parent[roots], roots):
        roots = further
    parent[vertices] = roots
    return roots


def _join(parent: Indices, first: Indices, second: Indices, numbers: Indices) -> None:
    """Join the trees that these edges connect: roots point to the first root among them.

    Args:
        parent: (V,) of each vertex.
        first: (N,) roots at one end.
        second: (N,) those at the other.
        numbers: (V,) overwritten, to number the roots without sorting them.
    """
    from scipy.sparse.csgraph import connected_components  # slow to import, most builds do without

    ends = np.concatenate([first, second])
    count = np.arange(len(ends))
    numbers[ends] = count
    roots = ends[numbers[ends] == count]  # each once
    numbers[roots] = count[: len(roots)]
    place = numbers[first], numbers[second]
    shape = (len(roots), len(roots))
    edges = scipy.sparse.coo_array((np.ones(len(first)), place), shape=shape)
    parts, labels = connected_components(edges, directed=False)
    least = np.full(parts, len(parent))
    np.minimum.at(least, labels, roots)
    parent[roots] = least[labels]


def equivariance_errors(
    rescaled: scipy.sparse.csr_array, sampling: Sampling, *, entries: int = ENTRIES
) -> dict[str, float]:
    """Max |P' L P - L| over the entries, for each symmetry P of the sampling, by its name.

    Args:
        rescaled: (V, V) L, possibly over mapped files.
        sampling: with its symmetries.
        entries: stored entries of a block of rows.
    """
    errors = {}
    for name, permutation in sampling.symmetries():
        inverse = np.empty(len(permutation), rescaled.indices.dtype)
        inverse[permutation] = np.arange(len(permutation), dtype=inverse.dtype)
        error = 0.0
        for start, stop in row_blocks(rescaled.indptr, entries):
            images = rescaled[permutation[start:stop]]
            parts = (images.data, inverse[images.indices], images.indptr)
            moved = scipy.sparse.csr_array(parts, shape=images.shape)
            moved.sort_indices()
            error = max(error, _largest_difference(moved, rows(rescaled, start, stop)))
        errors[name] = error
    return errors


def _largest_difference(a: scipy.sparse.csr_array, b: scipy.sparse.csr_array) -> float:
    """Max |A - B| of matrices whose columns ascend in each row."""
    if np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices):
        return float(abs(a.data - b.data).max(initial=0))
    return float(abs(a - b).max())


def weight_statistics(weights: MappedWeights, *, entries: int = ENTRIES) -> dict[str, float]:
    """The smallest, median and largest weight of the edges, exactly; none where there are none.

    Args:
        weights: W, symmetric: each edge counts once, which halves the memory.
        entries: stored entries of a block of rows.
    """
    laplacian = weights.laplacian
    known = np.empty((laplacian.nnz - laplacian.shape[0]) // 2)
    count = 0
    for start, stop in row_blocks(laplacian.indptr, entries):
        block = weights.rows(np.arange(start, stop))
        row = np.repeat(np.arange(start, stop), np.diff(block.indptr))
        once = block.data[block.indices > row]
        known[count : count + len(once)] = once
        count += len(once)
    least, most = float(known.min()), float(known.max())
    return {"min": least, "median": float(np.median(known, overwrite_input=True)), "max": most}
