"""A training step of the same network on the mnist recipe and with one more level to pool to.

The recipe has one level, as the paper's table has, so that all of the WideResNet runs at full
resolution; with two levels its second and third group run on a quarter of the vertices. The
networks take turns, the ratio is the median over the rounds. On a CPU the processor's time is
counted, which other processes hardly change; on a GPU the clock's.

    python benchmarks/levels.py [--rounds 9] [--device cpu|cuda]
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import torch
from torch import nn

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.recipes import recipe
from cheblienet_models import WideResNet, open_store

BATCH = 16


class Steps:
    """Training steps of a WideResNet on a graph."""

    def __init__(self, spec: GraphSpec, store: Path, device: str) -> None:
        self.clock = time.process_time if device == "cpu" else time.perf_counter
        published = build(spec, store)
        pyramid = open_store(store)[f"{published.name}@{published.version}"]
        self.vertices = [graph.num_vertices for graph in pyramid.levels]
        torch.manual_seed(0)
        self.network = WideResNet(pyramid, 1, 10, kernel_size=4, depth=2, widen=2).to(device)
        self.images = torch.randn(BATCH, 1, 28, 28, device=device)
        self.labels = torch.randint(10, (BATCH,), device=device)
        self.optimiser = torch.optim.SGD(self.network.parameters(), lr=1e-3)

    def seconds(self) -> float:
        """How long one takes, with its update of the weights."""
        began = self.clock()
        self.optimiser.zero_grad()
        loss = nn.functional.nll_loss(self.network(self.images), self.labels)
        loss.backward()
        self.optimiser.step()
        loss.item()  # waits for a GPU
        return self.clock() - began


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    options = parser.parse_args()
    given = recipe("mnist").spec.to_dict()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "graphs.zarr"
        one, two = (
            Steps(GraphSpec(**given | {"levels": levels}), store, options.device)
            for levels in (1, 2)
        )
        one.seconds(), two.seconds()
        pairs = [(one.seconds(), two.seconds()) for _ in range(options.rounds)]
    threads = torch.get_num_threads()
    print(f"WideResNet, depth 2, widen 2, B = {BATCH}, {options.device}, {threads} thread(s)\n")
    print("| graph | vertices | step |\n|---|---|---|")
    for steps, took in zip((one, two), zip(*pairs, strict=True), strict=True):
        vertices = " / ".join(map(str, steps.vertices))
        print(f"| --levels {len(steps.vertices)} | {vertices} | {statistics.median(took):.2f} s |")
    ratios = sorted(a / b for a, b in pairs)
    print(
        f"\none level / two: {statistics.median(ratios):.2f} ({ratios[0]:.2f} .. {ratios[-1]:.2f})"
    )


if __name__ == "__main__":
    main()
