"""Rotation invariance on real data: trained on upright digits, tested on turned ones.

scikit-learn's 1,797 handwritten digits, resized to 16x16. Networks of equal width: on the plane
with isotropic filters, and on SE(2) with the paper's anisotropy (eps^2 = 0.1) and three kinds of
edge weights: the paper's Gaussian ones, and those true to the metric, matched and Selling's. None
sees a turned digit in training. All are exactly invariant under turns by 90 degrees, so their
accuracies on digits turned so must equal those on upright ones; other angles, uniform over the
circle, tell them apart.

    python benchmarks/accuracy/digits.py
"""

import argparse
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from checkpoint import Scores
from rotations import turned
from sklearn.datasets import load_digits
from torch import Tensor, nn
from training import Experiment, Training, mean_and_deviation

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Pyramid, WideResNet, open_store

SIDE = 16
TEST = 500
BATCH = 64
RATE = 2e-2
COLUMNS = ("upright", "90 degrees", "any angle")
CHANGE = "max change of log-probabilities"
SPECS = {
    "r2": GraphSpec("r2", SIDE),
    "se2, Gaussian": GraphSpec("se2", SIDE, orientations=6, eps_squared=0.1),
    "se2, matched": GraphSpec("se2", SIDE, orientations=6, eps_squared=0.1, weights="matched"),
    "se2, Selling": GraphSpec("se2", SIDE, orientations=6, eps_squared=0.1, weights="selling"),
}


def digits() -> tuple[Tensor, Tensor]:
    """Images (1797, 1, 16, 16) with mean 0 and deviation 1, and labels (1797,)."""
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32)[:, None]
    images = nn.functional.interpolate(images, size=(SIDE, SIDE), mode="bilinear")
    return (images - images.mean()) / images.std(), torch.tensor(data.target)


@dataclass(frozen=True)
class Digits:
    """A network that is to read upright digits, on a split and from weights drawn by a seed.

    `kind` names one of SPECS, `pyramid` is its graph; `images` (N, 1, 16, 16), `labels` (N,).
    """

    kind: str
    pyramid: Pyramid
    images: Tensor
    labels: Tensor
    seed: int
    epochs: int

    @property
    def title(self) -> str:
        return f"{self.kind}, seed {self.seed}"

    def start(self) -> Training:
        """Adam with one-cycle learning rate."""
        images, labels = (part[self._order[TEST:]] for part in (self.images, self.labels))
        torch.manual_seed(self.seed)
        network = WideResNet(self.pyramid, 1, 10, kernel_size=4, depth=1, widen=1)
        optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
        steps = self.epochs * -(-len(images) // BATCH)
        return Training(
            network,
            optimizer,
            loss=lambda batch: nn.functional.nll_loss(network(images[batch]), labels[batch]),
            order=lambda _: torch.randperm(len(images)),
            batch=BATCH,
            schedule=torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps),
        )

    def scores(self, network: nn.Module) -> Scores:
        """Accuracy in % by column, and the most that 90-degree turns change a log-probability."""
        images, labels = (part[self._order[:TEST]] for part in (self.images, self.labels))
        quarter = [network(torch.rot90(images, turn, (2, 3))) for turn in range(4)]
        outputs = [*quarter[:2], network(turned(images, self.seed))]
        correct = [(output.argmax(1) == labels).float().mean().item() for output in outputs]
        accuracy = {name: 100 * share for name, share in zip(COLUMNS, correct, strict=True)}
        change = max((output - quarter[0]).abs().max().item() for output in quarter)
        return {**accuracy, CHANGE: change}

    @cached_property
    def _order(self) -> Tensor:
        """Of all samples; the first TEST are for testing."""
        generator = torch.Generator().manual_seed(self.seed)
        return torch.randperm(len(self.images), generator=generator)


def row(name: str, runs: list[Scores], level: Mapping[str, Any]) -> str:
    """A line of the table."""
    cells = [mean_and_deviation([run[column] for run in runs], ".1f") for column in COLUMNS]
    degree = 2 * level["edges"] / level["vertices"]
    change = max(run[CHANGE] for run in runs)
    return f"| {name} | {' | '.join(cells)} | {degree:.1f} | {change:.1e} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    epochs, samples = arguments.epochs, digits()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "graphs.zarr"
        built = {name: build(spec, store) for name, spec in SPECS.items()}
        opened = open_store(store)
        pyramids = {name: opened[f"{one.name}@{one.version}"] for name, one in built.items()}
        candidates = [
            Digits(name, pyramid, *samples, seed, epochs)
            for seed in range(arguments.seeds)
            for name, pyramid in pyramids.items()
        ]
        scores, _ = Experiment(candidates, epochs).run()
    print(f"Accuracy in % on {TEST} test digits, mean +- deviation over {arguments.seeds} seeds\n")
    print(f"| network | {' | '.join(COLUMNS)} | edges per vertex | {CHANGE} |")
    print(f"|---|{'---|' * len(COLUMNS)}---|---|")
    for index, (name, one) in enumerate(built.items()):
        print(row(name, scores[index :: len(built)], one.levels[0]))


if __name__ == "__main__":
    main()
