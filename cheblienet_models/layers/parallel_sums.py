"""Sums of Chebyshev polynomials of several sparse symmetric matrices side by side.

Signals are vertex-major, (V, B, C). Weights are (1 + J n, in, out) for J matrices and polynomials
of degree up to n: W_0, then W_1k of the first matrix, k = 1..n, then those of the next.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from cheblienet_models.layers.chebyshev_sums import applied, as_rows, contracted
from cheblienet_models.tensors.product import Product


def products(laplacians: Sequence[Tensor]) -> list[Product]:
    """The matrices of row pointers, columns and values, one after the other."""
    return [
        Product((p, c, v)) for p, c, v in zip(*(laplacians[n::3] for n in range(3)), strict=True)
    ]


def degree_of(matrices: Sequence[Product], count: int) -> int:
    """n, where there are so many weights."""
    return (count - 1) // len(matrices)


def parallel_sum(matrices: Sequence[Product], x: Tensor, weight: Tensor) -> Tensor:
    """The sum x W_0 + sum_j sum_k T_k(L_j) x W_jk; recursions on the narrower of x and the result.

    Args:
        matrices: J, each L_j (V, V).
        x: (V, B, in), contiguous.
        weight: (1 + J n, in, out).

    Returns:
        (V, B, out).
    """
    total = applied(x, weight[0])
    shrinks = weight.shape[2] <= weight.shape[1]
    scratch = _scratch(total if shrinks else x)
    for matrix, weights in _with_weights(matrices, weight):
        if shrinks:
            _add_by_clenshaw(total, matrix, x, weights, scratch)
            continue
        terms = matrix.polynomials(x.flatten(1), len(weights) + 1, scratch)
        for term, of_term in zip(terms, weights, strict=True):
            as_rows(total).addmm_(as_rows(term.view_as(x)), of_term)
    return total


def _with_weights(matrices: Sequence[Product], weight: Tensor) -> Iterator[tuple[Product, Tensor]]:
    """Each matrix with its weights (n, in, out); none where n is 0."""
    degree = degree_of(matrices, len(weight))
    for number, matrix in enumerate(matrices if degree else ()):
        start = 1 + number * degree
        yield matrix, weight[start : start + degree]


def _scratch(like: Tensor) -> tuple[Tensor, Tensor]:
    """Two buffers (V, B C) for a signal (V, B, C).

    All recursions share them: memory that is new to a process costs as much as a product.
    """
    flat = like.flatten(1)
    return torch.empty_like(flat), torch.empty_like(flat)


def _add_by_clenshaw(
    total: Tensor, matrix: Product, x: Tensor, weights: Tensor, scratch: tuple[Tensor, Tensor]
) -> None:
    """Add sum_k T_k(L) x W_k, k = 1..n, by b_k = x W_k + 2 L b_{k+1} - b_{k+2}: L b_1 - b_2."""
    last, before = scratch
    rows = as_rows(x)

    def of_width(buffer: Tensor) -> Tensor:
        return buffer.view(len(rows), total.shape[2])

    torch.mm(rows, weights[-1], out=of_width(last))
    for step, of_term in enumerate(reversed(weights[:-1])):
        if step:
            matrix.onto(before, last, 2)
            of_width(before).addmm_(rows, of_term)
        else:
            torch.mm(rows, of_term, out=of_width(before))
            matrix.added(before, last, 2)
        before, last = last, before
    matrix.added(total.flatten(1), last)
    if len(weights) > 1:
        total.sub_(before.view_as(total))


def parallel_moments(matrices: Sequence[Product], x: Tensor, g: Tensor, count: int) -> Tensor:
    """The moment x^T g, then each x^T T_k(L_j) g, (count, in, out).

    Args:
        matrices: J, each L_j (V, V).
        x: (V, B, in).
        g: (V, B, out).
        count: of the moments, 1 + J n.
    """
    narrow_x = x.shape[2] <= g.shape[2]
    start = x if narrow_x else g
    moments = [contracted(as_rows(x), as_rows(g))]
    scratch = _scratch(start)
    for matrix in matrices:
        terms = degree_of(matrices, count) + 1
        for term in matrix.polynomials(start.flatten(1), terms, scratch):
            rows = as_rows(term.view_as(start))
            pair = (rows, as_rows(g)) if narrow_x else (as_rows(x), rows)
            moments.append(contracted(*pair))
    return torch.stack(moments)


def shared_recursions(
    matrices: Sequence[Product], g: Tensor, x: Tensor, transposed: Tensor
) -> tuple[Tensor, Tensor]:
    """Both gradients of `parallel_sum` from one run of each T_k(L_j) g.

    Args:
        matrices: J, each L_j (V, V).
        g: (V, B, out), the gradient by the result.
        x: (V, B, in).
        transposed: (1 + J n, out, in), the weights' transposes.

    Returns:
        The gradients by x (V, B, in) and by the weights (1 + J n, in, out).
    """
    by_x = applied(g, transposed[0])
    moments = [contracted(as_rows(x), as_rows(g))]
    scratch = _scratch(g)
    for matrix, weights in _with_weights(matrices, transposed):
        terms = matrix.polynomials(g.flatten(1), len(weights) + 1, scratch)
        for term, of_term in zip(terms, weights, strict=True):
            rows = as_rows(term.view_as(g))
            as_rows(by_x).addmm_(rows, of_term)
            moments.append(contracted(as_rows(x), rows))
    return by_x, torch.stack(moments)
