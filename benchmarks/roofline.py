"""How near Chebyshev convolutions come to what the machine does, in one run.

Counted are the operations of a forward and a backward: those of the products with weights, and of
those with Laplacians. So are the bytes that recursions move where each term is read and written
once: three arrays and the matrix for a product with a Laplacian, three arrays for one with weights.
The machine's own: a matrix product of the same tall shape, and a copy of 256 MB. What they would
take for as many operations and bytes, one after the other, is the plain time; the layer's over it
says what is left to gain without holding terms in the cache.

    python benchmarks/roofline.py [--rounds 9] [--device cpu|cuda]
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from layers import BATCH, KERNEL_SIZE, forth_and_back, milliseconds, noise, opened
from scripts import parser_of, print_head, print_row
from torch import Tensor
from turns import in_turns, machine

from cheblienet_models import ChebConv, Graph
from cheblienet_models.layers.cheb_conv import Operators

COPIED = 2**26
"""Numbers in float32."""


@dataclass(frozen=True)
class Count:
    """What a forward and a backward take.

    Args:
        dense: operations of products with weights.
        sparse: and with Laplacians.
        moved: bytes.
    """

    dense: float
    sparse: float
    moved: float


def counted(layer: ChebConv, entries: list[int]) -> Count:
    """What a layer does.

    Args:
        layer: of KERNEL_SIZE polynomials of each Laplacian.
        entries: of each.
    """
    terms, inner, outer = layer.weight.shape
    rows = layer.graph.num_vertices * BATCH
    degree, columns = KERNEL_SIZE - 1, min(inner, outer) + outer  # of the forward and the backward
    dense = 3 * 2 * terms * rows * inner * outer
    sparse = sum(2 * degree * nnz * BATCH * columns for nnz in entries)
    arrays = 3 * 4 * rows * (degree * len(entries) * columns + terms * (2 * inner + outer))
    matrices = 2 * degree * 8 * sum(entries)
    return Count(dense, sparse, arrays + matrices)


def compare(rounds: int, device: str) -> None:
    """Time layers and the machine in turns, print."""
    source = torch.randn(COPIED, device=device)
    target = torch.empty_like(source)
    graphs: dict[str, tuple[Graph, Operators]] = {
        "K = 16": (opened(96, device), "laplacian"),
        "Selling": (opened(96, device, weights="selling"), "laplacian"),
        "directional": (opened(96, device, directional=0.05), "directional"),
    }
    columns = "GFLOP, dense", "sparse", "GB", "product, GFLOP/s", "copy, GB/s"
    print_head("layer", "channels", "time", *columns, "plain time", "time / plain")
    for name, (graph, operators) in graphs.items():
        for inner, outer in ((16, 16), (16, 32), (64, 64)):
            layer = ChebConv(inner, outer, KERNEL_SIZE, graph, bias=False, operators=operators)
            x, g = (noise(graph, n, device) for n in (inner, outer))
            tall = x.permute(2, 0, 1).flatten(0, 1)
            weight = torch.randn(inner, outer, device=device)
            out: Tensor = tall @ weight
            steps: dict[str, Callable[[], object]] = {
                "layer": partial(forth_and_back, layer.to(device), x.requires_grad_(), g),
                "product": partial(torch.mm, tall, weight, out=out),
                "copy": partial(target.copy_, source),
            }
            took = in_turns(steps, rounds, device, warm=True)
            middle = {one: statistics.median(times) for one, times in took.items()}
            count = counted(layer, entries_of(graph, operators))
            rate = 2 * len(tall) * inner * outer / middle["product"]
            speed = 2 * 4 * COPIED / middle["copy"]
            plain = count.dense / rate + count.moved / speed
            print_row(
                *(name, f"{inner} -> {outer}", milliseconds(took["layer"])),
                *(f"{count.dense / 1e9:.1f}", f"{count.sparse / 1e9:.1f}"),
                *(f"{count.moved / 1e9:.2f}", f"{rate / 1e9:.0f}", f"{speed / 1e9:.1f}"),
                *(milliseconds([plain]), f"{middle['layer'] / plain:.2f}"),
            )


def entries_of(graph: Graph, operators: Operators) -> list[int]:
    """Stored entries of each Laplacian that a layer uses."""
    if operators == "directional":
        return [len(one.values) for one in graph.directional.values()]
    return [len(graph.values)]


if __name__ == "__main__":
    options = parser_of(__doc__, rounds=9, device="cpu").parse_args()
    print(f"{machine(options.device, ('torch',))}\n")
    compare(options.rounds, options.device)
