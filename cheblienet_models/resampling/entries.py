"""Entries of sparse matrices between points and pixels, and these as CSR."""

from typing import Literal, NamedTuple

import numpy as np
import torch

from cheblienet_models.resampling.grids import Flags, Floats, Indices
from cheblienet_models.tensors import Csr

Direction = Literal["to points", "to grid"]


class Entries(NamedTuple):
    """Entries (nnz,) of a matrix, those of the same place to be added."""

    rows: Indices
    columns: Indices
    values: Floats

    def transposed(self) -> "Entries":
        """Of the transpose."""
        return Entries(self.columns, self.rows, self.values)

    def kept(self, which: Flags) -> "Entries":
        """Some of the entries, (nnz,) flags."""
        return Entries(self.rows[which], self.columns[which], self.values[which])

    def averages(self, targets: int) -> "Entries":
        """With the rows divided by their sums; a matrix of so many rows."""
        sums = np.bincount(self.rows, self.values, targets)
        kept = self.kept(sums[self.rows] > 0)
        return kept._replace(values=kept.values / sums[kept.rows])

    def summed(self, columns: int) -> "Entries":
        """With each place once, row by row; of a matrix of so many columns."""
        places, which = np.unique(self.rows * columns + self.columns, return_inverse=True)
        sums: Floats = np.bincount(which, self.values, len(places)).astype(np.float64)
        return Entries(*np.divmod(places, columns), sums)

    def csr(self, shape: tuple[int, int]) -> Csr:
        """The matrix, without its zeros."""
        once = self.summed(shape[1])
        rows, columns, values = once.kept(once.values != 0)
        pointers = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int32)
        parts = pointers, columns.astype(np.int32), values.astype(np.float32)
        return Csr._make(map(torch.from_numpy, parts))
