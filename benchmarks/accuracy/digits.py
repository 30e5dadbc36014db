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
import math
import statistics
import tempfile
import time
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from tqdm import tqdm

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Pyramid, WideResNet, open_store

SIDE = 16
TEST = 500
RATE = 2e-2
COLUMNS = ("upright", "90 degrees", "any angle")
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


def train(
    pyramid: Pyramid, images: Tensor, labels: Tensor, *, epochs: int, seed: int, bar: tqdm
) -> WideResNet:
    """Adam with one-cycle learning rate on upright digits."""
    torch.manual_seed(seed)
    network = WideResNet(pyramid, 1, 10, kernel_size=4, depth=1, widen=1)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    batches = -(-len(images) // 64)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=epochs * batches)
    for _ in range(epochs):
        for batch in torch.randperm(len(images)).split(64):
            loss = nn.functional.nll_loss(network(images[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        bar.update()
        bar.set_postfix(loss=f"{loss.item():.4f}")
    return network.eval()


def turned(images: Tensor, seed: int) -> Tensor:
    """Each image turned about its middle by an angle uniform over the circle, bilinearly."""
    generator = torch.Generator().manual_seed(seed)
    angle = 2 * math.pi * torch.rand(len(images), generator=generator)
    cos, sin, zero = angle.cos(), angle.sin(), torch.zeros_like(angle)
    matrices = torch.stack([cos, -sin, zero, sin, cos, zero], dim=1).view(-1, 2, 3)
    grid = nn.functional.affine_grid(matrices, list(images.shape), align_corners=False)
    return nn.functional.grid_sample(images, grid, padding_mode="border", align_corners=False)


@torch.no_grad()
def evaluate(
    network: WideResNet, images: Tensor, labels: Tensor, seed: int
) -> tuple[dict[str, float], float]:
    """Accuracy in % by column, and the most that turns by 90 degrees change a log-probability."""
    quarter = [network(torch.rot90(images, turn, (2, 3))) for turn in range(4)]
    outputs = dict(zip(COLUMNS, [*quarter[:2], network(turned(images, seed))], strict=True))
    accuracy = {
        name: 100 * (output.argmax(1) == labels).float().mean().item()
        for name, output in outputs.items()
    }
    return accuracy, max((output - quarter[0]).abs().max().item() for output in quarter)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    images, labels = digits()
    began = time.perf_counter()
    results: dict[str, list[dict[str, float]]] = {name: [] for name in SPECS}
    changes = dict.fromkeys(SPECS, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "graphs.zarr"
        built = {name: build(spec, store) for name, spec in SPECS.items()}
        total = arguments.epochs * arguments.seeds * len(SPECS)
        with tqdm(total=total, unit="epoch") as bar:
            for seed in range(arguments.seeds):
                order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))
                test, training = order[:TEST], order[TEST:]
                for name in SPECS:
                    bar.set_description(f"{name}, seed {seed}")
                    pyramid = open_store(store)[f"{built[name].name}@{built[name].version}"]
                    network = train(
                        pyramid,
                        images[training],
                        labels[training],
                        epochs=arguments.epochs,
                        seed=seed,
                        bar=bar,
                    )
                    accuracy, change = evaluate(network, images[test], labels[test], seed)
                    results[name].append(accuracy)
                    changes[name] = max(changes[name], change)
    print(f"Accuracy in % on {TEST} test digits, mean +- deviation over {arguments.seeds} seeds\n")
    print(
        f"| network | {' | '.join(COLUMNS)} | edges per vertex | max change of log-probabilities |"
    )
    print(f"|---|{'---|' * len(COLUMNS)}---|---|")
    for name, runs in results.items():
        cells = []
        for column in COLUMNS:
            values = [run[column] for run in runs]
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            cells.append(f"{statistics.mean(values):.1f} +- {spread:.1f}")
        facts = built[name].levels[0]
        degree = 2 * facts["edges"] / facts["vertices"]
        print(f"| {name} | {' | '.join(cells)} | {degree:.1f} | {changes[name]:.1e} |")
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
