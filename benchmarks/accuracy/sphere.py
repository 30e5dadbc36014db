"""Does anisotropy help on the sphere? Filaments and blobs, trained at one orientation of it.

Made-up scalar fields: three filaments (arcs of great circles, with a Gaussian profile) and three
round blobs of random places, lengths, widths and heights, and noise. A U-ChebNet on SO(3) tells for
each point of the icosphere whether it lies on a filament, on a blob or on neither. In training all
filaments lie near the equator and run along meridians; tested is on fields made in the same way and
on the same fields turned by random rotations of the sphere, which turn filaments into all
directions. The same network with eps = 1 (isotropic) and with eps^2 = 0.1. F1 is the mean over
filaments and blobs.

    python benchmarks/accuracy/sphere.py
"""

import statistics
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import shared_path  # noqa: F401  to import what all scripts share
import torch
from scripts import parser_of, print_head, print_row, unit_vectors
from torch import Tensor, nn
from training import OfGraph, Scores, Training, by_labels, means_and_deviations, of_each

from cheblienet_graphs import GraphSpec
from cheblienet_models import UNet

CLASSES = ("neither", "blob", "filament")
TRAINING, TEST, BATCH, RATE = 240, 120, 8, 1e-2
CHANNELS = (8, 16, 32, 32)
NOISE = 0.2
PARTS = {"training": (TRAINING, False), "as trained": (TEST, False), "turned": (TEST, True)}
"""How many fields each has, and whether they are turned."""
COMMON: dict[str, Any] = {"subdivisions": 3, "orientations": 6, "levels": 3}
SPECS = {
    "eps = 1": GraphSpec("so3", eps=1, **COMMON),
    "eps^2 = 0.1": GraphSpec("so3", eps_squared=0.1, **COMMON),
}


def rotations(count: int, generator: torch.Generator) -> Tensor:
    """(count, 3, 3) uniform over SO(3)."""
    normal = torch.randn(count, 3, 3, generator=generator, dtype=torch.float64)
    q, r = torch.linalg.qr(normal)
    q = q * r.diagonal(dim1=1, dim2=2).sign()[:, None]
    turns: Tensor = q * torch.linalg.det(q)[:, None, None]
    return turns


def patterns(points: Tensor, count: int, generator: torch.Generator, *, turned: bool) -> Tensor:
    """Heights (count, 2, points) of the highest blob and of the highest filament at each point."""
    turns = rotations(count, generator) if turned else torch.eye(3).double().expand(count, 3, 3)

    def uniform(low: float, high: float) -> Tensor:
        shape = (count, 3, 1)
        return low + (high - low) * torch.rand(shape, generator=generator, dtype=torch.float64)

    def shapes() -> tuple[Tensor, Tensor, Tensor]:
        """Centers near the equator, and how far each point is east and north of them, radians."""
        longitude, latitude = uniform(-torch.pi, torch.pi), uniform(-0.4, 0.4)
        east = torch.cat([-longitude.sin(), longitude.cos(), 0 * longitude], dim=2)
        center = torch.cat(
            [latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin(), latitude.sin()],
            dim=2,
        )
        north = torch.linalg.cross(center, east)
        # What was at x is at R x: the field there is that of R^-1 x.
        at = points @ turns
        along = [torch.einsum("npc,nkc->nkp", at, axis) for axis in (center, east, north)]
        return along[0], along[1], torch.atan2(along[2], along[0])

    height = uniform(0.8, 1.2)
    _, east, north = shapes()
    off = (north.abs() - uniform(0.4, 0.7)).clamp(min=0)
    filament = height * (-((east / uniform(0.1, 0.14)) ** 2) / 2 - (off / 0.1) ** 2 / 2).exp()
    up, _, _ = shapes()
    blob = uniform(0.8, 1.2) * (-((up.clamp(-1, 1).acos() / uniform(0.17, 0.26)) ** 2) / 2).exp()
    return torch.stack([blob.amax(dim=1), filament.amax(dim=1)], dim=1)


def labels_of(both: Tensor, least: float = 0.5) -> Tensor:
    """(count, points) numbers of `CLASSES`, of patterns (count, 2, points) from a height on."""
    strongest, kind = both.max(dim=1)
    return torch.where(strongest > least, kind + 1, 0)


def samples(
    points: Tensor, count: int, generator: torch.Generator, *, turned: bool
) -> tuple[Tensor, Tensor]:
    """Fields (count, 1, points), of mean 0 and deviation 1, and labels (count, points)."""
    both = patterns(points, count, generator, turned=turned)
    labels = labels_of(both)
    noise = NOISE * torch.randn(labels.shape, generator=generator, dtype=torch.float64)
    field = both.sum(dim=1) + noise
    return ((field - field.mean()) / field.std()).float()[:, None], labels


def f1(network: nn.Module, fields: Tensor, labels: Tensor) -> dict[str, float]:
    """F1 of blobs and of filaments, and their mean, in %."""
    predicted = torch.cat([network(part).argmax(1) for part in fields.split(BATCH)])
    scores = {}
    for kind in (1, 2):
        here, there = predicted == kind, labels == kind
        scores[CLASSES[kind]] = 200 * float((here & there).sum() / (here.sum() + there.sum()))
    return scores | {"mean": statistics.mean(scores.values())}


class Segmentation(OfGraph):
    """A UNet that is to tell the shapes apart; its weights and the fields are drawn by the seed."""

    inputs = 1

    @property
    def channels(self) -> tuple[int, ...]:
        """Widths of the UNet."""
        return CHANNELS

    def start(self) -> Training:
        """Classes are weighted by the inverse of their frequency."""
        training = self.samples["training"]
        torch.manual_seed(self.seed)
        network = UNet(self.pyramid, self.inputs, len(CLASSES), channels=self.channels)
        counts = training[1][training[1] >= 0].bincount(minlength=len(CLASSES)).float()
        how: dict[str, Any] = {"batch": BATCH, "rate": RATE, "weight": counts.sum() / counts}
        return by_labels(network, training, self.epochs, **how)

    def scores(self, network: nn.Module) -> Scores:
        """F1 in % by column."""
        return {
            f"{kind}, {where}": score
            for where, (fields, labels) in self.samples.items()
            if where != "training"
            for kind, score in f1(network, fields, labels).items()
        }

    @cached_property
    def samples(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Fields and labels for training, and for tests of several kinds."""
        points, base = unit_vectors(self.pyramid.levels[0]), self.pyramid.levels[0].grid[1:]
        generator = torch.Generator().manual_seed(self.seed)
        on_grid = {}
        for name, (count, turned) in PARTS.items():
            fields, labels = self.drawn(points, count, generator, turned=turned)
            on_grid[name] = fields.unflatten(2, base), labels.unflatten(1, base)
        return on_grid

    def drawn(
        self, points: Tensor, count: int, generator: torch.Generator, *, turned: bool
    ) -> tuple[Tensor, Tensor]:
        """Fields (count, inputs, points) and labels (count, points)."""
        return samples(points, count, generator, turned=turned)


def report(scores: Mapping[str, list[Scores]], fields: int) -> None:
    """Print the table of the scores on so many fields, by kind of graph and by seed."""
    first = next(iter(scores.values()))
    print(f"F1 in % on {fields} fields, mean +- deviation over {len(first)} seeds\n")
    print_head("metric", *first[0])
    for kind, runs in scores.items():
        print_row(kind, *means_and_deviations(runs, list(first[0]), ".1f"))


def main() -> None:
    options = vars(parser_of(__doc__, epochs=8, seeds=5).parse_args())
    report(of_each(SPECS, Segmentation, **options), TEST)


if __name__ == "__main__":
    main()
