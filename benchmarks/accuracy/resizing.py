"""Pictures in another size."""

import torch
from torch import Tensor, nn

AT_ONCE = 500


def resized(images: Tensor, size: int) -> Tensor:
    """The central squares of images (N, C, H, W) uint8, as (N, C, size, size) uint8.

    Smaller ones are averages over areas, larger ones bilinear between pixels; both are rounded.
    """
    height, width = images.shape[2:]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    squares = images[..., top : top + side, left : left + side]
    if side == size:
        return squares.contiguous()
    return torch.cat([_scaled(part.float(), size) for part in squares.split(AT_ONCE)])


def _scaled(squares: Tensor, size: int) -> Tensor:
    if size < squares.shape[-1]:
        pixels = nn.functional.interpolate(squares, (size, size), mode="area")
    else:
        pixels = nn.functional.interpolate(squares, (size, size), mode="bilinear", antialias=True)
    return pixels.round().clamp(0, 255).to(torch.uint8)
