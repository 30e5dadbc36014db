"""Training steps a second: graph networks beside a plain one, escnn's, and PyG's layer, in one run.

    python benchmarks/accuracy/throughput.py [--rounds 5] [--device cpu]

All have about as many parameters. "PyG" is our network with PyG's ChebConv in place of ours, on the
same graphs and with the same weights (needs `pip install torch_geometric`); escnn's needs `pip
install escnn`. What is not installed is left out, and said. Networks take turns; a step is forward,
backward and Adam's on 32 images of 28 x 28. Times are processor time, all threads together; on a
GPU they are by the clock.
"""

import argparse
import importlib.util
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from classifiers import network_of, parameters, pyramid_of
from rotations import augmented
from settings import Settings
from study_plans import CONTENDERS
from torch import Tensor, nn

from cheblienet_models import ChebConv, Graph

SIDE, BATCH, CLASSES = 28, 32, 10


class Augmenting(nn.Module):
    """A network that turns its images first, as a training does.

    Args:
        network: for the images.
        augment: as `augmented` has it.
    """

    def __init__(self, network: nn.Module, augment: str) -> None:
        super().__init__()
        self.network, self.augment = network, augment

    def forward(self, images: Tensor) -> Tensor:
        """As the network."""
        y: Tensor = self.network(augmented(images, self.augment))
        return y


class PygChebConv(nn.Module):
    """PyG's layer with the weights and the graph of one of ours: (B, C, V) -> (B, C', V).

    Args:
        ours: the layer that it computes the same as.
        graph: its graph.
    """

    def __init__(self, ours: ChebConv, graph: Graph) -> None:
        super().__init__()
        from torch_geometric.nn import ChebConv as Layer  # no dependency of ours

        size, inner, outer = ours.weight.shape
        self.layer = Layer(inner, outer, size, bias=ours.bias is not None, node_dim=-2)
        if ours.bias is not None:
            self.layer.bias.data = ours.bias.detach().clone()
        for line, weight in zip(self.layer.lins, ours.weight, strict=True):
            line.weight.data = weight.detach().T.clone()
        entries = graph.laplacian.to_sparse_coo().coalesce()
        rows, columns = entries.indices()
        edges = rows != columns
        rows, columns = rows[edges], columns[edges]
        root = graph.degree.to(rows.device).sqrt()
        weights = -entries.values()[edges] * graph.lambda_max / 2 * root[rows] * root[columns]
        self.index, self.lambda_max = torch.stack([rows, columns]), graph.lambda_max
        self.register_buffer("weights", weights, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, C', V)."""
        weights = self.get_buffer("weights")
        y: Tensor = self.layer(x.transpose(1, 2), self.index, weights, lambda_max=self.lambda_max)
        return y.transpose(1, 2)


def with_pyg(network: nn.Module) -> nn.Module:
    """The network with PyG's layer wherever there is a ChebConv, changed in place."""
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, ChebConv):
                setattr(module, name, PygChebConv(child, child.graph))
    return network


def milliseconds(
    networks: Mapping[str, nn.Module], rounds: int, side: int = SIDE, device: str = "cpu"
) -> dict[str, list[float]]:
    """Of a training step of each, in each of the rounds.

    Args:
        networks: by name, for images (B, 1, side, side).
        rounds: in each of which every network takes a turn of three steps.
        side: in pixels.
        device: where they are.
    """
    torch.manual_seed(0)
    images = torch.randn(BATCH, 1, side, side, device=device)
    labels = torch.randint(CLASSES, (BATCH,), device=device)
    steps = {name: _step(network, images, labels) for name, network in networks.items()}
    for step in steps.values():
        step()
    took: dict[str, list[float]] = {name: [] for name in networks}
    for _ in range(rounds):
        for name, step in steps.items():
            began = _now(device)
            for _ in range(3):
                step()
            took[name].append(1e3 * (_now(device) - began) / 3)
    return took


def _step(network: nn.Module, images: Tensor, labels: Tensor) -> Callable[[], None]:
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.nll_loss(network(images), labels).backward()
        optimizer.step()

    return step


def _now(device: str) -> float:
    """Processor time; on a GPU, when its queue is done, the clock's."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


def networks(store: Path, device: str) -> dict[str, nn.Module]:
    """All that can be made here, by name, with about as many parameters as the one on SE(2)."""
    made: dict[str, nn.Module] = {}
    for name, settings in of_one_size(installed(CONTENDERS), store, SIDE).items():
        if settings.augment != "none":
            continue
        pyramid = pyramid_of(settings, store, SIDE, SIDE)
        made[name] = network_of(settings, pyramid, 1, CLASSES).to(device)
        if settings in {Settings(), Settings(manifold="r2")} and _there("torch_geometric"):
            made[f"{name}, with PyG's layer"] = with_pyg(
                network_of(settings, pyramid, 1, CLASSES).to(device)
            )
    return made


def installed(contenders: Mapping[str, Settings]) -> dict[str, Settings]:
    """Those whose packages are here; what is left out is said."""
    return {
        name: settings
        for name, settings in contenders.items()
        if settings.network != "escnn" or _there("escnn")
    }


def of_one_size(contenders: Mapping[str, Settings], store: Path, side: int) -> dict[str, Settings]:
    """Of widths that give about as many parameters as the network on SE(2) has."""
    target = _parameters(Settings(), store, side)
    found = {}
    for name, settings in contenders.items():
        widths = [replace(settings, widen=sixteenths / 16) for sixteenths in range(2, 33)]
        counts = {one: abs(_parameters(one, store, side) - target) for one in widths}
        found[name] = min(counts, key=lambda one: counts[one])
    return found


def _parameters(settings: Settings, store: Path, side: int) -> int:
    return parameters(network_of(settings, pyramid_of(settings, store, side, side), 1, CLASSES))


def _there(package: str) -> bool:
    if importlib.util.find_spec(package):
        return True
    print(f"{package} is not installed and left out.", file=sys.stderr)
    return False


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    with tempfile.TemporaryDirectory() as folder:
        made = networks(Path(folder) / "graphs.zarr", given.device)
        took = milliseconds(made, given.rounds, device=given.device)
    first = next(iter(made))
    print("| network | parameters | ms a step | least, most | images a second | over the first |")
    print("|---|---|---|---|---|---|")
    for name, times in took.items():
        middle = statistics.median(times)
        ratio = statistics.median(a / b for a, b in zip(times, took[first], strict=True))
        print(
            f"| {name} | {parameters(made[name]):,} | {middle:.0f} | {min(times):.0f}, "
            f"{max(times):.0f} | {1e3 * BATCH / middle:,.0f} | {ratio:.1f} |"
        )


if __name__ == "__main__":
    main()
