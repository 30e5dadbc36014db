"""The Chebyshev convolution in several ways, with the same weights on the same graph.

Outputs and gradients are compared first, then time and memory. Contenders are those of layers.py.
"""

from functools import partial
from pathlib import Path

import layers
import torch
from torch import Tensor, nn
from turns import (
    in_turns,
    installed,
    middle_and_spread,
    progress,
    ratio_and_spread,
    refusals,
    relative_difference,
)

from cheblienet_models import ChebConv, Graph

TOLERANCE = 1e-4
"""Largest difference of outputs and gradients in float32, relative to the largest entry."""
PYG = "pip install torch_geometric"


def with_weights(layer: nn.Module, weight: Tensor) -> nn.Module:
    """The layer with weights (K, in, out), changed in place."""
    with torch.no_grad():
        if isinstance(layer, layers.PygConv):
            for line, one in zip(layer.layer.lins, weight, strict=True):
                line.weight.copy_(one.T)
        elif isinstance(layer, ChebConv | layers.CsrConv):
            layer.weight.copy_(weight)
    return layer


def laid_out(name: str, x: Tensor) -> Tensor:
    """(B, C, V) in the layout that a contender takes, as it is in memory between its layers."""
    if name == "PyG, (B, V, C)":
        return x.permute(0, 2, 1).contiguous()
    if name == "PyG, disjoint copies":
        return x.permute(0, 2, 1).flatten(0, 1).contiguous()
    vertex_major = x.permute(2, 0, 1).contiguous()
    return vertex_major.permute(1, 2, 0) if name.startswith("ours") else vertex_major


def as_ours(name: str, y: Tensor, batch: int) -> Tensor:
    """(B, C, V) of a contender's layout."""
    if name.startswith("ours"):
        return y
    if name.startswith("PyG"):
        return (y.unflatten(0, (batch, -1)) if y.ndim == 2 else y).permute(0, 2, 1)
    return y.permute(1, 2, 0)


def output_and_gradient(name: str, layer: nn.Module, x: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """Of a signal (B, C, V), and of <g, output> with respect to it, g (B, C', V)."""
    own = laid_out(name, x).requires_grad_()
    y = layer(own)
    (gradient,) = torch.autograd.grad(y, own, laid_out(name, g))
    return as_ours(name, y.detach(), len(x)), as_ours(name, gradient, len(x))


def difference(found: tuple[Tensor, Tensor], expected: tuple[Tensor, Tensor]) -> str:
    """How much outputs or gradients differ; empty where they are the same."""
    for name, one, other in zip(("outputs", "gradients"), found, expected, strict=True):
        off = relative_difference(one, other)
        if not off <= TOLERANCE:
            return f"{name} differ by {off:.1e}"
    return ""


def compared(made: dict[str, nn.Module], x: Tensor, rounds: int, device: str, start: str) -> None:
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
    kept = {name: layer for name, layer in made.items() if name not in refused}
    own = {name: laid_out(name, x).requires_grad_() for name in kept}
    steps = {
        name: partial(layers.forth_and_back, layer, own[name], laid_out(name, g))
        for name, layer in kept.items()
    }
    took = in_turns(steps, rounds, device)
    first = next(iter(made))
    for name in made:
        cells = f"refused: {refused[name]} | " if name in refused else ""
        if name in took:
            ratio = ratio_and_spread(took[name], took[first])
            cells = f"{middle_and_spread(took[name])} | {ratio}"
        print(f"{start} | {name} | {cells} |", flush=True)


def same_weights(graph: Graph, device: str) -> dict[str, nn.Module]:
    """All contenders with one set of weights, on a graph."""
    weight = torch.randn(layers.KERNEL_SIZE, layers.NARROW, layers.WIDE) / layers.NARROW
    return {
        name: with_weights(make(layers.NARROW, layers.WIDE, graph), weight).to(device)
        for name, make in layers.contenders().items()
    }


def chebyshev_layers(store: Path, rounds: int, device: str, *, quick: bool) -> None:
    """Print a table of times on graphs of several sizes, and on a CPU one of memory."""
    print("### Layers\n")
    sizes = f"{layers.KERNEL_SIZE} polynomials, {layers.NARROW} -> {layers.WIDE} channels"
    print(
        f"SE(2), K = 16, {sizes}, B = {layers.BATCH}, float32; outputs and gradients "
        f"agree to {TOLERANCE:g} of the largest.\n"
    )
    installed("torch_geometric", PYG)
    print("| graph | V | layer | forward + backward (quartiles) | / ours |")
    print("|---|---|---|---|---|", flush=True)
    for side in (6,) if quick else (24, 48, 96):
        graph = layers.opened(store, side, device)
        progress(f"{side} x {side} x 6: comparing outputs")
        x = torch.randn(layers.BATCH, layers.NARROW, graph.num_vertices, device=device)
        start = f"| {side} x {side} x 6 | {graph.num_vertices:,}"
        compared(same_weights(graph, device), x, rounds, device, start)
    if device == "cpu" and not quick:
        print()
        layers.stacks(store, rounds, device)
