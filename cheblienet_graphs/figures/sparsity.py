"""Where the stored entries of a Laplacian are."""

from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.sparse.rows import row_blocks, rows
from cheblienet_graphs.spec.fibres import samples_of
from cheblienet_graphs.typing import Floats

CELLS = 400
"""Most rows and columns of the picture."""


@dataclass(frozen=True)
class Sparsity:
    """The pattern of a Laplacian, as shares of entries that are stored.

    Args:
        density: (C, C) share of stored entries in each cell of the matrix; 0 or 1 where a cell is
            one entry.
        side: rows and columns of a cell; the last ones may have fewer.
        vertices: V, the matrix's rows and columns.
        stored: entries that are stored, the diagonal among them.
        samples: (n_o, f) angles in radians or axes in space, each a block of rows.
    """

    density: Floats
    side: int
    vertices: int
    stored: int
    samples: tuple[tuple[float, ...], ...]

    @property
    def orientations(self) -> int:
        """Blocks of rows, one after the other."""
        return len(self.samples)

    @property
    def zeros(self) -> float:
        """Share of the entries that are not stored."""
        return 1 - self.stored / self.vertices**2


def sparsity_of(graph: OpenedGraph, level: int = 0) -> Sparsity:
    """The pattern of a level's Laplacian, counted block by block.

    Args:
        graph: an opened graph.
        level: of its pyramid.

    Raises:
        SpecError: there is no such level.
        StoreError: the graph can't be read.
    """
    laplacian = graph.level(level).laplacian
    vertices = laplacian.shape[0]
    side = -(-vertices // CELLS)
    cells = -(-vertices // side)
    counts = np.zeros(cells * cells, np.int64)
    for start, stop in row_blocks(laplacian.indptr):
        block = rows(laplacian, start, stop)
        row = np.repeat(np.arange(start, stop), np.diff(block.indptr)) // side
        column = block.indices.astype(np.int64) // side
        counts += np.bincount(row * cells + column, minlength=cells * cells)
    sizes = np.bincount(np.arange(vertices) // side)
    density = counts.reshape(cells, cells) / np.outer(sizes, sizes)
    return Sparsity(density, side, vertices, laplacian.nnz, samples_of(graph.spec))
