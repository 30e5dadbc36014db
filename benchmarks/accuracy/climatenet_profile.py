"""Time and memory of training steps of the ClimateNet experiment, at batch 1.

    python benchmarks/accuracy/climatenet_profile.py STORE GRAPH THREADS

Memory is that of the whole process, so this one does nothing else, and imports no builder.
"""

import statistics
import sys
import time
from itertools import pairwise
from pathlib import Path

import shared_path  # noqa: F401  to import what all scripts share
import torch
from climatenet_data import CHANNELS, CLASSES
from torch import Tensor, nn
from torch.optim import Optimizer
from turns import peak_memory, resident_memory

from cheblienet_models import Pyramid, UNet, open_store

STEPS = 5


def steps(pyramid: Pyramid, network: nn.Module) -> list[list[float]]:
    """As many as STEPS, after one that isn't counted; on noise."""
    optimizer = torch.optim.Adam(network.parameters())
    base = pyramid.levels[0].grid[1:]
    fields, labels = torch.randn(1, len(CHANNELS), *base), torch.randint(len(CLASSES), (1, *base))
    return [step(network, optimizer, fields, labels) for _ in range(STEPS + 1)][1:]


def step(network: nn.Module, optimizer: Optimizer, fields: Tensor, labels: Tensor) -> list[float]:
    """Milliseconds of its forward, its backward and the optimizer's update."""
    times = [time.perf_counter()]
    loss = nn.functional.nll_loss(network(fields), labels)
    times.append(time.perf_counter())
    optimizer.zero_grad()
    loss.backward()
    times.append(time.perf_counter())
    optimizer.step()
    times.append(time.perf_counter())
    return [1e3 * (after - before) for before, after in pairwise(times)]


def main(store: Path, name: str, threads: int) -> None:
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    pyramid = open_store(store)[name]
    network = UNet(pyramid, len(CHANNELS), len(CLASSES))
    weights = sum(parameter.numel() for parameter in network.parameters())
    print(f"{name}: {pyramid.levels[0].num_vertices:,} vertices, {weights:,} weights")
    print(f"One training step at batch 1 on {threads} threads, median of {STEPS}\n")
    before = resident_memory()
    parts = zip(*steps(pyramid, network), strict=True)
    times = " | ".join(f"{statistics.median(part):.0f} ms" for part in parts)
    print("| forward | backward | optimizer | peak memory | before the first step |")
    print("|---|---|---|---|---|")
    print(f"| {times} | {peak_memory() / 1e6:.0f} MB | {before / 1e6:.0f} MB |")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
