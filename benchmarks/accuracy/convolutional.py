"""The plain counterpart of a UNet on a graph."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn


class ConvolutionalUNet(nn.Module):
    """3 x 3 convolutions, two a level, maxima down and nearest pixels up; log-probabilities.

    Args:
        widths: channels of each level, finest first.
        in_channels: of the images.
        classes: of the output.
    """

    def __init__(self, widths: Sequence[int], in_channels: int = 1, classes: int = 2) -> None:
        super().__init__()
        self.first = _convolved(in_channels, widths[0])
        self.down = nn.ModuleList(_convolved(a, b) for a, b in pairwise(widths))
        self.up = nn.ModuleList(_convolved(a + b, a) for a, b in pairwise(widths))
        self.last = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, in_channels, H, W) -> (B, classes, H, W); H and W halve on each level."""
        skips = [self.first(x)]
        for block in self.down:
            skips.append(block(nn.functional.max_pool2d(skips[-1], 2)))
        y = skips.pop()
        for block in reversed(self.up):
            y = block(torch.cat([nn.functional.interpolate(y, scale_factor=2), skips.pop()], 1))
        return torch.log_softmax(self.last(y), 1)


def _convolved(inner: int, outer: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inner, outer, 3, padding=1, bias=False),
        nn.BatchNorm2d(outer),
        nn.ReLU(),
        nn.Conv2d(outer, outer, 3, padding=1, bias=False),
        nn.BatchNorm2d(outer),
        nn.ReLU(),
    )
