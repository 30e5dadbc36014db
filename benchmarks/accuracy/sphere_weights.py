"""What networks lose or gain by Voronoi weights, against kernel weights, at equal steps.

    python benchmarks/accuracy/sphere_weights.py digits --data MNIST
    python benchmarks/accuracy/sphere_weights.py filaments --epochs 8
    python benchmarks/accuracy/sphere_weights.py weather --epochs 8
    python benchmarks/accuracy/sphere_weights.py plane --data MNIST

"digits": the classifier "Laplacians" of spherical.py, on digits that lie upright on the equator,
and in tests also turned by random rotations. "filaments": the fields of sphere.py, told apart by a
UNet on the sphere itself. "weather": a stand-in for ClimateNet: the same shapes, rarer, seen only
through 16 channels, each a random mixture of the two kinds of shapes, of a smooth background and
of noise. "plane": digits on random points of the unit square. MNIST is a folder or file that
classify.py reads.

A seed draws points (of random samplings), fields and first weights, equal for both kinds of
weights; "gain" is the mean over seeds of the difference, with the deviation of that mean.
"""

import argparse
import math
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import shared_path  # noqa: F401  to import what all scripts share
import torch
from scripts import exit_code, parser_of, print_head, print_row, pyramid_of, unit_vectors
from sphere import Segmentation, labels_of, patterns
from spherical import RATE, digits, drawn, residual
from torch import Tensor, nn
from training import (
    SECONDS,
    Candidate,
    OfGraph,
    Scores,
    Training,
    by_labels,
    mean_and_deviation,
    trained,
)

from cheblienet_graphs import GraphSpec

WEIGHTS = ("kernel", "voronoi")
TRAINING, TEST, BATCH = 4000, 2000, 32
CHANNELS, SPATIAL = 16, 3
"""Of the stand-in, and patterns that they mix: blobs, filaments, a smooth background."""
MIXED, RARE, BACKGROUND = 1.5, 0.8, 12
"""Noise of a channel, height from which a shape counts, and waves of a background."""
SAMPLINGS: dict[str, dict[str, Any]] = {
    "icosahedral": {"subdivisions": 4},
    "healpix": {"nside": 16},
    "gaussian": {"gaussian": "O24"},
    "equiangular": {"bandlimit": 24, "levels": 2},
    "refined-icosahedral": {"refined": (3, 5, -40, -30, 40, 30)},
    "random": {"points": (2562, 642, 162)},
}
"""About 2,500 points each."""
SMALL: dict[str, dict[str, Any]] = {
    "icosahedral": {"subdivisions": 3},
    "healpix": {"nside": 8},
    "gaussian": {"gaussian": "O12"},
    "equiangular": {"bandlimit": 12, "levels": 2},
    "refined-icosahedral": {"refined": (2, 4, -40, -30, 40, 30), "levels": 2},
    "random": {"points": (642, 162, 42)},
}
"""About 600 points each."""


def spec_of(manifold: str, size: Mapping[str, Any], weights: str) -> GraphSpec:
    """Graphs of a sampling; random points of all levels are the first ones of one list."""
    if "points" not in size:
        return GraphSpec(manifold, weights=weights, **{"levels": 3, **size})
    counts = size["points"]
    drawn = np.random.default_rng(0).uniform(size=(counts[0], 2))
    if manifold == "s2":
        drawn = np.stack([np.degrees(np.arcsin(2 * drawn[:, 0] - 1)), 360 * drawn[:, 1]], axis=1)
    return GraphSpec(manifold, weights=weights, coordinates=[drawn[:n] for n in counts])


@dataclass(frozen=True)
class Digits(OfGraph):
    """Digits on the sphere; or, on the plane, as they are."""

    data: Path = Path()

    def start(self) -> Training:
        """By Adam and a one-cycle schedule."""
        samples = self.fields["training"]
        torch.manual_seed(self.seed)
        network = residual(self.pyramid, 10, 1)
        return by_labels(network, samples, self.epochs, batch=BATCH, rate=RATE)

    def scores(self, network: nn.Module) -> Scores:
        """Accuracy in % by kind of test."""
        scores: Scores = {}
        for where, (fields, labels) in self.fields.items():
            if where != "training":
                best = torch.cat([network(part).argmax(1) for part in fields.split(250)])
                scores[where] = 100 * float((best == labels).float().mean())
        return scores

    @cached_property
    def fields(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Fields (N, 1, *grid) and labels (N,), "training" and by kind of test."""
        generator = torch.Generator().manual_seed(self.seed)
        images, labels = digits(self.data)
        order = torch.randperm(len(images), generator=generator)
        first, last = order[:TRAINING], order[TRAINING : TRAINING + TEST]
        level = self.pyramid.levels[0]
        if self.pyramid.spec["manifold"] == "r2":
            place = partial(on_plane, points=level.coordinates)
            kinds = {"upright": place(images[last])}
        else:
            points = unit_vectors(level)
            place = partial(drawn, points=points, generator=None)
            kinds = {
                "upright": place(images[last]),
                "turned": drawn(images[last], points, generator),
            }
        tests = {where: (fields, labels[last]) for where, fields in kinds.items()}
        return {"training": (place(images[first]), labels[first])} | tests


def on_plane(images: Tensor, points: Tensor) -> Tensor:
    """Images as fields (N, 1, V) at points (V, 2) of the unit square, bilinearly."""
    grid = (2 * points - 1).float().expand(len(images), 1, -1, -1)
    return nn.functional.grid_sample(images, grid, align_corners=False)[:, :, 0]


class Filaments(Segmentation):
    """The task of sphere.py on the sphere itself."""

    @property
    def channels(self) -> tuple[int, ...]:
        """Widths of the UNet."""
        return (16, 16, 32, 32)[: 1 + len(self.pyramid.levels)]


class Weather(Filaments):
    """Shapes that are rarer, and that no channel shows alone."""

    inputs = CHANNELS

    def drawn(
        self, points: Tensor, count: int, generator: torch.Generator, *, turned: bool
    ) -> tuple[Tensor, Tensor]:
        """Fields (count, 16, points) and labels (count, points)."""
        mixing = torch.randn(CHANNELS, SPATIAL, generator=torch.Generator().manual_seed(self.seed))
        shapes = patterns(points, count, generator, turned=turned)
        waves = BACKGROUND * torch.randn(count, 3, generator=generator, dtype=points.dtype) / 4
        phase = torch.rand(count, 1, generator=generator, dtype=points.dtype) * 2 * math.pi
        background = torch.cos(waves @ points.T + phase)[:, None]
        seen = torch.cat([shapes, background], dim=1).float()
        fields = torch.einsum("cs,nsp->ncp", mixing, seen)
        noise = torch.randn(fields.shape, generator=generator)
        return fields + MIXED * noise, labels_of(shapes, RARE)


TASKS: dict[str, tuple[Mapping[str, dict[str, Any]], Callable[..., Candidate]]] = {
    "digits": (SAMPLINGS, Digits),
    "filaments": (SMALL, Filaments),
    "weather": (SMALL, Weather),
    "plane": ({"random": {"points": (784, 196)}}, Digits),
}
"""Samplings and the training of each task."""


def compare(given: argparse.Namespace) -> None:
    """Train, test, print a table of every sampling."""
    torch.set_num_threads(given.threads)
    samplings, make = TASKS[given.task]
    if make is Digits:
        if given.data is None:
            raise ValueError("digits are of files: say where with `--data`.")
        make = partial(Digits, data=given.data)
    manifold = "r2" if given.task == "plane" else "s2"
    print(f"% on tests, mean +- deviation over {given.seeds} seeds, {given.epochs} epochs\n")
    print_head("sampling, test", *WEIGHTS, "gain")
    for name in given.samplings:
        if name not in samplings:
            continue
        size = samplings[name]
        pyramids = [pyramid_of(spec_of(manifold, size, kind), device="cpu") for kind in WEIGHTS]
        candidates = [
            make(f"{name}, {kind}", pyramid, seed, given.epochs)
            for seed in range(given.seeds)
            for kind, pyramid in zip(WEIGHTS, pyramids, strict=True)
        ]
        scores, _ = trained(candidates, given.epochs)
        for test in scores[0]:
            if test != SECONDS:
                _print(name, test, [run[test] for run in scores])


def _print(sampling: str, test: str, values: Sequence[float]) -> None:
    """A row, from scores of both kinds of weights by turns."""
    pairs = values[::2], values[1::2]
    gains = [after - before for before, after in zip(*pairs, strict=True)]
    cells = [mean_and_deviation(one, ".1f") for one in pairs]
    gain = f"{statistics.mean(gains):+.1f}"
    if len(gains) > 1:
        gain += f" +- {statistics.stdev(gains) / math.sqrt(len(gains)):.1f}"
    print_row(f"{sampling}, {test}", *cells, gain)


def main(arguments: Sequence[str] | None = None) -> int:
    names = list(SAMPLINGS)
    parser = parser_of(str(__doc__), seeds=3, epochs=2, threads=1, samplings=names)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--data", type=Path, help="digits, plane")
    return exit_code(partial(compare, parser.parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
