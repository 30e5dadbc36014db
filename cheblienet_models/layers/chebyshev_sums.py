"""Sums of Chebyshev polynomials of sparse symmetric matrices side by side, without derivatives.

Signals are vertex-major here, (V, B, C); each recursion may run on the narrower side. Weights are
(1 + J n, in, out) for J matrices and polynomials of degree up to n: W_0, then W_1k of the first
matrix, k = 1..n, then those of the next.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from cheblienet_models.tensors import Product

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
    first, *others = weight.unbind()
    total = applied(x, first)
    rows = as_rows(total)
    for term, of_term in zip(polynomials(matrices, x, len(weight)), others, strict=True):
        rows.addmm_(term, of_term)
    return total


def sum_by_clenshaw(matrices: Sequence[Product], x: Tensor, weight: Tensor) -> Tensor:
    """As `chebyshev_sum`, by b_k = x W_k + 2 L b_{k+1} - b_{k+2}, which runs on the result."""
    first, *others = weight.unbind()
    degree = len(others) // len(matrices)
    if degree == 0:
        return applied(x, first)
    shape = *x.shape[:2], weight.shape[2]
    rows, spare = as_rows(x), (x.new_empty(shape), x.new_empty(shape))
    total, buffer = _by_clenshaw(matrices[0], rows, others[:degree], spare)
    part = torch.empty_like(buffer) if len(matrices) > 1 else buffer
    for n, matrix in enumerate(matrices[1:], 1):
        weights = others[n * degree : (n + 1) * degree]
        part, buffer = _by_clenshaw(matrix, rows, weights, (part, buffer))
        total += part
    as_rows(total).addmm_(rows, first)
    return total


def _by_clenshaw(
    matrix: Product, rows: Tensor, weights: Sequence[Tensor], scratch: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """The sum of T_k(L) x W_k, k = 1..n, which is L b_1 - b_2, in one of two buffers (V, B, out).

    Returns the buffers, that with the sum first. x is given by its rows (V B, in).
    """
    last, before = ((part, part.flatten(1), as_rows(part)) for part in scratch)
    torch.mm(rows, weights[-1], out=last[2])
    for step, of_term in enumerate(weights[-2::-1]):
        matrix.into(before[1], last[1], 2, beta=-1 if step else 0)
        before[2].addmm_(rows, of_term)
        last, before = before, last
    matrix.into(before[1], last[1], beta=-1 if len(weights) > 1 else 0)
    return before[0], last[0]


def polynomials(matrices: Sequence[Product], x: Tensor, count: int) -> Iterator[Tensor]:
    """T_1(L_j) x, ..., T_n(L_j) x, (V B, C), of each matrix, in two buffers that take turns.

    Args:
        matrices: J, each L_j (V, V).
        x: (V, B, C), contiguous.
        count: of the terms, x itself among them: 1 + J n.
    """
    degree = (count - 1) // len(matrices)
    flat, shape = x.flatten(1), as_rows(x).shape
    scratch = torch.empty_like(flat), torch.empty_like(flat)
    for matrix in matrices:
        for term in matrix.polynomials(flat, degree + 1, scratch):
            yield term.view(shape)


def weight_moments(matrices: Sequence[Product], x: Tensor, g: Tensor, count: int) -> Tensor:
    """The moment x^T g, then each x^T T_k(L_j) g, (count, in, out).

    Args:
        matrices: J, each L_j (V, V).
        x: (V, B, in).
        g: (V, B, out).
        count: of the moments, 1 + J n.
    """
    narrow_x = x.shape[2] <= g.shape[2]
    of_x, of_g = as_rows(x), as_rows(g)
    moments = [contracted(of_x, of_g)]
    moments.extend(
        contracted(term, of_g) if narrow_x else contracted(of_x, term)
        for term in polynomials(matrices, x if narrow_x else g, count)
    )
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
    count, narrow, wide = transposed.shape
    if count * narrow <= 2 * wide:
        return _stacked_recursion(matrices, g, x, transposed)
    first, *others = transposed.unbind()
    by_x, of_x = applied(g, first), as_rows(x)
    moments, rows = [contracted(of_x, as_rows(g))], as_rows(by_x)
    for term, of_term in zip(polynomials(matrices, g, len(transposed)), others, strict=True):
        rows.addmm_(term, of_term)
        moments.append(contracted(of_x, term))
    return by_x, torch.stack(moments)


def _stacked_recursion(
    matrices: Sequence[Product], g: Tensor, x: Tensor, transposed: Tensor
) -> tuple[Tensor, Tensor]:
    """As `shared_recursion`, all T_k(L_j) g side by side, for few and large products."""
    count, narrow, wide = transposed.shape
    basis = g.new_empty(*g.shape[:2], count, narrow)
    basis[:, :, 0] = g
    for k, term in enumerate(polynomials(matrices, g, count), 1):
        basis[:, :, k] = term.view_as(g)
    stacked = basis.flatten(2)
    moments = contracted(as_rows(x), as_rows(stacked)).view(wide, count, narrow)
    return applied(stacked, transposed.flatten(0, 1)), moments.transpose(0, 1).contiguous()


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
