"""Layout of signals, vertex-major, and precision of constants, at least float32.

Vertex-major memory lies behind (batch, channels, vertices), as channels_last does behind images.

A sparse product reads whole rows, one a vertex: with (V, B, C) in memory a row is contiguous, and
the channels of a vertex are rows of the matrix products. Elementwise functions keep the layout.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def vertex_major(x: Tensor) -> Tensor:
    """(B, C, V) -> contiguous (V, B, C): a view where x is vertex-major already, else a copy."""
    return x.permute(2, 0, 1).contiguous()


def logical(x: Tensor) -> Tensor:
    """(V, B, C) -> (B, C, V), a view."""
    return x.permute(1, 2, 0)


def multiplied(matrix: Tensor, x: Tensor) -> Tensor:
    """A dense matrix (n, m) times every signal, (B, C, m) -> (B, C, n).

    In the wider of the two dtypes, also under autocast.
    """
    dtype = torch.promote_types(matrix.dtype, x.dtype)
    with torch.autocast(autocast_type(x), enabled=False):
        product = matrix.to(dtype) @ vertex_major(x).to(dtype).flatten(1)
    return logical(product.view(len(matrix), *x.shape[:2]))


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
