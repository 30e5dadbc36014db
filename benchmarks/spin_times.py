"""Times of products and layers of fields of spin beside those of scalars."""

from collections.abc import Callable
from functools import partial

import torch
from scripts import print_head, print_row, pyramid_of
from torch import Tensor
from turns import in_turns, middle_and_spread, ratio_and_spread

from cheblienet_graphs import GraphSpec
from cheblienet_models import ChebConv, Graph


def products(rounds: int, **_: object) -> None:
    """Print times of products and of layers beside those of scalars."""
    titles = "a product", "/ scalars'", "a layer", "/ scalars'", "with its backward", "/ scalars'"
    print_head("nside", "real numbers a point", *titles)
    for nside in (32, 64):
        graph = pyramid_of(GraphSpec("s2", nside=nside, levels=1, weights="voronoi")).levels[0]
        for width in (16, 64, 256):
            cells = []
            for works in (multiplied(graph, width), layers(graph, width), trained(graph, width)):
                took = in_turns(works, rounds, warm=True)
                cells += [
                    middle_and_spread(took["spin"]),
                    ratio_and_spread(took["spin"], took["scalar"]),
                ]
            print_row(nside, width, *cells)


def multiplied(graph: Graph, width: int) -> dict[str, Callable[[], object]]:
    """Sparse products."""
    matrices = {"spin": graph.connection(1).laplacian, "scalar": graph.laplacian}
    signal = torch.randn(graph.num_vertices * width)
    return {
        name: partial(torch.mm, matrix, signal.view(matrix.shape[0], -1))
        for name, matrix in matrices.items()
    }


def layers(graph: Graph, width: int) -> dict[str, Callable[[], object]]:
    """Layers of as many channels, at most 64, of a batch of the rest."""
    channels = min(width, 64)
    x = torch.randn(width // channels, channels, graph.num_vertices)
    made = {
        "spin": ChebConv(channels // 2, channels // 2, 4, graph, spin=1),
        "scalar": ChebConv(channels, channels, 4, graph, bias=False),
    }
    return {name: partial(inferred, layer, x) for name, layer in made.items()}


@torch.no_grad()
def inferred(layer: ChebConv, x: Tensor) -> Tensor:
    """The result alone."""
    y: Tensor = layer(x)
    return y


def trained(graph: Graph, width: int) -> dict[str, Callable[[], object]]:
    """The same layers with gradients by weights and signals."""
    return {
        name: partial(stepped, work.args[0], work.args[1].clone().requires_grad_())
        for name, work in layers(graph, width).items()
        if isinstance(work, partial)
    }


def stepped(layer: ChebConv, x: Tensor) -> None:
    """A forward and a backward."""
    layer(x).sum().backward()
