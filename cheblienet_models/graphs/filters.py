"""Functions of the Laplacian applied to signals, as operators of torch with their own backward.

They run T_k(L) x upwards and add up: on smooth signals, which are what a diffusion leaves, that
rounds four to ten times better in float32 than Clenshaw's recursion from above. L is symmetric, so
the gradient by x is the same function applied to the gradient by y, and nothing is kept for it.

`diffused` finds its coefficients itself: its degree follows from the times, which are not known
where a program is exported or compiled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from cheblienet_models.arguments import check_signal, check_tensor, check_values, number
from cheblienet_models.graphs.polynomials import Polynomial, at_zero, check_tolerance, heat
from cheblienet_models.tensors import (
    CsrParts,
    csr_tensor,
    custom_op,
    logical,
    polynomials,
    vertex_major,
)

SINGLE = 64
"""Up to this degree float32 is not widened: it rounds by 3e-6 of |x| at most."""
ROUNDING = 8e-10
"""Rounding error in units of the degree's square, on the graphs where it was found largest."""


@dataclass(frozen=True)
class Operator:
    """A Laplacian to take functions of.

    Args:
        label: of its graph, for messages.
        laplacian: 2 Delta / lambda_max - I.
        lambda_max: a bound of Delta's spectrum.
        mass: (V,) N; Delta maps its root to 0, so the root's part of a signal is taken off, and
            multiplied by the function's value at 0, as products in float32 round it.
    """

    label: str
    laplacian: CsrParts
    lambda_max: float
    mass: Tensor

    def parts(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The part of x, (V, B, C), along the root, and what is left, in the wider dtype."""
        x = x.to(torch.promote_types(x.dtype, self.mass.dtype))
        root = self.mass.to(x.dtype).sqrt()
        root = root / torch.linalg.vector_norm(root)
        root = root[:, None, None]
        along = root * (root * x).sum(0)
        return along, x - along


MATRIX = "Tensor row_pointers, Tensor columns, Tensor values, Tensor? mass=None"
"""With the mass float64 has a diagonal that follows from it, see `exact`."""
HOW = "SymInt order, float lambda_max, float tolerance"
"""Arguments in the operators' schemas."""


def exact(laplacian: CsrParts, mass: Tensor) -> CsrParts:
    """The Laplacian in float64, with a diagonal that follows from its other entries.

    That was rounded to float32, by up to 3e-8, which for Delta is a potential of that share of
    lambda_max.
    """
    pointers, columns, values = laplacian
    root = mass.double().sqrt()
    values = values.double()
    rows = laplacian.rows()
    off = root.index_add(0, rows, values * root[columns.long()])
    surplus = torch.where(root > 0, off / root, 0)
    return CsrParts(pointers, columns, values - torch.where(rows == columns, surplus[rows], 0))


@custom_op("filtered", f"(Tensor x, Tensor coefficients, {MATRIX}) -> Tensor")
def filtered(x: Tensor, coefficients: Tensor, *laplacian: Tensor | None) -> Tensor:
    """sum_k c_k T_k(L) x; x (V, B, C) contiguous, c (K, 1) or (K, C) -> as x.

    Computed as `working_dtype` says. The coefficients are constants.
    """
    (total,) = _sums(x, [coefficients], laplacian)
    return total.to(x.dtype)


@custom_op("diffused", f"(Tensor x, Tensor times, {HOW}, {MATRIX}) -> Tensor")
def diffused(x: Tensor, times: Tensor, *how: Any) -> Tensor:
    """(-Delta)^order exp(-t Delta) x; x (V, B, C) contiguous, times (1,) or (C,) -> as x.

    Computed as `working_dtype` says.

    Raises:
        ValueError: as `polynomials.heat`.
    """
    return _diffused(x, times, 1, *how)[0]


@custom_op("diffused_twice", f"(Tensor x, Tensor times, {HOW}, {MATRIX}) -> (Tensor, Tensor)")
def diffused_twice(x: Tensor, times: Tensor, *how: Any) -> tuple[Tensor, Tensor]:
    """`diffused` of an order and of the next, which is its slope by t, from one recursion."""
    total, slope = _diffused(x, times, 2, *how)
    return total, slope


def _diffused(x: Tensor, times: Tensor, count: int, order: int, *how: Any) -> list[Tensor]:
    """`diffused` of so many orders, the first one given."""
    lambda_max, tolerance, *laplacian = how
    orders = range(order, order + count)
    series = [heat(times, lambda_max, tolerance, each).coefficients for each in orders]
    return [total.to(x.dtype) for total in _sums(x, series, laplacian, tolerance)]


@filtered.register_fake
@diffused.register_fake
def _(x: Tensor, *_: Any) -> Tensor:
    return torch.empty_like(x)


@diffused_twice.register_fake
def _(x: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x), torch.empty_like(x)


def working_dtype(x: Tensor, values: Tensor, degree: int, tolerance: float = 0) -> torch.dtype:
    """The wider of two tensors' dtypes; float64 where float32 would round by more than tolerance.

    Rounding grows with the degree. Up to SINGLE it is taken as it is.
    """
    if degree > SINGLE and ROUNDING * degree**2 > tolerance:
        return torch.float64
    return torch.promote_types(x.dtype, values.dtype)


def _sums(
    x: Tensor, series: Sequence[Tensor], laplacian: Sequence[Any], tolerance: float = 0
) -> list[Tensor]:
    """sum_k c_k T_k(L) x for each series c, (V, B, C) in the dtype that it is computed in."""
    longest, matrix = max(map(len, series)), CsrParts(*laplacian[:3])
    mass = laplacian[3] if len(laplacian) > 3 else None
    dtype = working_dtype(x, matrix.values, longest - 1, tolerance)
    if dtype == torch.float64 and mass is not None:
        matrix = exact(matrix, mass)
    start = x.to(dtype)
    rows = [_rows(c, start) for c in series]
    totals = [start * own[0] for own in rows]
    with torch.autocast(x.device.type, enabled=False):
        cast = csr_tensor(matrix._replace(values=matrix.values.to(dtype)), len(x))
        for k, term in enumerate(polynomials(cast, start.flatten(1), longest), 1):
            for total, own in zip(totals, rows, strict=True):
                if k < len(own):
                    _add(total, term.view_as(total), own[k])
    return totals


def _rows(series: Tensor, x: Tensor) -> list[float] | Tensor:
    """c_k as numbers, or as tensors (C,) beside x."""
    return series[:, 0].tolist() if series.shape[1] == 1 else series.to(x)


def _add(total: Tensor, term: Tensor, factor: float | Tensor) -> None:
    if isinstance(factor, Tensor):
        total.addcmul_(term, factor)
    else:
        total.add_(term, alpha=factor)


def _contracted(a: Tensor, b: Tensor, times: Tensor) -> Tensor:
    """The sum of a b over vertices and batch, and over channels that share a time; as times."""
    by_channel = (a * b.to(a.dtype)).sum((0, 1), dtype=torch.float64)
    summed = by_channel.sum(0, keepdim=True) if len(times) == 1 else by_channel
    return summed.to(times)


def _keep_coefficients(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    ctx.save_for_backward(*inputs[1:])


def _filtered_backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    return filtered(g.contiguous(), *ctx.saved_tensors), *[None] * 5


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    x, times, ctx.order, ctx.lambda_max, ctx.tolerance, *laplacian = inputs
    ctx.save_for_backward(x, times, *laplacian)


def _diffused_backward(ctx: Any, *cotangents: Tensor) -> tuple[Tensor | None, ...]:
    """The backward of `diffused`, or of `diffused_twice` with two cotangents."""
    x, times, *laplacian = ctx.saved_tensors
    by_x, by_times = [], []
    for order, g in enumerate(cotangents, ctx.order):
        given = g.contiguous(), times, order, ctx.lambda_max, ctx.tolerance, *laplacian
        if ctx.needs_input_grad[1]:
            spread, slope = diffused_twice(*given)
            by_times.append(_contracted(slope, x, times))
        else:
            spread = diffused(*given)
        by_x.append(spread)
    time = sum(by_times[1:], by_times[0]) if by_times else None
    return sum(by_x[1:], by_x[0]), time, *[None] * 7


filtered.register_autograd(_filtered_backward, setup_context=_keep_coefficients)
for operator in (diffused, diffused_twice):
    operator.register_autograd(_diffused_backward, setup_context=_keep)


def apply_polynomial(operator: Operator, x: Tensor, polynomial: Polynomial) -> Tensor:
    """A polynomial of Delta applied to a signal, (B, C, V) -> (B, C, V), in its dtype.

    Raises:
        ValueError: x has another shape, dtype or device, or the polynomial is for another spectrum.
    """
    name = _checked(operator, "filter", x)
    series = series_of(name, polynomial, operator.lambda_max, x.shape[1])
    along, rest = operator.parts(vertex_major(x))
    spread = filtered(rest.contiguous(), series, *operator.laplacian, operator.mass)
    total = spread + along * at_zero(series).to(along)
    return logical(total.to(x.dtype))


def series_of(name: str, polynomial: Polynomial, lambda_max: float, channels: int) -> Tensor:
    """The coefficients of a polynomial for an operator and signals of so many channels.

    Raises:
        ValueError: it is for another spectrum, or for others.
    """
    if polynomial.lambda_max != lambda_max:
        raise ValueError(
            f"{name} takes a polynomial for eigenvalues up to {lambda_max:.9g}. Got one for "
            f"{polynomial.lambda_max:.9g}; give the function itself."
        )
    series = polynomial.coefficients
    if series.shape[1] not in {1, channels}:
        raise ValueError(
            f"{name} takes as many channels as its polynomial has, {series.shape[1]}. "
            f"Got {channels}."
        )
    return series


def diffuse(
    operator: Operator, x: Tensor, t: object, tolerance: float, *, density: bool = False
) -> Tensor:
    """exp(-t Delta) x, (B, C, V) -> (B, C, V), in its dtype; or of a density, as `Graph.diffuse`.

    Where N is 0 there are no neighbors, and nothing is diffused.

    Raises:
        ValueError: x or t has another shape or dtype, x is on another device, or as `heat`.
    """
    _checked(operator, "diffuse", x)
    check_tolerance(tolerance)
    times = times_of(t, x.shape[1])
    if not x.is_meta:  # else the kernel would take what lies about for times
        check_values("t", times)
    mass = operator.mass
    how = (0, operator.lambda_max, tolerance, *operator.laplacian, mass)
    root = torch.where(mass > 0, mass, 1).sqrt() if density else None
    whole = vertex_major(x if root is None else x * root)
    _, rest = operator.parts(whole)
    change = diffused(rest.contiguous(), times, *how) - rest  # 0 where there is no time
    spread = logical(whole + change)
    return (spread if root is None else spread / root).to(x.dtype)


def times_of(t: object, channels: int | None = None) -> Tensor:
    """(1,) or (C,) times.

    Raises:
        ValueError: t is no number, nor such a tensor.
    """
    if isinstance(t, Tensor):
        check_tensor("t", t)
        fits = t.ndim == 0 or (t.ndim == 1 and (channels is None or len(t) in {1, channels}))
        if fits and t.is_floating_point():
            return t.reshape(-1)
        found = f"{t.dtype} of shape {tuple(t.shape)}"
    elif isinstance(t, bool) or not isinstance(t, Real):
        found = type(t).__name__
    else:
        return torch.tensor([number("t", t)], dtype=torch.float64)
    each = "C" if channels is None else channels
    raise ValueError(
        f"t must be a number, or a tensor of floating point of shape () or ({each},), one for each "
        f"channel. Got {found}."
    )


def _checked(operator: Operator, method: str, x: Tensor) -> str:
    """The receiver of a signal, for messages."""
    pointers, _, values = operator.laplacian
    name = f"{method} on {operator.label}"
    check_signal(name, x, ("B", "C", len(pointers) - 1), values.device)
    return name
