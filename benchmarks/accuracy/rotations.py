"""Images turned by any angle, and flipped."""

import math

import torch
from torch import Tensor, nn


def turned(images: Tensor, seed: int) -> Tensor:
    """Each image turned about its middle by an angle uniform over the circle, bilinearly."""
    generator = torch.Generator().manual_seed(seed)
    angle = 2 * math.pi * torch.rand(len(images), generator=generator)
    return moved(images, angle, torch.ones(len(images)))


def augmented(images: Tensor, augment: str) -> Tensor:
    """Images for training: as they are, or each turned by an angle of its own, perhaps flipped.

    Args:
        images: (B, C, H, W).
        augment: "none", "rotations" or "motions".
    """
    if augment == "none":
        return images
    angle, sign = 2 * math.pi * torch.rand(len(images)), torch.ones(len(images))
    if augment == "motions":
        sign = torch.where(torch.rand(len(images)) < 0.5, -1.0, 1.0)
    return moved(images, angle, sign)


def moved(images: Tensor, angle: Tensor, sign: Tensor) -> Tensor:
    """Images turned about their middle, bilinearly, continued as their sides end.

    Args:
        images: (B, C, H, W).
        angle: (B,) radians.
        sign: (B,) 1, or -1 for those that are flipped, too.
    """
    cos, sin, zero = angle.cos(), angle.sin(), torch.zeros_like(angle)
    rows = torch.stack([sign * cos, -sin, zero, sign * sin, cos, zero], dim=1)
    matrices = rows.view(-1, 2, 3).to(images.device)
    grid = nn.functional.affine_grid(matrices, list(images.shape), align_corners=False)
    return nn.functional.grid_sample(images, grid, padding_mode="border", align_corners=False)
