"""Values that stand for none."""

import math

import torch
from torch import Tensor

HEALPY = -1.6375e30
"""healpy.UNSEEN, from its documentation, with a relative tolerance of 1e-5."""


def marks(dtype: torch.dtype) -> list[Tensor]:
    """What is missing in a dtype: healpy's number and others within its tolerance, rounded."""
    unseen = [torch.tensor(HEALPY * factor, dtype=dtype) for factor in (1, 1 + 9e-6, 1 - 9e-6)]
    return [torch.tensor(math.nan, dtype=dtype), *unseen]
