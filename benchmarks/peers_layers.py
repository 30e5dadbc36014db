"""The Chebyshev convolution in several ways, with the same weights on the same graph.

Outputs and gradients are compared first, then time and memory. Contenders are those of layers.py.
"""

from collections.abc import Callable
from functools import partial

import layers
import torch
from scripts import print_head, print_row
from torch import Tensor, nn
from turns import in_turns, installed, progress, refusals, relative_difference, times_or_refusal

TOLERANCE = 1e-4
"""Largest difference of outputs and gradients in float32, relative to the largest entry."""


def output_and_gradient(name: str, layer: nn.Module, x: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """Of a signal (B, C, V), and of <g, output> with respect to it, g (B, C', V)."""
    own = layers.laid_out(name, x).requires_grad_()
    y = layer(own)
    (gradient,) = torch.autograd.grad(y, own, layers.laid_out(name, g))
    return y.detach(), gradient


def difference(result: tuple[Tensor, Tensor], expected: tuple[Tensor, Tensor]) -> str:
    """How much outputs or gradients differ; empty where they are the same."""
    for name, one, other in zip(("outputs", "gradients"), result, expected, strict=True):
        off = relative_difference(one, other)
        if not off <= TOLERANCE:
            return f"{name} differ by {off:.1e}"
    return ""


def compared(
    made: dict[str, nn.Module], x: Tensor, rounds: int, device: str, start: tuple[str, str]
) -> None:
    """Print the rows of a graph.

    Args:
        made: the layers, by name, ours first.
        x: (B, C, V).
        rounds: of turns.
        device: that they are on.
        start: first cells of each row.
    """
    g = torch.randn(len(x), layers.WIDE, x.shape[2], device=device)
    results = {name: output_and_gradient(name, layer, x, g) for name, layer in made.items()}
    refused = refusals(results, difference)
    del results
    steps = {name: step(name, layer, x, g) for name, layer in made.items() if name not in refused}
    took = in_turns(steps, rounds, device)
    for name in made:
        print_row(*start, name, *times_or_refusal(name, took, "ours", refused))


def step(name: str, layer: nn.Module, x: Tensor, g: Tensor) -> Callable[[], None]:
    """Forward and backward of a contender."""
    own = layers.laid_out(name, x).requires_grad_()
    return partial(layers.forth_and_back, layer, own, layers.laid_out(name, g))


def chebyshev_layers(rounds: int, device: str, *, quick: bool) -> None:
    """Print a table of times on graphs of several sizes, and on a CPU one of memory."""
    print("### Layers\n")
    sizes = f"{layers.KERNEL_SIZE} polynomials, {layers.NARROW} -> {layers.WIDE} channels"
    print(
        f"SE(2), K = 16, {sizes}, B = {layers.BATCH}, float32; outputs and gradients "
        f"agree to {TOLERANCE:g} of the largest.\n"
    )
    installed(*layers.PYG)
    print_head("graph", "V", "layer", "forward + backward (quartiles)", "/ ours")
    for side in (6,) if quick else (24, 48, 96):
        graph = layers.opened(side, device)
        progress(f"{side} x {side} x 6: comparing outputs")
        x = torch.randn(layers.BATCH, layers.NARROW, graph.num_vertices, device=device)
        start, weight = (f"{side} x {side} x 6", f"{graph.num_vertices:,}"), layers.weights()
        made = {n: make(weight, graph).to(device) for n, make in layers.contenders().items()}
        compared(made, x, rounds, device, start)
    if device == "cpu" and not quick:
        print()
        layers.stacks(device)
