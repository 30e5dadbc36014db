"""Sums of Chebyshev polynomials of several matrices as operators of torch, with their own backward.

y = x W_0 + sum_j sum_{k >= 1} T_k(L_j) x W_jk has, as the L_j are symmetric and constant, gradients
of the same form; see `chebyshev`. The three operators express one another's derivatives. Matrices
come as one list: row pointers, columns and values of the first, then of the next.
"""

from typing import Any

import torch
from torch import Tensor

from cheblienet_models.layers.parallel_sums import (
    parallel_moments,
    parallel_sum,
    products,
    shared_recursions,
)


@torch.library.custom_op("cheblienet_models::parallel", mutates_args=())
def parallel(x: Tensor, weight: Tensor, laplacians: list[Tensor]) -> Tensor:
    """The sum; x (V, B, in) contiguous, weight (1 + J n, in, out) -> (V, B, out) of x's dtype.

    Computed in the dtype of the matrices, whatever that of x and weight.
    """
    matrices = products(laplacians)
    dtype = matrices[0].dtype
    with torch.autocast(x.device.type, enabled=False):
        found = parallel_sum(matrices, x.to(dtype), weight.to(dtype))
    return found.to(x.dtype)


@parallel.register_fake
def _(x: Tensor, weight: Tensor, laplacians: list[Tensor]) -> Tensor:
    del laplacians
    return x.new_empty(x.shape[0], x.shape[1], weight.shape[2])


@torch.library.custom_op("cheblienet_models::parallel_moments", mutates_args=())
def moments(x: Tensor, g: Tensor, count: int, laplacians: list[Tensor]) -> Tensor:
    """The moment x^T g, then each x^T T_k(L_j) g; x (V, B, in) and g (V, B, out) contiguous.

    (count, in, out) in the dtype of the matrices, count being 1 + J n.
    """
    matrices = products(laplacians)
    dtype = matrices[0].dtype
    with torch.autocast(x.device.type, enabled=False):
        return parallel_moments(matrices, x.to(dtype), g.to(dtype), count)


@moments.register_fake
def _(x: Tensor, g: Tensor, count: int, laplacians: list[Tensor]) -> Tensor:
    return laplacians[2].new_empty(count, x.shape[2], g.shape[2])


@torch.library.custom_op("cheblienet_models::parallel_gradients", mutates_args=())
def gradients(
    g: Tensor, x: Tensor, weight: Tensor, laplacians: list[Tensor]
) -> tuple[Tensor, Tensor]:
    """The gradients of the sum by x (V, B, in) and weight (1 + J n, in, out), in their dtypes."""
    matrices = products(laplacians)
    dtype = matrices[0].dtype
    with torch.autocast(x.device.type, enabled=False):
        cotangent, start = g.to(dtype), x.to(dtype)
        transposed = weight.to(dtype).transpose(1, 2)
        count, narrow, wide = weight.shape
        if wide < 2 * narrow:  # or recursions on the narrow side, for each gradient, cost no more
            by_x, by_weight = shared_recursions(matrices, cotangent, start, transposed)
        else:
            by_weight = parallel_moments(matrices, start, cotangent, count)
            by_x = parallel_sum(matrices, cotangent, transposed)
    return by_x.to(x.dtype), by_weight.to(weight.dtype)


@gradients.register_fake
def _(g: Tensor, x: Tensor, weight: Tensor, laplacians: list[Tensor]) -> tuple[Tensor, Tensor]:
    del g, laplacians
    return torch.empty_like(x), torch.empty_like(weight)


def _swapped(weight: Tensor) -> Tensor:
    return weight.transpose(1, 2).contiguous()


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    x, weight, laplacians = inputs
    ctx.save_for_backward(x, weight, *laplacians)


def _backward(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    x, weight, *laplacians = ctx.saved_tensors
    g = g.contiguous()
    by_x = by_weight = None
    if ctx.needs_input_grad[0] and ctx.needs_input_grad[1]:
        by_x, by_weight = gradients(g, x, weight, laplacians)
    elif ctx.needs_input_grad[0]:
        by_x = parallel(g, _swapped(weight), laplacians)
    elif ctx.needs_input_grad[1]:
        by_weight = moments(x, g, len(weight), laplacians).to(weight.dtype)
    return by_x, by_weight, [None] * len(laplacians)


def _keep_pair(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    x, g, _, laplacians = inputs
    ctx.save_for_backward(x, g, *laplacians)


def _moments_backward(ctx: Any, m: Tensor) -> tuple[Any, ...]:
    """Each moment is linear in x and in g."""
    x, g, *laplacians = ctx.saved_tensors
    by_x = parallel(g, _swapped(m), laplacians).to(x.dtype)
    by_g = parallel(x, m.contiguous(), laplacians).to(g.dtype)
    return by_x, by_g, None, [None] * len(laplacians)


def _keep_gradients(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    g, x, weight, laplacians = inputs
    ctx.save_for_backward(g, x, weight, *laplacians)


def _gradients_backward(ctx: Any, u: Tensor, m: Tensor) -> tuple[Any, ...]:
    """Of the gradient by x with cotangent u, and of that by the weights with cotangent m."""
    g, x, weight, *laplacians = ctx.saved_tensors
    u, m = u.contiguous(), m.contiguous()
    by_g = parallel(u, weight, laplacians) + parallel(x, m, laplacians)
    by_x = parallel(g, _swapped(m), laplacians)
    by_weight = moments(u, g, len(weight), laplacians)
    tensors = by_g.to(g.dtype), by_x.to(x.dtype), by_weight.to(weight.dtype)
    return *tensors, [None] * len(laplacians)


parallel.register_autograd(_backward, setup_context=_keep)
moments.register_autograd(_moments_backward, setup_context=_keep_pair)
gradients.register_autograd(_gradients_backward, setup_context=_keep_gradients)
