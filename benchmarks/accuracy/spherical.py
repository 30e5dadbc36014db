"""What first derivatives see on the sphere: the sense of spirals, and digits that are turned.

    python benchmarks/accuracy/spherical.py spirals
    python benchmarks/accuracy/spherical.py digits --data MNIST

"spirals": two arms of either sense at a random place, in noise; the class is the sense, which
networks of Laplacians cannot tell. All are turned by random rotations. "digits": 8,000 digits to
train on, upright on the equator, and 2,000 to test on, upright, turned by random rotations of the
sphere, and as mirror images. MNIST is a folder or file that classify.py reads.

Networks have about as many parameters. "DeepSphere" is of the form of its classifiers: blocks of a
Chebyshev convolution, batch normalization and ReLU, maxima of four points between levels, the mean
over the sphere; on HEALPix, with 8 neighbors. A network of first-order layers is on an icosphere.
"""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import shared_path  # noqa: F401  to import what all scripts share
import torch
from classifiers import parameters
from pictures import read
from scripts import exit_code, parser_of, print_head, print_row, unit_vectors
from sphere import rotations
from torch import Tensor, nn
from training import SECONDS, OfGraph, Scores, Training, by_labels, means_and_deviations, of_each

from cheblienet_graphs import GraphSpec
from cheblienet_models import ChebConv, GlobalPool, Pyramid, SpatialPool, WideResNet
from cheblienet_models.networks.blocks import BatchNorm

BATCH, RATE, NOISE = 32, 1e-2, 0.3
HALF_SIDE = 1.0
"""Of a digit, radians."""
Maker = Callable[[Pyramid, int, float], nn.Module]
"""Of a network for so many classes, by a factor of its widths."""


class DeepSphere(nn.Sequential):
    """A classifier of the form of DeepSphere's: (B, 1, V) -> log-probabilities (B, classes).

    Args:
        pyramid: on HEALPix.
        classes: of the output.
        factor: of its widths, 16, 32, ...
    """

    def __init__(self, pyramid: Pyramid, classes: int, factor: float) -> None:
        parts: list[nn.Module] = []
        before = 1
        for n, level in enumerate(pyramid.levels):
            width = max(1, round(16 * 2**n * factor))
            for inner in (before, width):
                parts += [ChebConv(inner, width, 4, level), BatchNorm(width), nn.ReLU()]
            before = width
            if n + 1 < len(pyramid.levels):
                parts.append(SpatialPool(pyramid, n, "max"))
        last = GlobalPool("mean"), nn.Flatten(), nn.Linear(before, classes), nn.LogSoftmax(1)
        super().__init__(*parts, *last)


def residual(pyramid: Pyramid, classes: int, factor: float, **more: Any) -> nn.Module:
    """A WideResNet of one block a group."""
    return WideResNet(pyramid, 1, classes, depth=1, widen=factor, **more)


NETWORKS: dict[str, Maker] = {
    "Laplacians": residual,
    "first-order, mirror images alike": partial(residual, operators="first-order", handed=False),
    "first-order, handed": partial(residual, operators="first-order"),
    "first-order, handed, low-pass": partial(residual, operators="first-order", low_pass=True),
    "DeepSphere": DeepSphere,
}


@dataclass(frozen=True)
class Task:
    """Labeled fields on the sphere.

    Args:
        subdivisions: of the icosphere.
        nside: of HEALPix.
        classes: how many.
        train: how many fields.
        test: and to test on.
    """

    subdivisions: int
    nside: int
    classes: int
    train: int
    test: int

    def spec(self, kind: str) -> GraphSpec:
        """The graphs of a kind of network."""
        if kind == "DeepSphere":
            return GraphSpec("s2", sampling="healpix", nside=self.nside, levels=3, neighbors=8)
        fields: dict[str, Any] = {"weights": "kernel", "levels": 3, "gradients": True}
        return GraphSpec("s2", subdivisions=self.subdivisions, **fields)


TASKS = {"spirals": Task(3, 8, 2, 1600, 400), "digits": Task(4, 16, 10, 8000, 2000)}


def seen(points: Tensor, count: int, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
    """How far points lie east and north of a pattern's center, radians along great circles.

    Args:
        points: (V, 3) of the sphere.
        count: of patterns.
        generator: of a rotation of the sphere for each; None leaves them on the equator, upright.

    Returns:
        Two of (count, V).
    """
    turns = rotations(count, generator) if generator else torch.eye(3).double().expand(count, 3, 3)
    up, east, north = (points @ turns).unbind(2)
    length = (east**2 + north**2).sqrt().clamp(min=1e-12)
    scale = torch.atan2(length, up) / length
    return scale * east, scale * north


def spirals(points: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Fields (count, 1, V) of two arms, in noise, and their senses (count,), 0 or 1."""
    east, north = seen(points, count, generator)
    labels = torch.randint(2, (count,), generator=generator)
    radius, angle = (east**2 + north**2).sqrt(), torch.atan2(north, east)
    sense = (2 * labels - 1)[:, None]
    envelope = (radius / 0.4) ** 2 * (1 - (radius / 0.4) ** 2 / 2).exp()
    field = envelope * (2 * angle + sense * 5 * radius).cos()
    field += NOISE * torch.randn(field.shape, generator=generator, dtype=field.dtype)
    return field.float()[:, None], labels


@cache
def digits(data: Path) -> tuple[Tensor, Tensor]:
    """Images (N, 1, H, W) in [0, 1] and labels (N,)."""
    pictures = read(data, 28)
    return pictures.images.float() / 255, pictures.labels


def drawn(images: Tensor, points: Tensor, generator: torch.Generator | None) -> Tensor:
    """Images as fields (N, 1, V), bilinearly; 0 beyond their sides."""
    fields = []
    for part in images.split(250):
        places = torch.stack(seen(points, len(part), generator), dim=2) / HALF_SIDE
        grid = (places * places.new_tensor([1, -1])).float()[:, None]
        fields.append(nn.functional.grid_sample(part, grid, align_corners=False)[:, :, 0])
    return torch.cat(fields)


Samples = dict[str, tuple[Tensor, Tensor]]


def samples_of(name: str, data: Path | None, points: Tensor, seed: int) -> Samples:
    """Fields and labels, "training" and by kind of test."""
    generator, task = torch.Generator().manual_seed(seed), TASKS[name]
    if name == "spirals":
        return {
            part: spirals(points, count, generator)
            for part, count in (("training", task.train), ("turned", task.test))
        }
    if data is None:
        raise ValueError("digits are of files: say where with `--data`.")
    images, labels = digits(data)
    order = torch.randperm(len(images), generator=generator)
    first, last = order[: task.train], order[task.train : task.train + task.test]
    some = images[last]
    return {
        "training": (drawn(images[first], points, None), labels[first]),
        "upright": (drawn(some, points, None), labels[last]),
        "turned": (drawn(some, points, generator), labels[last]),
        "mirrored": (drawn(some.flip(3), points, None), labels[last]),
    }


@dataclass(frozen=True)
class Classification(OfGraph):
    """A network of a kind that is to tell classes; weights and fields are drawn by the seed."""

    name: str = "spirals"
    data: Path | None = None
    count: int = 0

    def start(self) -> Training:
        """By Adam and a one-cycle schedule."""
        samples = self._samples()["training"]
        torch.manual_seed(self.seed)
        return by_labels(self._network(), samples, self.epochs, batch=BATCH, rate=RATE)

    def scores(self, network: nn.Module) -> Scores:
        """Accuracy in % by kind of test."""
        scores: Scores = {"parameters": parameters(network)}
        for where, (fields, labels) in self._samples().items():
            if where != "training":
                best = torch.cat([network(part).argmax(1) for part in fields.split(250)])
                scores[where] = 100 * float((best == labels).float().mean())
        return scores

    def _network(self) -> nn.Module:
        """Of widths in fourths that give about as many parameters as the plain one has."""
        classes, make = TASKS[self.name].classes, NETWORKS[self.kind]
        made = [make(self.pyramid, classes, n / 4) for n in range(1, 9)]
        return min(made, key=lambda one: abs(math.log(parameters(one) / self.count)))

    def _samples(self) -> Samples:
        return samples_of(self.name, self.data, unit_vectors(self.pyramid.levels[0]), self.seed)


def compare(given: argparse.Namespace) -> None:
    """Train, test, print."""
    torch.set_num_threads(given.threads)
    task = TASKS[given.task]
    candidate = partial(Classification, name=given.task, data=given.data, count=36_000)
    specs = {kind: task.spec(kind) for kind in NETWORKS}
    scores = of_each(specs, candidate, given.epochs, given.seeds)
    columns = [name for name in scores["Laplacians"][0] if name not in {"parameters", SECONDS}]
    print(f"Accuracy in % on {task.test} fields, mean +- deviation over {given.seeds} seeds\n")
    print_head("network", "parameters", *columns, "processor s")
    for kind, runs in scores.items():
        cells = means_and_deviations(runs, columns, ".1f")
        seconds = means_and_deviations(runs, [SECONDS], ".0f")
        print_row(kind, f"{runs[0]['parameters']:,.0f}", *cells, *seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of(str(__doc__), seeds=2, epochs=2, threads=1)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--data", type=Path, help="digits")
    return exit_code(partial(compare, parser.parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
