"""Sums of Chebyshev polynomials as operators of torch, with their own backward.

With symmetric, constant L_j, y = x W_0 + sum_j sum_{k >= 1} T_k(L_j) x W_jk has gradients by x and
by W_jk that are Chebyshev sums again,

    g W_0^T + sum_j sum_k T_k(L_j) g W_jk^T        and        x^T T_k(L_j) g:

nothing but x has to be kept, and each recursion may run on the narrower side. The operators express
one another's derivatives, so they can be differentiated any number of times. Their namespace is the
package that a saved program with them needs imported.

Signals are vertex-major here, (V, B, C). Weights are (1 + J n, in, out) for J matrices and
polynomials of degree up to n: W_0, then W_1k of the first matrix, k = 1..n, then of the next.
Matrices come last: row pointers, columns and values of the first, then of the next, three at most.
Not as a list, of which torch's dispatcher takes apart each call for as long as a small graph takes.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from cheblienet_models import tensors
from cheblienet_models.tensors import CsrParts, csr_tensor, custom_op, uncast

MATRICES = ", ".join(
    f"Tensor{'?' * (n > 0)} {part}{n or ''}{'=None' * (n > 0)}"
    for n in range(3)
    for part in CsrParts._fields
)
"""Arguments in the operators' schemas."""
NONE = (None,) * 9
"""Their gradients."""
SLICES = 64
"""Tall matrices are cut into so many parts, which are multiplied side by side."""


@custom_op("chebyshev", f"(Tensor x, Tensor weight, {MATRICES}) -> Tensor")
def chebyshev(x: Tensor, weight: Tensor, *laplacians: Tensor) -> Tensor:
    """The sum; x (V, B, in) contiguous, weight (1 + J n, in, out) -> (V, B, out) of x's dtype.

    Computed in the dtype of the matrices, whatever that of x and weight.
    """
    matrices, dtype = _products(laplacians)
    with uncast(x):
        total = chebyshev_sum(matrices, x.to(dtype), weight.to(dtype))
    return total.to(x.dtype)


@chebyshev.register_fake
def _(x: Tensor, weight: Tensor, *_: Tensor) -> Tensor:
    return x.new_empty(x.shape[0], x.shape[1], weight.shape[2])


@custom_op("chebyshev_basis", f"(Tensor x, Tensor weight, {MATRICES}) -> (Tensor, Tensor)")
def chebyshev_basis(x: Tensor, weight: Tensor, *laplacians: Tensor) -> tuple[Tensor, Tensor]:
    """The result of `chebyshev`, with all T_k(L_j) x, k >= 1, (J n, V, B, in) for the backward."""
    matrices, dtype = _products(laplacians)
    with uncast(x):
        start = x.to(dtype)
        basis = start.new_empty(len(weight) - 1, *x.shape)
        total = sum_by_powers(matrices, start, weight.to(dtype), basis)
    return total.to(x.dtype), basis


@chebyshev_basis.register_fake
def _(x: Tensor, weight: Tensor, *laplacians: Tensor) -> tuple[Tensor, Tensor]:
    y = x.new_empty(x.shape[0], x.shape[1], weight.shape[2])
    return y, laplacians[2].new_empty(len(weight) - 1, *x.shape)


@custom_op("chebyshev_moments", f"(Tensor x, Tensor g, SymInt count, {MATRICES}) -> Tensor")
def chebyshev_moments(x: Tensor, g: Tensor, count: int, *laplacians: Tensor) -> Tensor:
    """The moment x^T g, then each x^T T_k(L_j) g; x (V, B, in) and g (V, B, out) contiguous.

    (count, in, out) in the dtype of the matrices, count being 1 + J n.
    """
    matrices, dtype = _products(laplacians)
    with uncast(x):
        return weight_moments(matrices, x.to(dtype), g.to(dtype), count)


@chebyshev_moments.register_fake
def _(x: Tensor, g: Tensor, count: int, *laplacians: Tensor) -> Tensor:
    return laplacians[2].new_empty(count, x.shape[2], g.shape[2])


@custom_op(
    "chebyshev_gradients",
    f"(Tensor g, Tensor x, Tensor weight, Tensor? basis, {MATRICES}) -> (Tensor, Tensor)",
)
def chebyshev_gradients(
    g: Tensor, x: Tensor, weight: Tensor, basis: Tensor | None, *laplacians: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradients of the sum by x (V, B, in) and weight (1 + J n, in, out), in their dtypes."""
    matrices, dtype = _products(laplacians)
    with uncast(x):
        cotangent, start = g.to(dtype), x.to(dtype)
        transposed = weight.to(dtype).transpose(1, 2)
        count, narrow, wide = weight.shape
        if basis is not None:
            terms = [as_rows(start), *(as_rows(term) for term in basis)]
            by_weight = torch.stack([contracted(term, as_rows(cotangent)) for term in terms])
            by_x = chebyshev_sum(matrices, cotangent, transposed)
        elif wide < 2 * narrow:  # or recursions on the narrow side, for each gradient, cost no more
            by_x, by_weight = shared_recursion(matrices, cotangent, start, transposed)
        else:
            by_weight = weight_moments(matrices, start, cotangent, count)
            by_x = chebyshev_sum(matrices, cotangent, transposed)
    return by_x.to(x.dtype), by_weight.to(weight.dtype)


@chebyshev_gradients.register_fake
def _(_g: Tensor, x: Tensor, weight: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x), torch.empty_like(weight)


def _products(laplacians: Sequence[Tensor]) -> tuple[list[Tensor], torch.dtype]:
    """The matrices, and their dtype."""
    parts = zip(laplacians[::3], laplacians[1::3], laplacians[2::3], strict=True)
    matrices = [csr_tensor(CsrParts(*each), len(each[0]) - 1) for each in parts]
    return matrices, matrices[0].dtype


def _swapped(weight: Tensor) -> Tensor:
    return weight.transpose(1, 2).contiguous()


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """All tensors that were given; where there is a basis, too, behind them."""
    given = [part for part in inputs if isinstance(part, Tensor)]
    if isinstance(output, tuple):
        ctx.mark_non_differentiable(output[1])
        given.append(output[1])
    ctx.save_for_backward(*given)


def _chebyshev_backward(ctx: Any, g: Tensor, *_: Any) -> tuple[Any, ...]:
    x, weight, *laplacians = ctx.saved_tensors
    basis = laplacians.pop() if len(laplacians) % 3 else None
    g = g.contiguous()
    by_x = by_weight = None
    if ctx.needs_input_grad[0] and ctx.needs_input_grad[1]:
        by_x, by_weight = chebyshev_gradients(g, x, weight, basis, *laplacians)
    elif ctx.needs_input_grad[0]:
        by_x = chebyshev(g, _swapped(weight), *laplacians)
    elif ctx.needs_input_grad[1]:
        by_weight = chebyshev_moments(x, g, len(weight), *laplacians).to(weight.dtype)
    return by_x, by_weight, *NONE


def _moments_backward(ctx: Any, m: Tensor) -> tuple[Any, ...]:
    """Each moment is linear in x and in g."""
    x, g, *laplacians = ctx.saved_tensors
    by_x = chebyshev(g, _swapped(m), *laplacians).to(x.dtype)
    by_g = chebyshev(x, m.contiguous(), *laplacians).to(g.dtype)
    return by_x, by_g, None, *NONE


def _keep_gradients(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    g, x, weight, _, *laplacians = inputs
    ctx.save_for_backward(g, x, weight, *(part for part in laplacians if part is not None))


def _gradients_backward(ctx: Any, u: Tensor, m: Tensor) -> tuple[Any, ...]:
    """The backward of the gradient by x with cotangent u, and by the weights with cotangent m."""
    g, x, weight, *laplacians = ctx.saved_tensors
    u, m = u.contiguous(), m.contiguous()
    by_g = chebyshev(u, weight, *laplacians) + chebyshev(x, m, *laplacians)
    by_x = chebyshev(g, _swapped(m), *laplacians)
    by_weight = chebyshev_moments(u, g, len(weight), *laplacians)
    return by_g.to(g.dtype), by_x.to(x.dtype), by_weight.to(weight.dtype), None, *NONE


for operator, backward, keep in (
    (chebyshev, _chebyshev_backward, _keep),
    (chebyshev_basis, _chebyshev_backward, _keep),
    (chebyshev_moments, _moments_backward, _keep),
    (chebyshev_gradients, _gradients_backward, _keep_gradients),
):
    operator.register_autograd(backward, setup_context=keep)


def chebyshev_sum(matrices: Sequence[Tensor], x: Tensor, weight: Tensor) -> Tensor:
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


def sum_by_powers(
    matrices: Sequence[Tensor], x: Tensor, weight: Tensor, basis: Tensor | None = None
) -> Tensor:
    """The result of `chebyshev_sum`, by recursions on x; terms go to a basis, if any."""
    first, *others = weight.unbind()
    total = applied(x, first)
    rows = as_rows(total)
    for k, term in enumerate(polynomials(matrices, x, len(weight))):
        rows.addmm_(term, others[k])
        if basis is not None:
            basis[k] = term.view_as(x)
    return total


def sum_by_clenshaw(matrices: Sequence[Tensor], x: Tensor, weight: Tensor) -> Tensor:
    """The result of `chebyshev_sum`, by b_k = x W_k + 2 L b_{k+1} - b_{k+2}."""
    first, *others = weight.unbind()
    degree = len(others) // len(matrices)
    if degree == 0:
        return applied(x, first)
    shape = *x.shape[:2], weight.shape[2]
    rows = as_rows(x)
    spare = (x.new_empty(shape), x.new_empty(shape))
    total, buffer = _by_clenshaw(matrices[0], rows, others[:degree], spare)
    part = torch.empty_like(buffer) if len(matrices) > 1 else buffer
    for n, matrix in enumerate(matrices[1:], 1):
        weights = others[n * degree : (n + 1) * degree]
        part, buffer = _by_clenshaw(matrix, rows, weights, (part, buffer))
        total += part
    as_rows(total).addmm_(rows, first)
    return total


def _by_clenshaw(
    matrix: Tensor, rows: Tensor, weights: Sequence[Tensor], scratch: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """The sum of T_k(L) x W_k, k = 1..n, which is L b_1 - b_2, in one of two buffers (V, B, out).

    Returns the buffers, that with the sum first. x is given by its rows (V B, in).
    """
    last, before = ((part, part.flatten(1), as_rows(part)) for part in scratch)
    torch.mm(rows, weights[-1], out=last[2])
    for step, of_term in enumerate(weights[-2::-1]):
        before[1].addmm_(matrix, last[1], beta=-1 if step else 0, alpha=2)
        before[2].addmm_(rows, of_term)
        last, before = before, last
    before[1].addmm_(matrix, last[1], beta=-1 if len(weights) > 1 else 0)
    return before[0], last[0]


def polynomials(matrices: Sequence[Tensor], x: Tensor, count: int) -> Iterator[Tensor]:
    """T_1(L_j) x, ..., T_n(L_j) x, (V B, C), of each matrix, in two buffers that take turns.

    Args:
        matrices: J, each L_j (V, V).
        x: (V, B, C), contiguous.
        count: of the terms, x itself among them: 1 + J n.
    """
    degree = (count - 1) // len(matrices)
    flat = x.flatten(1)
    shape = as_rows(x).shape
    scratch = torch.empty_like(flat), torch.empty_like(flat)
    for matrix in matrices:
        for term in tensors.polynomials(matrix, flat, degree + 1, scratch):
            yield term.view(shape)


def weight_moments(matrices: Sequence[Tensor], x: Tensor, g: Tensor, count: int) -> Tensor:
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
    matrices: Sequence[Tensor], g: Tensor, x: Tensor, transposed: Tensor
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
    by_x = applied(g, first)
    of_x = as_rows(x)
    moments = [contracted(of_x, as_rows(g))]
    rows = as_rows(by_x)
    for term, of_term in zip(polynomials(matrices, g, len(transposed)), others, strict=True):
        rows.addmm_(term, of_term)
        moments.append(contracted(of_x, term))
    return by_x, torch.stack(moments)


def _stacked_recursion(
    matrices: Sequence[Tensor], g: Tensor, x: Tensor, transposed: Tensor
) -> tuple[Tensor, Tensor]:
    """The result of `shared_recursion`, all T_k(L_j) g side by side, for few and large products."""
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
