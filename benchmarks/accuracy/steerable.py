"""escnn's steerable network in the form of the others, equivariant under D4.

That is rotations by 90 degrees and flips. Needs `pip install escnn`, which brings a numpy below 2.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from settings import Settings, widths_of
from torch import Tensor, nn


def accept_matrices() -> None:
    """Let scikit-learn take numpy's matrices: escnn 1.0 gives it some, and 1.2 refuses them."""
    from sklearn.utils import extmath  # only escnn needs it

    original = extmath.randomized_svd
    extmath.randomized_svd = lambda a, *rest, **options: original(np.asarray(a), *rest, **options)


class Steerable(nn.Module):
    """Regular representations of D4, eight channels each; invariant by the largest over the group.

    Args:
        settings: `widen`, `depth` and `levels` count; widths are numbers of representations.
        channels: of the images.
        classes: of the output.
    """

    def __init__(self, settings: Settings, channels: int, classes: int) -> None:
        super().__init__()
        accept_matrices()
        from escnn import gspaces  # no dependency of ours
        from escnn import nn as steerable

        space = gspaces.flipRot2dOnR2(N=4)
        widths, pools = widths_of(settings), min(2, settings.levels - 1)

        def field(count: int) -> Any:
            return steerable.FieldType(space, count * [space.regular_repr])

        def convolution(before: Any, after: Any, size: int) -> Any:
            return steerable.R2Conv(before, after, size, padding=size // 2, bias=False)

        def normalised(before: Any) -> list[Any]:
            return [steerable.InnerBatchNorm(before), steerable.ReLU(before)]

        self.images = steerable.FieldType(space, channels * [space.trivial_repr])
        self.first = convolution(self.images, field(widths[0]), 3)
        self.branches, self.skips, self.pools = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        last = widths[0]
        for number, width in enumerate(widths):
            for a, b in pairwise([last, *[width] * settings.depth]):
                before, after = field(a), field(b)
                first = *normalised(before), convolution(before, after, 3)
                second = *normalised(after), convolution(after, after, 3)
                self.branches.append(steerable.SequentialModule(*first, *second))
                self.skips.append(nn.Identity() if a == b else convolution(before, after, 1))
                self.pools.append(nn.Identity())
            last = width
            if number < pools:
                self.pools[-1] = steerable.PointwiseMaxPool(field(width), 2)
        self.last = nn.ModuleList([*normalised(field(last)), steerable.GroupPooling(field(last))])
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
