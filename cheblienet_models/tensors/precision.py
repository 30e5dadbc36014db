"""Precision of constants: a network's, but never below float32."""

from collections.abc import Callable

import torch
from torch import Tensor


def autocast_type(x: Tensor) -> str:
    """The kind of device that autocast knows a tensor by: it has none for `meta`."""
    return "cpu" if x.is_meta else x.device.type


def never_below_float32(fn: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Change the function that `.to()` and `.half()` apply to a module, for a module of constants.

    It follows to other devices and to float64, but keeps its dtype instead of half precision.
    """

    def kept(tensor: Tensor) -> Tensor:
        applied = fn(tensor)
        lossy = tensor.is_floating_point() and applied.dtype in {torch.half, torch.bfloat16}
        return tensor.to(applied.device) if lossy else applied

    return kept
