"""Norms of gradients: bounds by which layers divide, and rows that amplify noise too much."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse

from cheblienet_graphs.sparse import row_blocks, rows
from cheblienet_graphs.typing import Floats, Indices

STEEP = 6.0
"""Norms of rows, in units of the spacing, beyond which noise is amplified too much."""


class Norms(NamedTuple):
    """Norms of the gradients of a level.

    Args:
        fields: bounds of the spectral norm of each, per unit of length or radian: the root of the
            largest sum of |entries| in a row times that in a column.
        largest: the largest norm of a row, in units of the points' spacing or, along the fiber, of
            its step.
    """

    fields: list[float]
    largest: float


def norms(matrix: scipy.sparse.csr_array, spacings: Floats) -> Norms:
    """Those of the matrices of all fields, (fields V, V), one below the other.

    Args:
        matrix: possibly mapped.
        spacings: (fields,) as `source.units` gives them.
    """
    columns = np.zeros((len(spacings), matrix.shape[1]))
    most, largest = np.zeros(len(spacings)), 0.0
    for _, field, block in _blocks(matrix):
        most[field] = max(most[field], float(block.sum(axis=1).max()))
        columns[field] += block.sum(axis=0)
        largest = max(largest, float(_row_norms(block).max()) * spacings[field])
    return Norms(np.sqrt(most * columns.max(axis=1)).tolist(), largest)


def steep_vertices(matrix: scipy.sparse.csr_array, spacings: Floats) -> tuple[Indices, float]:
    """(N,) vertices with rows of larger norm than STEEP, the steepest first; the largest norm."""
    vertices, largest = matrix.shape[1], np.zeros(matrix.shape[1])
    for start, field, block in _blocks(matrix):
        own = slice(start % vertices, start % vertices + block.shape[0])
        largest[own] = np.maximum(largest[own], _row_norms(block) * spacings[field])
    steep = np.flatnonzero(largest > STEEP)
    return steep[np.argsort(-largest[steep], kind="stable")], float(largest.max())


def _row_norms(block: scipy.sparse.csr_array) -> Floats:
    squares: Floats = (block * block).sum(axis=1)
    return np.sqrt(squares)


def _blocks(
    matrix: scipy.sparse.csr_array,
) -> Iterator[tuple[int, int, scipy.sparse.csr_array]]:
    """First row, field and |entries| of some rows after others, of one field each."""
    vertices = matrix.shape[1]
    for number in range(matrix.shape[0] // vertices):
        first = number * vertices
        for start, stop in row_blocks(matrix.indptr[first : first + vertices + 1]):
            block = rows(matrix, first + start, first + stop)
            yield first + start, number, abs(block.astype(np.float64))
