"""Rotation invariance on real data: trained on upright digits, tested on turned ones.

scikit-learn's 1,797 handwritten digits, resized to 16x16. Two networks of equal width: on the
plane with isotropic filters, and on SE(2) with the paper's anisotropy (eps^2 = 0.1). Neither sees
a turned digit in training; both are exactly invariant under turns by 90 degrees, so their
accuracies on turned digits must equal those on upright ones.

    python benchmarks/accuracy/digits.py
"""

import argparse
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
TURNS = {0: "upright", 1: "90", 2: "180", 3: "270"}
SPECS = {
    "r2, isotropic": GraphSpec("r2", SIDE),
    "se2, eps^2 = 0.1": GraphSpec("se2", SIDE, orientations=6, eps_squared=0.1),
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


@torch.no_grad()
def evaluate(network: WideResNet, images: Tensor, labels: Tensor) -> tuple[dict[str, float], float]:
    """Accuracy in % by turn, and how much a turn changes the log-probabilities at most."""
    outputs = [network(torch.rot90(images, turn, (2, 3))) for turn in TURNS]
    accuracy = {
        name: 100 * (outputs[turn].argmax(1) == labels).float().mean().item()
        for turn, name in TURNS.items()
    }
    return accuracy, max((output - outputs[0]).abs().max().item() for output in outputs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    images, labels = digits()
    began = time.perf_counter()
    results: dict[str, list[dict[str, float]]] = {name: [] for name in SPECS}
    changes = dict.fromkeys(SPECS, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "graphs.zarr"
        names = {name: build(spec, store).name for name, spec in SPECS.items()}
        total = arguments.epochs * arguments.seeds * len(SPECS)
        with tqdm(total=total, unit="epoch") as bar:
            for seed in range(arguments.seeds):
                order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))
                test, training = order[:TEST], order[TEST:]
                for name in SPECS:
                    bar.set_description(f"{name}, seed {seed}")
                    pyramid = open_store(store)[names[name]]
                    network = train(
                        pyramid,
                        images[training],
                        labels[training],
                        epochs=arguments.epochs,
                        seed=seed,
                        bar=bar,
                    )
                    accuracy, change = evaluate(network, images[test], labels[test])
                    results[name].append(accuracy)
                    changes[name] = max(changes[name], change)
    print(f"Accuracy in % on {TEST} test digits, mean +- deviation over {arguments.seeds} seeds\n")
    print(f"| network | {' | '.join(TURNS.values())} | max change of log-probabilities |")
    print(f"|---|{'---|' * len(TURNS)}---|")
    for name, runs in results.items():
        cells = []
        for turn in TURNS.values():
            values = [run[turn] for run in runs]
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            cells.append(f"{statistics.mean(values):.1f} +- {spread:.1f}")
        print(f"| {name} | {' | '.join(cells)} | {changes[name]:.1e} |")
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
