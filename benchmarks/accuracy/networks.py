"""Networks beside those of the package, of the same form or of that of others.

`Plain` and `Steerable` have the form of the wide residual network, a convolution and three groups
of residual blocks: plain ones with 3 x 3 convolutions, and escnn's, equivariant under quarter turns
and flips, D4, or 8 or 16 rotations, C8 or C16 (`pip install escnn`, which brings a numpy below 2).
`ConvolutionalUNet` is the plain counterpart of a UNet on a graph. `Composed` layers have
directional Laplacians that follow one another, beside ChebConv's, which stand in a sum:
y = sum_{a, b < 3} T_a(L_forward) T_b(L_rotation) x W_ab + b: nine terms, one less than a sum of
three operators with K = 4 has, and half as many products again.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from settings import Settings, widths_of
from torch import Tensor, nn

from cheblienet_models import ChebConv
from cheblienet_models.layers.chebyshev import chebyshev

TERMS = 3


class Gaussian(nn.Module):
    """Smooth images by a Gaussian, cut off at three deviations; sides are continued as they end.

    Args:
        deviation: in pixels, above 0.
    """

    def __init__(self, deviation: float) -> None:
        super().__init__()
        self.reach = math.ceil(3 * deviation)
        steps = torch.arange(-self.reach, self.reach + 1)
        kernel = torch.exp(-(steps**2) / (2 * deviation**2))
        self.register_buffer("kernel", kernel / kernel.sum(), persistent=False)

    def forward(self, images: Tensor) -> Tensor:
        """(B, C, H, W) -> the same shape."""
        kernel = self.get_buffer("kernel")
        rows = images.flatten(0, 1)[:, None]
        rows = nn.functional.pad(rows, (self.reach,) * 4, mode="replicate")
        rows = nn.functional.conv2d(rows, kernel.view(1, 1, 1, -1))
        return nn.functional.conv2d(rows, kernel.view(1, 1, -1, 1)).view(images.shape)


class Plain(nn.Module):
    """A wide residual network with 3 x 3 convolutions, pooling by 2 after groups 1 and 2.

    Args:
        settings: `widen`, `depth`, `pool` and `levels` count; "random" pooling is not to be had.
        channels: of the images.
        classes: of the output.
    """

    def __init__(self, settings: Settings, channels: int, classes: int) -> None:
        super().__init__()
        widths = widths_of(settings)
        pools = min(2, settings.levels - 1)
        layers: list[nn.Module] = [_convolution(channels, widths[0], 3)]
        before = widths[0]
        for number, width in enumerate(widths):
            for a, b in pairwise([before, *[width] * settings.depth]):
                layers.append(_Block(a, b))
            before = width
            if number < pools:
                layers.append(nn.AvgPool2d(2) if settings.pool == "mean" else nn.MaxPool2d(2))
        pooled = nn.AdaptiveAvgPool2d(1) if settings.pool == "mean" else nn.AdaptiveMaxPool2d(1)
        layers += [nn.BatchNorm2d(before), nn.ReLU(), pooled, nn.Flatten()]
        self.layers = nn.Sequential(*layers, nn.Linear(before, classes))

    def forward(self, images: Tensor) -> Tensor:
        """(B, channels, H, W) -> log-probabilities (B, classes)."""
        return torch.log_softmax(self.layers(images), dim=1)


class _Block(nn.Module):
    """The package's ResidualBlock with 3 x 3 convolutions."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.branch = nn.Sequential(
            *(nn.BatchNorm2d(before), nn.ReLU(), _convolution(before, after, 3)),
            *(nn.BatchNorm2d(after), nn.ReLU(), _convolution(after, after, 3)),
        )
        self.skip = nn.Identity() if before == after else _convolution(before, after, 1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.skip(x) + self.branch(x)
        return y


def _convolution(before: int, after: int, size: int) -> nn.Conv2d:
    return nn.Conv2d(before, after, size, padding=size // 2, bias=False)


def accept_matrices() -> None:
    """Let scikit-learn take numpy's matrices: escnn 1.0 gives it some, and 1.2 refuses them."""
    from sklearn.utils import extmath  # only escnn needs it

    original = extmath.randomized_svd
    extmath.randomized_svd = lambda a, *rest, **options: original(np.asarray(a), *rest, **options)


class Steerable(nn.Module):
    """Regular representations of a group; invariant by the largest over it.

    Kernels have 3 x 3 pixels for D4 and 5 x 5 for finer rotations, as escnn's own examples do.

    Args:
        settings: `group`, `widen`, `depth` and `levels` count; widths are numbers of
            representations.
        channels: of the images.
        classes: of the output.
    """

    def __init__(self, settings: Settings, channels: int, classes: int) -> None:
        super().__init__()
        accept_matrices()
        from escnn import gspaces  # no dependency of ours
        from escnn import nn as steerable

        flips, turns = settings.group == "D4", int(settings.group[1:])
        space = gspaces.flipRot2dOnR2(N=4) if flips else gspaces.rot2dOnR2(N=turns)
        size = 3 if flips else 5
        widths, pools = widths_of(settings), min(2, settings.levels - 1)

        def field(count: int) -> Any:
            return steerable.FieldType(space, count * [space.regular_repr])

        def convolution(before: Any, after: Any, size: int) -> Any:
            return steerable.R2Conv(before, after, size, padding=size // 2, bias=False)

        def normalized(before: Any) -> list[Any]:
            return [steerable.InnerBatchNorm(before), steerable.ReLU(before)]

        self.images = steerable.FieldType(space, channels * [space.trivial_repr])
        self.first = convolution(self.images, field(widths[0]), size)
        self.branches, self.skips, self.pools = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        last = widths[0]
        for number, width in enumerate(widths):
            for a, b in pairwise([last, *[width] * settings.depth]):
                before, after = field(a), field(b)
                first = *normalized(before), convolution(before, after, size)
                second = *normalized(after), convolution(after, after, size)
                self.branches.append(steerable.SequentialModule(*first, *second))
                self.skips.append(nn.Identity() if a == b else convolution(before, after, 1))
                self.pools.append(nn.Identity())
            last = width
            if number < pools:
                self.pools[-1] = steerable.PointwiseMaxPool(field(width), 2)
        self.last = nn.ModuleList([*normalized(field(last)), steerable.GroupPooling(field(last))])
        self.wrap = steerable.GeometricTensor
        self.classify = nn.Linear(last, classes)

    def forward(self, images: Tensor) -> Tensor:
        """(B, channels, H, W) -> log-probabilities (B, classes)."""
        x = self.first(self.wrap(images, self.images))
        for branch, skip, pool in zip(self.branches, self.skips, self.pools, strict=True):
            x = pool(branch(x) + skip(x))
        for layer in self.last:
            x = layer(x)
        return torch.log_softmax(self.classify(x.tensor.amax((2, 3))), dim=1)


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
    first, second = (
        (_convolution(before, outer, 3), nn.BatchNorm2d(outer), nn.ReLU())
        for before in (inner, outer)
    )
    return nn.Sequential(*first, *second)


class Composed(ChebConv):
    """A ChebConv of directional operators that composes two of them."""

    def _summed(self, x: Tensor) -> Tensor:
        """The sum without the bias, (V, B, in) -> (V, B, out)."""
        forward, _, rotation = (one[:3] for one in self.graph.directional.values())
        channels = x.shape[2]
        eye = torch.eye(channels, dtype=x.dtype, device=x.device)
        # Its block b is T_b(L_rotation) x.
        blocks = x.new_zeros(TERMS, channels, TERMS, channels)
        for number in range(TERMS):
            blocks[number, :, number] = eye
        turned = chebyshev(x, blocks.reshape(TERMS, channels, -1), rotation)
        weight = self.weight[: TERMS**2].reshape(TERMS, TERMS * channels, -1)
        y: Tensor = chebyshev(turned, weight, forward)
        return y


def compose(network: nn.Module) -> nn.Module:
    """The same network, all of its directional layers composed; returns it."""
    for module in network.modules():
        if isinstance(module, ChebConv) and module.operators == "directional":
            module.__class__ = Composed
            with torch.no_grad():
                module.weight = nn.Parameter(module.weight[: TERMS**2].clone())
    return network
