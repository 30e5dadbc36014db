"""The wide residual Chebyshev network for classification."""

import math
from itertools import pairwise
from typing import get_args

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import choice, integer, number
from cheblienet_models.graphs.pyramid import Pyramid
from cheblienet_models.layers.cheb_conv import ChebConv, Operators
from cheblienet_models.layers.pooling import GlobalPool, Mode, SpatialPool
from cheblienet_models.networks.blocks import BatchNorm, Head, LiftChoice, Network, ResidualBlock

BASE_WIDTHS = (16, 32, 64)


class WideResNet(Network):
    """Lift, convolve, three groups of residual blocks, pool over everything, classify.

    Invariant under the symmetries of the graph: on a square SE(2) lattice with an even number of
    orientations, and on the plane, the output does not change when the image is turned by 90
    degrees (with random pooling, in eval mode).

    Networks of Laplacians alone, directional ones too, do not distinguish mirror images either:
    right for vessels or photographs, wrong for digits, letters or cyclones, for which there are
    first-order operators, `handed`.

    Checkpoints have `pool` and `first_level`, which no weight shows: a network with others refuses
    them.

    Args:
        pyramid: the network pools to the next level after groups 1 and 2 while there is one, from
            `first_level` on.
        in_channels: of the images.
        num_classes: of the output.
        kernel_size: of the Chebyshev convolutions.
        depth: residual blocks in each group.
        widen: the groups have 16, 32 and 64 times this many channels, rounded to whole ones.
        pool: spatial pooling, "max", "mean" or "random". Where it is "mean" the last, global
            pooling is the mean too, else the maximum.
        lift: of images: "repeat" over orientations, "cake" or "gabor" by line filters of one scale
            (`OrientedLift`), or a module, such as an OrientedLift of several scales: it makes
            (B, C, V) of an image, of `num_scales` channels for one where it has that attribute.
            Checkpoints know of an OrientedLift, and are refused by networks with another lift.
        check_finite: whether images are searched for NaN and infinite values, of which one would
            make a whole output NaN; not while compiled or exported. On a GPU each call then waits
            for its queue.
        operators, handed, low_pass: of the convolutions, as ChebConv has them: "laplacian",
            "directional" or "first-order", handed or not, of smoothed signals or not.
        first_level: of the first convolution; the lifted images are pooled down to it before. Line
            filters see images at full resolution whatever it is; on level 1 a lattice in the plane
            has a quarter of the vertices.
        head: "invariant", pooling over everything, or "oriented", over positions alone, so that
            every orientation of a feature has weights of its own. Turning an image by 90 degrees
            rolls `features` along orientations, and so the output changes; take it where upright
            things are to be distinguished from turned ones.
        pad: whether images with fewer pixels than the graph's are taken, which has to be a
            lattice: zeros are put around them, as many before as after, or one more after.
            Checkpoints do not know of it.

    Raises:
        TypeError: pyramid is something else, such as a store, or a number is no integer.
        ValueError: a number below 1, another pooling, a level that the pyramid does not have, or a
            lift that the graph, or handed=False, does not allow.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> network = WideResNet(pyramid, in_channels=3, num_classes=10)
        >>> network(torch.randn(2, 3, 16, 16)).shape
        torch.Size([2, 10])
    """

    sampled = frozenset({"first_level"})

    def __init__(
        self,
        pyramid: Pyramid,
        in_channels: int,
        num_classes: int,
        kernel_size: int = 4,
        depth: int = 2,
        widen: float = 2,
        pool: Mode = "max",
        *,
        lift: LiftChoice = "repeat",
        check_finite: bool = True,
        operators: Operators = "laplacian",
        handed: bool = True,
        low_pass: bool = False,
        first_level: int = 0,
        head: Head = "invariant",
        pad: bool = False,
    ) -> None:
        checks = {"check_finite": check_finite, "pad": pad}
        super().__init__(pyramid, in_channels, num_classes, lift, **checks)
        first_level = integer("first_level", first_level, 0, len(pyramid.levels) - 1)
        self.settings = {"first_level": first_level, "pool": pool}
        choice("head", head, get_args(Head))
        choice("pool", pool, get_args(Mode))
        integer("depth", depth, 1)
        widths = _widths(number("widen", widen))
        self.down = nn.Sequential(*(SpatialPool(pyramid, n, pool) for n in range(first_level)))
        first = self.lifted_channels, widths[0], kernel_size, pyramid.levels[first_level]
        kind = self._of_layers(operators, handed=handed, low_pass=low_pass)
        self.conv = ChebConv(*first, bias=False, **kind)
        self.groups = nn.ModuleList()
        self.pools = nn.ModuleList()
        channels, level = widths[0], first_level
        for place, width in enumerate(widths):
            graph = pyramid.levels[level]
            sizes = pairwise([channels, *[width] * depth])
            blocks = (ResidualBlock(*size, kernel_size, graph, **kind) for size in sizes)
            self.groups.append(nn.Sequential(*blocks))
            channels = width
            pools = place < len(widths) - 1 and level + 1 < len(pyramid.levels)
            self.pools.append(SpatialPool(pyramid, level, pool) if pools else nn.Identity())
            level += pools
        self.norm = BatchNorm(channels)
        kept = pyramid.levels[level] if head == "oriented" else None
        self.global_pool = GlobalPool("mean" if pool == "mean" else "max", kept)
        orientations = kept.orientations if kept else 1
        self.classify = nn.Linear(channels * orientations, num_classes)
        self._look_once()

    def forward(self, images: Tensor) -> Tensor:
        """(B, in_channels, *base shape) or lifted -> (B, num_classes).

        Log-probabilities. The base shape is (H, W) on a planar lattice, (D, H, W) on one in space,
        (points,) on the icosphere; a base of several dimensions may also come flattened. With a
        mask it is that of the full sampling, of which what is inside counts (where line filters
        lift, what they see outside, too). Lifted signals, (B, lifted_channels, V) or, with a value
        for each orientation of the full sampling, (B, lifted_channels, n_o, *base shape), are taken
        as they are; lifted_channels is in_channels, or that times the lift's scales.

        Raises:
            TypeError: the images are no tensor.
            ValueError: they have another shape, or values that are not finite.
        """
        return torch.log_softmax(self.classify(self.features(images).flatten(1)), dim=1)

    def features(self, images: Tensor) -> Tensor:
        """The classifier's input: (B, in_channels, *base shape) or lifted -> (B, C) or (B, C, n_o).

        The latter with head="oriented".

        Raises:
            TypeError, ValueError: as `forward`.
        """
        images = self._padded(images)
        if hasattr(self.lift, "sizes"):  # a module of one's own may take other images
            self._check_shape(images)
        x = self.conv(self.down(self._lifted(images)))
        for group, pool in zip(self.groups, self.pools, strict=True):
            x = pool(group(x))
        pooled: Tensor = self.global_pool(torch.relu(self.norm(x)))
        return pooled


def _widths(widen: float) -> list[int]:
    """Channels of the three groups."""
    widths = [round(width * widen) for width in BASE_WIDTHS] if math.isfinite(widen) else [0]
    if min(widths) < 1:
        raise ValueError(
            f"widen must leave each group of {', '.join(map(str, BASE_WIDTHS))} channels at least "
            f"one, as 1 does. Got {widen}."
        )
    return widths
