"""The Chebyshev convolution against other ways to compute it, in one run.

All compute the same function on the same graph: ours; ours with the basis saved; torch's CSR
matrix, accumulating with addmm; the textbook recursion on a COO matrix; PyG's ChebConv in both of
its batch forms (needs `pip install torch_geometric`; left out where that is missing). Contenders
take turns within each round, ratios are medians over the rounds; peak memory is that of fresh
processes.

One table compares layers on directional Laplacians with those on a single one, of the paper's
K = 16 and of Selling's stencils, at equal channels.

    python benchmarks/layers.py [PART] [--rounds 7] [--device cpu|cuda]

PART is one of layer, directions, sizes, memory (on a CPU alone) and networks.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from turns import installed, machine, peak_memory, seconds_of

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.recipes import recipe
from cheblienet_models import (
    ChebConv,
    Graph,
    WideResNet,
    open_store,
    sample_edges,
    sample_vertices,
)

KERNEL_SIZE, NARROW, WIDE, BATCH = 4, 16, 32, 8
LAYERS = 8
PYG = ("torch_geometric", "pip install torch_geometric")
"""Its package, and how to get it."""
ONES = ("one, K = 16", "one, Selling")
"""What directional Laplacians are compared with."""


class CsrConv(nn.Module):
    """The recursion with torch's CSR product, adding into the result; signals (V, B, C)."""

    def __init__(self, inner: int, outer: int, graph: Graph) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(KERNEL_SIZE, inner, outer) / inner)
        self.matrix, self.outer = graph.laplacian, outer

    def forward(self, x: Tensor) -> Tensor:
        vertices, batch, inner = x.shape
        before = x.reshape(vertices, -1)
        y = before.view(-1, inner) @ self.weight[0]
        last = self.matrix @ before
        y = torch.addmm(y, last.view(-1, inner), self.weight[1])
        for weight in self.weight[2:]:
            before, last = last, torch.addmm(before, self.matrix, last, beta=-1, alpha=2)
            y = torch.addmm(y, last.view(-1, inner), weight)
        return y.view(vertices, batch, self.outer)


class CooConv(CsrConv):
    """The textbook: a COO matrix, all terms stacked, one product with the weights."""

    def __init__(self, inner: int, outer: int, graph: Graph) -> None:
        super().__init__(inner, outer, graph)
        rows = torch.repeat_interleave(
            torch.arange(graph.num_vertices, device=graph.values.device),
            graph.row_pointers.long().diff(),
        )
        index = torch.stack([rows, graph.columns.long()])
        size = (graph.num_vertices,) * 2
        self.matrix = torch.sparse_coo_tensor(index, graph.values, size, check_invariants=False)
        self.matrix = self.matrix.coalesce()

    def forward(self, x: Tensor) -> Tensor:
        vertices, batch, inner = x.shape
        terms = [x.reshape(vertices, -1)]
        terms.append(torch.sparse.mm(self.matrix, terms[0]))
        while len(terms) < KERNEL_SIZE:
            terms.append(2 * torch.sparse.mm(self.matrix, terms[-1]) - terms[-2])
        basis = torch.stack(terms).view(KERNEL_SIZE, vertices * batch, inner)
        basis = basis.transpose(0, 1).reshape(vertices * batch, KERNEL_SIZE * inner)
        return (basis @ self.weight.flatten(0, 1)).view(vertices, batch, self.outer)


class PygConv(nn.Module):
    """PyG's layer on (B, V, C), or on B disjoint copies of the graph, (B V, C)."""

    def __init__(self, inner: int, outer: int, graph: Graph, *, disjoint: bool) -> None:
        from torch_geometric.nn import ChebConv as PygChebConv

        super().__init__()
        self.layer = PygChebConv(
            inner, outer, KERNEL_SIZE, bias=False, node_dim=0 if disjoint else -2
        )
        entries = CooConv(1, 1, graph).matrix
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
        self.index, self.edge_weights, self.lambda_max = index, weights, graph.lambda_max

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.layer(x, self.index, self.edge_weights, lambda_max=self.lambda_max)
        return y


Layer = Callable[[int, int, Graph], nn.Module]


def contenders() -> dict[str, Layer]:
    found: dict[str, Layer] = {
        "ours": lambda a, b, g: ChebConv(a, b, KERNEL_SIZE, g, bias=False),
        "ours, basis saved": lambda a, b, g: ChebConv(
            a, b, KERNEL_SIZE, g, bias=False, save_basis=True
        ),
        "CSR, addmm": CsrConv,
        "COO recursion": CooConv,
    }
    if find_spec(PYG[0]):
        found["PyG, (B, V, C)"] = lambda a, b, g: PygConv(a, b, g, disjoint=False)
        found["PyG, disjoint copies"] = lambda a, b, g: PygConv(a, b, g, disjoint=True)
    return found


def signal(name: str, graph: Graph) -> Tensor:
    """Noise in the layout that a contender likes best, as it is between its layers."""
    shape = {
        "PyG, (B, V, C)": (BATCH, graph.num_vertices, NARROW),
        "PyG, disjoint copies": (BATCH * graph.num_vertices, NARROW),
    }.get(name, (graph.num_vertices, BATCH, NARROW))
    x = torch.randn(shape, device=graph.values.device)
    return (x.permute(1, 2, 0) if name.startswith("ours") else x).requires_grad_()


def milliseconds(work: Callable[[], object], device: str) -> float:
    return 1e3 * seconds_of(work, device)


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


def compare(store: Path, rounds: int, device: str) -> None:
    installed(*PYG)
    graph = opened(store, 96, device)
    layers = {name: make(NARROW, WIDE, graph).to(device) for name, make in contenders().items()}
    signals = {name: signal(name, graph) for name in layers}
    forward: dict[str, list[float]] = {name: [] for name in layers}
    both: dict[str, list[float]] = {name: [] for name in layers}
    for turn in range(rounds + 1):
        for name, layer in layers.items():
            x = signals[name]
            with torch.no_grad():
                ahead = milliseconds(partial(layer, x), device)
            gradient = torch.ones_like(layer(x))
            there_and_back = milliseconds(partial(forth_and_back, layer, x, gradient), device)
            if turn:
                forward[name].append(ahead)
                both[name].append(there_and_back)
    print("| layer | forward | forward + backward | forward + backward / ours | saved |")
    print("|---|---|---|---|---|")
    for name, layer in layers.items():
        ratio = statistics.median(a / b for a, b in zip(both[name], both["ours"], strict=True))
        saved = saved_bytes(layer, signals[name]) / 1e6
        print(
            f"| {name} | {statistics.median(forward[name]):.1f} ms | "
            f"{statistics.median(both[name]):.1f} ms | {ratio:.2f} | {saved:.0f} MB |",
            flush=True,
        )


def directions(store: Path, rounds: int, device: str) -> None:
    """Directional Laplacians against a single one, channels, kernel size and batch being equal."""
    paper = opened(store, 96, device, directional=0.05)
    selling = opened(store, 96, device, weights="selling")
    print("| channels | directional | one, K = 16 | one, Selling | over K = 16 | over Selling |")
    print("|---|---|---|---|---|---|")
    for channels in ((16, 16), (16, 32), (32, 16)):
        made = {
            ONES[0]: ChebConv(*channels, KERNEL_SIZE, paper, bias=False),
            ONES[1]: ChebConv(*channels, KERNEL_SIZE, selling, bias=False),
            "directional": ChebConv(
                *channels, KERNEL_SIZE, paper, bias=False, operators="directional"
            ),
        }
        layers = {name: layer.to(device) for name, layer in made.items()}
        x, g = (
            torch.randn(paper.num_vertices, BATCH, count, device=device).permute(1, 2, 0)
            for count in channels
        )
        took: dict[str, list[float]] = {name: [] for name in layers}
        for turn in range(rounds + 1):
            for name, layer in layers.items():
                signal = x.detach().requires_grad_()
                both = milliseconds(partial(forth_and_back, layer, signal, g), device)
                if turn:
                    took[name].append(both)
        ratios = [
            statistics.median(a / b for a, b in zip(took["directional"], took[one], strict=True))
            for one in ONES
        ]
        middles = [statistics.median(took[name]) for name in ("directional", *ONES)]
        cells = [*(f"{middle:.0f} ms" for middle in middles), *(f"{r:.2f}" for r in ratios)]
        print(f"| {channels[0]} -> {channels[1]} | {' | '.join(cells)} |", flush=True)


def sizes(store: Path, rounds: int, device: str) -> None:
    print("| graph | V | forward + backward, ours | ns per vertex |\n|---|---|---|---|")
    for size in (24, 48, 96, 192):
        graph = opened(store, size, device)
        layer = contenders()["ours"](NARROW, WIDE, graph).to(device)
        x = signal("ours", graph)
        g = torch.ones_like(layer(x))
        step = partial(forth_and_back, layer, x, g)
        median = statistics.median(milliseconds(step, device) for _ in range(rounds))
        per_vertex = 1e6 * median / graph.num_vertices
        print(f"| {size}x{size}x6 | {graph.num_vertices:,} | {median:.1f} ms | {per_vertex:.0f} |")


def stack(store: Path, name: str) -> None:
    """Peak memory of one step of eight layers beyond what the process had before, in bytes."""
    graph = opened(store, 96, "cpu")
    make = contenders()[name]
    layers = nn.Sequential(*(make(NARROW if n == 0 else WIDE, WIDE, graph) for n in range(LAYERS)))
    x = signal(name, graph).detach()
    make(NARROW, WIDE, graph)(x)
    before = resident()
    Path("/proc/self/clear_refs").write_text("5")
    layers(x).sum().backward()
    print(peak_memory() - before)


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def stacks(store: Path, _: int, device: str) -> None:
    if device != "cpu":
        return
    installed(*PYG)
    opened(store, 96, device)  # so that no process of those below has to build it
    print(f"| {LAYERS} layers, B = {BATCH} | peak memory of a step | / ours |\n|---|---|---|")
    found = {}
    for name in contenders():
        command = [sys.executable, __file__, "--stack", name, "--store", str(store)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found[name] = int(done.stdout)
        ratio = found[name] / found["ours"]
        print(f"| {name} | {found[name] / 1e6:.0f} MB | {ratio:.2f} |", flush=True)


def networks(store: Path, rounds: int, device: str) -> None:
    """A training step of whole networks, and what drawing a sub-graph before it adds."""
    print("| WideResNet, B = 16 | step | sample_edges | sample_vertices | share of a step |")
    print("|---|---|---|---|---|")
    for name, channels, size in (("mnist", 1, 28), ("cifar10", 3, 32)):
        build(recipe(name).spec, store, name=name)
        pyramid = open_store(store)[name]
        network = WideResNet(pyramid, channels, 10, kernel_size=4, depth=2, widen=2).to(device)
        images = torch.randn(16, channels, size, size, device=device)
        labels = torch.randint(10, (16,), device=device)
        step = partial(training_step, network, images, labels)
        works = (step, partial(sample_edges, pyramid, 0.9), partial(sample_vertices, pyramid, 0.9))
        for work in works:
            work()
        sample_edges(pyramid, 1)
        took = [statistics.median(milliseconds(w, device) for _ in range(rounds)) for w in works]
        print(
            f"| {name} recipe, depth 2, widen 2 | {took[0]:.0f} ms | {took[1]:.2f} ms | "
            f"{took[2]:.2f} ms | {max(took[1:]) / took[0]:.1%} |",
            flush=True,
        )


def opened(store: Path, size: int, device: str, **fields: Any) -> Graph:
    name = "-".join([f"n{size}", *fields])
    more: dict[str, Any] = fields if "weights" in fields else {"lambda_max": 2, **fields}
    build(GraphSpec("se2", size, eps_squared=0.1, levels=1, **more), store, name=name)
    return open_store(store)[name].levels[0].to(device)


PARTS: dict[str, Callable[[Path, int, str], None]] = {
    "layer": compare,
    "directions": directions,
    "sizes": sizes,
    "memory": stacks,
    "networks": networks,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=PARTS)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--stack")
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    torch.manual_seed(0)
    if options.stack:
        stack(options.store, options.stack)
        return
    print(f"{machine(options.device, ('torch', PYG[0]))}\n")
    with tempfile.TemporaryDirectory() as folder:
        for part, work in PARTS.items():
            if options.part in {None, part}:
                work(Path(folder) / "graphs.zarr", options.rounds, options.device)
                print()


if __name__ == "__main__":
    main()
