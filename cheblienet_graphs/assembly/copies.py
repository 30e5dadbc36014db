"""Rows of a whole lattice: computed on a small one, and written down for the large one."""

import itertools
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.gradients.fields import Valued, field_rows
from cheblienet_graphs.gradients.lattice import WINDOW, LatticeGradient
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.search.small_lattice import SmallLattice
from cheblienet_graphs.sparse import RowBlock, rows
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.staged import cut
from cheblienet_graphs.typing import Indices

KEPT_LINES = 4
MARGIN = WINDOW + 1
"""Distance from a side, in pixels, within which rows are not copied: one-sided rows reach
WINDOW."""
PARTS = (layout.FIELDS, layout.SYMMETRIC)
ROWS_AT_ONCE = 2**16
"""Rows of which entries are looked through together."""
Ends = npt.NDArray[np.signedinteger[Any]]
"""(rows + 1,) where each row begins, and where the last one ends."""


class Entries(NamedTuple):
    """The entries of some rows.

    Args:
        columns: (nnz,) ascending in each row.
        values: (nnz,) of the Laplacian.
        in_plane: how many keep the orientation, the diagonal left out.
    """

    columns: npt.NDArray[np.signedinteger[Any]]
    values: npt.NDArray[np.floating[Any]]
    in_plane: int


class CopiedRows:
    """Rows of a matrix on a lattice, copied from a small lattice.

    Args:
        small: the small lattice.
        block: all rows there.
        values: (nnz,) float32.
    """

    def __init__(
        self, small: SmallLattice, block: RowBlock, values: npt.NDArray[np.floating[Any]]
    ) -> None:
        self._small, self.block, self._values = small, block, values
        self._counts = np.diff(block.indptr)
        self._points = small.lattice.num_points
        self._along = small.vertices(0)
        self._small_width = small.lattice.width
        self._line = lru_cache(KEPT_LINES)(self._made_line)

    def counts(self, start: int, stop: int) -> Indices:
        """(stop - start,) entries of each row of whole lines."""
        return self._counts[self._small.vertices(self._small.like(start, stop)).ravel()]

    def entries(self, start: int, ends: Ends) -> Entries:
        """The entries of whole lines; see `Rows.entries`."""
        width = self._small.width
        starts = ends[::width] - ends[0]
        columns = np.empty(int(starts[-1]), ends.dtype)
        values = np.empty(len(columns), np.float32)
        kinds = self._small.like(start, start + len(ends) - 1)
        first = np.flatnonzero(np.diff(kinds, prepend=-1))
        in_plane = 0
        for lo, hi in itertools.pairwise([*first.tolist(), len(kinds)]):
            line = self._line(int(kinds[lo]))
            part, shape = slice(int(starts[lo]), int(starts[hi])), (hi - lo, -1)
            offsets = (start + np.arange(lo, hi) * width).astype(columns.dtype)[:, None]
            np.add(offsets, line.columns.astype(columns.dtype), out=columns[part].reshape(shape))
            values[part].reshape(shape)[:] = line.values
            in_plane += (hi - lo) * line.in_plane
        return Entries(columns, values, in_plane)

    @cached_property
    def _steps(self) -> Indices:
        return self._small.steps(self.block.rows, self.block.columns)

    def _made_line(self, small: int) -> Entries:
        """Rows of a line of the small lattice, columns counted from the line's first vertex.

        The last ones are kept, as most blocks have few of them.
        """
        vertices = small * self._small_width + self._along
        block = self.block
        starts, counts = block.indptr[vertices], self._counts[vertices]
        ends = np.cumsum(counts)
        entry = np.arange(ends[-1]) + np.repeat(starts - ends + counts, counts)
        rows = np.repeat(np.arange(len(vertices)), counts)
        points = self._points
        row, column = block.rows[entry] // points, block.columns[entry] // points
        in_plane = int((row == column).sum()) - len(vertices)
        return Entries(self._steps[entry] + rows, self._values[entry], in_plane)


class CopiedGradients:
    """The rows of both matrices of a whole lattice, copied from a small lattice.

    Args:
        lattice: the large one.
        turned: whether fields turn with the orientation.

    Attributes:
        matrix: the fields of the small lattice, which have the same norms.
    """

    def __init__(self, lattice: Lattice, *, turned: bool) -> None:
        small = SmallLattice(lattice, (MARGIN for _ in lattice.shape))
        source = LatticeGradient(small.lattice, small.lattice, lattice.relative / lattice.width)
        pieces = field_rows(source.rows, small.lattice, 0, small.lattice.num_points, turned=turned)
        self.matrix = matrix(pieces, small.lattice.num_vertices)
        every = np.arange(small.lattice.num_vertices)
        sums = [sum_with_transpose(of, every, [every]) for of in by_field(self.matrix)]
        self._lattice, self._small = lattice, small
        self._rows = len(sums) * lattice.num_vertices
        self._copied = {
            part: CopiedRows(small, _block(matrix), matrix.data)
            for part, matrix in zip(PARTS, (self.matrix, scipy.sparse.vstack(sums)), strict=True)
        }

    def entries(self, part: str) -> int:
        """The number of entries on the large lattice."""
        counts = np.diff(self._copied[part].block.indptr)
        return int(counts @ np.resize(self._small.times, len(counts)))

    def of(self, part: str, start: int, stop: int) -> Iterator[Valued]:
        """Rows of a part, layout.FIELDS or layout.SYMMETRIC, over the points of whole lines."""
        lattice = self._lattice
        copied = self._copied[part]
        few = max(1, ROWS_AT_ONCE // lattice.width) * lattice.width
        turns = range(0, self._rows, lattice.num_points)
        for first, last in cut([(turn + start, turn + stop) for turn in turns], few):
            ends = np.append(0, np.cumsum(copied.counts(first, last)))
            entries = copied.entries(first, ends)
            yield RowBlock(first, last, ends, entries.columns), entries.values


def matrix(pieces: Iterable[Valued], vertices: int) -> scipy.sparse.csr_array:
    """(rows, V) all rows, which are in pieces in any order, float32."""
    by_row = sorted(pieces, key=lambda piece: piece[0].start)
    parts = ((np.diff(block.indptr), block.columns, values) for block, values in by_row)
    counts, columns, values = map(np.concatenate, zip(*parts, strict=True))
    entries = values.astype(np.float32), columns, np.append(0, np.cumsum(counts))
    return scipy.sparse.csr_array(entries, shape=(len(counts), vertices))


def by_field(matrix: scipy.sparse.csr_array) -> Iterator[scipy.sparse.csr_array]:
    """The matrix of each field, (V, V), from the matrices of all fields, one below the other."""
    vertices = matrix.shape[1]
    return (rows(matrix, first, first + vertices) for first in range(0, matrix.shape[0], vertices))


def sum_with_transpose(
    matrix: scipy.sparse.csr_array, own: Indices, near: Iterable[Indices]
) -> scipy.sparse.csr_array:
    """(N, V) float64 some rows of G + G^T, without zeros.

    Args:
        matrix: (V, V) G.
        own: (N,) which rows, ascending.
        near: all rows with entries in these columns, some after others, each ascending.
    """
    total = matrix[own].astype(np.float64)
    for some in near:
        turned = matrix[some][:, own].T.tocsr()
        columns = some[turned.indices]
        total += scipy.sparse.csr_array((turned.data, columns, turned.indptr), total.shape)
    total.eliminate_zeros()
    total.sort_indices()
    return total


def _block(matrix: scipy.sparse.csr_array) -> RowBlock:
    """All rows of a matrix."""
    indptr, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    return RowBlock(0, matrix.shape[0], indptr, columns)
