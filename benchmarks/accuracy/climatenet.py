"""Extreme weather on the sphere: the paper's segmentation of ClimateNet, for those who have it.

Trains a UNet on the climatenet recipe to tell tropical cyclones and atmospheric rivers from the
background, and prints the F1 score of each class on test samples over several seeds.

    python benchmarks/accuracy/climatenet.py DATA [--checkpoint FILE]
    python benchmarks/accuracy/climatenet.py --profile [--threads 2]

With --profile, time and memory of a training step are printed, which takes no data.
DATA is one of

- an .npz file with `fields` (N, 16, lat, lon), or (N, 16, points) in the order of the sphere's
  points, and `labels` (N, lat, lon) or (N, points): 0 background, 1 tropical cyclone,
  2 atmospheric river. Optional: `channels`, 16 names in the order of the fields; `latitudes` and
  `longitudes` in degrees, else rows from -90 to 90 and columns from 0 eastwards, as ClimateNet has
  them; `split` (N,), "train" or "test" (or 0 and 1), else a fifth drawn by the seed is the test;
- a NetCDF file as ClimateNet publishes them, one variable a channel and LABELS, through xarray;
- a folder of such files, the split given by its folders train/ and test/ if it has them.

Fields on latitudes and longitudes are brought to the sphere's points bilinearly, labels from the
nearest pixel, and channels are standardised by the training samples. Losses are weighted by the
inverse frequency of each class. With --checkpoint the same command continues after the last epoch
that was finished.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import climatenet_profile
import shared_path  # noqa: F401  to import what all scripts share
import torch
from climatenet_data import CHANNELS, CLASSES, Data, load
from scripts import exit_code, parser_of, positive, print_head, print_row, pyramid_of
from torch import Tensor, nn
from training import Checkpoint, Scores, Training, means_and_deviations, trained

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.recipes import recipe
from cheblienet_models import Pyramid, UNet, open_store

COLUMNS = (*CLASSES, "mean of the two", "mean of all")


@dataclass(frozen=True)
class Segmentation:
    """A UNet that is to tell the classes apart.

    Args:
        pyramid: it is on.
        data: to train and to test on.
        seed: of the weights, of the split where the data has none, and of the batches.
        batch: samples.
        rate: of learning.
        device: it is trained on.
    """

    pyramid: Pyramid
    data: Data
    seed: int
    batch: int
    rate: float
    device: str

    @property
    def title(self) -> str:
        return f"seed {self.seed}"

    def start(self) -> Training:
        """With weights of the seed."""
        training, _ = self.data.split(self.seed)
        weights = inverse_frequencies(self.data.labels[training]).to(self.device)
        torch.manual_seed(self.seed)
        network = UNet(self.pyramid, len(CHANNELS), len(CLASSES)).to(self.device)
        return Training(
            network,
            torch.optim.Adam(network.parameters(), lr=self.rate),
            loss=partial(self._loss, network, weights),
            order=self._order,
            batch=self.batch,
        )

    def scores(self, network: nn.Module) -> Scores:
        """F1 by column over all test points together."""
        confusion = torch.zeros(len(CLASSES), len(CLASSES), dtype=torch.long)
        _, test = self.data.split(self.seed)
        for numbers in test.split(self.batch):
            fields, labels = self._batch(numbers)
            pairs = labels * len(CLASSES) + network(fields).argmax(1)
            counts = pairs.flatten().cpu().bincount(minlength=confusion.numel())
            confusion += counts.view_as(confusion)
        return f1_scores(confusion)

    def _loss(self, network: nn.Module, weights: Tensor, numbers: Tensor) -> Tensor:
        fields, labels = self._batch(numbers)
        return nn.functional.nll_loss(network(fields), labels, weights)

    def _order(self, epoch: int) -> Tensor:
        """By seed and epoch alone."""
        training, _ = self.data.split(self.seed)
        generator = torch.Generator().manual_seed(1_000_003 * self.seed + epoch)
        return training[torch.randperm(len(training), generator=generator)]

    def _batch(self, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Standardised fields (n, 16, *base) and labels (n, *base) of samples, on the device."""
        (mean, deviation), base = self._standard, self.pyramid.levels[0].grid[1:]
        fields = ((self.data.fields[numbers] - mean) / deviation).unflatten(2, base)
        labels = self.data.labels[numbers].unflatten(1, base)
        return fields.to(self.device), labels.to(self.device)

    @cached_property
    def _standard(self) -> tuple[Tensor, Tensor]:
        return standard(self.data.fields, self.data.split(self.seed)[0])


def inverse_frequencies(labels: Tensor) -> Tensor:
    """(3,) how often a point of another class comes for each of this one; 0 where none does."""
    counts = labels.flatten().bincount(minlength=len(CLASSES)).double()
    return torch.where(counts > 0, counts.sum() / (len(CLASSES) * counts), 0).float()


def standard(fields: Tensor, training: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and deviation (16, 1) of each channel over the training samples and their points."""
    chosen = [fields[training, channel].double() for channel in range(fields.shape[1])]
    mean = torch.stack([channel.mean() for channel in chosen])[:, None]
    deviation = torch.stack([channel.std() for channel in chosen])[:, None]
    return mean.float(), torch.where(deviation > 0, deviation, 1).float()


def f1_scores(confusion: Tensor) -> Scores:
    """By column, from counts (true, predicted); 0 for a class that is neither there nor found."""
    hits, counts = confusion.diag().double(), (confusion.sum(0) + confusion.sum(1)).double()
    f1 = torch.where(counts > 0, 2 * hits / counts.clamp(min=1), 0)
    return dict(zip(COLUMNS, [*f1.tolist(), f1[1:].mean().item(), f1.mean().item()], strict=True))


def report(data: Data, epochs: int, scores: Sequence[Scores], seconds: float) -> None:
    """Print the table."""
    training, test = data.split(0)
    print(
        f"F1 on {len(test)} test samples, {len(training)} to train on, mean +- deviation over "
        f"{len(scores)} seeds, {epochs} epochs\n"
    )
    print_head(*COLUMNS)
    print_row(*means_and_deviations(scores, COLUMNS, ".3f"))
    print(f"\n{seconds:.0f} s")


def spec_of(subdivisions: int | None) -> GraphSpec:
    """The climatenet recipe, or the same on another icosphere, down to the icosahedron."""
    spec = recipe("climatenet").spec
    if subdivisions is None:
        return spec
    sizes = {"subdivisions": subdivisions, "levels": subdivisions + 1}
    return GraphSpec(**(spec.to_dict() | sizes))


def opened(arguments: argparse.Namespace) -> Pyramid:
    """The graph named, or the recipe's, built if it is not there."""
    if arguments.graph:
        return open_store(arguments.store)[arguments.graph]
    return pyramid_of(spec_of(arguments.subdivisions), arguments.store)


def profile(arguments: argparse.Namespace) -> None:
    """Time and memory of training steps at batch 1, in a process that does nothing else."""
    pyramid = opened(arguments)
    name, threads = f"{pyramid.name}@{pyramid.version}", str(arguments.threads)
    command = [sys.executable, climatenet_profile.__file__, str(arguments.store), name, threads]
    subprocess.run(command, check=True)


def checkpoint(arguments: argparse.Namespace, pyramid: Pyramid, data: Data) -> Checkpoint:
    """Of an experiment that agrees on all but the number of seeds and the device."""
    settings = {
        "graph": f"{pyramid.name} (spec {pyramid.spec_sha256[:12]})",
        "data": f"of digest {data.digest[:12]}",
    }
    settings |= {name: getattr(arguments, name) for name in ("epochs", "batch", "rate")}
    return Checkpoint(arguments.checkpoint, settings)


def segment(arguments: argparse.Namespace) -> None:
    """Train, test and report."""
    pyramid = opened(arguments)
    data = load(arguments.path, pyramid)
    how = {"batch": arguments.batch, "rate": arguments.rate, "device": arguments.device}
    candidates = [Segmentation(pyramid, data, seed, **how) for seed in range(arguments.seeds)]
    kept = checkpoint(arguments, pyramid, data)
    scores, seconds = trained(candidates, arguments.epochs, kept)
    report(data, arguments.epochs, scores, seconds)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = parser_of(__doc__, epochs=20, batch=4, rate=1e-3, seeds=5, threads=2, profile=False)
    parser.add_argument("path", type=Path, nargs="?", help=".npz, NetCDF or a folder of NetCDF")
    parser.add_argument("--subdivisions", type=positive, help="of the icosahedron; 5 in the recipe")
    parser.add_argument("--store", type=Path, default=Path("graphs.zarr"))
    parser.add_argument("--graph", help="one of the store, instead of the recipe's")
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args(arguments)
    if given.path is None and not given.profile:
        parser.error("name the data, or --profile.")
    return given


def main(arguments: list[str] | None = None) -> int:
    given = parsed(arguments)
    return exit_code(partial(profile if given.profile else segment, given))


if __name__ == "__main__":
    sys.exit(main())
