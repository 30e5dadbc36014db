"""Time and memory of training steps of the ClimateNet experiment, at batch 1.

    python benchmarks/accuracy/climatenet_profile.py STORE GRAPH THREADS

Memory is that of the whole process, so this one does nothing else.
"""

import statistics
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch
from climatenet_data import CHANNELS, CLASSES
from process_memory import memory
from torch import Tensor, nn
from torch.optim import Optimizer

from cheblienet_models import Pyramid, UNet, open_store

STEPS = 5


@dataclass(frozen=True)
class Step:
    """Milliseconds of the parts of a training step."""

    forward: float
    backward: float
    update: float


def steps(pyramid: Pyramid, network: nn.Module) -> list[Step]:
    """As many as STEPS, after one that isn't counted; on noise."""
    optimizer = torch.optim.Adam(network.parameters())
    base = pyramid.levels[0].grid[1:]
    fields, labels = torch.randn(1, len(CHANNELS), *base), torch.randint(len(CLASSES), (1, *base))
    return [step(network, optimizer, fields, labels) for _ in range(STEPS + 1)][1:]


def step(network: nn.Module, optimizer: Optimizer, fields: Tensor, labels: Tensor) -> Step:
    times = [time.perf_counter()]
    loss = nn.functional.nll_loss(network(fields), labels)
    times.append(time.perf_counter())
    optimizer.zero_grad()
    loss.backward()
    times.append(time.perf_counter())
    optimizer.step()
    times.append(time.perf_counter())
    return Step(*(1e3 * (after - before) for before, after in pairwise(times)))


def main(store: Path, name: str, threads: int) -> None:
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    pyramid = open_store(store)[name]
    network = UNet(pyramid, len(CHANNELS), len(CLASSES))
    weights = sum(parameter.numel() for parameter in network.parameters())
    print(f"{name}: {pyramid.levels[0].num_vertices:,} vertices, {weights:,} weights")
    print(f"One training step at batch 1 on {threads} threads, median of {STEPS}\n")
    before = memory("VmRSS")
    taken = steps(pyramid, network)
    parts = [[s.forward for s in taken], [s.backward for s in taken], [s.update for s in taken]]
    times = " | ".join(f"{statistics.median(part):.0f} ms" for part in parts)
    print("| forward | backward | optimiser | peak memory | before the first step |")
    print("|---|---|---|---|---|")
    print(f"| {times} | {memory('VmHWM') / 1e6:.0f} MB | {before / 1e6:.0f} MB |")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
