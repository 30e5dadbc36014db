"""The graphs and networks that settings stand for.

Graph networks are the package's WideResNet, the paper's wide residual network. The others have its
form, a convolution and three groups of residual blocks: plain ones with 3 x 3 convolutions, and
escnn's, equivariant under rotations by 90 degrees and flips.
"""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from settings import Settings, widths_of
from steerable import Steerable
from torch import Tensor, nn

from cheblienet_graphs import build
from cheblienet_graphs.recipes import recipe
from cheblienet_models import OrientedLift, Pyramid, WideResNet, open_store
from cheblienet_models.networks.blocks import LiftChoice


def of_recipe(name: str) -> dict[str, Any]:
    """Settings of a shipped recipe's graph: those of the paper, for --recipe.

    Raises:
        CheblienetError: there is no such recipe.
        ValueError: it is not one of images.
    """
    spec = recipe(name).spec
    if spec.manifold not in {"se2", "r2"}:
        raise ValueError(
            f"The recipe {name} is not one of images: its graph is on {spec.manifold}."
        )
    found = {"manifold": spec.manifold, "levels": spec.levels, "neighbors": spec.neighbors}
    if spec.manifold == "se2":
        found |= {
            "orientations": spec.orientations,
            "eps_squared": spec.eps**2,
            "alpha": spec.alpha,
        }
    return found


def pyramid_of(settings: Settings, store: Path, height: int, width: int) -> Pyramid | None:
    """The graphs, built if they are not in the store; None for networks that have none."""
    if settings.network != "graph":
        return None
    spec = settings.spec(height, width)
    built = build(spec, store, name=f"{settings.manifold}-{spec.sha256[:12]}")
    return open_store(store)[f"{built.name}@{built.version}"]


def network_of(
    settings: Settings, pyramid: Pyramid | None, channels: int, classes: int
) -> nn.Module:
    """The network: images (B, channels, H, W) -> log-probabilities (B, classes)."""
    if pyramid is None:
        if settings.network == "plain":
            return Plain(settings, channels, classes)
        return Steerable(settings, channels, classes)
    finest = pyramid.levels[0]
    lift: LiftChoice = settings.lift
    if settings.lift != "repeat" and settings.scales > 1:
        lift = OrientedLift(finest, settings.lift, settings.scales)
    network = WideResNet(
        pyramid,
        channels,
        classes,
        kernel_size=settings.kernel_size,
        depth=settings.depth,
        widen=settings.widen,
        pool=settings.pool,
        lift=lift,
        operators=settings.operators,
        first_level=settings.first_level,
    )
    return nn.Sequential(Gaussian(settings.smooth), network) if settings.smooth else network


def parameters(network: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(weight.numel() for weight in network.parameters())


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
