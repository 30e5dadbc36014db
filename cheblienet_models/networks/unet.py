"""The U-shaped Chebyshev network for segmentation."""

import math
from collections.abc import Sequence
from typing import get_args

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import choice, integer, is_sequence
from cheblienet_models.errors import quoted
from cheblienet_models.graphs.pyramid import Pyramid
from cheblienet_models.layers.cheb_conv import ChebConv, Operators
from cheblienet_models.layers.lifting import Project, Reduction
from cheblienet_models.layers.pooling import Mode, SpatialPool, SpatialUnpool, keep_orientations
from cheblienet_models.networks.blocks import BatchNorm, Head, LiftChoice, Network, ResidualBlock
from cheblienet_models.tensors import logical, vertex_major

PAPER_CHANNELS = (16, 32, 64, 128, 256, 256, 256)


class UNet(Network):
    """The paper's U-ChebNet: down the pyramid and up again, then a class for each base point.

    Convolve; on each level a residual block, then pooling to the next; from the coarsest level
    unpooling, the finer level's signal beside it, and a residual block, up to the finest; a
    pointwise map to the classes, projection over orientations, log-softmax at each base point.

    The paper's appendix lists a "global max pooling" at the end of this network. It cannot be one:
    over all vertices it would leave a single prediction for the whole image, where segmentation
    needs one for each point. The maximum is over the orientations above each base point, here.

    Equivariant under the symmetries that all levels share, to rounding (with random pooling, in
    eval mode): the prediction for a turned signal is the turned prediction. So is that for a mirror
    image, unless operators are first-order and handed.

    Checkpoints have `pool`, `unpool` and `project`, which no weight shows: a network with others
    refuses them.

    Args:
        pyramid: on any manifold, of at least two levels; all of them are used.
        in_channels: of the signal.
        num_classes: of the output.
        kernel_size: of the Chebyshev convolutions.
        channels: after the first convolution and after the residual block on each level, finest
            first; on the way up the blocks have their level's again. Left out: the paper's 16, 32,
            64, 128, 256, 256, 256, cut to the levels there are or continued with 256.
        pool: down, "max", "mean" or "random".
        unpool: up, "mean", "max" or "random".
        project: over orientations, "max", "mean" or "sum".
        lift: of images: "repeat" over orientations, "cake" or "gabor" by line filters of one scale
            (`OrientedLift`), or a module, such as an OrientedLift of several scales: it makes
            (B, C, V) of an image, of `num_scales` channels for one where it has that attribute.
            Checkpoints know of an OrientedLift, and are refused by networks with another lift.
        check_finite: whether signals are searched for NaN and infinite values, of which one would
            make a whole output NaN; not while compiled or exported. On a GPU each call then waits
            for its queue.
        operators, handed, low_pass: of the convolutions, as ChebConv has them: "laplacian",
            "directional" or "first-order", handed or not, of smoothed signals or not.
        head: "invariant", projection over orientations, or "oriented": the channels of all
            orientations at a point are classified together, and nothing is projected. What is
            classified, `features`, turns with the image; the prediction does not.
        pad: whether images with fewer pixels than the graph's are taken, which has to be a
            lattice: zeros are put around them, as many before as after, or one more after, and
            cut off the prediction.
            Checkpoints do not know of it.

    Raises:
        TypeError: pyramid is something else, such as a store, or a number is no integer.
        ValueError: fewer than two levels, another number of channels, a number below 1, another
            mode, or a lift that the graph, or handed=False, does not allow.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> network = UNet(pyramid, in_channels=1, num_classes=2)
        >>> network(torch.randn(1, 1, 16, 16)).shape
        torch.Size([1, 2, 16, 16])
    """

    def __init__(
        self,
        pyramid: Pyramid,
        in_channels: int,
        num_classes: int,
        kernel_size: int = 4,
        channels: Sequence[int] | None = None,
        pool: Mode = "max",
        unpool: Mode = "mean",
        project: Reduction = "max",
        *,
        lift: LiftChoice = "repeat",
        check_finite: bool = True,
        operators: Operators = "laplacian",
        handed: bool = True,
        low_pass: bool = False,
        head: Head = "invariant",
        pad: bool = False,
    ) -> None:
        checks = {"check_finite": check_finite, "pad": pad}
        super().__init__(pyramid, in_channels, num_classes, lift, **checks)
        self.channels = widths = _checked_channels(pyramid, channels)
        self.settings = {"pool": pool, "unpool": unpool, "project": project}
        choice("head", head, get_args(Head))
        choice("pool", pool, get_args(Mode))
        choice("unpool", unpool, get_args(Mode))
        choice("project", project, get_args(Reduction))
        levels = pyramid.levels
        kind = self._of_layers(operators, handed=handed, low_pass=low_pass)
        kind["kernel_size"] = kernel_size
        self.conv = ChebConv(self.lifted_channels, widths[0], graph=levels[0], bias=False, **kind)
        self.down = nn.ModuleList(
            ResidualBlock(widths[n], widths[n + 1], graph=level, **kind)
            for n, level in enumerate(levels)
        )
        finer = range(len(levels) - 1)
        self.pools = nn.ModuleList(SpatialPool(pyramid, n, pool) for n in finer)
        self.unpools = nn.ModuleList(SpatialUnpool(pyramid, n, unpool) for n in finer)
        self.up = nn.ModuleList(
            ResidualBlock(widths[n + 2] + widths[n + 1], widths[n + 1], graph=levels[n], **kind)
            for n in finer
        )
        self.norm = BatchNorm(widths[1])
        self.project = Project(levels[0], project)
        self.classify: nn.Module = ChebConv(widths[1], num_classes, 1, levels[0])
        if head == "oriented":
            self.classify = nn.Linear(widths[1] * keep_orientations(levels[0]), num_classes)
        self._look_once()

    def forward(self, signal: Tensor) -> Tensor:
        """(B, in_channels, *base shape) or lifted -> (B, num_classes, *base shape).

        Log-probabilities. The base shape is (H, W) on a planar lattice, (D, H, W) on one in space,
        (points,) on the icosphere; a base of several dimensions may also come flattened. With a
        mask it is that of the full sampling; what is outside does not count (but where line filters
        see it), and becomes NaN. Lifted signals, (B, lifted_channels, V) or, with a value for each
        orientation of the full sampling, (B, lifted_channels, n_o, *base shape), are taken as they
        are; lifted_channels is in_channels, or that times the lift's scales.

        Raises:
            TypeError: the signal is no tensor.
            ValueError: it has another shape, dtype or device, or values that are not
                finite.
        """
        x = torch.relu(self.norm(self.features(signal)))
        if isinstance(self.classify, nn.Linear):
            fibers = vertex_major(x).unflatten(0, (self.classify.in_features // x.shape[1], -1))
            x = logical(self.classify(fibers.permute(1, 2, 0, 3).flatten(2)))
        else:
            x = self.project(self.classify(x))
        full_grid = self.places.grid_places
        known = full_grid.filled(torch.log_softmax(x, dim=1), math.nan)
        if full_grid.small_places is not None:
            known = torch.log_softmax(known, dim=1)  # of means, too
        return self._cut_back(known, signal.shape)

    def features(self, signal: Tensor) -> Tensor:
        """The features before the classifier and its norm: images as of `forward` -> (B, C, V).

        Raises:
            TypeError, ValueError: as `forward`.
        """
        signal = self._padded(signal)
        self._check_shape(signal)
        x: Tensor = self.conv(self._lifted(signal))
        skips: list[Tensor] = []
        for n, block in enumerate(self.down):
            if n:
                x = self.pools[n - 1](x)
            x = block(x)
            skips.append(x)
        skips.pop()
        for n in reversed(range(len(self.up))):
            x = self.up[n](_beside(self.unpools[n](x), skips.pop()))
        return x


def default_channels(levels: int) -> tuple[int, ...]:
    """The paper's channels for a pyramid of so many levels: one number more than levels."""
    missing = max(0, levels + 1 - len(PAPER_CHANNELS))
    return (*PAPER_CHANNELS, *[PAPER_CHANNELS[-1]] * missing)[: levels + 1]


def _checked_channels(pyramid: Pyramid, channels: Sequence[int] | None) -> tuple[int, ...]:
    levels, label = len(pyramid.levels), f"{pyramid.name}@{pyramid.version}"
    if levels < 2:
        remedy, (_, *sides) = "build one with `levels=2` or more.", pyramid.levels[0].grid
        if pyramid.levels[0].sampling == "lattice" and any(side % 2 for side in sides):
            others = " x ".join(str(-(-side // 4) * 4) for side in sides)
            size = " x ".join(map(str, sides))
            remedy = f"half of {size} is not whole: build one of {others}, and give pad=True."
        raise ValueError(
            f"UNet takes a pyramid of at least two levels. {label} has {levels}; {remedy}"
        )
    if channels is None:
        return default_channels(levels)
    if not is_sequence(channels):
        raise TypeError(f"channels must be {levels + 1} integers. Got {quoted(channels)}.")
    if len(channels) != levels + 1 or min(integer("channels", each) for each in channels) < 1:
        raise ValueError(
            f"channels must be {levels + 1} numbers of at least 1 for the {levels} levels of "
            f"{label}: after the first convolution and on each level. "
            f"Got {quoted(tuple(channels))}."
        )
    return tuple(channels)


def _beside(a: Tensor, b: Tensor) -> Tensor:
    """(B, C, V) and (B, D, V) -> (B, C + D, V), in vertex-major memory."""
    return logical(torch.cat([vertex_major(a), vertex_major(b)], dim=2))
