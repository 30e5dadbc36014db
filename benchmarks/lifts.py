"""What an oriented lift gives back, how it turns with the image, and how long it takes.

Reconstruction: the relative error of `inverse` after the lift, for noise of all frequencies that
the cake covers, up to 0.8 pi radians a pixel, and for noise of amplitudes 1 / f as photographs have
them, without any limit: the window damps the rest.

Turns: the largest difference between the scores of the turned image and the turned scores, over the
largest score, for rotations by 90 degrees and flips. By 15 degrees no lattice turns: an image of
smooth lines that is known everywhere is drawn straight and turned, and the scores of the turned one
are compared with the scores of the other, turned about the centre (splines of fifth order,
scipy.ndimage.rotate) and along theta (exact where the angle is a number of steps of theta, else by
a periodic cubic spline). Root mean square of the difference over that of the scores' deviation from
their mean, in the middle 32 x 32 pixels: what there is of the plane around these, before it goes on
in its mirror images, is what the sizes differ in. `image` is the same of the image itself: what
turning by splines costs.

Time: of the lift of images beside the same by torch's Fourier transform of the mirrored images, the
two taking turns, on one thread.

    python benchmarks/lifts.py [reconstruction|turns|times] [--rounds 9]
"""

import argparse
import itertools
import math
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.ndimage import rotate
from torch import Tensor

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Graph, OrientedLift, open_store
from cheblienet_models.layers.wavelets import BAND

COMPARED = 32
Array = NDArray[np.float64]


def radius(shape: tuple[int, int]) -> Array:
    """Radians a pixel in the order of numpy's transform."""
    y, x = (2 * np.pi * np.fft.fftfreq(side) for side in shape)
    return np.asarray(np.hypot(y[:, None], x[None]))


def noise(size: int, gain: Callable[[Array], Array], *, periodic: bool) -> Tensor:
    """(4, 1, size, size) float64: white noise, mirrored or of a torus, times a gain."""
    found = np.random.default_rng(0).standard_normal((4, 1, size, size))
    if not periodic:
        found = np.pad(found, [(0, 0), (0, 0), (0, size), (0, size)], mode="symmetric")
    spectrum = np.fft.fft2(found) * gain(radius((found.shape[2], found.shape[3])))
    return torch.from_numpy(np.fft.ifft2(spectrum).real[..., :size, :size].copy())


def reconstruction(lift: OrientedLift, images: Tensor) -> float:
    """Relative error in the 2-norm, in the dtype of the images."""
    return float((lift.inverse(lift(images)) - images).norm() / images.norm())


def fibres(lift: OrientedLift, images: Tensor) -> Tensor:
    """(B, C S, n_o, H, W)."""
    scores: Tensor = lift(images)
    return scores.reshape(*scores.shape[:2], *lift.grid)


def exact_turns(lift: OrientedLift) -> tuple[float, float]:
    """Largest relative differences under rotations by 90 degrees and flips, in float32."""
    images = torch.randn(4, 1, *lift.grid[1:])
    n_o, scores = lift.grid[0], fibres(lift, images)
    mirror = [(n_o - k) % n_o for k in range(n_o)]
    turned = [
        fibres(lift, torch.rot90(images, -t, (2, 3)))
        - torch.rot90(scores, -t, (3, 4)).roll(t * n_o // 2, 2)
        for t in (1, 2, 3)
    ]
    flipped = [
        fibres(lift, images.flip(axis)) - scores.flip(axis + 1)[:, :, mirror] for axis in (2, 3)
    ]
    largest = scores.abs().max()
    quarter, flip = (max(float(d.abs().max() / largest) for d in ds) for ds in (turned, flipped))
    return quarter, flip


def drawn(size: int, turned: float) -> Array:
    """(size, size) bent lines about the centre, turned from x towards y, y down."""
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    x, y = np.cos(turned) * x + np.sin(turned) * y, -np.sin(turned) * x + np.cos(turned) * y
    rng, found = np.random.default_rng(1), np.zeros((size, size))
    for _ in range(6):
        angle, place, place_along = rng.uniform(0, np.pi), *rng.uniform(-12, 12, 2)
        across = -np.sin(angle) * x + np.cos(angle) * y - place
        along = np.cos(angle) * x + np.sin(angle) * y - place_along
        across = across - along**2 / rng.uniform(40, 200)
        found += np.exp(-(across**2) / (2 * 1.5**2) - along**2 / (2 * 12**2))
    return found


def middle(values: Array) -> Array:
    """The middle of the last two axes."""
    margin = (values.shape[-1] - COMPARED) // 2
    part = slice(margin, margin + COMPARED)
    return values[..., part, part]


def relative(found: Array, expected: Array) -> float:
    """Root mean square of a difference over that of the deviation from the mean."""
    spread = middle(expected) - middle(expected).mean()
    return float(np.sqrt(np.square(middle(found - expected)).mean() / np.square(spread).mean()))


def about_centre(values: Array, angle: float) -> Array:
    """The last two axes turned from x towards y."""
    degrees = -math.degrees(angle)
    return np.asarray(rotate(values, degrees, axes=(-2, -1), reshape=False, order=5, mode="mirror"))


def along_fibre(values: Array, steps: float) -> Array:
    """(n_o, H, W) shifted by steps of theta: exactly, or by a periodic cubic spline."""
    n_o = len(values)
    if abs(steps - round(steps)) < 1e-9:
        return np.roll(values, round(steps), axis=0)
    spline = CubicSpline(
        np.arange(n_o + 1), np.concatenate([values, values[:1]]), bc_type="periodic"
    )
    return np.asarray(spline((np.arange(n_o) - steps) % n_o))


def turn_by(lift: OrientedLift, angle: float) -> tuple[float, float]:
    """Relative errors of the scores and of the image under a rotation."""
    straight, turned = (drawn(lift.grid[1], by) for by in (0, angle))
    images = torch.from_numpy(np.stack([straight, turned])[:, None])
    scores, expected = fibres(lift, images)[:, 0].numpy()
    moved = along_fibre(about_centre(scores, angle), angle * lift.grid[0] / math.pi)
    return relative(moved, expected), relative(about_centre(straight, angle), turned)


def whole_filters(lift: OrientedLift) -> Tensor:
    """(n_o, 2 H, W + 1) of one scale, in the order of rfft2, from the lift's even and odd parts."""
    n_o, height, width = lift.grid
    parts, found = lift.wavelets, torch.zeros(n_o, 2 * height, width + 1)
    for k in range(n_o):
        at, sign = (k, 1) if k <= n_o // 2 else (n_o - k, -1)
        even, odd = parts.even[0, at], sign * parts.odd[0, at]
        found[k, :height, :width] = even + odd
        found[k, height + 1 :, :width] = (even - odd)[1:].flip(0)
    return found


def by_fourier(filters: Tensor, images: Tensor) -> Tensor:
    """As the lift with an open boundary, (n_o, H W, B, C), by the mirrored images' transform."""
    height, width = images.shape[2:]
    mirrored = torch.cat([images, images.flip(2)], 2)
    mirrored = torch.cat([mirrored, mirrored.flip(3)], 3)
    product = torch.fft.rfft2(mirrored)[:, :, None] * filters
    scores = torch.fft.irfft2(product, s=mirrored.shape[2:])[..., :height, :width]
    found: Tensor = scores.flatten(3).permute(2, 3, 0, 1).contiguous()
    return found


def seconds(work: Callable[[], Tensor]) -> float:
    """Of the processor."""
    began = time.process_time()
    work()
    return time.process_time() - began


def print_reconstruction(store: Path) -> None:
    sizes = itertools.product(("open", "periodic"), ((64, 8), (63, 6)))
    graphs = {
        f"{size} x {size} x {n_o}, {boundary}": graph_of(
            store, f"{boundary}{size}", size, n_o, boundary
        )
        for boundary, (size, n_o) in sizes
    }
    print(
        "| graph | kind | scales | float32, in the band | float64 | 1/f, float64 | rot90 | flip |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, graph in graphs.items():
        periodic, size = graph.boundary == "periodic", graph.grid[1]
        within = noise(size, lambda r: (r <= BAND).astype(float), periodic=periodic)
        natural = noise(size, lambda r: 1 / np.maximum(r, 0.1), periodic=periodic)
        for kind, scales in (("cake", 1), ("cake", 3), ("gabor", 2)):
            lift = OrientedLift(graph, "cake" if kind == "cake" else "gabor", scales)
            turns = exact_turns(lift)
            errors = ["-"] * 3
            if kind == "cake":
                single = reconstruction(lift, within.float())
                double = (reconstruction(lift.double(), images) for images in (within, natural))
                errors = [f"{error:.1e}" for error in (single, *double)]
            cells = [name, kind, str(scales), *errors, *(f"{turn:.1e}" for turn in turns)]
            print(f"| {' | '.join(cells)} |", flush=True)


def print_turns(store: Path) -> None:
    angles = 5, 15, 45
    print(f"| size | n_o | kind | {' | '.join(f'{d} degrees' for d in angles)} | image, 15 |")
    print("|---|---|---|---|---|---|---|")
    for size in (64, 128, 192):
        for n_o in (6, 8, 12, 16):
            graph = graph_of(store, f"turns{size}x{n_o}", size, n_o, "open")
            for lift in (OrientedLift(graph), OrientedLift(graph, "gabor")):
                found = [turn_by(lift.double(), math.radians(d)) for d in angles]
                cells = [f"{scores:.2%}" for scores, _ in found]
                print(
                    f"| {size} | {n_o} | {lift.kind} | {' | '.join(cells)} | {found[1][1]:.2%} |",
                    flush=True,
                )


def print_times(store: Path, rounds: int) -> None:
    titles = "size", "n_o", "lift", "Fourier transform", "ratio", "difference"
    print(f"| {' | '.join(titles)} |\n|---|---|---|---|---|---|")
    for size, n_o in ((28, 6), (96, 6), (96, 16), (256, 8), (512, 8)):
        graph = graph_of(store, f"times{size}x{n_o}", size, n_o, "open")
        lift, images = OrientedLift(graph), torch.randn(8 if size < 200 else 1, 3, size, size)
        filters = whole_filters(lift)
        works = partial(lift, images), partial(by_fourier, filters, images)
        apart = float((works[0]().permute(2, 0, 1).flatten() - works[1]().flatten()).abs().max())
        pairs = [(seconds(works[0]), seconds(works[1])) for _ in range(rounds)]
        one, other = (statistics.median(times) for times in zip(*pairs, strict=True))
        ratio = statistics.median(b / a for a, b in pairs)
        print(
            f"| {len(images)} x 3 x {size} x {size} | {n_o} | {1000 * one:.1f} ms | "
            f"{1000 * other:.1f} ms | {ratio:.2f} | {apart:.0e} |",
            flush=True,
        )


def graph_of(store: Path, name: str, size: int, n_o: int, boundary: str) -> Graph:
    spec = GraphSpec("se2", size, orientations=n_o, boundary=boundary, levels=1, lambda_max=2)
    build(spec, store, name=name)
    return open_store(store)[name].levels[0]


PARTS: dict[str, Callable[[Path, int], None]] = {
    "reconstruction": lambda store, _: print_reconstruction(store),
    "turns": lambda store, _: print_turns(store),
    "times": print_times,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=PARTS)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        for name, work in PARTS.items():
            if options.part in {None, name}:
                work(Path(folder) / "graphs.zarr", options.rounds)
                print()


if __name__ == "__main__":
    main()
