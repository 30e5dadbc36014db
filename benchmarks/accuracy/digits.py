"""Rotation invariance on real data: trained on upright digits, tested on turned ones.

scikit-learn's 1,797 handwritten digits, resized to 16x16. Networks of equal width: on the plane
with isotropic filters, and on SE(2) with the paper's anisotropy (eps^2 = 0.1) and three kinds of
edge weights: the paper's Gaussian ones, and those true to the metric, matched and Selling's. None
sees a turned digit in training. All are exactly invariant under turns by 90 degrees, so their
accuracies on digits turned so must equal those on upright ones; other angles, uniform over the
circle, tell them apart.

    python benchmarks/accuracy/digits.py
"""

from functools import cache, cached_property

import shared_path  # noqa: F401  to import what all scripts share
import torch
from rotations import turned
from scripts import graph_of, parser_of, print_head, print_row
from sklearn.datasets import load_digits
from torch import Tensor, nn
from training import OfGraph, Scores, Training, by_labels, means_and_deviations, of_each

from cheblienet_graphs import GraphSpec
from cheblienet_models import WideResNet

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


@cache
def digits() -> tuple[Tensor, Tensor]:
    """Images (1797, 1, 16, 16) with mean 0 and deviation 1, and labels (1797,)."""
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32)[:, None]
    images = nn.functional.interpolate(images, size=(SIDE, SIDE), mode="bilinear")
    return (images - images.mean()) / images.std(), torch.tensor(data.target)


class Digits(OfGraph):
    """A network that is to read upright digits, on a split and from weights drawn by a seed."""

    def start(self) -> Training:
        images, labels = (part[self._order[TEST:]] for part in digits())
        torch.manual_seed(self.seed)
        network = WideResNet(self.pyramid, 1, 10, kernel_size=4, depth=1, widen=1)
        return by_labels(network, (images, labels), self.epochs, batch=BATCH, rate=RATE)

    def scores(self, network: nn.Module) -> Scores:
        """Accuracy in % by column, and the most that 90-degree turns change a log-probability."""
        images, labels = (part[self._order[:TEST]] for part in digits())
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
        return torch.randperm(len(digits()[0]), generator=generator)


def main() -> None:
    options = vars(parser_of(__doc__, epochs=8, seeds=5).parse_args())
    scores = of_each(SPECS, Digits, **options)
    seeds = options["seeds"]
    print(f"Accuracy in % on {TEST} test digits, mean +- deviation over {seeds} seeds\n")
    print_head("network", *COLUMNS, "edges per vertex", CHANGE)
    for kind, runs in scores.items():
        cells = means_and_deviations(runs, COLUMNS, ".1f")
        graph = graph_of(SPECS[kind])
        degree = 2 * graph.num_edges / graph.num_vertices
        print_row(kind, *cells, f"{degree:.1f}", f"{max(run[CHANGE] for run in runs):.1e}")


if __name__ == "__main__":
    main()
