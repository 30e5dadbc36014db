"""Sparse CSR tensors over parts that exist already, without torch's warning about them."""

import warnings
from functools import cache

import torch
from torch import Tensor


def csr_tensor(
    row_pointers: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]
) -> Tensor:
    """A sparse CSR tensor of a shape over existing parts, which are neither copied nor checked.

    Args:
        row_pointers: (rows + 1,) int32 or int64.
        columns: (nnz,) of the same dtype, ascending in each row.
        values: (nnz,) of any dtype, that of the result.
        shape: (rows, columns).
    """
    announce_beta_state()
    parts = (row_pointers, columns, values)
    return torch.sparse_csr_tensor(*parts, size=shape, check_invariants=False)


@cache
def announce_beta_state() -> None:
    """Let torch give its one warning that sparse CSR is in beta where nobody has to read it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
        torch.sparse_csr_tensor([0, 1], [0], [1.0], size=(1, 1), check_invariants=False)
