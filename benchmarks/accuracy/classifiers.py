"""The graphs and networks that settings stand for."""

from pathlib import Path
from typing import Any

import scripts
from networks import Gaussian, Plain, Steerable
from settings import Settings
from torch import nn

from cheblienet_graphs.recipes import recipe
from cheblienet_models import ChebConv, OrientedLift, Pyramid, WideResNet, low_pass_
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
    settings = {"manifold": spec.manifold, "levels": spec.levels, "neighbors": spec.neighbors}
    if spec.manifold == "se2":
        settings |= {
            "orientations": spec.orientations,
            "eps_squared": spec.eps**2,
            "alpha": spec.alpha,
        }
    return settings


def pyramid_of(settings: Settings, store: Path, height: int, width: int) -> Pyramid | None:
    """The graphs, built if they are not in the store; None for networks that have none."""
    if settings.network != "graph":
        return None
    spec = settings.spec(height, width)
    return scripts.pyramid_of(spec, store, name=f"{settings.manifold}-{spec.sha256[:12]}")


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
        handed=bool(settings.handed),
        low_pass=bool(settings.low_pass),
        head=settings.head,
        first_level=settings.first_level,
        check_finite=False,  # images of files are, and a GPU would be waited for at each step
    )
    if settings.initial == "paper":
        network.apply(_as_the_paper)
    elif settings.initial == "low-pass":
        low_pass_(network)
    return nn.Sequential(Gaussian(settings.smooth), network) if settings.smooth else network


def _as_the_paper(module: nn.Module) -> None:
    """Draw a convolution's weights as the code of the paper does, by its call of torch."""
    if isinstance(module, ChebConv):
        nn.init.kaiming_normal_(module.weight, mode="fan_in")
        if module.bias is not None:
            nn.init.constant_(module.bias, 0.01)


def parameters(network: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(weight.numel() for weight in network.parameters())
