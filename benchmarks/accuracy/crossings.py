"""Crossing lines in noise: diffusion of orientation scores against filters of the image.

Scenes are bright curves of one width that cross one another, with Gaussian noise. Methods: Gaussian
smoothing; total variation, non-local means and the ridge filters frangi, sato and meijering of
scikit-image, which has to be installed; the largest orientation score of a cake's lift, diffused on
SE(2) or not; and the trap, the sum of diffused scores, which is a blur. Each method's settings, and
the affine map from its output to brightness, are those that are best on the training scenes.

PSNR is over whole scenes and within 6 pixels of crossings. "bridge" says what is left of lines at
their crossings: brightness above the ground there, relative to that of lines elsewhere; below the
truth's a crossing is torn, above it is a blob.

    python benchmarks/accuracy/crossings.py [--noise 0.25 0.5 1] [--scenes 5]
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import shared_path  # noqa: F401  to import what all scripts share
import torch
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, gaussian_filter
from scripts import graph_of, parser_of, print_head, print_row
from skimage.filters import frangi, meijering, sato
from skimage.restoration import denoise_nl_means, denoise_tv_chambolle
from training import mean_and_deviation

from cheblienet_graphs import GraphSpec
from cheblienet_models import Graph, OrientedLift, Project

Array = NDArray[np.float64]
Filter = Callable[[Array], Array]

SIDE = 128
WIDTH = 1.5
"""Standard deviation of a line's profile, in pixels."""
NEAR = 6
FAR = 4
"""Pixels within NEAR of a crossing belong to it; those beyond FAR of all lines are ground."""
TRAINING = 3
ALPHAS = (10, 40)
TIMES = (8, 16, 32, 64)
"""In squared pixels: a line blurs by sqrt(2 t) pixels along itself."""


@dataclass(frozen=True)
class Scene:
    """Curves: (H, W) brightness in [0, 1], where curves are, and where several are."""

    brightness: Array
    on: NDArray[np.bool_]
    crossing: NDArray[np.bool_]

    @classmethod
    def drawn(cls, seed: int, curves: int = 8) -> "Scene":
        """Parabolas through the middle half of the image, in any direction."""
        random = np.random.default_rng(seed)
        y, x = np.mgrid[:SIDE, :SIDE].astype(float)
        profiles = []
        for _ in range(curves):
            angle, bend = random.uniform(0, np.pi), random.uniform(-0.006, 0.006)
            right, down = random.uniform(0.25, 0.75, 2) * SIDE
            along = (x - right) * np.cos(angle) + (y - down) * np.sin(angle)
            across = (y - down) * np.cos(angle) - (x - right) * np.sin(angle)
            distance = (across - bend * along**2) / np.hypot(1, 2 * bend * along)
            profiles.append(np.exp(-(distance**2) / (2 * WIDTH**2)))
        count = (np.array(profiles) > 0.5).sum(0)
        return cls(np.max(profiles, axis=0), count > 0, count > 1)

    @property
    def near(self) -> NDArray[np.bool_]:
        """Where crossings are near."""
        return np.asarray(distance_transform_edt(~self.crossing) <= NEAR)

    def bridge(self, image: Array) -> float:
        """Brightness of lines at crossings over that elsewhere, both above the ground's."""
        ground = image[distance_transform_edt(~self.on) > FAR].mean()
        at, away = image[self.on & self.near].mean(), image[self.on & ~self.near].mean()
        return float((at - ground) / (away - ground))


def diffused(lift: OrientedLift, graph: Graph, time: float, mode: Literal["max", "sum"]) -> Filter:
    """A lift's scores after a time in squared pixels, reduced over orientations and scales."""
    project = Project(graph, mode)
    # The operator's lengths are in widths of the image.
    t = time / graph.grid[-1] ** 2 * (graph.eigenvalue_scale or np.nan)

    @torch.no_grad()
    def filtered(image: Array) -> Array:
        scores = lift(torch.from_numpy(image)[None, None].float())
        if t:
            scores = graph.diffuse(scores, t, tolerance=1e-4)
        return np.asarray(project(scores).amax(1).view(image.shape).double().numpy())

    return filtered


def methods(graphs: dict[int, Graph], noise: float) -> Iterator[tuple[str, dict[str, Filter]]]:
    """Each with all settings that are tried."""
    yield "as it is", {"": lambda image: image}
    widths = (0.7, 1, 1.5, 2, 3)
    yield "Gaussian", {f"{w:g}": partial(gaussian_filter, sigma=w) for w in widths}
    weights = (0.15, 0.3, 0.6, 1, 1.5, 2)
    yield "total variation", {f"{w:g}": partial(denoise_tv_chambolle, weight=w) for w in weights}
    means = partial(denoise_nl_means, patch_size=7, patch_distance=11, sigma=noise)
    yield "non-local means", {f"{h:g}": partial(means, h=h * noise) for h in (0.3, 0.5, 0.7, 0.9)}
    for ridge in (frangi, sato, meijering):
        sigmas = ((1.0,), (1.5,), (2.0,), (3.0,), (1.0, 2.0, 3.0))
        yield (
            ridge.__name__,
            {pixels(s): partial(ridge, sigmas=s, black_ridges=False) for s in sigmas},
        )
    lifts = {alpha: OrientedLift(graph) for alpha, graph in graphs.items()}
    one, lift = graphs[ALPHAS[0]], lifts[ALPHAS[0]]
    blurred = {f"t = {t}": diffused(lift, one, t, "sum") for t in TIMES}
    yield "scores, sum of diffused (a blur)", blurred
    yield "scores, maximum", {"": diffused(lift, one, 0, "max")}
    kept = {
        f"alpha {alpha}, t = {t}": diffused(lifts[alpha], graphs[alpha], t, "max")
        for alpha, t in itertools.product(ALPHAS, TIMES)
    }
    yield "scores, maximum of diffused", kept


def pixels(lengths: tuple[float, ...]) -> str:
    """'1, 1.5 px'."""
    return f"{', '.join(map('{:g}'.format, lengths))} px"


def psnr(image: Array, truth: Array) -> float:
    """In decibels, of a peak of 1."""
    return float(-10 * np.log10(np.mean((image - truth) ** 2)))


def affine(images: list[Array], scenes: list[Scene]) -> tuple[float, float]:
    """Slope and constant of the map to brightness with the least squared error."""
    output = np.concatenate([image.ravel() for image in images])
    truth = np.concatenate([scene.brightness.ravel() for scene in scenes])
    slope = float(np.cov(output, truth)[0, 1] / output.var(ddof=1))
    return slope, float(truth.mean() - slope * output.mean())


def calibrated(filtered: Filter, noisy: list[Array], scenes: list[Scene]) -> tuple[float, Filter]:
    """The mean PSNR on training scenes, and the filter with the map to brightness found there."""
    images = [filtered(image) for image in noisy]
    slope, constant = affine(images, scenes)
    pairs = zip(images, scenes, strict=True)
    score = np.mean([psnr(slope * image + constant, scene.brightness) for image, scene in pairs])
    return float(score), lambda image: slope * filtered(image) + constant


def cells(filtered: Filter, noisy: list[Array], scenes: list[Scene]) -> list[str]:
    """The columns of a table: PSNR, that at crossings, bridge."""
    pairs = [(filtered(image), scene) for image, scene in zip(noisy, scenes, strict=True)]
    whole = [psnr(image, scene.brightness) for image, scene in pairs]
    near = [psnr(image[scene.near], scene.brightness[scene.near]) for image, scene in pairs]
    bridges = [scene.bridge(image) for image, scene in pairs]
    columns = (whole, ".1f"), (near, ".1f"), (bridges, ".2f")
    return [mean_and_deviation(*column) for column in columns]


METRIC: dict[str, Any] = {"eps_squared": 0.01, "weights": "selling", "levels": 1}
"""Diffusion hardly leaves a line, nor its orientation, the less the larger alpha."""


def main() -> None:
    """Choose settings on the training scenes, and print what they give on others."""
    arguments = parser_of(__doc__, noise=[0.25, 0.5, 1.0], scenes=5).parse_args()
    scenes = [Scene.drawn(seed) for seed in range(TRAINING + arguments.scenes)]
    train, test = scenes[:TRAINING], scenes[TRAINING:]
    truth = mean_and_deviation([scene.bridge(scene.brightness) for scene in test], ".2f")
    print(f"The truth's bridge: {truth}\n")
    print_head("noise", "method", "setting", "PSNR, dB", "at crossings", "bridge")
    graphs = {
        a: graph_of(GraphSpec("se2", SIDE, orientations=16, alpha=a, **METRIC)) for a in ALPHAS
    }
    for noise in arguments.noise:
        added = np.random.default_rng(0).standard_normal((len(scenes), SIDE, SIDE))
        noisy = [s.brightness + noise * n for s, n in zip(scenes, added, strict=True)]
        for name, settings in methods(graphs, noise):
            tried = {k: calibrated(f, noisy[:TRAINING], train) for k, f in settings.items()}
            best = max(tried, key=lambda k: tried[k][0])
            columns = cells(tried[best][1], noisy[TRAINING:], test)
            print_row(f"{noise:g}", name, best, *columns)


if __name__ == "__main__":
    main()
