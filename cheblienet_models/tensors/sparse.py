"""Sparse CSR matrices: over parts that exist already, as files, and times dense ones."""

import os
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from cheblienet_models.arguments import file_path

Csr = tuple[Tensor, Tensor, Tensor]
"""Row pointers (rows + 1,), columns and values (nnz,)."""
Laplacian = Csr
"""Of a symmetric matrix (V, V)."""


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


class Product:
    """L times dense matrices of its own dtype, on whatever device it is.

    Args:
        laplacian: L.

    Attributes:
        dtype: of L, and of all that it is multiplied with.
    """

    def __init__(self, laplacian: Laplacian) -> None:
        self.dtype, vertices = laplacian[2].dtype, len(laplacian[0]) - 1
        self._matrix = csr_tensor(*laplacian, (vertices, vertices))

    def into(self, target: Tensor, x: Tensor, scale: float = 1, *, beta: float = 0) -> Tensor:
        """Overwrite target (V, N) with scale L x + beta target, and return it; x (V, N)."""
        return target.addmm_(self._matrix, x, beta=beta, alpha=scale)

    def polynomials(
        self, x: Tensor, count: int, scratch: tuple[Tensor, Tensor] | None = None
    ) -> Iterator[Tensor]:
        """T_1(L) x, T_2(L) x, ... T_{count - 1}(L) x, in two buffers that take turns.

        Args:
            x: (V, N).
            count: of the terms, x itself among them.
            scratch: the buffers, of x's shape and dtype; made where left out.
        """
        before, last = scratch or (torch.empty_like(x), torch.empty_like(x))
        for step in range(1, count):
            if step == 1:
                self.into(last, x)
            else:
                # x itself is the caller's, and left as it is.
                target = before.copy_(x) if step == 2 else before
                before, last = last, self.into(target, last, 2, beta=-1)
            yield last


def sparse_product(matrix: Csr, transposed: Csr, x: Tensor) -> Tensor:
    """A sparse matrix times a dense one, (sources, n) -> (targets, n).

    Args:
        matrix: (targets, sources).
        transposed: its transpose, (sources, targets).
        x: (sources, n), of the dtype of the matrix's values.
    """
    product = _Product.apply(x, *matrix, *transposed)  # type: ignore[no-untyped-call]
    return cast("Tensor", product)


class _Product(torch.autograd.Function):
    """A sparse matrix times (sources, n); the backward is the product with its transpose."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *parts: Tensor) -> Tensor:
        """(sources, n) -> (targets, n); `parts` are the matrix's three and its transpose's."""
        ctx.parts = parts
        pointers, columns, values = parts[:3]
        matrix = csr_tensor(pointers, columns, values, (len(pointers) - 1, len(x)))
        if x.is_meta:  # on which torch has no sparse products
            return x.new_empty(matrix.shape[0], x.shape[1])
        return matrix @ x

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """(targets, n) -> (sources, n), differentiable again."""
        parts = ctx.parts
        back = _Product.apply(grads[0].contiguous(), *parts[3:], *parts[:3])  # type: ignore[no-untyped-call]
        return (back, *(None for _ in parts))


def save_npz(path: str | Path, matrix: Tensor) -> Path:
    """Write a matrix in the layout of scipy.sparse.save_npz, at once: no reader sees half of it.

    Args:
        path: of the file; `.npz` is appended where it does not end so, as scipy does.
        matrix: (rows, columns) sparse CSR, float32 or float64, on any device.

    Returns:
        Where the file is.

    Raises:
        OSError: it can't be written; what was there before is left as it was.
    """
    path = file_path("path", path)
    target = path if str(path).endswith(".npz") else Path(f"{path}.npz")
    indptr, indices, data = (
        part.detach().cpu().numpy()
        for part in (matrix.crow_indices(), matrix.col_indices(), matrix.values())
    )
    shape = np.array(tuple(matrix.shape), dtype=np.int64)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("wb") as file:
            np.savez_compressed(
                file,
                indices=indices,
                indptr=indptr,
                format=np.array(b"csr"),
                shape=shape,
                data=data,
            )
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target
