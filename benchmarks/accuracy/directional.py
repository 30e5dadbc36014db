"""Does a network that learns its anisotropy read digits better? Equal parameters, one graph size.

Residual networks on the plane, on SE(2) with the paper's weights and with Selling's, all
polynomials of one Laplacian, and on SE(2) with directional Laplacians; images are repeated over
orientations, or lifted by cake wavelets of two scales. All have the same kernel size and depth;
widths are chosen so that numbers of parameters agree. Trained on upright digits, tested upright,
turned by 90 degrees and by any angle.

Digits are MNIST's or like them: a folder with images-idx3-ubyte and labels-idx1-ubyte files,
gzipped or not, or an .npz with images (N, H, W) and labels (N,), or MNIST's own, x_train, y_train,
x_test, y_test.

    python benchmarks/accuracy/directional.py DATA [--seeds 3] [--csv FILE]
"""

import argparse
import csv
import gzip
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from checkpoint import Checkpoint, Scores
from rotations import turned
from torch import Tensor, nn
from training import Experiment, Training, mean_and_deviation

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import (
    BatchNorm,
    ChebConv,
    GlobalPool,
    Graph,
    Lift,
    OrientedLift,
    Pyramid,
    SpatialPool,
    open_store,
)
from cheblienet_models.layers.cheb_conv import Operators
from cheblienet_models.networks.residual import ResidualBlock

Arrays = tuple[npt.NDArray[Any], npt.NDArray[Any]]

COLUMNS = ("upright", "90 degrees", "any angle")
SECONDS = "seconds per step"
SCORED_AT_ONCE = 250


@dataclass(frozen=True)
class Kind:
    """A kind of network.

    Args:
        graph: that it is on.
        operators: what its layers are polynomials of.
        scales: of the oriented lift; 0 repeats an image over orientations.
    """

    graph: str
    operators: Operators = "laplacian"
    scales: int = 0

    def network(self, pyramid: Pyramid, width: int, kernel_size: int) -> "Classifier":
        """Of a width: the number of channels on the finest level."""
        return Classifier(pyramid, width, kernel_size, self)

    def lift(self, graph: Graph) -> Lift | OrientedLift:
        return OrientedLift(graph, scales=self.scales) if self.scales else Lift(graph)


KINDS = {
    "r2": Kind("r2"),
    "se2, Gaussian": Kind("se2"),
    "se2, Selling": Kind("selling"),
    "se2, oriented lift": Kind("se2", scales=2),
    "se2, directional": Kind("se2", "directional"),
    "se2, both": Kind("se2", "directional", scales=2),
}


def specs(width: int, height: int, orientations: int, delta: float) -> dict[str, GraphSpec]:
    size = (width, height)
    lifted: dict[str, Any] = {"levels": 2, "orientations": orientations, "eps_squared": 0.1}
    return {
        "r2": GraphSpec("r2", size, levels=2),
        "se2": GraphSpec("se2", size, directional=delta, **lifted),
        "selling": GraphSpec("se2", size, weights="selling", **lifted),
    }


class Classifier(nn.Module):
    """A convolution, two residual blocks on each of two levels, the maximum, classes."""

    def __init__(self, pyramid: Pyramid, width: int, kernel_size: int, kind: Kind) -> None:
        super().__init__()
        self.pyramid = pyramid
        fine, coarse = pyramid.levels
        self.lift, operators, lifted = kind.lift(fine), kind.operators, max(1, kind.scales)
        self.conv = ChebConv(lifted, width, kernel_size, fine, bias=False, operators=operators)
        self.fine, self.coarse = (
            nn.Sequential(*(ResidualBlock(a, b, kernel_size, graph, operators) for a, b in widths))
            for graph, widths in (
                (fine, pairwise([width, width, width])),
                (coarse, pairwise([width, 2 * width, 2 * width])),
            )
        )
        self.pool = SpatialPool(pyramid, 0, "max")
        self.norm, self.last = BatchNorm(2 * width), GlobalPool("max")
        self.classify = nn.Linear(2 * width, 10)

    def forward(self, images: Tensor) -> Tensor:
        x = self.coarse(self.pool(self.fine(self.conv(self.lift(images)))))
        x = self.last(torch.relu(self.norm(x)))
        return torch.log_softmax(self.classify(x), dim=1)


def parameters(network: nn.Module) -> int:
    return sum(weight.numel() for weight in network.parameters())


def width_for(target: int, pyramid: Pyramid, kernel_size: int, kind: Kind) -> int:
    """The width whose number of parameters is nearest to a target."""
    counts = {w: parameters(kind.network(pyramid, w, kernel_size)) for w in range(2, 65)}
    return min(counts, key=lambda width: abs(counts[width] - target))


@dataclass(frozen=True)
class Reader:
    """A network of a kind that is to read digits, on a split and from weights drawn by a seed."""

    kind: str
    pyramid: Pyramid
    width: int
    kernel_size: int
    images: Tensor
    labels: Tensor
    train: int
    epochs: int
    batch: int
    rate: float
    seed: int
    took: dict[tuple[str, int], list[float]]

    @property
    def title(self) -> str:
        return f"{self.kind}, seed {self.seed}"

    @cached_property
    def _order(self) -> Tensor:
        """Of all digits; the first `train` are for training."""
        generator = torch.Generator().manual_seed(self.seed)
        return torch.randperm(len(self.images), generator=generator)

    def network(self) -> Classifier:
        torch.manual_seed(self.seed)
        return KINDS[self.kind].network(self.pyramid, self.width, self.kernel_size)

    def start(self) -> Training:
        """Adam with one-cycle learning rate."""
        images, labels = (part[self._order[: self.train]] for part in (self.images, self.labels))
        network = self.network()
        optimizer = torch.optim.Adam(network.parameters(), lr=self.rate)
        steps = self.epochs * -(-self.train // self.batch)
        began = [time.perf_counter()]

        def loss(batch: Tensor) -> Tensor:
            now = time.perf_counter()  # from one loss to the next it is a step
            self.took.setdefault((self.kind, self.seed), []).append(now - began[0])
            began[0] = now
            return nn.functional.nll_loss(network(images[batch]), labels[batch])

        def order(epoch: int) -> Tensor:
            generator = torch.Generator().manual_seed(1000 * self.seed + epoch)
            return torch.randperm(self.train, generator=generator)

        return Training(
            network,
            optimizer,
            loss=loss,
            order=order,
            batch=self.batch,
            schedule=torch.optim.lr_scheduler.OneCycleLR(optimizer, self.rate, total_steps=steps),
        )

    def scores(self, network: nn.Module) -> Scores:
        """Accuracy in % by column, and the median of the seconds that a step took."""
        images, labels = (part[self._order[self.train :]] for part in (self.images, self.labels))
        tested = (images, torch.rot90(images, 1, (2, 3)), turned(images, self.seed))
        found = {}
        for column, batch in zip(COLUMNS, tested, strict=True):
            parts = [network(part).argmax(1) for part in batch.split(SCORED_AT_ONCE)]
            found[column] = 100 * (torch.cat(parts) == labels).float().mean().item()
        took = self.took.get((self.kind, self.seed), [])
        return {**found, SECONDS: float(np.median(took)) if took else float("nan")}


def digits(data: Path, count: int) -> tuple[Tensor, Tensor]:
    """Images (N, 1, H, W) with mean 0 and deviation 1, and labels (N,), the first `count`."""
    images, labels = _npz(data) if data.suffix == ".npz" else _idx(data)
    if len(images) < count:
        raise SystemExit(f"{data} has {len(images)} digits; --train and --test ask for {count}.")
    pixels = torch.from_numpy(images[:count].astype(np.float32))[:, None]
    return (pixels - pixels.mean()) / pixels.std(), torch.from_numpy(
        labels[:count].astype(np.int64)
    )


def _npz(file: Path) -> Arrays:
    arrays = np.load(file)
    if "images" in arrays:
        return arrays["images"], arrays["labels"]
    images, labels = (
        np.concatenate([arrays[f"{name}_{part}"] for part in ("train", "test")]) for name in "xy"
    )
    return images, labels


def _idx(folder: Path) -> Arrays:
    """All pairs of files in a folder, in the order of their names."""
    kinds = ("*images-idx3-ubyte*", "*labels-idx1-ubyte*")
    files = [sorted(folder.glob(kind)) for kind in kinds]
    if not files[0] or len(files[0]) != len(files[1]):
        raise SystemExit(f"{folder} must have IDX files of images and of labels, as MNIST has.")
    images, labels = (np.concatenate([_idx_array(file) for file in found]) for found in files)
    return images, labels


def _idx_array(file: Path) -> npt.NDArray[np.uint8]:
    contents = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    sides = np.frombuffer(contents, ">i4", count=contents[3], offset=4)
    return np.frombuffer(contents, np.uint8, offset=4 + 4 * len(sides)).reshape(sides)


def candidates(arguments: argparse.Namespace, store: Path) -> Iterator[Reader]:
    """Of each kind and seed, seeds first."""
    samples = digits(arguments.data, arguments.train + arguments.test)
    height, width = samples[0].shape[2:]
    for name, spec in specs(width, height, arguments.orientations, arguments.delta).items():
        build(spec, store, name=name)
    opened = open_store(store)
    pyramids = {name: opened[name] for name in ("r2", "se2", "selling")}
    kernel_size = arguments.kernel_size
    target = parameters(
        KINDS["se2, Gaussian"].network(pyramids["se2"], arguments.width, kernel_size)
    )
    widths = {
        name: width_for(target, pyramids[kind.graph], kernel_size, kind)
        for name, kind in KINDS.items()
    }
    took: dict[tuple[str, int], list[float]] = {}
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        for name in arguments.networks:
            yield Reader(
                name,
                pyramids[KINDS[name].graph],
                widths[name],
                kernel_size,
                *samples,
                train=arguments.train,
                epochs=arguments.epochs,
                batch=arguments.batch,
                rate=arguments.rate,
                seed=seed,
                took=took,
            )


def write_csv(file: Path, readers: list[Reader], scores: list[Scores]) -> None:
    with file.open("w", newline="") as opened:
        rows = csv.writer(opened)
        rows.writerow(["network", "seed", "width", "parameters", *COLUMNS, SECONDS])
        for reader, found in zip(readers, scores, strict=True):
            size = [reader.width, parameters(reader.network())]
            numbers = [f"{found[column]:.4f}" for column in (*COLUMNS, SECONDS)]
            rows.writerow([reader.kind, reader.seed, *size, *numbers])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--train", type=int, default=8000)
    parser.add_argument("--test", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=1e-2)
    parser.add_argument("--kernel-size", type=int, default=4)
    parser.add_argument("--width", type=int, default=16, help="of layers on a single Laplacian")
    parser.add_argument("--orientations", type=int, default=6)
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--networks", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--checkpoint", type=Path, help="to go on from after an interruption")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        readers = list(candidates(arguments, Path(folder) / "graphs.zarr"))
        checkpoint = None
        if arguments.checkpoint:
            settings = {k: str(v) for k, v in vars(arguments).items() if k not in {"csv", "seeds"}}
            checkpoint = Checkpoint(arguments.checkpoint, settings)
        scores, seconds = Experiment(readers, arguments.epochs).run(checkpoint)
        if arguments.csv:
            write_csv(arguments.csv, readers, scores)
        kinds = len(arguments.networks)
        print(f"Accuracy in % on {arguments.test:,} digits, {arguments.seeds} seeds\n")
        print(f"| network | width | parameters | {' | '.join(COLUMNS)} | ms per step |")
        print(f"|---|---|---|{'---|' * len(COLUMNS)}---|")
        for index, reader in enumerate(readers[:kinds]):
            runs = scores[index::kinds]
            cells = [mean_and_deviation([run[c] for run in runs], ".1f") for c in COLUMNS]
            step = 1e3 * float(np.nanmedian([run[SECONDS] for run in runs]))
            size = f"{reader.width} | {parameters(reader.network()):,}"
            print(f"| {reader.kind} | {size} | {' | '.join(cells)} | {step:.0f} |")
        print(f"\n{seconds:.0f} s")


if __name__ == "__main__":
    main()
