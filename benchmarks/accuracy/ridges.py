"""Retinal vessels without training: ridge filters against oriented lifts and diffusion on SE(2).

The photographs and scores are those of vessels.py. Ridge filters are those of scikit-image, which
has to be installed: frangi, sato and meijering, of dark ridges at several scales. An oriented lift
takes the green channel to orientation scores; their maximum is the baseline, and diffusion before
it is what the group adds: along a vessel, hardly across it, so crossings stay. Scales and times are
chosen on the training photographs; the test photographs are seen once.

    python benchmarks/accuracy/ridges.py FOLDER [--side 160] [--noise 0 1]
"""

import argparse
import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from skimage.filters import frangi, meijering, sato
from sklearn.metrics import precision_recall_curve, roc_auc_score
from torch import Tensor
from vessels import TRAINING, Photograph, photographs

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Graph, OrientedLift, Project, open_store

Scored = Callable[[Tensor], NDArray[np.float64]]
"""(H, W) green -> (H, W) how much of a vessel each pixel is."""

METRIC: dict[str, Any] = {
    "orientations": 12,
    "eps_squared": 0.01,
    "alpha": 10,
    "weights": "selling",
    "levels": 1,
}
"""Diffusion hardly leaves the orientation of a line, nor the line."""
SIGMAS = ((1.0,), (1.0, 1.5, 2.0), (1.0, 2.0, 3.0))
WAVELENGTHS = ((4.0,), (6.0,), (4.0, 8.0))
TIMES = (1.0, 4.0, 16.0, 32.0)
"""In squared pixels: a line blurs by sqrt(2 t) pixels along itself."""
ANGLES = (0, 45, 90)


def ridge(filtered: Callable[..., NDArray[np.float64]], sigmas: tuple[float, ...]) -> Scored:
    """One of scikit-image's filters."""
    return lambda green: filtered(green.numpy().astype(np.float64), sigmas=sigmas)


def oriented(graph: Graph, wavelengths: tuple[float, ...], time: float | None) -> Scored:
    """The maximum over orientations and scales of a lift, diffused for a time in squared pixels."""
    lift, project = OrientedLift(graph, "gabor", wavelengths), Project(graph, "max")
    pixel = 1 / graph.grid[-1]
    scale = graph.eigenvalue_scale
    if scale is None:
        raise ValueError(f"{graph.label} has no eigenvalue_scale; build it again.")

    @torch.no_grad()
    def scored(green: Tensor) -> NDArray[np.float64]:
        scores = lift(-green[None, None])
        if time is not None:
            # The operator's lengths are in widths of the image.
            scores = graph.diffuse(scores, time * pixel**2 * scale, tolerance=1e-4)
        flat: Tensor = project(scores).amax(1)
        return flat[0].view(green.shape).numpy().astype(np.float64)

    return scored


def auc_and_f1(data: list[Photograph], scored: Scored) -> tuple[float, float]:
    """Over all pixels in the fields of view, in %."""
    parts = [(scored(one.green)[one.field.numpy()], one.vessels[one.field].numpy()) for one in data]
    score, vessel = (np.concatenate(part) for part in zip(*parts, strict=True))
    precision, recall, _ = precision_recall_curve(vessel, score)
    best = (2 * precision * recall / (precision + recall + 1e-12)).max()
    return 100 * float(roc_auc_score(vessel, score)), 100 * float(best)


def noisy(data: list[Photograph], sigma: float, seed: int) -> list[Photograph]:
    """With Gaussian noise of this deviation added to the normalised green."""
    generator = torch.Generator().manual_seed(seed)
    return [
        Photograph(
            one.green + sigma * torch.randn(one.green.shape, generator=generator),
            one.vessels,
            one.field,
        )
        for one in data
    ]


def methods(graph: Graph) -> Iterator[tuple[str, dict[str, Scored]]]:
    """Each with all settings that are tried."""
    for filtered in (frangi, sato, meijering):
        yield filtered.__name__, {pixels(s): ridge(filtered, s) for s in SIGMAS}
    yield "oriented maximum", {pixels(w): oriented(graph, w, None) for w in WAVELENGTHS}
    pairs = itertools.product(WAVELENGTHS, TIMES)
    yield "oriented, diffused", {f"{pixels(w)}, t = {t:g}": oriented(graph, w, t) for w, t in pairs}


def pixels(lengths: tuple[float, ...]) -> str:
    """'1, 1.5 px'."""
    return f"{', '.join(map('{:g}'.format, lengths))} px"


def main() -> None:
    """Choose settings on the training photographs, and print the scores of the others."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--side", type=int, default=160, help="height of the photographs, pixels")
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 1.0])
    arguments = parser.parse_args()
    data = photographs(arguments.folder, arguments.side)
    height, width = data[0].green.shape
    with tempfile.TemporaryDirectory() as folder:
        built = build(GraphSpec("se2", (width, height), **METRIC), Path(folder) / "graphs.zarr")
        graph = open_store(Path(folder) / "graphs.zarr")[built.name].levels[0]
        scores = [f"{score} at {angle}" for score in ("AUC", "F1") for angle in ANGLES]
        print(f"| noise | method | settings | {' | '.join(scores)} |")
        print("|" + "---|" * (3 + len(scores)))
        for sigma in arguments.noise:
            train, test = noisy(data[:TRAINING:4], sigma, 0), noisy(data[TRAINING:], sigma, 1)
            for name, settings in methods(graph):
                aucs = {said: auc_and_f1(train, scored)[0] for said, scored in settings.items()}
                best = max(aucs, key=aucs.__getitem__)
                found = [
                    auc_and_f1([one.turned(angle) for one in test], settings[best])
                    for angle in ANGLES
                ]
                cells = [f"{pair[n]:.1f}" for n in range(2) for pair in found]
                print(f"| {sigma:g} | {name} | {best} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
