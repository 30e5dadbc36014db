"""Sums of Chebyshev polynomials as operators of torch, with their own backward.

With L symmetric and constant, y = sum_k T_k(L) x W_k has the gradients

    dL/dx = sum_k T_k(L) g W_k^T        and        dL/dW_k = x^T T_k(L) g,

which are Chebyshev sums again: nothing but x has to be kept, and each recursion may run on the
narrower side. Three operators express one another's derivatives, so they can be differentiated any
number of times. Their namespace is the package that a saved program with them needs imported.
"""

from typing import Any

import torch
from torch import Tensor

from cheblienet_models.layers.chebyshev_sums import (
    applied,
    as_rows,
    chebyshev_sum,
    contracted,
    shared_recursion,
    sum_by_clenshaw,
    weight_moments,
)
from cheblienet_models.tensors.product import Product


@torch.library.custom_op("cheblienet_models::chebyshev", mutates_args=())
def chebyshev(
    x: Tensor, weight: Tensor, row_pointers: Tensor, columns: Tensor, values: Tensor
) -> Tensor:
    """sum_k T_k(L) x W_k; x (V, B, in) contiguous, weight (K, in, out) -> (V, B, out) of x's dtype.

    Computed in the dtype of `values`, whatever that of x and weight.
    """
    product = Product((row_pointers, columns, values))
    with torch.autocast(x.device.type, enabled=False):
        found = chebyshev_sum(product, x.to(product.dtype), weight.to(product.dtype))
    return found.to(x.dtype)


@chebyshev.register_fake
def _(x: Tensor, weight: Tensor, row_pointers: Tensor, columns: Tensor, values: Tensor) -> Tensor:
    del row_pointers, columns, values
    return x.new_empty(x.shape[0], x.shape[1], weight.shape[2])


@torch.library.custom_op("cheblienet_models::chebyshev_basis", mutates_args=())
def chebyshev_basis(
    x: Tensor, weight: Tensor, row_pointers: Tensor, columns: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    """As `chebyshev`, with T_1(L) x, ..., T_{K-1}(L) x (K - 1, V, B, in) for a faster backward."""
    product = Product((row_pointers, columns, values))
    with torch.autocast(x.device.type, enabled=False):
        start, matrices = x.to(product.dtype), weight.to(product.dtype)
        total = applied(start, matrices[0])
        basis = start.new_empty(len(weight) - 1, *x.shape)
        for k, term in enumerate(product.polynomials(start.flatten(1), len(weight))):
            basis[k] = term.view_as(start)
            as_rows(total).addmm_(as_rows(basis[k]), matrices[k + 1])
    return total.to(x.dtype), basis


@chebyshev_basis.register_fake
def _(
    x: Tensor, weight: Tensor, row_pointers: Tensor, columns: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    del row_pointers, columns
    y = x.new_empty(x.shape[0], x.shape[1], weight.shape[2])
    return y, values.new_empty(len(weight) - 1, *x.shape)


@torch.library.custom_op("cheblienet_models::chebyshev_moments", mutates_args=())
def chebyshev_moments(
    x: Tensor, g: Tensor, kernel_size: int, row_pointers: Tensor, columns: Tensor, values: Tensor
) -> Tensor:
    """Each x^T T_k(L) g, k < K; x (V, B, in) and g (V, B, out) contiguous -> (K, in, out).

    In the dtype of `values`.
    """
    product = Product((row_pointers, columns, values))
    with torch.autocast(x.device.type, enabled=False):
        return weight_moments(product, x.to(product.dtype), g.to(product.dtype), kernel_size)


@chebyshev_moments.register_fake
def _(
    x: Tensor, g: Tensor, kernel_size: int, row_pointers: Tensor, columns: Tensor, values: Tensor
) -> Tensor:
    del row_pointers, columns
    return values.new_empty(kernel_size, x.shape[2], g.shape[2])


@torch.library.custom_op("cheblienet_models::chebyshev_gradients", mutates_args=())
def chebyshev_gradients(
    g: Tensor,
    x: Tensor,
    weight: Tensor,
    basis: Tensor | None,
    row_pointers: Tensor,
    columns: Tensor,
    values: Tensor,
) -> tuple[Tensor, Tensor]:
    """sum_k T_k(L) g W_k^T (V, B, in) and x^T T_k(L) g (K, in, out), in x's and weight's dtype."""
    product = Product((row_pointers, columns, values))
    with torch.autocast(x.device.type, enabled=False):
        cotangent, start = g.to(product.dtype), x.to(product.dtype)
        transposed = weight.to(product.dtype).transpose(1, 2)
        count, narrow, wide = weight.shape
        if basis is not None:
            terms = [as_rows(start), *(as_rows(term) for term in basis)]
            by_weight = torch.stack([contracted(term, as_rows(cotangent)) for term in terms])
            by_x = chebyshev_sum(product, cotangent, transposed)
        elif wide < 2 * narrow:  # or two recursions on the narrow side cost no more
            by_x, by_weight = shared_recursion(product, cotangent, start, transposed)
        else:
            by_weight = weight_moments(product, start, cotangent, count)
            by_x = sum_by_clenshaw(product, cotangent, transposed)
    return by_x.to(x.dtype), by_weight.to(weight.dtype)


@chebyshev_gradients.register_fake
def _(
    g: Tensor,
    x: Tensor,
    weight: Tensor,
    basis: Tensor | None,
    row_pointers: Tensor,
    columns: Tensor,
    values: Tensor,
) -> tuple[Tensor, Tensor]:
    del g, basis, row_pointers, columns, values
    return torch.empty_like(x), torch.empty_like(weight)


def _swapped(weight: Tensor) -> Tensor:
    return weight.transpose(1, 2).contiguous()


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    ctx.save_for_backward(*inputs)


def _keep_with_basis(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(*inputs, output[1])


def _chebyshev_backward(ctx: Any, g: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
    x, weight, *laplacian = ctx.saved_tensors
    basis = laplacian.pop() if len(laplacian) > 3 else None
    g = g.contiguous()
    by_x = by_weight = None
    if ctx.needs_input_grad[0] and ctx.needs_input_grad[1]:
        by_x, by_weight = chebyshev_gradients(g, x, weight, basis, *laplacian)
    elif ctx.needs_input_grad[0]:
        by_x = chebyshev(g, _swapped(weight), *laplacian)
    elif ctx.needs_input_grad[1]:
        by_weight = chebyshev_moments(x, g, len(weight), *laplacian).to(weight.dtype)
    return by_x, by_weight, None, None, None


def _keep_pair(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    x, g, _, *laplacian = inputs
    ctx.save_for_backward(x, g, *laplacian)


def _moments_backward(ctx: Any, m: Tensor) -> tuple[Tensor | None, ...]:
    """x^T T_k g is linear in x and in g."""
    x, g, *laplacian = ctx.saved_tensors
    by_x = chebyshev(g, _swapped(m), *laplacian).to(x.dtype)
    by_g = chebyshev(x, m.contiguous(), *laplacian).to(g.dtype)
    return by_x, by_g, None, None, None, None


def _keep_gradients(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    g, x, weight, _, *laplacian = inputs
    ctx.save_for_backward(g, x, weight, *laplacian)


def _gradients_backward(ctx: Any, u: Tensor, m: Tensor) -> tuple[Tensor | None, ...]:
    """Of sum_k T_k g W_k^T with cotangent u, and of x^T T_k g with cotangent m."""
    g, x, weight, *laplacian = ctx.saved_tensors
    u, m = u.contiguous(), m.contiguous()
    by_g = chebyshev(u, weight, *laplacian) + chebyshev(x, m, *laplacian)
    by_x = chebyshev(g, _swapped(m), *laplacian)
    by_weight = chebyshev_moments(u, g, len(weight), *laplacian)
    return by_g.to(g.dtype), by_x.to(x.dtype), by_weight.to(weight.dtype), *[None] * 4


chebyshev.register_autograd(_chebyshev_backward, setup_context=_keep)
chebyshev_basis.register_autograd(_chebyshev_backward, setup_context=_keep_with_basis)
chebyshev_moments.register_autograd(_moments_backward, setup_context=_keep_pair)
chebyshev_gradients.register_autograd(_gradients_backward, setup_context=_keep_gradients)
