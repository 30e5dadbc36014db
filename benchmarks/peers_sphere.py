"""Networks on HEALPix: DeepSphere's as published, the same with other layers, others beside it.

DeepSphere's package makes its graphs by a branch of pygsp that was never released, but its encoder
and decoder take any Laplacians: here they get those of our graph, so that all layers do the same.
"""

import copy
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from classifiers import parameters
from layers import PYG, forth_and_back, with_pyg
from networks import ConvolutionalUNet
from scripts import print_head, print_row, pyramid_of
from torch import Tensor, nn
from turns import in_turns, installed, progress, refusals, relative_difference, times_or_refusal

from cheblienet_graphs import GraphSpec
from cheblienet_models import ChebConv, Graph, Pyramid, SpatialPool, SpatialUnpool, UNet
from cheblienet_models.networks.blocks import BatchNorm
from cheblienet_models.networks.unet import default_channels
from cheblienet_models.tensors import logical, vertex_major

WIDTHS = (32, 64, 128, 256, 512, 512, 512)
"""DeepSphere's: after its first convolution, and of the encoder on each of six levels."""
IN, CLASSES, KERNEL_SIZE, BATCH = 16, 3, 4, 4
SAME_OUTPUT, SAME_GRADIENT = 1e-5, 0.02
"""Largest differences in float64: of outputs relative to the largest, of gradients in their norm.

PyG normalizes weights anew that are stored in float32, so its outputs are some 1e-6 apart. That
puts some of ten million units on the other side of 0, and each turns the gradient where it is."""
HALVINGS = 10
"""Of the interval in which factors of widths are sought."""
FORM = "its form, our layers"
DEEPSPHERE = (
    "echo 'setuptools<80' > old.txt && "
    "PIP_CONSTRAINT=old.txt pip install --no-deps deepsphere==0.2.1"
)
"""Its setup imports what newer setuptools left out, and it pins a torch of 2019."""


class Published(nn.Module):
    """DeepSphere's network: its own encoder, decoder and pooling, on the Laplacians of a pyramid.

    Args:
        pyramid: of six levels on HEALPix.
    """

    def __init__(self, pyramid: Pyramid) -> None:
        super().__init__()
        from deepsphere.layers.samplings.healpix_pool_unpool import Healpix  # no dependency of ours
        from deepsphere.models.spherical_unet.decoder import Decoder
        from deepsphere.models.spherical_unet.encoder import Encoder

        levels = reversed(list(pyramid.levels))
        laplacians = [level.laplacian.to_sparse_coo().coalesce() for level in levels]
        self.encoder = Encoder(Healpix().pooling, laplacians, KERNEL_SIZE)
        self.decoder = Decoder(Healpix().unpooling, laplacians, KERNEL_SIZE)

    def forward(self, x: Tensor) -> Tensor:
        """(B, 16, V) -> (B, 3, V)."""
        y: Tensor = self.decoder(*self.encoder(x.transpose(1, 2)))
        return y.transpose(1, 2)


class OfItsForm(nn.Module):
    """The same with layers of this package: signals (B, C, V), means down, copies up.

    Args:
        pyramid: on HEALPix.
        widths: after the first convolution, and of the encoder on each level, finest first.
    """

    def __init__(self, pyramid: Pyramid, widths: Sequence[int]) -> None:
        super().__init__()
        self.widths, levels = tuple(widths), list(pyramid.levels)
        inner = range(1, len(levels) - 1)
        self.first = nn.Sequential(
            _block(IN, widths[0], levels[0]), _block(widths[0], widths[1], levels[0])
        )
        self.down = nn.ModuleList(_block(widths[n], widths[n + 1], levels[n]) for n in inner)
        self.bottom = ChebConv(widths[-2], widths[-1], KERNEL_SIZE, levels[-1])
        self.up, before = nn.ModuleList(), widths[-1]
        for n in reversed(inner):
            self.up.append(_Up(before, widths[n + 1], widths[n], levels[n]))
            before = widths[n]
        self.last = nn.Sequential(
            _block(before, widths[0], levels[0]),
            ChebConv(widths[0], CLASSES, KERNEL_SIZE, levels[0]),
        )
        finer = range(len(levels) - 1)
        self.pools = nn.ModuleList(SpatialPool(pyramid, n, "mean") for n in finer)
        self.unpools = nn.ModuleList(SpatialUnpool(pyramid, n) for n in finer)

    def forward(self, x: Tensor) -> Tensor:
        """(B, 16, V) -> (B, 3, V)."""
        x = self.first(x)
        skips = []
        for pool, block in zip(self.pools, self.down, strict=False):
            x = block(pool(x))
            skips.append(x)
        x = self.bottom(self.pools[-1](x))
        for unpool, block in zip(reversed(list(self.unpools)[1:]), self.up, strict=True):
            x = block(unpool(x), skips.pop())
        y: Tensor = self.last(self.unpools[0](x))
        return y


class _Up(nn.Module):
    """A block, the encoder's signal beside its output, and another block."""

    def __init__(self, inner: int, beside: int, outer: int, level: Graph) -> None:
        super().__init__()
        self.before = _block(inner, outer, level)
        self.after = _block(outer + beside, outer, level)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        y: Tensor = self.after(_beside(self.before(x), skip))
        return y


def _beside(a: Tensor, b: Tensor) -> Tensor:
    """(B, C, V) and (B, D, V) -> (B, C + D, V), in vertex-major memory."""
    return logical(torch.cat([vertex_major(a), vertex_major(b)], dim=2))


def _block(inner: int, outer: int, level: Graph) -> nn.Sequential:
    return nn.Sequential(ChebConv(inner, outer, KERNEL_SIZE, level), BatchNorm(outer), nn.ReLU())


def with_weights_of(ours: nn.Module, published: nn.Module) -> nn.Module:
    """The network with DeepSphere's weights, changed in place.

    DeepSphere reads the memory of its (K, in, out) as (in, K, out).
    """
    theirs: list[Any] = [part.chebconv for part in published.modules() if hasattr(part, "chebconv")]
    own = [part for part in ours.modules() if isinstance(part, ChebConv)]
    with torch.no_grad():
        for mine, its in zip(own, theirs, strict=True):
            size, inner, outer = mine.weight.shape
            mine.weight.copy_(its.weight.reshape(inner, size, outer).transpose(0, 1))
            if mine.bias is not None:
                mine.bias.copy_(its.bias)
    return ours


def of_about(count: int, make: Callable[[float], nn.Module]) -> nn.Module:
    """The network with about so many parameters, by a factor of its widths, up to 4."""
    low, high = 0.0, 4.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if parameters(make(middle)) > count else (middle, high)
    return make(low)


def scaled(widths: Sequence[int], factor: float) -> list[int]:
    """The widths times the factor, at least 1."""
    return [max(1, round(width * factor)) for width in widths]


def output_and_gradient(network: nn.Module, x: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """Of a signal (B, 16, V), and of <g, output> with respect to it, in float64."""
    precise = copy.deepcopy(network).double()  # a copy of the graphs, too, which others share
    own = x.double().requires_grad_()
    y = precise(own)
    (gradient,) = torch.autograd.grad(y, own, g.double())
    return y.detach(), gradient


def difference(result: tuple[Tensor, Tensor], expected: tuple[Tensor, Tensor]) -> str:
    """How much outputs or gradients differ; empty where they are the same."""
    off = relative_difference(result[0], expected[0])
    if not off <= SAME_OUTPUT:
        return f"outputs differ by {off:.1e}"
    turned = float((result[1] - expected[1]).norm() / expected[1].norm())
    return "" if turned <= SAME_GRADIENT else f"gradients differ by {turned:.1e}"


def of_one_form(pyramid: Pyramid, device: str, *, quick: bool) -> dict[str, nn.Module]:
    """Networks that compute the same, ours first; those of packages that are here."""
    ours = OfItsForm(pyramid, scaled(WIDTHS[: len(pyramid.levels) + 1], 1 / 16 if quick else 1))
    made: dict[str, nn.Module] = {FORM: ours}
    if quick:
        print("DeepSphere's network has one size, and is left out of a quick run.\n")
    elif installed("deepsphere", DEEPSPHERE):
        made["DeepSphere 0.2.1"] = Published(pyramid)
        with_weights_of(ours, made["DeepSphere 0.2.1"])
    if installed(*PYG):
        same = OfItsForm(pyramid, ours.widths)
        same.load_state_dict(ours.state_dict())
        made["its form, PyG's layers"] = with_pyg(same)
    return {name: network.to(device) for name, network in made.items()}


def others(pyramid: Pyramid, count: int, device: str) -> dict[str, nn.Module]:
    """Networks of another form with about so many parameters."""
    levels = len(pyramid.levels)
    channels = default_channels(levels)

    def unet(factor: float) -> nn.Module:
        return UNet(pyramid, IN, CLASSES, KERNEL_SIZE, scaled(channels, factor))

    def plain(factor: float) -> nn.Module:
        return ConvolutionalUNet(scaled(WIDTHS[1 : levels + 1], factor), IN, CLASSES)

    made = {"our UNet": of_about(count, unet), "plain U-Net, a rectangle": of_about(count, plain)}
    return {name: network.to(device) for name, network in made.items()}


def sphere(rounds: int, device: str, *, quick: bool) -> None:
    """Print the table."""
    print("### Networks on HEALPix\n")
    nside, levels, batch = (4, 3, 1) if quick else (32, 6, BATCH)
    pyramid = pyramid_of(GraphSpec("s2", nside=nside, levels=levels)).to(device)
    torch.manual_seed(0)
    same = of_one_form(pyramid, device, quick=quick)
    beside = others(pyramid, parameters(same[FORM]), device)
    vertices = pyramid.levels[0].num_vertices
    x = torch.randn(vertices, batch, IN, device=device).permute(1, 2, 0)
    g = torch.randn(vertices, batch, CLASSES, device=device).permute(1, 2, 0)
    print(
        f"nside {nside}, {vertices:,} pixels, {levels} levels, B = {batch}, {KERNEL_SIZE} "
        f"polynomials, float32. The first {len(same)} have the same weights, and are compared in "
        f"float64: outputs agree to {SAME_OUTPUT:g} of the largest. The rectangle has "
        f"{3 * nside} x {4 * nside} pixels, its convolutions 3 x 3.\n"
    )
    compared(same, beside, (x, g), rounds, device)


def compared(
    same: dict[str, nn.Module],
    beside: dict[str, nn.Module],
    signals: tuple[Tensor, Tensor],
    rounds: int,
    device: str,
) -> None:
    """Compare those that are to be the same, let all take turns, and print a row for each.

    Args:
        same: by name, ours first.
        beside: others, by name.
        signals: (B, 16, V), and the gradient of the output (B, 3, V).
        rounds: of turns.
        device: that they are on.
    """
    progress("HEALPix: comparing outputs")
    one = [signal[:1] for signal in signals]
    results = {name: output_and_gradient(network, *one) for name, network in same.items()}
    refused = refusals(results, difference)
    every = same | beside
    works = {n: step(network, *signals) for n, network in every.items() if n not in refused}
    took = in_turns(works, rounds, device, warm=True)
    times = "forward + backward (quartiles)", "/ ours"
    print_head("network", "parameters", "outputs differ", *times)
    for name, network in every.items():
        off = relative_difference(results[name][0], results[FORM][0]) if name in same else 0
        cells = f"{parameters(network):,}", f"{off:.1e}" if off else ""
        print_row(name, *cells, *times_or_refusal(name, took, FORM, refused))


def step(network: nn.Module, x: Tensor, g: Tensor) -> Callable[[], None]:
    """Forward and backward, signals in the layout that the network likes best."""
    if isinstance(network, ConvolutionalUNet):
        nside = math.isqrt(x.shape[2] // 12)
        x, g = (part.contiguous().unflatten(2, (3 * nside, 4 * nside)) for part in (x, g))
    elif isinstance(network, Published):
        x, g = (part.transpose(1, 2).contiguous().transpose(1, 2) for part in (x, g))
    return partial(forth_and_back, network, x.detach().requires_grad_(), g)
