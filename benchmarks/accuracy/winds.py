"""Networks on winds, as fields of spin, as two scalars and as three-vectors, by equal time.

    python benchmarks/accuracy/winds.py [vorticity|denoising] [--seconds 90] [--seeds 3]

Winds are r x grad of 3 to 6 vortices A exp(k (cos d - 1)), k in [15, 45], on HEALPix pixels of
nside 8 with Voronoi weights. 96 fields have their centers within 30 degrees of the equator, and
networks train on them alone; tests are 64 new ones there, and 64 with centers beyond 60 degrees of
latitude. vorticity: |vorticity| in units of its root mean square. denoising: the wind, of a wind
with as much white noise; new noise at each step. Errors are of root mean squares, over the whole
sphere, in units of what is to be found; ranges are over seeds.

The spin network has ChebConv(spin=1) and Modulus, and for vorticity one Gradient to scalars, which
suits that task; the others have ChebConv and ReLU. All have about as many weights. Each trains for
the same time in a process with one thread, by Adam with a rate that falls from .01 to 0.
"""

import math
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor

import shared_path  # noqa: F401  to import what all scripts share
import torch
from scripts import print_head, print_row, pyramid_of, run_parts, unit_vectors
from torch import Tensor, nn

from cheblienet_graphs import GraphSpec
from cheblienet_models import ChebConv, Gradient, Graph, Modulus

SPHERE = GraphSpec("s2", nside=8, levels=1, weights="voronoi", gradients=True)
TRAINED, TESTED, BATCH, SIZE = 96, 64, 16, 5
KINDS = ("fields of spin", "two scalars", "three-vectors")
SPINS = {"vorticity": (9, 11), "denoising": (14, 14)}
SCALARS = {"vorticity": 14, "denoising": 16}
"""Channels of hidden layers, of fields of spin and then what follows, and of scalars."""


class Spins(nn.Module):
    """(B, 2, V), south and east, to winds or, by divergence and curl, to scalars."""

    def __init__(self, graph: Graph, task: str, first: int, second: int) -> None:
        super().__init__()
        self.first = nn.Sequential(ChebConv(1, first, SIZE, graph, spin=1), Modulus(first))
        if task == "denoising":
            middle = ChebConv(first, second, SIZE, graph, spin=1, handed=False)
            self.last = nn.Sequential(
                middle, Modulus(second), ChebConv(second, 1, SIZE, graph, spin=1)
            )
            self.gradient = None
        else:
            self.gradient = Gradient(graph, spin=1)
            middle = ChebConv(2 * first, second, SIZE, graph)
            self.last = nn.Sequential(middle, nn.ReLU(), ChebConv(second, 1, SIZE, graph))

    def forward(self, x: Tensor) -> Tensor:
        """The wind, or a scalar."""
        x = self.first(x)
        if self.gradient is not None:
            _, x = self.gradient(x)
        y: Tensor = self.last(x)
        return y


def scalars(graph: Graph, channels: int, width: int, out: int) -> nn.Module:
    """Three convolutions."""
    layers = [
        ChebConv(channels, width, SIZE, graph),
        nn.ReLU(),
        ChebConv(width, width, SIZE, graph),
    ]
    return nn.Sequential(*layers, nn.ReLU(), ChebConv(width, out, SIZE, graph))


def network_of(graph: Graph, task: str, kind: str) -> nn.Module:
    """One of about as many weights as the others."""
    if kind == KINDS[0]:
        return Spins(graph, task, *SPINS[task])
    channels = 2 if kind == KINDS[1] else 3
    return scalars(graph, channels, SCALARS[task], 1 if task == "vorticity" else channels)


def frames(graph: Graph) -> tuple[Tensor, Tensor, Tensor]:
    """(V, 3) outward, south and east."""
    beta, gamma = graph.coordinates.T
    south = [beta.cos() * gamma.cos(), beta.cos() * gamma.sin(), -beta.sin()]
    east = [-gamma.sin(), gamma.cos(), torch.zeros_like(gamma)]
    return unit_vectors(graph), torch.stack(south, 1), torch.stack(east, 1)


def winds(graph: Graph, count: int, where: str, seed: int) -> tuple[Tensor, Tensor]:
    """(count, 2, V) winds, south and east, and (count, 1, V) vorticity of root mean square 1."""
    rng = torch.Generator().manual_seed(seed)
    outward, south, east = frames(graph)
    fields = []
    for _ in range(count):
        wind, vorticity = torch.zeros_like(outward), torch.zeros(len(outward), dtype=torch.float64)
        for _ in range(int(torch.randint(3, 7, (), generator=rng))):
            draw = torch.rand(4, generator=rng, dtype=torch.float64)
            edge = math.sin(math.radians(60))
            z = (
                float(draw[0] * 2 - 1) / 2
                if where == "equator"
                else edge + float(draw[0]) * (1 - edge)
            )
            z = -z if where == "poles" and draw[3] < 0.5 else z
            turn = float(draw[1]) * math.tau
            flat = math.sqrt(1 - z * z)
            center = torch.tensor([flat * math.cos(turn), flat * math.sin(turn), z]).double()
            k, size = 15 + 30 * float(draw[2]), float(torch.randn((), generator=rng))
            cosine = outward @ center
            height = size * torch.exp(k * (cosine - 1)) / k
            wind += k * height[:, None] * torch.linalg.cross(outward, center.expand_as(outward))
            vorticity += height * (k * k * (1 - cosine**2) - 2 * k * cosine)
        fields.append(torch.stack([(wind * south).sum(1), (wind * east).sum(1), vorticity]))
    whole = torch.stack(fields).float()
    return (
        whole[:, :2] / whole[:, :2].square().sum(1).mean().sqrt(),
        whole[:, 2:] / whole[:, 2:].square().mean().sqrt(),
    )


def given(x: Tensor, kind: str, graph: Graph) -> Tensor:
    """Winds (B, 2, V) as a network takes them."""
    if kind != KINDS[2]:
        return x
    _, south, east = (part.float().T for part in frames(graph))
    return x[:, :1] * south + x[:, 1:] * east


def returned(y: Tensor, kind: str, graph: Graph) -> Tensor:
    """The wind of what one returns, cut to the tangent plane."""
    if kind != KINDS[2]:
        return y
    _, south, east = (part.float().T for part in frames(graph))
    return torch.stack([(y * south).sum(1), (y * east).sum(1)], 1)


def noisy(x: Tensor, rng: torch.Generator) -> Tensor:
    """As much noise as signal."""
    return x + math.sqrt(0.5) * torch.randn(x.shape, generator=rng)


def trained(task: str, kind: str, seed: int, seconds: float) -> tuple[int, int, float, float]:
    """Weights, steps and the errors of a network."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    graph = pyramid_of(SPHERE).levels[0]
    network = network_of(graph, task, kind)
    wind, vorticity = winds(graph, TRAINED, "equator", 1000 + seed)
    targets = vorticity.abs() if task == "vorticity" else wind
    rng = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    began, steps = time.perf_counter(), 0
    while (share := (time.perf_counter() - began) / seconds) < 1:
        optimizer.param_groups[0]["lr"] = 0.01 * (1 - share)
        batch = torch.randint(TRAINED, (BATCH,), generator=rng)
        x = wind[batch] if task == "vorticity" else noisy(wind[batch], rng)
        found = network(given(x, kind, graph))
        loss = (found - targets_of(targets[batch], task, kind, graph)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps += 1
    errors = [tested(network, graph, task, kind, where) for where in ("equator", "poles")]
    return sum(p.numel() for p in network.parameters()), steps, errors[0], errors[1]


def targets_of(y: Tensor, task: str, kind: str, graph: Graph) -> Tensor:
    """As a network returns them."""
    return y if task == "vorticity" else given(y, kind, graph)


@torch.no_grad()
def tested(network: nn.Module, graph: Graph, task: str, kind: str, where: str) -> float:
    """The error on new fields."""
    wind, vorticity = winds(graph, TESTED, where, 7)
    rng = torch.Generator().manual_seed(7)
    x = wind if task == "vorticity" else noisy(wind, rng)
    found = network(given(x, kind, graph))
    wanted = vorticity.abs()
    if task == "denoising":
        found, wanted = returned(found, kind, graph), wind
    return float((found - wanted).norm() / wanted.norm())


def studied(task: str, seconds: int, seeds: int) -> None:
    """Print errors of all networks."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        runs = {
            (kind, seed): pool.submit(trained, task, kind, seed, seconds)
            for seed in range(seeds)
            for kind in KINDS
        }
        print_head("wind as", "weights", "steps", "near the equator", "beyond 60 degrees")
        for kind in KINDS:
            found = [runs[kind, seed].result() for seed in range(seeds)]
            steps = statistics.mean(one[1] for one in found)
            print_row(kind, f"{found[0][0]:,}", f"{steps:,.0f}", *spans(found))


def spans(found: list[tuple[int, int, float, float]]) -> Iterator[str]:
    """Means and ranges of both errors."""
    for which in (2, 3):
        errors = [one[which] for one in found]
        yield f"{statistics.mean(errors):.3f} ({min(errors):.3f} to {max(errors):.3f})"


def vorticity(seconds: int, seeds: int) -> None:
    """|vorticity| of winds."""
    studied("vorticity", seconds, seeds)


def denoising(seconds: int, seeds: int) -> None:
    """Winds of winds with noise."""
    studied("denoising", seconds, seeds)


PARTS: dict[str, Callable[..., None]] = {"vorticity": vorticity, "denoising": denoising}

if __name__ == "__main__":
    run_parts(__doc__, PARTS, seconds=90, seeds=3)
