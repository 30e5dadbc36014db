"""Sums of Chebyshev polynomials as operators of torch, with their own backward.

With symmetric, constant L_j, y = x W_0 + sum_j sum_{k >= 1} T_k(L_j) x W_jk has gradients by x and
by W_jk that are Chebyshev sums again,

    g W_0^T + sum_j sum_k T_k(L_j) g W_jk^T        and        x^T T_k(L_j) g:

nothing but x has to be kept, and each recursion may run on the narrower side. The operators express
one another's derivatives, so they can be differentiated any number of times. Their namespace is the
package that a saved program with them needs imported.

Matrices come last: row pointers, columns and values of the first, then of the next, three at most.
Not as a list, of which torch's dispatcher takes apart each call for as long as a small graph takes.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from cheblienet_models.layers.chebyshev_sums import (
    applied,
    as_rows,
    chebyshev_sum,
    contracted,
    polynomials,
    shared_recursion,
    weight_moments,
)
from cheblienet_models.tensors import Csr, Product, uncast

MATRICES = ", ".join(
    f"Tensor{'?' * (n > 0)} {part}{n or ''}{'=None' * (n > 0)}"
    for n in range(3)
    for part in Csr._fields
)
"""Of the operators' schemas."""
NONE = (None,) * 9
"""Their gradients."""
custom_op = partial(torch.library.custom_op, mutates_args=())


@custom_op(
    "cheblienet_models::chebyshev", schema=f"(Tensor x, Tensor weight, {MATRICES}) -> Tensor"
)
def chebyshev(x: Tensor, weight: Tensor, *laplacians: Tensor) -> Tensor:
    """The sum; x (V, B, in) contiguous, weight (1 + J n, in, out) -> (V, B, out) of x's dtype.

    Computed in the dtype of the matrices, whatever that of x and weight.
    """
    matrices, dtype = _products(laplacians)
    with uncast(x):
        total = chebyshev_sum(matrices, x.to(dtype), weight.to(dtype))
    return total.to(x.dtype)


@chebyshev.register_fake
def _(x: Tensor, weight: Tensor, *laplacians: Tensor) -> Tensor:
    del laplacians
    return x.new_empty(x.shape[0], x.shape[1], weight.shape[2])


@custom_op(
    "cheblienet_models::chebyshev_basis",
    schema=f"(Tensor x, Tensor weight, {MATRICES}) -> (Tensor, Tensor)",
)
def chebyshev_basis(x: Tensor, weight: Tensor, *laplacians: Tensor) -> tuple[Tensor, Tensor]:
    """As `chebyshev`, with all T_k(L_j) x, k >= 1, (J n, V, B, in) for a faster backward."""
    matrices, dtype = _products(laplacians)
    with uncast(x):
        start, weights = x.to(dtype), weight.to(dtype)
        total = applied(start, weights[0])
        basis = start.new_empty(len(weight) - 1, *x.shape)
        for k, term in enumerate(polynomials(matrices, start, len(weight))):
            basis[k] = term.view_as(start)
            as_rows(total).addmm_(term, weights[k + 1])
    return total.to(x.dtype), basis


@chebyshev_basis.register_fake
def _(x: Tensor, weight: Tensor, *laplacians: Tensor) -> tuple[Tensor, Tensor]:
    y = x.new_empty(x.shape[0], x.shape[1], weight.shape[2])
    return y, laplacians[2].new_empty(len(weight) - 1, *x.shape)


@custom_op(
    "cheblienet_models::chebyshev_moments",
    schema=f"(Tensor x, Tensor g, SymInt count, {MATRICES}) -> Tensor",
)
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
    "cheblienet_models::chebyshev_gradients",
    schema=f"(Tensor g, Tensor x, Tensor weight, Tensor? basis, {MATRICES}) -> (Tensor, Tensor)",
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
def _(
    g: Tensor, x: Tensor, weight: Tensor, basis: Tensor | None, *laplacians: Tensor
) -> tuple[Tensor, Tensor]:
    del g, basis, laplacians
    return torch.empty_like(x), torch.empty_like(weight)


def _products(laplacians: Sequence[Tensor]) -> tuple[list[Product], torch.dtype]:
    """The matrices, and their dtype."""
    parts = zip(laplacians[::3], laplacians[1::3], laplacians[2::3], strict=True)
    matrices = [Product(Csr(*laplacian)) for laplacian in parts]
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
    """Of the gradient by x with cotangent u, and of that by the weights with cotangent m."""
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
