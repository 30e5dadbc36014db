"""Retinal vessels without training: ridge filters against oriented lifts and diffusion on SE(2).

The photographs and scores are those of vessels.py. Ridge filters are those of scikit-image, which
has to be installed: frangi, sato and meijering, of dark ridges at several scales. An oriented lift
takes the green channel to orientation scores; their maximum is the baseline, and diffusion before
it is what the group adds: along a vessel, hardly across it, so crossings stay. Scales and times are
chosen on the training photographs; the test photographs are seen once.

    python benchmarks/accuracy/ridges.py FOLDER [--side 160] [--noise 0 1]
"""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import shared_path  # noqa: F401  to import what all scripts share
import torch
from crossings import diffused, pixels
from numpy.typing import NDArray
from scripts import graph_of, parser_of, print_head, print_row
from skimage.filters import frangi, meijering, sato
from torch import Tensor
from vessels import TRAINING, Photograph, auc_and_f1, photographs

from cheblienet_graphs import GraphSpec
from cheblienet_models import Graph, OrientedLift

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


def oriented(graph: Graph, wavelengths: tuple[float, ...], time: float) -> Scored:
    """The maximum over orientations and scales of a lift, diffused for a time in squared pixels."""
    filtered = diffused(OrientedLift(graph, "gabor", wavelengths), graph, time, "max")
    return lambda green: filtered(-green.numpy())


def tested(data: list[Photograph], scored: Scored) -> tuple[float, float]:
    """AUC and the best F1 over all pixels in the fields of view, in %."""
    return auc_and_f1((scored(p.green)[p.field.numpy()], p.vessels[p.field].numpy()) for p in data)


def noisy(data: list[Photograph], sigma: float, seed: int) -> list[Photograph]:
    """With Gaussian noise of this deviation added to the normalized green."""
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
    yield "oriented maximum", {pixels(w): oriented(graph, w, 0) for w in WAVELENGTHS}
    pairs = itertools.product(WAVELENGTHS, TIMES)
    yield "oriented, diffused", {f"{pixels(w)}, t = {t:g}": oriented(graph, w, t) for w, t in pairs}


def main() -> None:
    """Choose settings on the training photographs, and print the scores of the others."""
    parser = parser_of(__doc__, side=160, noise=[0.0, 1.0])
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    data = photographs(arguments.folder, arguments.side)
    height, width = data[0].green.shape
    graph = graph_of(GraphSpec("se2", (width, height), **METRIC))
    scores = [f"{score} at {angle}" for score in ("AUC", "F1") for angle in ANGLES]
    print_head("noise", "method", "settings", *scores)
    for sigma in arguments.noise:
        train, test = noisy(data[:TRAINING:4], sigma, 0), noisy(data[TRAINING:], sigma, 1)
        for name, settings in methods(graph):
            best = max(settings, key=lambda setting: tested(train, settings[setting])[0])
            pairs = [tested([p.turned(angle) for p in test], settings[best]) for angle in ANGLES]
            cells = [f"{pair[n]:.1f}" for n in range(2) for pair in pairs]
            print_row(f"{sigma:g}", name, best, *cells)


if __name__ == "__main__":
    main()
