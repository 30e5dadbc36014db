"""The product with a sparse matrix whose transpose is at hand, differentiable any times."""

from typing import Any, cast

import torch
from torch import Tensor

from cheblienet_models.tensors.sparse import csr_tensor

Csr = tuple[Tensor, Tensor, Tensor]
"""Row pointers (rows + 1,), columns and values (nnz,)."""


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
