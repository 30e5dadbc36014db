"""Images turned by any angle."""

import math

import torch
from torch import Tensor, nn


def turned(images: Tensor, seed: int) -> Tensor:
    """Each image turned about its middle by an angle uniform over the circle, bilinearly."""
    generator = torch.Generator().manual_seed(seed)
    angle = 2 * math.pi * torch.rand(len(images), generator=generator)
    cos, sin, zero = angle.cos(), angle.sin(), torch.zeros_like(angle)
    matrices = torch.stack([cos, -sin, zero, sin, cos, zero], dim=1).view(-1, 2, 3)
    grid = nn.functional.affine_grid(matrices, list(images.shape), align_corners=False)
    return nn.functional.grid_sample(images, grid, padding_mode="border", align_corners=False)
