"""What other processes run: importable by name, as spawned ones need."""

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from cheblienet_models import Pyramid, WideResNet, open_store


class Filtered(Dataset[Tensor]):
    """Signals that worker processes filter on the graph."""

    def __init__(self, pyramid: Pyramid) -> None:
        self.pyramid = pyramid

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Tensor:
        x = torch.zeros(256)
        x[index] = 1
        return self.pyramid.levels[1].laplacian @ x[:, None]


def private_bytes_of_maps(store: str) -> int:
    """Bytes of the store's maps that this process has written to, so that they are its own."""
    total, ours = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split(" ", 1)[0]:
            ours = store in line
        elif ours and line.startswith("Anonymous:"):
            total += int(line.split()[1]) * 1024
    return total


def train_in_parallel(rank: int, store: str, results: str) -> None:
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{results}/meeting", rank=rank, world_size=2
    )
    torch.manual_seed(rank)
    network = WideResNet(open_store(store)["torus"], 2, 4, depth=1, widen=1)
    parallel = nn.parallel.DistributedDataParallel(network)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        parallel(torch.randn(2, 2, 16, 16)).sum().backward()
        optimizer.step()
    weights = torch.cat([p.detach().flatten() for p in network.parameters()])
    torch.save({"weights": weights, "private": private_bytes_of_maps(store)}, f"{results}/{rank}")
    dist.destroy_process_group()
