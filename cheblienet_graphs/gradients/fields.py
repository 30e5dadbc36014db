"""The rows of all fields of a frame, field after field.

On SE(2), with f_x and f_y the derivatives along the base, the left-invariant fields are

    forward  = cos theta f_x + sin theta f_y
    sideways = cos theta f_y - sin theta f_x
    rotation = (f_+ - f_-) m / (2 sin(m step)),  m = 2 pi / period,

the last exact for cos(m theta) and sin(m theta), the lowest modes along the fiber.

Norms of rows show which amplify noise too much.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs import sparse
from cheblienet_graphs.gradients.source import Rows, Source
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.sparse import RowBlock
from cheblienet_graphs.typing import Floats, Indices

ZERO = 1e-15
"""Cosines and sines that are smaller are 0, as they have to be for quarter turns."""
ROUNDING = 1e-12
"""Weights below this share of the largest of their row are 0, or it would depend on the processor
which are stored."""
STEEP = 6.0
"""Norms of rows, in units of the spacing, beyond which noise is amplified too much."""


Valued = tuple[RowBlock, npt.NDArray[np.floating[Any]]]
"""Consecutive rows, and (nnz,) values of their entries, per unit of length or per radian."""


def field_rows(
    source: Source, sampling: Sampling, start: int, stop: int, *, turned: bool
) -> Iterator[Valued]:
    """All rows over some points, field below field.

    Args:
        source: of the base where fields turn with theta; or of the vertices themselves.
        sampling: the vertices.
        start: the first of the points.
        stop: the one after the last.
        turned: whether the source is of the base.
    """
    around = _around if turned else _direct
    for rows in source(start, stop):
        yield from around(sampling, rows)


def _direct(sampling: Sampling, rows: Rows) -> Iterator[Valued]:
    """The rows of each orientation, one after the other."""
    vertices = sampling.num_vertices
    count = len(rows.own) // sampling.orientations
    for field, weights in enumerate(rows.weights):
        for first in range(0, len(rows.own), count):
            own = slice(first, first + count)
            row = field * vertices + int(rows.own[first])
            yield _packed(row, rows.columns[own], weights[own])


def _around(sampling: Sampling, rows: Rows) -> Iterator[Valued]:
    """The rows at each orientation, from rows of the base."""
    fiber, points, vertices = sampling.fiber, sampling.num_points, sampling.num_vertices
    n_o, turns = sampling.orientations, len(fiber.turns)
    step = fiber.step(n_o)
    along_x, along_y = rows.weights
    per_step = turns / (2 * np.sin(turns * step))
    opposite = np.broadcast_to([-per_step, per_step], (len(rows.own), 2))
    for k, (theta,) in enumerate(fiber.samples(n_o)):
        cos, sin = (0.0 if abs(part) < ZERO else part for part in (np.cos(theta), np.sin(theta)))
        first = k * points + int(rows.own[0])
        there = np.where(rows.columns < 0, -1, rows.columns + k * points)
        yield _packed(first, there, cos * along_x + sin * along_y)
        yield _packed(vertices + first, there, cos * along_y - sin * along_x)
        before_and_after = np.array([(k - 1) % n_o, (k + 1) % n_o])
        order = np.argsort(before_and_after)
        columns = rows.own[:, None] + before_and_after[order] * points
        yield _packed(2 * vertices + first, columns, opposite[:, order])


def _packed(row: int, columns: Indices, values: Floats) -> Valued:
    """Rows without missing columns and without values that are 0 but for rounding.

    Args:
        row: the first one.
        columns: (N, w), -1 for none.
        values: (N, w).
    """
    size = np.where(columns >= 0, abs(values), 0)
    kept = size > ROUNDING * size.max(axis=1, initial=0, keepdims=True)
    ends = np.append(0, np.cumsum(kept.sum(axis=1)))
    return RowBlock(row, row + len(kept), ends, columns[kept]), values[kept]


def norms(matrix: scipy.sparse.csr_array, spacings: Floats) -> tuple[list[float], float]:
    """Norms of the gradients of a level, by which changed ones are noticed.

    Args:
        matrix: (fields V, V) of all fields, one below the other; possibly mapped.
        spacings: (fields,) as `source.units` gives them.

    Returns:
        Bounds of the spectral norm of each field, per unit of length or radian: the root of the
        largest sum of |entries| in a row times that in a column. The largest norm of a row, in
        units of the points' spacing or, along the fiber, of its step.
    """
    columns = np.zeros((len(spacings), matrix.shape[1]))
    most = np.zeros(len(spacings))
    largest = 0.0
    for _, field, block in _blocks(matrix):
        most[field] = max(most[field], float(block.sum(axis=1).max()))
        columns[field] += block.sum(axis=0)
        largest = max(largest, float(_row_norms(block).max()) * spacings[field])
    return np.sqrt(most * columns.max(axis=1)).tolist(), largest


def steep_vertices(matrix: scipy.sparse.csr_array, spacings: Floats) -> tuple[Indices, float]:
    """(N,) vertices with rows of larger norm than STEEP, the steepest first; the largest norm."""
    vertices = matrix.shape[1]
    largest = np.zeros(matrix.shape[1])
    for start, field, block in _blocks(matrix):
        own = slice(start % vertices, start % vertices + block.shape[0])
        largest[own] = np.maximum(largest[own], _row_norms(block) * spacings[field])
    steep = np.flatnonzero(largest > STEEP)
    return steep[np.argsort(-largest[steep], kind="stable")], float(largest.max())


def _row_norms(block: scipy.sparse.csr_array) -> Floats:
    squares: Floats = (block * block).sum(axis=1)
    return np.sqrt(squares)


def _blocks(matrix: scipy.sparse.csr_array) -> Iterator[tuple[int, int, scipy.sparse.csr_array]]:
    """First row, field and |entries| of some rows after others, of one field each."""
    vertices = matrix.shape[1]
    for number in range(matrix.shape[0] // vertices):
        first = number * vertices
        for start, stop in sparse.row_blocks(matrix.indptr[first : first + vertices + 1]):
            block = sparse.rows(matrix, first + start, first + stop)
            yield first + start, number, abs(block.astype(np.float64))
