"""Entries of sparse matrices between points and pixels, and these as CSR."""

from typing import Literal, NamedTuple

import numpy as np
import torch

from cheblienet_models.resampling.grids import Flags, Floats, Indices, Pixels
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

    def with_rows_reversed(self, direction: Direction, grid: Pixels) -> "Entries":
        """With the image's rows in descending order."""
        pixels = self.columns if direction == "to points" else self.rows
        row, column = np.divmod(pixels, grid.columns)
        pixels = (len(grid.latitudes) - 1 - row) * grid.columns + column
        if direction == "to points":
            return self._replace(columns=pixels)
        return self._replace(rows=pixels)

    def csr(self, shape: tuple[int, int]) -> Csr:
        """The matrix, without its zeros."""
        places, which = np.unique(self.rows * shape[1] + self.columns, return_inverse=True)
        values = np.bincount(which, self.values, len(places))
        places, values = places[values != 0], values[values != 0]
        rows, columns = np.divmod(places, shape[1])
        pointers = np.searchsorted(rows, np.arange(shape[0] + 1))
        return Csr(
            torch.from_numpy(pointers.astype(np.int32)),
            torch.from_numpy(columns.astype(np.int32)),
            torch.from_numpy(values.astype(np.float32)),
        )
