"""What an image classifier is and how it is trained: settings, and the networks they stand for.

Graph networks are the package's WideResNet, the paper's wide residual network. The others have its
form, a convolution and three groups of residual blocks: plain ones with 3 x 3 convolutions, and
escnn's, equivariant under rotations by 90 degrees and flips.
"""

import dataclasses
import hashlib
import json
import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.recipes import recipe
from cheblienet_models import OrientedLift, Pyramid, WideResNet, open_store
from cheblienet_models.networks.entrance import LiftChoice

Kind = Literal["graph", "plain", "escnn"]
KINDS: tuple[Kind, ...] = ("graph", "plain", "escnn")
BASE_WIDTHS = (16, 32, 64)


@dataclass(frozen=True)
class Settings:
    """All that decides a training, but for data and seed.

    Args:
        network: "graph", "plain" or "escnn".
        manifold: "se2", anisotropic, or "r2", isotropic.
        orientations, eps_squared, alpha, neighbors, weights, laplacian, bandwidth, lambda_max,
            directional, levels: of the graph, as GraphSpec has them; those that a manifold lacks
            do not count.
        lift: "repeat", "cake" or "gabor".
        scales: of line filters.
        operators: "laplacian" or "directional".
        first_level: of the convolutions.
        pool: "max", "mean" or "random".
        kernel_size: Chebyshev polynomials.
        depth: residual blocks in each of the three groups.
        widen: the three groups have 16, 32 and 64 times this many channels, rounded.
        smooth: standard deviation in pixels of a Gaussian that images go through first; 0 for none.
        kappa_edges, kappa_vertices: share of each graph's edges, or vertices, that a training step
            has, drawn anew for each; 1 is all. The whole graph is tested.
        augment: what is done to training images: "none", "rotations" by any angle, or "motions",
            rotations and flips.
        epochs: passes over the training images.
        steps: of the optimizer, instead of epochs.
        batch: images a step.
        rate: the largest of a one-cycle schedule of Adam's.
    """

    network: Kind = "graph"
    manifold: Literal["se2", "r2"] = "se2"
    orientations: int = 6
    eps_squared: float = 0.1
    alpha: float = 1.0
    neighbors: int | None = None
    weights: str = "kernel"
    laplacian: str | None = None
    bandwidth: float | None = None
    lambda_max: Literal["exact", "2"] = "exact"
    directional: float | None = None
    levels: int = 3
    lift: Literal["repeat", "cake", "gabor"] = "repeat"
    scales: int = 1
    operators: Literal["laplacian", "directional"] = "laplacian"
    first_level: int = 0
    pool: Literal["max", "mean", "random"] = "max"
    kernel_size: int = 4
    depth: int = 1
    widen: float = 1.0
    smooth: float = 0.0
    kappa_edges: float = 1.0
    kappa_vertices: float = 1.0
    augment: Literal["none", "rotations", "motions"] = "none"
    epochs: int = 2
    steps: int | None = None
    batch: int = 32
    rate: float = 1e-2

    def __post_init__(self) -> None:
        if self.kappa_edges < 1 and self.kappa_vertices < 1:
            raise ValueError(
                "A step has a share of the edges or of the vertices: one of kappa_edges and "
                f"kappa_vertices must be 1. Got {self.kappa_edges} and {self.kappa_vertices}."
            )
        if self.network != "graph" and self.pool == "random":
            raise ValueError(f"pool='random' is for graph networks. Got network={self.network!r}.")

    @property
    def digest(self) -> str:
        """Of all values, by which results are found again."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def spec(self, height: int, width: int) -> GraphSpec:
        """The graphs for images of a size."""
        lifted: dict[str, Any] = {}
        if self.manifold == "se2":
            lifted = {
                "orientations": self.orientations,
                "eps_squared": self.eps_squared,
                "alpha": self.alpha,
                "directional": self.directional,
            }
        return GraphSpec(
            self.manifold,
            (width, height),
            levels=self.levels,
            neighbors=self.neighbors,
            weights=self.weights,
            laplacian=self.laplacian,
            bandwidth=self.bandwidth,
            lambda_max=2 if self.lambda_max == "2" else "exact",
            **lifted,
        )


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
        from steerable import Steerable  # escnn is no dependency of ours

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


def widths_of(settings: Settings) -> list[int]:
    """Channels of the three groups."""
    return [max(1, round(width * settings.widen)) for width in BASE_WIDTHS]


def _convolution(before: int, after: int, size: int) -> nn.Conv2d:
    return nn.Conv2d(before, after, size, padding=size // 2, bias=False)
