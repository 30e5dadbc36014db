"""Vertex-major memory behind (batch, channels, vertices), as channels_last is behind images.

A sparse product reads whole rows, one a vertex: with (V, B, C) in memory a row is contiguous, and
the channels of a vertex are rows of the matrix products. Elementwise functions keep the layout.
"""

from torch import Tensor


def vertex_major(x: Tensor) -> Tensor:
    """(B, C, V) -> contiguous (V, B, C): a view where x is vertex-major already, else a copy."""
    return x.permute(2, 0, 1).contiguous()


def logical(x: Tensor) -> Tensor:
    """(V, B, C) -> (B, C, V), a view."""
    return x.permute(1, 2, 0)
