"""Draw the picture of README's first screen: `python docs/images/first.py docs/images/first.png`.

Left, lines that cross, in noise, and the same enhanced on SE(2), without training. Right, a test
digit, the same digit turned by 90 degrees, and what a trained network says of both. Every graph has
eps^2 = 0.1. The network sees digits of 8 x 8 pixels; these are drawn smoothly, as their title says.
It takes about a minute.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from torch import Tensor, nn

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.plot.figure import SERIES, style
from cheblienet_models import OrientedLift, Project, WideResNet

SIDE = 64
TIME = 16
"""Of diffusion, in squared pixels."""
TRAIN, BATCH = 1500, 50
SHOWN = 7
"""The test digit that is drawn."""
WIDE = 1.5
"""Width of the bars' panel over that of a picture."""


def noisy_lines() -> Tensor:
    """(64, 64), two lines that cross, of brightness 1, in noise of deviation 0.6."""
    y, x = np.mgrid[:SIDE, :SIDE].astype(float)
    away = [
        (x - right) * np.sin(angle) - (y - down) * np.cos(angle)
        for angle, right, down in ((0.9, 30, 32), (-0.4, 32, 34))
    ]
    lines = np.exp(-(np.abs(away).min(axis=0) ** 2) / 4)
    noise = np.random.default_rng(0).standard_normal(lines.shape)
    return torch.tensor(lines + 0.6 * noise, dtype=torch.float32)


@torch.no_grad()
def enhanced(picture: Tensor, store: str) -> Tensor:
    """(64, 64) -> (64, 64): lifted, diffused along the lines, the maximum over orientations."""
    fields = {"orientations": 16, "eps_squared": 0.1, "alpha": 40, "weights": "selling"}
    graph = build(GraphSpec("se2", SIDE, **fields, levels=1), store).open().levels[0]
    scores = OrientedLift(graph)(picture[None, None])
    time = TIME / SIDE**2 * graph.eigenvalue_scale
    diffused = graph.diffuse(scores, time, density=True, tolerance=1e-4)
    lines: Tensor = Project(graph, "max")(diffused)
    return lines.view_as(picture)


def trained(images: Tensor, labels: Tensor, store: str, epochs: int) -> WideResNet:
    """(N, 1, 8, 8) and (N,) -> a network on SE(2) that saw upright digits alone."""
    spec = GraphSpec("se2", 8, orientations=6, eps_squared=0.1, levels=2)
    torch.manual_seed(0)
    network = WideResNet(build(spec, store).open(), 1, 10, kernel_size=4, depth=1, widen=0.5)
    optimizer = torch.optim.Adam(network.parameters())
    steps = epochs * -(-len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-2, total_steps=steps)
    for _ in range(epochs):
        for numbers in torch.randperm(len(images)).split(BATCH):
            loss = nn.functional.nll_loss(network(images[numbers]), labels[numbers])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return network.eval()


@torch.no_grad()
def answers(network: WideResNet, digit: Tensor) -> NDArray[np.float32]:
    """(8, 8) -> (2, 10): probabilities of the digit as it is, and turned by 90 degrees."""
    both = torch.stack([digit, digit.rot90()])[:, None]
    probabilities: NDArray[np.float32] = network(both).exp().numpy()
    return probabilities


def draw(figure: Figure, lines: list[Tensor], digit: Tensor, bars: NDArray[np.float32]) -> None:
    """Four pictures, and the probabilities of the last two as bars."""
    pictures = [*lines, digit, digit.rot90()]
    titles = [
        "two lines in noise",
        "enhanced, untrained",
        "8 x 8 digit, smoothed",
        "turned by 90 degrees",
    ]
    panels = figure.subplots(1, 5, width_ratios=[1, 1, 1, 1, WIDE])
    for axes, picture, title in zip(panels, pictures, titles, strict=False):
        drawn = "bicubic" if len(picture) < SIDE else "nearest"
        axes.imshow(picture.numpy(), cmap="gray", interpolation=drawn)
        axes.set_title(title)
        axes.set_axis_off()
    for number, name in enumerate(("upright", "turned")):
        places = np.arange(10) + 0.4 * number - 0.2
        panels[4].bar(places, bars[number], 0.4, color=SERIES[number], label=name)
    panels[4].set(title="probability of each digit", xticks=range(10), yticks=[0, 0.5, 1])
    panels[4].set_box_aspect(1 / WIDE)  # as high as the pictures
    panels[4].legend(loc="best", frameon=False)


def main() -> None:
    """Compute everything, and write the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", type=Path)
    parser.add_argument("--epochs", type=int, default=6)
    arguments = parser.parse_args()
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32)[:, None]
    images, labels = (images - images.mean()) / images.std(), torch.tensor(digits.target)
    picture = noisy_lines()
    with tempfile.TemporaryDirectory() as store, style():
        lines = [picture, enhanced(picture, store)]
        network = trained(images[:TRAIN], labels[:TRAIN], store, arguments.epochs)
        digit = images[TRAIN + SHOWN, 0]
        bars = answers(network, digit)
        if np.abs(bars[0] - bars[1]).max() > 1e-4 or bars[0].argmax() != labels[TRAIN + SHOWN]:
            raise SystemExit("The picture would not show what it says: the answers differ.")
        figure = Figure(figsize=(9, 2.1), facecolor="white", layout="compressed")
        draw(figure, lines, digit, bars)
        figure.savefig(arguments.picture, dpi=150, facecolor="white")


if __name__ == "__main__":
    main()
