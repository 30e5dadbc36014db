"""Laplacians along single directions."""

from typing import NamedTuple

from torch import Tensor

PARTS = ("row_pointers", "columns", "values")
"""Buffers of a Laplacian; those of a directional one begin with its name."""


class Directional(NamedTuple):
    """A Laplacian along one direction, combinatorial: 2 Delta / lambda_max - I in CSR form.

    Args:
        row_pointers: (V + 1,).
        columns: (nnz,).
        values: (nnz,).
        lambda_max: its own upper bound of the spectrum of Delta.
    """

    row_pointers: Tensor
    columns: Tensor
    values: Tensor
    lambda_max: float
