"""First derivatives along the frame of a graph as operators of torch, with their own backward.

With G the stacked matrices of the fields and S = G + G^T of each, the backward of G x is

    sum_f G_f^T y_f = sum_f (S_f y_f - G_f y_f),

so no transposed copy is held. The two operators are each other's derivatives, and can be
differentiated any number of times. Their matrices come last: row pointers, columns and values of G,
then of S. Signals are vertex-major, (V, B, C).
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor

from cheblienet_models.graphs.gradients import Gradients, block
from cheblienet_models.layers.chebyshev_sums import as_rows, contracted
from cheblienet_models.tensors import Csr, csr_tensor, uncast

PARTS = ", ".join(f"Tensor {kind}{part}" for kind in ("", "symmetric_") for part in Csr._fields)
SETTINGS = f"float[] scales, int own, int[] starts, {PARTS}"
"""Factors of the first fields, which alone are taken; how many copies of x come before them, 0 or
1; entries before each field's of G, then of S."""
NONE = (None,) * 9
"""Their gradients."""
SMALL = 1e-6
"""Added below roots, which have no derivative at 0."""
ROWS_AT_ONCE = 2**12
"""Rows whose norms a CPU takes while their parts are in its cache; a GPU takes all at once."""
custom_op = partial(torch.library.custom_op, mutates_args=())


@custom_op("cheblienet_models::gradient", schema=f"(Tensor x, {SETTINGS}) -> Tensor")
def gradient(
    x: Tensor, scales: Sequence[float], own: int, starts: Sequence[int], *parts: Tensor
) -> Tensor:
    """x, if own, and scale_f G_f x, side by side; (V, B, C) contiguous -> (V, B, (own + F) C).

    Computed in the dtype of the matrices, whatever that of x.
    """
    (pointers, columns, values), count, vertices = parts[:3], len(scales), len(x)
    entries = starts[count]
    first = Csr(pointers[: count * vertices + 1], columns[:entries], values[:entries])
    with uncast(x):
        signal = x.to(values.dtype)
        along = csr_tensor(first, vertices) @ signal.flatten(1)
        total = signal.new_empty(*x.shape[:2], own + count, x.shape[2])
        if own:
            total[:, :, 0] = signal
        for n, (scale, part) in enumerate(zip(scales, along.view(count, *x.shape), strict=True)):
            torch.mul(part, scale, out=total[:, :, own + n])
    return total.flatten(2).to(x.dtype)


@gradient.register_fake
def _(
    x: Tensor, scales: Sequence[float], own: int, starts: Sequence[int], *parts: Tensor
) -> Tensor:
    del starts, parts
    return x.new_empty(*x.shape[:2], (own + len(scales)) * x.shape[2])


@custom_op("cheblienet_models::gradient_adjoint", schema=f"(Tensor y, {SETTINGS}) -> Tensor")
def gradient_adjoint(
    y: Tensor, scales: Sequence[float], own: int, starts: Sequence[int], *parts: Tensor
) -> Tensor:
    """The transpose of `gradient`: (V, B, (own + F) C) contiguous -> (V, B, C)."""
    fields, symmetric, vertices = Csr(*parts[:3]), Csr(*parts[3:]), len(y)
    middle = len(starts) // 2
    with uncast(y):
        terms = y.to(fields.values.dtype).unflatten(2, (own + len(scales), -1))
        total: Tensor = terms[:, :, 0].clone(memory_format=torch.contiguous_format)
        total = (total if own else total.zero_()).flatten(1)
        for n, scale in enumerate(scales):
            term = (terms[:, :, own + n] * scale).flatten(1)
            for matrix, begins, sign in (
                (symmetric, starts[middle:], 1),
                (fields, starts[:middle], -1),
            ):
                if begins[n] < begins[n + 1]:
                    part = csr_tensor(block(matrix, vertices, n, begins), vertices)
                    total.addmm_(part, term, alpha=sign)
    return total.view(terms[:, :, 0].shape).to(y.dtype)


@gradient_adjoint.register_fake
def _(
    y: Tensor, scales: Sequence[float], own: int, starts: Sequence[int], *parts: Tensor
) -> Tensor:
    del starts, parts
    return y.new_empty(*y.shape[:2], y.shape[2] // (own + len(scales)))


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    _, *ctx.settings = inputs[:4]
    ctx.save_for_backward(*inputs[4:])


def _gradient_backward(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    return gradient_adjoint(g.contiguous(), *ctx.settings, *ctx.saved_tensors), *NONE


def _adjoint_backward(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    return gradient(g.contiguous(), *ctx.settings, *ctx.saved_tensors), *NONE


@custom_op("cheblienet_models::norms", schema="(Tensor along, Tensor weight, int fields) -> Tensor")
def norms(along: Tensor, weight: Tensor, fields: int) -> Tensor:
    """sqrt(sum_f z_f^2 + SMALL), z = along W; (V, B, F in) contiguous -> (V, B, out).

    W is (F in, F out), or (in, out) for each field alike. Computed in the dtype of both.
    """
    total = _empty_norms(along, weight, fields)
    size = ROWS_AT_ONCE if along.device.type == "cpu" else max(1, along.shape[0] * along.shape[1])
    rows = as_rows(along).split(size), as_rows(total).split(size)
    with uncast(along):
        for some, norm in zip(*rows, strict=True):
            first, *others = _mixed(some, weight, fields).unbind(1)
            torch.mul(first, first, out=norm)
            for part in others:
                norm.addcmul_(part, part)
            norm.add_(SMALL).sqrt_()
    return total


def _empty_norms(along: Tensor, weight: Tensor, fields: int) -> Tensor:
    alike = along.shape[2] // weight.shape[0]
    return along.new_empty(*along.shape[:2], weight.shape[1] * alike // fields)


def _mixed(rows: Tensor, weight: Tensor, fields: int) -> Tensor:
    """(N, F in) -> (N, F, out)."""
    mixed = rows.reshape(-1, len(weight)) @ weight
    return mixed.view(len(rows), fields, rows.shape[1] // len(weight) * weight.shape[1] // fields)


norms.register_fake(_empty_norms)


def _keep_norms(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    along, weight, ctx.fields = inputs
    ctx.save_for_backward(along, weight, output)


def _norms_backward(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    along, weight, total = ctx.saved_tensors
    rows = along.flatten(0, 1)
    mixed = _mixed(rows, weight, ctx.fields)
    by_mixed = (mixed * (g / total).flatten(0, 1)[:, None]).view(-1, weight.shape[1])
    by_weight = contracted(rows.reshape(-1, len(weight)), by_mixed)
    return (by_mixed @ weight.T).view_as(along), by_weight, None


norms.register_autograd(_norms_backward, setup_context=_keep_norms)
gradient.register_autograd(_gradient_backward, setup_context=_keep)
gradient_adjoint.register_autograd(_adjoint_backward, setup_context=_keep)


def derivatives(x: Tensor, gradients: Gradients, count: int, own: int = 0) -> Tensor:
    """`gradient` along the first fields of a graph, in their units."""
    scales = [1 / unit if unit else 0.0 for unit in gradients.units[:count]]
    y = gradient(x, scales, own, gradients.starts, *gradients.parts())
    return cast("Tensor", y)
