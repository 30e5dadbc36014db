"""The Chebyshev convolution against other ways to compute it, in one run.

All compute the same function on the same graph: ours; ours with the basis saved; torch's CSR
matrix, accumulating with addmm; the textbook recursion on a COO matrix; PyG's ChebConv in both of
its batch forms (needs `pip install torch_geometric`; left out where that is missing). Contenders
take turns within each round, ratios are medians over the rounds; peak memory is that of fresh
processes.

One table compares layers on directional Laplacians with those on a single one, of the paper's
K = 16 and of Selling's stencils, at equal channels; another first-order layers with plain ones of
as many parameters, to 2 %.

    python benchmarks/layers.py [PART] [--rounds 7] [--device cpu|cuda]

PART is one of layer, directions, first-order, sizes, memory (on a CPU alone) and networks.
"""

import statistics
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from scripts import graph_of, print_head, print_row, pyramid_of, run_parts
from torch import Tensor, nn
from turns import (
    in_fresh_process,
    in_turns,
    installed,
    machine,
    peak_memory,
    ratio_and_spread,
    resident_memory,
)

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.recipes import recipe
from cheblienet_models import ChebConv, Graph, Pyramid, WideResNet, sample_edges, sample_vertices
from cheblienet_models.layers.cheb_conv import Operators

KERNEL_SIZE, NARROW, WIDE, BATCH = 4, 16, 32, 8
LAYERS = 8
PYG = ("torch_geometric", "pip install torch_geometric")
"""Its package, and how to get it."""
ONES = ("one, K = 16", "one, Selling")
"""What directional Laplacians are compared with."""


class CsrConv(nn.Module):
    """The recursion with torch's CSR product, adding into the result; memory is (V, B, C)."""

    def __init__(self, weight: Tensor, graph: Graph) -> None:
        super().__init__()
        self.weight, self.matrix = nn.Parameter(weight.clone()), graph.laplacian

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, C', V)."""
        return self.vertex_major(x.permute(2, 0, 1)).permute(1, 2, 0)

    def vertex_major(self, x: Tensor) -> Tensor:
        """(V, B, C) -> (V, B, C')."""
        vertices, batch, inner = x.shape
        before = x.reshape(vertices, -1)
        y = before.view(-1, inner) @ self.weight[0]
        last = self.matrix @ before
        y = torch.addmm(y, last.view(-1, inner), self.weight[1])
        for weight in self.weight[2:]:
            before, last = last, torch.addmm(before, self.matrix, last, beta=-1, alpha=2)
            y = torch.addmm(y, last.view(-1, inner), weight)
        return y.view(vertices, batch, -1)


class CooConv(CsrConv):
    """The textbook: a COO matrix, all terms stacked, one product with the weights."""

    def __init__(self, weight: Tensor, graph: Graph) -> None:
        super().__init__(weight, graph)
        self.matrix = graph.laplacian.to_sparse_coo().coalesce()

    def vertex_major(self, x: Tensor) -> Tensor:
        vertices, batch, inner = x.shape
        terms = [x.reshape(vertices, -1)]
        terms.append(torch.sparse.mm(self.matrix, terms[0]))
        while len(terms) < KERNEL_SIZE:
            terms.append(2 * torch.sparse.mm(self.matrix, terms[-1]) - terms[-2])
        basis = torch.stack(terms).view(KERNEL_SIZE, vertices * batch, inner)
        basis = basis.transpose(0, 1).reshape(vertices * batch, KERNEL_SIZE * inner)
        return (basis @ self.weight.flatten(0, 1)).view(vertices, batch, -1)


class PygConv(nn.Module):
    """PyG's layer, memory being (B, V, C), or on B disjoint copies of the graph, (B V, C)."""

    def __init__(
        self, weight: Tensor, graph: Graph, *, bias: bool = False, disjoint: bool = False
    ) -> None:
        from torch_geometric.nn import ChebConv as PygChebConv  # no dependency of ours

        super().__init__()
        size, inner, outer = weight.shape
        self.layer = PygChebConv(inner, outer, size, bias=bias, node_dim=0 if disjoint else -2)
        with torch.no_grad():
            for line, one in zip(self.layer.lins, weight, strict=True):
                line.weight.copy_(one.T)
        self.disjoint = disjoint
        entries = graph.laplacian.to_sparse_coo().coalesce()
        rows, columns = entries.indices()
        root = graph.degree.to(rows.device).sqrt()
        edges = rows != columns
        rows, columns = rows[edges], columns[edges]
        weights = -entries.values()[edges] * graph.lambda_max / 2 * root[rows] * root[columns]
        index = torch.stack([rows, columns])
        if disjoint:
            shift = torch.arange(BATCH, device=rows.device) * graph.num_vertices
            index = (index[:, None] + shift[:, None]).flatten(1)
            weights = weights.repeat(BATCH)
        self.index, self.lambda_max = index, graph.lambda_max
        self.register_buffer("edge_weights", weights, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, C', V)."""
        x, weights = x.transpose(1, 2), self.get_buffer("edge_weights")
        inputs = x.flatten(0, 1) if self.disjoint else x
        y: Tensor = self.layer(inputs, self.index, weights, lambda_max=self.lambda_max)
        return y.reshape(*x.shape[:2], -1).transpose(1, 2)


def pyg_twin(ours: ChebConv) -> PygConv:
    """PyG's layer with the weights and the graph of one of ours."""
    twin = PygConv(ours.weight, ours.graph, bias=ours.bias is not None)
    if ours.bias is not None:
        twin.layer.bias.data = ours.bias.detach().clone()
    return twin


def with_pyg(network: nn.Module) -> nn.Module:
    """The network with PyG's layer wherever there is a ChebConv, changed in place."""
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, ChebConv):
                setattr(module, name, pyg_twin(child))
    return network


Layer = Callable[[Tensor, Graph], nn.Module]
"""Made of weights (K, in, out)."""


def our_layer(weight: Tensor, graph: Graph, **how: Any) -> ChebConv:
    size, inner, outer = weight.shape
    layer = ChebConv(inner, outer, size, graph, bias=False, **how)
    layer.weight.data.copy_(weight)
    return layer


def contenders() -> dict[str, Layer]:
    makers: dict[str, Layer] = {
        "ours": our_layer,
        "ours, basis saved": partial(our_layer, save_basis=True),
        "CSR, addmm": CsrConv,
        "COO recursion": CooConv,
    }
    if find_spec(PYG[0]):
        makers["PyG, (B, V, C)"] = PygConv
        makers["PyG, disjoint copies"] = partial(PygConv, disjoint=True)
    return makers


def weights(inner: int = NARROW) -> Tensor:
    """(K, inner, WIDE) of noise."""
    return torch.randn(KERNEL_SIZE, inner, WIDE) / inner


def laid_out(name: str, x: Tensor) -> Tensor:
    """(B, C, V) as a contender has it in memory between its layers."""
    if name.startswith("PyG"):
        return x.transpose(1, 2).contiguous().transpose(1, 2)
    return x.permute(2, 0, 1).contiguous().permute(1, 2, 0)


def signal(name: str, graph: Graph) -> Tensor:
    """Noise for a contender."""
    x = torch.randn(BATCH, NARROW, graph.num_vertices, device=graph.values.device)
    return laid_out(name, x).requires_grad_()


def noise(graph: Graph, channels: int, device: str) -> Tensor:
    """(B, C, V), in memory as ours keeps signals."""
    return torch.randn(graph.num_vertices, BATCH, channels, device=device).permute(1, 2, 0)


def step_of(pyramid: Pyramid, channels: int, side: int, device: str) -> Callable[[], None]:
    """A training step of a WideResNet, on 16 images of noise."""
    network = WideResNet(pyramid, channels, 10, kernel_size=4, depth=2, widen=2).to(device)
    images = torch.randn(16, channels, side, side, device=device)
    labels = torch.randint(10, (16,), device=device)
    return partial(training_step, network, images, labels)


def milliseconds(seconds: list[float], form: str = ".1f") -> str:
    """The median."""
    return f"{1e3 * statistics.median(seconds):{form}} ms"


@torch.no_grad()
def forth(layer: nn.Module, x: Tensor) -> None:
    """The output alone."""
    layer(x)


def forth_and_back(layer: nn.Module, x: Tensor, gradient: Tensor) -> None:
    """From the gradient of the output to those of weights and input, which are added up."""
    layer(x).backward(gradient)


def training_step(network: nn.Module, images: Tensor, labels: Tensor) -> None:
    """Forward and backward of a batch; the weights stay."""
    network.zero_grad()
    nn.functional.nll_loss(network(images), labels).backward()


def saved_bytes(layer: nn.Module, x: Tensor) -> int:
    """Bytes kept for the backward, beyond the layer's constants, weights and input."""
    known = {t.untyped_storage().data_ptr() for t in [x, *layer.parameters(), *layer.buffers()]}
    for module in layer.modules():
        for constant in vars(module).values():
            if isinstance(constant, Tensor) and constant.layout is torch.strided:
                known.add(constant.untyped_storage().data_ptr())
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        if tensor.layout is torch.strided and tensor.numel() > 10**5:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in known:
                kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        y = layer(x)
        total = sum(kept.values())
    del y
    return total


def compare(rounds: int, device: str) -> None:
    installed(*PYG)
    graph = opened(96, device)
    layers = {name: make(weights(), graph).to(device) for name, make in contenders().items()}
    signals = {name: signal(name, graph) for name in layers}
    works: dict[str, Callable[[], None]] = {}
    for name, layer in layers.items():
        x = signals[name]
        works[f"{name}, forward"] = partial(forth, layer, x)
        works[name] = partial(forth_and_back, layer, x, torch.ones_like(layer(x)))
    took = in_turns(works, rounds, device, warm=True)
    both = "forward + backward"
    print_head("layer", "forward", both, f"{both} / ours", "saved")
    for name, layer in layers.items():
        times = milliseconds(took[f"{name}, forward"]), milliseconds(took[name])
        saved = f"{saved_bytes(layer, signals[name]) / 1e6:.0f} MB"
        print_row(name, *times, ratio_and_spread(took[name], took["ours"]), saved)


def directions(rounds: int, device: str) -> None:
    """Directional Laplacians against a single one, channels, kernel size and batch being equal."""
    paper = opened(96, device, directional=0.05)
    selling = opened(96, device, weights="selling")
    print_head("channels", "directional", *ONES, "over K = 16", "over Selling")
    for channels in ((16, 16), (16, 32), (32, 16)):
        layer_on = partial(ChebConv, *channels, KERNEL_SIZE, bias=False)
        made = {
            ONES[0]: layer_on(graph=paper),
            ONES[1]: layer_on(graph=selling),
            "directional": layer_on(graph=paper, operators="directional"),
        }
        x, g = (noise(paper, count, device) for count in channels)
        works = {
            name: partial(forth_and_back, layer.to(device), x.detach().requires_grad_(), g)
            for name, layer in made.items()
        }
        took = in_turns(works, rounds, device, warm=True)
        ratios = [ratio_and_spread(took["directional"], took[one]) for one in ONES]
        middles = [milliseconds(took[name], ".0f") for name in ("directional", *ONES)]
        print_row(f"{channels[0]} -> {channels[1]}", *middles, *ratios)


def first_order(rounds: int, device: str) -> None:
    """Derivatives before polynomials against polynomials alone, of as many parameters."""
    specs = {
        "se2, 48 x 48 x 8": GraphSpec(
            "se2", 48, orientations=8, eps_squared=0.1, period="2pi", levels=1, gradients=True
        ),
        "r2, 96 x 96": GraphSpec("r2", 96, levels=1, gradients=True),
    }
    print_head("graph", "channels", "plain", "first-order", "over plain")
    for name, spec in specs.items():
        graph = graph_of(spec).to(device)
        pairs = ((16, 8), (32, 16), (64, 32)) if "se2" in name else ((19, 12), (38, 24), (76, 48))
        for plain, first in pairs:
            works: dict[str, Callable[[], None]] = {}
            kinds: dict[Operators, int] = {"laplacian": plain, "first-order": first}
            for operators, channels in kinds.items():
                layer = ChebConv(
                    channels, channels, KERNEL_SIZE, graph, bias=False, operators=operators
                )
                x, g = (noise(graph, channels, device) for _ in range(2))
                works[operators] = partial(forth_and_back, layer.to(device), x.requires_grad_(), g)
            took = in_turns(works, rounds, device, warm=True)
            cells = (milliseconds(took[one]) for one in works)
            over = ratio_and_spread(took["first-order"], took["laplacian"])
            print_row(name, f"{plain}, {first}", *cells, over)


def sizes(rounds: int, device: str) -> None:
    print_head("graph", "V", "forward + backward, ours", "ns per vertex")
    for size in (24, 48, 96, 192):
        graph = opened(size, device)
        layer = our_layer(weights(), graph).to(device)
        x = signal("ours", graph)
        step = partial(forth_and_back, layer, x, torch.ones_like(layer(x)))
        took = in_turns({"ours": step}, rounds, device)["ours"]
        per_vertex = f"{1e9 * statistics.median(took) / graph.num_vertices:.0f}"
        print_row(f"{size}x{size}x6", f"{graph.num_vertices:,}", milliseconds(took), per_vertex)


def stack(name: str) -> int:
    """Peak memory of one step of eight layers beyond what the process had before, in bytes."""
    graph = opened(96, "cpu")
    make = contenders()[name]
    layers = nn.Sequential(
        *(make(weights(NARROW if n == 0 else WIDE), graph) for n in range(LAYERS))
    )
    x = signal(name, graph).detach()
    make(weights(), graph)(x)
    before = resident_memory()
    Path("/proc/self/clear_refs").write_text("5")
    layers(x).sum().backward()
    return peak_memory() - before


def stacks(device: str, **_: int) -> None:
    if device != "cpu":
        return
    installed(*PYG)
    print_head(f"{LAYERS} layers, B = {BATCH}", "peak memory of a step", "/ ours")
    peaks = {}
    for name in contenders():
        peaks[name] = in_fresh_process(stack, name)
        print_row(name, f"{peaks[name] / 1e6:.0f} MB", f"{peaks[name] / peaks['ours']:.2f}")


def networks(rounds: int, device: str) -> None:
    """A training step of whole networks, and what drawing a sub-graph before it adds."""
    drawing = "sample_edges", "sample_vertices"
    print_head("WideResNet, B = 16", "step", *drawing, "share of a step")
    for name, channels, size in (("mnist", 1, 28), ("cifar10", 3, 32)):
        pyramid = pyramid_of(recipe(name).spec)
        step = step_of(pyramid, channels, size, device)
        draws = [partial(draw, pyramid, 0.9) for draw in (sample_edges, sample_vertices)]
        took = in_turns({"step": step}, rounds, device, warm=True)["step"]
        drawn = in_turns(dict(zip(drawing, draws, strict=True)), rounds, device, warm=True).values()
        share = max(map(statistics.median, drawn)) / statistics.median(took)
        cells = milliseconds(took, ".0f"), *(milliseconds(one, ".2f") for one in drawn)
        print_row(f"{name} recipe, depth 2, widen 2", *cells, f"{share:.1%}")


def opened(size: int, device: str, **fields: Any) -> Graph:
    more: dict[str, Any] = fields if "weights" in fields else {"lambda_max": 2, **fields}
    return graph_of(GraphSpec("se2", size, eps_squared=0.1, levels=1, **more)).to(device)


PARTS: dict[str, Callable[..., None]] = {
    "layer": compare,
    "directions": directions,
    "first-order": first_order,
    "sizes": sizes,
    "memory": stacks,
    "networks": networks,
}

if __name__ == "__main__":
    torch.manual_seed(0)
    print(f"{machine('cuda' if 'cuda' in ' '.join(sys.argv) else 'cpu', ('torch', PYG[0]))}\n")
    run_parts(__doc__, PARTS, rounds=7, device="cpu")
