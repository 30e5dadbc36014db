"""Vertex-major memory behind (batch, channels, vertices), as channels_last is behind images.

A sparse product reads whole rows, one a vertex: with (V, B, C) in memory a row is contiguous, and
the channels of a vertex are rows of the matrix products. Elementwise functions keep the layout.
"""

import torch
from torch import Tensor

from cheblienet_models.tensors.precision import autocast_type


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
