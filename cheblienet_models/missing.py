"""Missing values: which they are, and signals that have to be without."""

import math

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor
from torch._subclasses import FakeTensor

from cheblienet_models.arguments import check_dtype, check_tensor, instance

UNSEEN = -1.6375e30
"""Number that healpy writes where a map has no value."""
CLOSE = 1e-5
"""Relative distance to UNSEEN, as healpy compares: maps may have been rounded to float32."""
LARGE = 1e20
"""Less than a share of UNSEEN in a mean."""


def missing(x: Tensor) -> Tensor:
    """Mask of a signal's missing values, NaN or UNSEEN in its dtype; bool of its shape."""
    if not x.is_floating_point():
        return torch.zeros_like(x, dtype=torch.bool)
    mark = float(torch.tensor(UNSEEN, dtype=x.dtype, device="cpu"))  # -inf in half precision
    if math.isinf(mark):
        return x.isnan() | (x == mark)
    close = max(CLOSE, torch.finfo(x.dtype).eps) * -UNSEEN
    return x.isnan() | ((x - mark).abs() <= close)


def check_finite(name: str, x: Tensor) -> None:
    """Refuse a signal with missing or infinite values, which layers would spread without a word.

    Missing are NaN and healpy's UNSEEN, within its tolerance and that of x's dtype.

    One pass over the signal, which forces a synchronization on a GPU. Nothing is checked while a
    program is compiled, exported, traced or captured, where values are not known.

    Args:
        name: of what the signal is given to.
        x: (B, C, ...).

    Raises:
        TypeError: x is no tensor.
        ValueError: a value is missing or infinite; the message says how many are, and where the
            first is. Or x is not dense, or has a dtype of 8 bits.
    """
    check_tensor(instance("name", name, str), x)
    if not x.is_complex():
        check_dtype(name, x, floating=False)
    check_known(name, x)


def check_known(name: str, x: Tensor, seen: Tensor | None = None) -> None:
    """Check a signal as `check_finite` does, once it has been checked in all else.

    Args:
        name: of what the signal is given to.
        x: (B, C, ...).
        seen: fewer values, means of x's such that each of x's has a part in one; searched first.

    Raises:
        ValueError: a value is missing or infinite.
    """
    if not has_values(x) or looks_known(x if seen is None else seen):
        return
    bad = missing(x) | ~x.isfinite()
    if not bool(bad.any()):
        return
    sample, channel, *place = bad.nonzero()[0].tolist()
    unit = {1: "vertex", 2: "pixel"}.get(len(place), "voxel")
    where = f"{unit} {place[0] if len(place) == 1 else tuple(place)}"
    nan, infinite = (int(found.sum()) for found in (x.isnan(), x.isinf()))
    unseen = int(bad.sum()) - nan - infinite
    kinds = f"{nan} NaN, {unseen} UNSEEN" if unseen else f"{nan} NaN"
    raise ValueError(
        f"{name} takes finite values. Got {kinds} and {infinite} infinite among {x.numel()}, the "
        f"first in sample {sample}, channel {channel}, {where}: fill them first, for instance by "
        "inpaint, or with 0 and a channel that marks them."
    )


def looks_known(x: Tensor) -> bool:
    """True if a sum, quicker than a search, is not NaN, infinite or large, as of missing values."""
    total = x.detach().sum(dtype=torch.promote_types(x.dtype, torch.float32)).item()
    return abs(total) < LARGE


def all_finite(x: Tensor) -> bool:
    """Check whether no value is NaN or infinite."""
    # A sum is quicker than a search, but that of finite values may overflow.
    return bool(x.detach().sum().isfinite()) or bool(x.isfinite().all())


def has_values(x: Tensor) -> bool:
    """Check whether values can be looked at: not while a program is compiled, exported or captured.

    Nor in torch.func's transformations, where a tensor stands for many.
    """
    tracing = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    if torch.compiler.is_compiling() or tracing or x.is_meta:
        return False
    if isinstance(x, FakeTensor) or is_functorch_wrapped_tensor(x):  # as torch.func.vmap gives
        return False
    return not (x.is_cuda and torch.cuda.is_current_stream_capturing())
