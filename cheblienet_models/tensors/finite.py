"""Refusing what would turn a network's whole output into NaN."""

import torch
from torch import Tensor

from cheblienet_models.arguments import check_tensor, instance


def check_finite(name: str, x: Tensor) -> None:
    """Refuse a signal with NaN or infinite values, which a network would spread without a word.

    One pass over the signal; on a GPU its queue has to be waited for. Nothing is checked while a
    program is compiled, exported, traced or captured, where values are not known.

    Args:
        name: of what the signal is given to.
        x: (B, C, ...).

    Raises:
        TypeError: x is no tensor.
        ValueError: a value is not finite; the message says how many are, and where the first is.
    """
    check_tensor(instance("name", name, str), x)
    if not has_values(x) or all_finite(x):
        return
    bad = ~x.isfinite()
    sample, channel, *place = bad.nonzero()[0].tolist()
    unit = {1: "vertex", 2: "pixel"}.get(len(place), "voxel")
    where = f"{unit} {place[0] if len(place) == 1 else tuple(place)}"
    raise ValueError(
        f"{name} takes finite values. Got {int(x.isnan().sum())} NaN and {int(x.isinf().sum())} "
        f"infinite among {x.numel()}, the first in sample {sample}, channel {channel}, {where}: "
        "fill them first, for instance with torch.nan_to_num and a channel that marks them."
    )


def all_finite(x: Tensor) -> bool:
    """Whether no value is NaN or infinite."""
    # A sum is quicker than a search, but that of finite values may overflow.
    return bool(x.detach().sum().isfinite()) or bool(x.isfinite().all())


def has_values(x: Tensor) -> bool:
    """Whether values can be looked at: not while a program is compiled, exported or captured."""
    tracing = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    if torch.compiler.is_compiling() or tracing or x.is_meta:
        return False
    return not (x.is_cuda and torch.cuda.is_current_stream_capturing())
