"""Retinal vessels: networks trained on upright photographs, tested upright and turned.

The data are CHASE_DB1's 28 fundus photographs with traced vessels (Fraz et al., 2012), a folder of
its .jpg and _1stHO.png files; the first 20 train, the last 8 test. The green channel is reduced to
--side pixels of height and normalized within the field of view, in which scores are taken. Networks
of about equal numbers of weights are trained on the same random patches, for the same number of
steps, or with --seconds for the same processor time; graphs of whole photographs then have the same
filters, as neighborhoods in lattice units do not depend on the size. AUC is that of the ROC curve
over all pixels of the test photographs, F1 the best over thresholds.

    python benchmarks/accuracy/vessels.py FOLDER [--networks r2 se2 ...] [--seeds 3] [--steps 400]
"""

import math
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shared_path  # noqa: F401  to import what all scripts share
import torch
from classifiers import parameters
from networks import ConvolutionalUNet, compose
from numpy.typing import NDArray
from PIL import Image
from scripts import parser_of, print_head, print_row, pyramid_of
from sklearn.metrics import precision_recall_curve, roc_auc_score
from torch import Tensor, nn
from training import SECONDS, Scores, means_and_deviations

from cheblienet_graphs import GraphSpec
from cheblienet_models import Pyramid, UNet, load_weights

TRAINING = 20
ANGLES = (0, 45, 90)
PATCH = 64
BATCH = 4
RATE = 1e-2
PARAMETERS = 60_000
DARK = 30 / 255
"""Red below this is outside the field of view."""


@dataclass(frozen=True)
class Photograph:
    """A photograph: (H, W) normalized green, vessels, and the field of view, both boolean."""

    green: Tensor
    vessels: Tensor
    field: Tensor

    def turned(self, degrees: int) -> "Photograph":
        """About its middle, bilinearly; what comes from beyond its sides is outside the field."""
        if degrees == 0:
            return self
        angle = math.radians(degrees)
        cos, sin = math.cos(angle), math.sin(angle)
        height, width = self.green.shape
        # In the square coordinates of affine_grid, in which the sides are 1 apart from 0.
        matrix = torch.tensor([[cos, -sin * height / width, 0], [sin * width / height, cos, 0]])
        planes = torch.stack([self.green, self.vessels.float(), self.field.float()])[None]
        grid = nn.functional.affine_grid(matrix[None], list(planes.shape), align_corners=False)
        green, vessels, field = nn.functional.grid_sample(planes, grid, align_corners=False)[0]
        return Photograph(green, vessels > 0.5, field > 0.99)


def photographs(folder: Path, side: int) -> list[Photograph]:
    """All of a folder, in the order of their names, reduced by averaging."""
    data = []
    for file in sorted(folder.glob("Image_*.jpg")):
        image = Image.open(file).convert("RGB")
        size = (round(image.width * side / image.height) // 4 * 4, side // 4 * 4)
        colors = np.asarray(image.resize(size, Image.Resampling.BOX), np.float32) / 255
        traced = Image.open(file.with_name(f"{file.stem}_1stHO.png")).convert("L")
        vessels = np.asarray(traced.resize(size, Image.Resampling.BOX)) > 127
        field = colors[..., 0] > DARK
        green = np.where(field, colors[..., 1], 0)
        inside = green[field]
        green = np.where(field, (green - inside.mean()) / inside.std(), 0)
        data.append(Photograph(*map(torch.from_numpy, (green.astype(np.float32), vessels, field))))
    if not data:
        raise SystemExit(f"{folder} has no Image_*.jpg.")
    return data


def patches(data: list[Photograph], generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(BATCH, 1, PATCH, PATCH) green and (BATCH, PATCH, PATCH) vessels, -1 outside the field."""
    pairs = []
    for number in torch.randint(len(data), (BATCH,), generator=generator).tolist():
        one = data[number]
        top, left = (
            int(torch.randint(n - PATCH + 1, (1,), generator=generator)) for n in one.green.shape
        )
        cut = (slice(top, top + PATCH), slice(left, left + PATCH))
        target = one.vessels[cut].long().masked_fill(~one.field[cut], -1)
        pairs.append((one.green[cut], target))
    greens, targets = zip(*pairs, strict=True)
    return torch.stack(greens)[:, None], torch.stack(targets)


@dataclass(frozen=True)
class Kind:
    """A kind of network.

    Args:
        graph: fields of its graphs' specification; None where it needs none.
        options: of its UNet.
        composed: whether its directional Laplacians follow one another.
    """

    graph: dict[str, Any] | None
    options: dict[str, Any]
    composed: bool = False

    def pyramid(self, height: int, width: int) -> Pyramid | None:
        """The graphs of a size."""
        return pyramid_of(GraphSpec(size=(width, height), **self.graph)) if self.graph else None

    def network(self, pyramid: Pyramid | None, width: int) -> nn.Module:
        """Of a width: the number of channels on the finest level."""
        if pyramid is None:
            return ConvolutionalUNet([width, 2 * width, 4 * width])
        channels = (width, width, 2 * width, 4 * width)
        network = UNet(pyramid, 1, 2, channels=channels, **self.options)
        return compose(network) if self.composed else network

    def width(self, pyramid: Pyramid | None) -> int:
        """That for which the number of weights is nearest to PARAMETERS."""
        sizes = {w: parameters(self.network(pyramid, w)) for w in range(2, 40)}
        return min(sizes, key=lambda w: abs(sizes[w] - PARAMETERS))


PLANE = {"manifold": "r2", "weights": "selling", "levels": 3}
ORIENTED = {"manifold": "se2", "orientations": 6, "weights": "selling", "levels": 3}
DIRECTED = ORIENTED | {"directional": 0.05}
ARROWS = ORIENTED | {"orientations": 8, "period": "2pi"}
FIRST_ORDER = {"operators": "first-order", "handed": False}
"""Mirror images alike: a vessel's mirror image is a vessel."""
KINDS = {
    "conv": Kind(None, {}),
    "r2": Kind(PLANE, {}),
    "se2": Kind(ORIENTED, {}),
    "se2 Gaussian": Kind(ORIENTED | {"weights": "kernel"}, {}),
    "se2 cake": Kind(ORIENTED, {"lift": "cake"}),
    "se2 directional": Kind(DIRECTED, {"operators": "directional"}),
    "se2 composed": Kind(DIRECTED, {"operators": "directional"}, composed=True),
    "se2 both": Kind(DIRECTED, {"operators": "directional", "lift": "cake"}),
    "r2 first-order": Kind(PLANE | {"gradients": True}, FIRST_ORDER),
    "r2 first-order, low-pass": Kind(PLANE | {"gradients": True}, FIRST_ORDER | {"low_pass": True}),
    "se2 first-order": Kind(ARROWS | {"gradients": True}, FIRST_ORDER),
    "se2 first-order, cake": Kind(ARROWS | {"gradients": True}, FIRST_ORDER | {"lift": "cake"}),
}


SCORES = ("AUC upright", "AUC 45", "AUC 90", "F1 upright", "F1 45", "F1 90")
"""Of a network, in %: by angle the AUC, and the best F1 over thresholds."""


def auc_and_f1(pixels: Iterable[tuple[NDArray[Any], NDArray[Any]]]) -> tuple[float, float]:
    """Of all pixels of some photographs together, in %; F1 is the best over thresholds.

    Args:
        pixels: of each photograph scores and whether there is a vessel, (n,) each.
    """
    score, vessel = (np.concatenate(part) for part in zip(*pixels, strict=True))
    precision, recall, _ = precision_recall_curve(vessel, score)
    best = (2 * precision * recall / (precision + recall + 1e-12)).max()
    return 100 * float(roc_auc_score(vessel, score)), 100 * float(best)


def run(kind: Kind, data: list[Photograph], seed: int, steps: int, seconds: float) -> Scores:
    """Train for so many steps, or processor seconds where these are less, and test."""
    generator = torch.Generator().manual_seed(seed)
    pyramid = kind.pyramid(PATCH, PATCH)
    width = kind.width(pyramid)
    torch.manual_seed(seed)
    network = kind.network(pyramid, width)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    began, done = time.process_time(), 0
    while done < steps and time.process_time() - began < seconds:
        share = max(done / steps, (time.process_time() - began) / seconds)
        for group in optimizer.param_groups:
            group["lr"] = RATE * (0.5 + 0.5 * math.cos(math.pi * share))
        images, targets = patches(data[:TRAINING], generator)
        loss = nn.functional.nll_loss(network(images), targets, ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        done += 1
    took = time.process_time() - began
    scores = tested(kind, data[TRAINING:], width, network.eval())
    return {"weights": parameters(network), "steps": done, SECONDS: took, **scores}


@torch.no_grad()
def tested(kind: Kind, data: list[Photograph], width: int, trained: nn.Module) -> Scores:
    """AUC and best F1 of the log-odds by angle."""
    whole, pyramid = trained, kind.pyramid(*data[0].green.shape)
    if pyramid is not None:
        whole = kind.network(pyramid, width).eval()
        load_weights(whole, trained.state_dict(), allow_other_graph=True)

    def pixels(one: Photograph) -> tuple[NDArray[Any], NDArray[Any]]:
        out = whole(one.green[None, None])[0]
        return (out[1] - out[0])[one.field].numpy(), one.vessels[one.field].numpy()

    pairs = [auc_and_f1([pixels(one.turned(angle)) for one in data]) for angle in ANGLES]
    auc, f1 = zip(*pairs, strict=True)
    return dict(zip(SCORES, auc + f1, strict=True))


def main() -> None:
    """Train all kinds with all seeds, tell of each run, and print a table."""
    parser = parser_of(
        __doc__, networks=list(KINDS), seeds=3, steps=400, seconds=math.inf, side=160
    )
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    data = photographs(given.folder, given.side)
    runs: dict[str, list[Scores]] = {name: [] for name in given.networks}
    for seed in range(given.seeds):
        for name, own in runs.items():
            own.append(run(KINDS[name], data, seed, given.steps, given.seconds))
            print(name, seed, own[-1], file=sys.stderr, flush=True)
    print_head(
        "network", "weights", "steps", "AUC upright", "45", "90", "F1 upright", "45", "90", "s"
    )
    for name, own in runs.items():
        cells = means_and_deviations(own, SCORES, ".1f")
        cells += means_and_deviations(own, [SECONDS], ".0f")
        done = sorted(int(one["steps"]) for one in own)
        steps = " to ".join(f"{n:,}" for n in dict.fromkeys((done[0], done[-1])))
        print_row(name, f"{own[0]['weights']:,.0f}", steps, *cells)


if __name__ == "__main__":
    main()
