"""Sums of Chebyshev polynomials of sparse symmetric matrices side by side, without derivatives.

Signals are vertex-major here, (V, B, C); each recursion may run on the narrower side. Weights are
(1 + J n, in, out) for J matrices and polynomials of degree up to n: W_0, then W_1k of the first
matrix, k = 1..n, then those of the next.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from cheblienet_models.tensors.sparse import Product

SLICES = 64
"""Tall matrices are cut into so many parts, which are multiplied side by side."""


def chebyshev_sum(matrices: Sequence[Product], x: Tensor, weight: Tensor) -> Tensor:
    """The sum x W_0 + sum_j sum_k T_k(L_j) x W_jk; recursions on the narrower of x and the result.

    Args:
        matrices: J, each L_j (V, V).
        x: (V, B, in), contiguous.
        weight: (1 + J n, in, out).

    Returns:
        (V, B, out).
    """
    shrinks = weight.shape[2] <= weight.shape[1]
    return (sum_by_clenshaw if shrinks else sum_by_powers)(matrices, x, weight)


def sum_by_powers(matrices: Sequence[Product], x: Tensor, weight: Tensor) -> Tensor:
    """As `chebyshev_sum`, the recursions running on x."""
    total = applied(x, weight[0])
    for term, of_term in zip(polynomials(matrices, x, len(weight)), weight[1:], strict=True):
        as_rows(total).addmm_(as_rows(term), of_term)
    return total


def sum_by_clenshaw(matrices: Sequence[Product], x: Tensor, weight: Tensor) -> Tensor:
    """As `chebyshev_sum`, by b_k = x W_k + 2 L b_{k+1} - b_{k+2}, which runs on the result."""
    degree = (len(weight) - 1) // len(matrices)
    if degree == 0:
        return applied(x, weight[0])
    of_matrix = weight[1:].unflatten(0, (len(matrices), degree))
    shape = *x.shape[:2], weight.shape[2]
    total, spare = _by_clenshaw(
        matrices[0], x, of_matrix[0], (x.new_empty(shape), x.new_empty(shape))
    )
    part = torch.empty_like(spare) if len(matrices) > 1 else spare
    for matrix, weights in zip(matrices[1:], of_matrix[1:], strict=True):
        part, spare = _by_clenshaw(matrix, x, weights, (part, spare))
        total += part
    as_rows(total).addmm_(as_rows(x), weight[0])
    return total


def _by_clenshaw(
    matrix: Product, x: Tensor, weights: Tensor, scratch: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """The sum of T_k(L) x W_k, k = 1..n, which is L b_1 - b_2, in one of two buffers (V, B, out).

    Returns the buffers, that with the sum first.
    """
    last, before = scratch
    torch.mm(as_rows(x), weights[-1], out=as_rows(last))
    for step, of_term in enumerate(reversed(weights[:-1])):
        matrix.into(before.flatten(1), last.flatten(1), 2, beta=-1 if step else 0)
        as_rows(before).addmm_(as_rows(x), of_term)
        before, last = last, before
    matrix.into(before.flatten(1), last.flatten(1), beta=-1 if len(weights) > 1 else 0)
    return before, last


def polynomials(matrices: Sequence[Product], x: Tensor, count: int) -> Iterator[Tensor]:
    """T_1(L_j) x, ..., T_n(L_j) x, (V, B, C), of each matrix, in two buffers that take turns.

    Args:
        matrices: J, each L_j (V, V).
        x: (V, B, C), contiguous.
        count: of the terms, x itself among them: 1 + J n.
    """
    degree = (count - 1) // len(matrices)
    flat = x.flatten(1)
    scratch = torch.empty_like(flat), torch.empty_like(flat)
    for matrix in matrices:
        for term in matrix.polynomials(flat, degree + 1, scratch):
            yield term.view_as(x)


def weight_moments(matrices: Sequence[Product], x: Tensor, g: Tensor, count: int) -> Tensor:
    """The moment x^T g, then each x^T T_k(L_j) g, (count, in, out).

    Args:
        matrices: J, each L_j (V, V).
        x: (V, B, in).
        g: (V, B, out).
        count: of the moments, 1 + J n.
    """
    narrow_x = x.shape[2] <= g.shape[2]
    moments = [contracted(as_rows(x), as_rows(g))]
    for term in polynomials(matrices, x if narrow_x else g, count):
        pair = (term, g) if narrow_x else (x, term)
        moments.append(contracted(*map(as_rows, pair)))
    return torch.stack(moments)


def shared_recursion(
    matrices: Sequence[Product], g: Tensor, x: Tensor, transposed: Tensor
) -> tuple[Tensor, Tensor]:
    """Both gradients of `chebyshev_sum` from one run of each T_k(L_j) g.

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
    terms = polynomials(matrices, g, len(transposed))
    for term, of_term in zip(terms, transposed[1:], strict=True):
        as_rows(by_x).addmm_(as_rows(term), of_term)
        moments.append(contracted(as_rows(x), as_rows(term)))
    return by_x, torch.stack(moments)


def applied(x: Tensor, matrix: Tensor) -> Tensor:
    """X W, (V, B, in) -> (V, B, out)."""
    return (as_rows(x) @ matrix).view(*x.shape[:2], matrix.shape[1])


def as_rows(x: Tensor) -> Tensor:
    """(V, B, C) -> (V B, C), a view."""
    return x.view(x.shape[0] * x.shape[1], x.shape[2])


def contracted(a: Tensor, b: Tensor) -> Tensor:
    """a^T b for tall (N, in) and (N, out), in slices: one product would share its work badly."""
    tall = len(a) // SLICES * SLICES
    sliced = (m[:tall].view(SLICES, tall // SLICES, m.shape[1]) for m in (a, b))
    head = torch.bmm(next(sliced).transpose(1, 2), next(sliced)).sum(0)
    return head if tall == len(a) else head.addmm_(a[tall:].T, b[tall:])
