"""The graph Laplacian, assembled in row blocks.

Every function here takes the rows of one block and returns the same bytes whatever the block: sums
run over a row's values in ascending order, so they depend neither on the order of the vertices nor
on how the rows were cut.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.neighbours import Floats, Indices


@dataclass(frozen=True)
class RowBlock:
    """Consecutive rows of a matrix in CSR form, in memory.

    Args:
        start, stop: the rows.
        indptr: (stop - start + 1,) row pointers, counted from the block's first entry.
        columns: (nnz,) ascending in each row.
    """

    start: int
    stop: int
    indptr: Indices
    columns: Indices

    @cached_property
    def rows(self) -> Indices:
        """(nnz,) row of each entry."""
        return np.repeat(np.arange(self.start, self.stop), np.diff(self.indptr))

    def sums(self, values: Floats) -> Floats:
        """(rows,) sum of each row's values, whatever their order, to the last bit."""
        degrees = np.diff(self.indptr)
        padded = np.zeros((len(degrees), int(degrees.max(initial=0))))
        padded[np.arange(padded.shape[1]) < degrees[:, None]] = values
        padded.sort(axis=1)
        total = np.zeros(len(degrees))
        for column in padded.T:
            total += column
        return total


class EdgeWeights(Protocol):
    """Weights that are no function of distance alone."""

    @property
    def bandwidth(self) -> float | None:
        """The kernel's t that they are nearest to; None where there is none."""

    @property
    def dropped_edges(self) -> int:
        """How many edges were left out because their weight came out 0."""

    def weights(self, block: RowBlock) -> Floats:
        """(nnz,) weights of the entries of some rows, 0 on the diagonal; symmetric to the bit."""


def with_diagonal(start: int, degrees: Indices, columns: Indices) -> RowBlock:
    """The rows of neighbours with each vertex itself put in its place.

    Args:
        start: the first vertex.
        degrees: (rows,) number of neighbours.
        columns: (sum of degrees,) neighbours, ascending in each row.
    """
    vertices = np.arange(start, start + len(degrees))
    indptr = np.concatenate([[0], np.cumsum(degrees + 1)])
    before = np.concatenate([[0], np.cumsum(columns < np.repeat(vertices, degrees))])
    ends = np.concatenate([[0], np.cumsum(degrees)])
    diagonal = indptr[:-1] + before[ends[1:]] - before[ends[:-1]]
    merged = np.empty(indptr[-1], np.int64)
    is_neighbour = np.ones(len(merged), bool)
    is_neighbour[diagonal] = False
    merged[diagonal] = vertices
    merged[is_neighbour] = columns
    return RowBlock(start, start + len(degrees), indptr, merged)


def inverse_root(mass: Floats) -> Floats:
    """N^-1/2, and 0 where N is 0, as the degree of isolated vertices is."""
    with np.errstate(divide="ignore"):
        return np.where(mass > 0, 1 / np.sqrt(mass), 0.0)


def laplacian(
    block: RowBlock, weights: Floats, degree: Floats, inverse_root_mass: Floats
) -> Floats:
    """Entries of Delta = N^-1/2 (D - W) N^-1/2; rows of isolated vertices are 0.

    Args:
        block: the rows.
        weights: (nnz,) edge weights, 0 on the diagonal.
        degree: (V,) D.
        inverse_root_mass: (V,) N^-1/2: of the degrees for the normalized Laplacian, so that it is
            I - D^-1/2 W D^-1/2, of the areas for the combinatorial one.
    """
    rows = block.rows
    # One product of both factors, so that the two directions of an edge agree to the last bit.
    values = -weights * (inverse_root_mass[rows] * inverse_root_mass[block.columns])
    own = slice(block.start, block.stop)
    values[rows == block.columns] = degree[own] * inverse_root_mass[own] ** 2
    return values


def rescaled(
    values: npt.NDArray[np.float32], diagonal: npt.NDArray[np.bool_], lambda_max: float
) -> Floats:
    """Entries of 2 Delta / lambda_max - I from those of Delta.

    Args:
        values: (nnz,) entries of Delta.
        diagonal: (nnz,) which of them are on the diagonal.
        lambda_max: the scale.
    """
    scaled = values.astype(np.float64) * (2 / lambda_max)
    scaled[diagonal] -= 1
    return scaled
