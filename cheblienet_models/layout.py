"""Vertex-major memory behind (batch, channels, vertices), as channels_last is behind images.

A sparse product reads whole rows, one a vertex: with (V, B, C) in memory a row is contiguous, and
the channels of a vertex are rows of the matrix products. Elementwise functions keep the layout.
"""

import math
import mmap
from collections.abc import Sequence

import torch
from torch import Tensor

HUGE = 32 * 2**20
"""Above this size the C library maps fresh memory for every tensor instead of reusing freed one."""


def vertex_major(x: Tensor) -> Tensor:
    """(B, C, V) -> contiguous (V, B, C): a view where x is vertex-major already, else a copy."""
    return x.permute(2, 0, 1).contiguous()


def logical(x: Tensor) -> Tensor:
    """(V, B, C) -> (B, C, V), a view."""
    return x.permute(1, 2, 0)


def empty(shape: Sequence[int], like: Tensor) -> Tensor:
    """Uninitialised, with the dtype and device of another tensor.

    Large ones on a CPU lie in huge pages where the system has them: faulting in ordinary ones takes
    several times as long as filling them, or as the sparse product that they are for.
    """
    nbytes = math.prod(shape) * like.element_size()
    if like.device.type != "cpu" or nbytes <= HUGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return like.new_empty(shape)
    memory = mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    return torch.frombuffer(memory, dtype=like.dtype).view(*shape)
