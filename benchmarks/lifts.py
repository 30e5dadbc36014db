"""What an oriented lift gives back, how it turns with the image, and how long it takes.

Reconstruction: the relative error of `inverse` after the lift, for noise of all frequencies that
the cake covers, up to 0.8 pi radians a pixel, and for noise of amplitudes 1 / f as photographs have
them, without any limit: the window damps the rest.

Turns: the largest difference between the scores of the turned image and the turned scores, over the
largest score, for rotations by 90 degrees and flips. By 15 degrees no lattice turns: an image of
smooth lines that is known everywhere is drawn straight and turned, and the scores of the turned one
are compared with the scores of the other, turned about the center (splines of fifth order,
scipy.ndimage.rotate) and along theta (exact where the angle is a number of steps of theta, else by
a periodic cubic spline). Root mean square of the difference over that of the scores' deviation from
their mean, in the middle 32 x 32 pixels: what there is of the plane around these, before it goes on
in its mirror images, is what the sizes differ in. `image` is the same of the image itself: what
turning by splines costs.

Time: of the lift of images beside the same by torch's Fourier transform of the mirrored images, the
two taking turns, on one thread.

    python benchmarks/lifts.py [reconstruction|turns|times] [--rounds 9]
"""

import itertools
import math
import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.ndimage import rotate
from scripts import graph_of, print_head, print_row, run_parts
from torch import Tensor
from turns import in_turns, ratio

from cheblienet_graphs import GraphSpec
from cheblienet_models import Graph, OrientedLift
from cheblienet_models.layers.wavelets import BAND

COMPARED = 32
Array = NDArray[np.float64]


def radius(shape: tuple[int, int]) -> Array:
    """Radians a pixel in the order of numpy's transform."""
    y, x = (2 * np.pi * np.fft.fftfreq(side) for side in shape)
    return np.asarray(np.hypot(y[:, None], x[None]))


def noise(size: int, gain: Callable[[Array], Array], *, periodic: bool) -> Tensor:
    """(4, 1, size, size) float64: white noise, mirrored or of a torus, times a gain."""
    values = np.random.default_rng(0).standard_normal((4, 1, size, size))
    if not periodic:
        values = np.pad(values, [(0, 0), (0, 0), (0, size), (0, size)], mode="symmetric")
    spectrum = np.fft.fft2(values) * gain(radius((values.shape[2], values.shape[3])))
    return torch.from_numpy(np.fft.ifft2(spectrum).real[..., :size, :size].copy())


def reconstruction(lift: OrientedLift, images: Tensor) -> float:
    """Relative error in the 2-norm, in the dtype of the images."""
    return float((lift.inverse(lift(images)) - images).norm() / images.norm())


def fibers(lift: OrientedLift, images: Tensor) -> Tensor:
    """(B, C S, n_o, H, W)."""
    scores: Tensor = lift(images)
    return scores.reshape(*scores.shape[:2], *lift.grid)


def exact_turns(lift: OrientedLift) -> tuple[float, float]:
    """Largest relative differences under rotations by 90 degrees and flips, in float32."""
    images = torch.randn(4, 1, *lift.grid[1:])
    n_o, scores = lift.grid[0], fibers(lift, images)
    mirror = [(n_o - k) % n_o for k in range(n_o)]
    turned = [
        fibers(lift, torch.rot90(images, -t, (2, 3)))
        - torch.rot90(scores, -t, (3, 4)).roll(t * n_o // 2, 2)
        for t in (1, 2, 3)
    ]
    flipped = [
        fibers(lift, images.flip(axis)) - scores.flip(axis + 1)[:, :, mirror] for axis in (2, 3)
    ]
    largest = scores.abs().max()
    quarter, flip = (max(float(d.abs().max() / largest) for d in ds) for ds in (turned, flipped))
    return quarter, flip


def drawn(size: int, turned: float) -> Array:
    """(size, size) bent lines about the center, turned from x toward y, y down."""
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    x, y = np.cos(turned) * x + np.sin(turned) * y, -np.sin(turned) * x + np.cos(turned) * y
    rng, image = np.random.default_rng(1), np.zeros((size, size))
    for _ in range(6):
        angle, place, place_along = rng.uniform(0, np.pi), *rng.uniform(-12, 12, 2)
        across = -np.sin(angle) * x + np.cos(angle) * y - place
        along = np.cos(angle) * x + np.sin(angle) * y - place_along
        across = across - along**2 / rng.uniform(40, 200)
        image += np.exp(-(across**2) / (2 * 1.5**2) - along**2 / (2 * 12**2))
    return image


def middle(values: Array) -> Array:
    """The middle of the last two axes."""
    margin = (values.shape[-1] - COMPARED) // 2
    part = slice(margin, margin + COMPARED)
    return values[..., part, part]


def relative(values: Array, expected: Array) -> float:
    """Root mean square of a difference over that of the deviation from the mean."""
    spread = middle(expected) - middle(expected).mean()
    return float(np.sqrt(np.square(middle(values - expected)).mean() / np.square(spread).mean()))


def about_center(values: Array, angle: float) -> Array:
    """The last two axes turned from x toward y."""
    degrees = -math.degrees(angle)
    return np.asarray(rotate(values, degrees, axes=(-2, -1), reshape=False, order=5, mode="mirror"))


def along_fiber(values: Array, steps: float) -> Array:
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
    scores, expected = fibers(lift, images)[:, 0].numpy()
    moved = along_fiber(about_center(scores, angle), angle * lift.grid[0] / math.pi)
    return relative(moved, expected), relative(about_center(straight, angle), turned)


def whole_filters(lift: OrientedLift) -> Tensor:
    """(n_o, 2 H, W + 1) of one scale, in the order of rfft2, from the lift's even and odd parts."""
    n_o, height, width = lift.grid
    parts, filters = lift.wavelets, torch.zeros(n_o, 2 * height, width + 1)
    for k in range(n_o):
        at, sign = (k, 1) if k <= n_o // 2 else (n_o - k, -1)
        even, odd = parts.even[0, at], sign * parts.odd[0, at]
        filters[k, :height, :width] = even + odd
        filters[k, height + 1 :, :width] = (even - odd)[1:].flip(0)
    return filters


def by_fourier(filters: Tensor, images: Tensor) -> Tensor:
    """As the lift with an open boundary, (n_o, H W, B, C), by the mirrored images' transform."""
    height, width = images.shape[2:]
    mirrored = torch.cat([images, images.flip(2)], 2)
    mirrored = torch.cat([mirrored, mirrored.flip(3)], 3)
    product = torch.fft.rfft2(mirrored)[:, :, None] * filters
    scores = torch.fft.irfft2(product, s=mirrored.shape[2:])[..., :height, :width]
    in_order: Tensor = scores.flatten(3).permute(2, 3, 0, 1).contiguous()
    return in_order


@torch.no_grad()
def print_reconstruction(**_: int) -> None:
    precisions = "float32, in the band", "float64", "1/f, float64"
    print_head("graph", "kind", "scales", *precisions, "rot90", "flip")
    for boundary, (size, n_o) in itertools.product(("open", "periodic"), ((64, 8), (63, 6))):
        graph, periodic = plane(size, n_o, boundary), boundary == "periodic"
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
            title = f"{size} x {size} x {n_o}, {boundary}"
            print_row(title, kind, scales, *errors, *(f"{turn:.1e}" for turn in turns))


@torch.no_grad()
def print_turns(**_: int) -> None:
    angles = 5, 15, 45
    print_head("size", "n_o", "kind", *(f"{d} degrees" for d in angles), "image, 15")
    for size in (64, 128, 192):
        for n_o in (6, 8, 12, 16):
            graph = plane(size, n_o)
            for lift in (OrientedLift(graph), OrientedLift(graph, "gabor")):
                errors = [turn_by(lift.double(), math.radians(d)) for d in angles]
                cells = [f"{scores:.2%}" for scores, _ in errors]
                print_row(size, n_o, lift.kind, *cells, f"{errors[1][1]:.2%}")


@torch.no_grad()
def print_times(rounds: int) -> None:
    print_head("size", "n_o", "lift", "Fourier transform", "ratio", "difference")
    for size, n_o in ((28, 6), (96, 6), (96, 16), (256, 8), (512, 8)):
        lift, images = (
            OrientedLift(plane(size, n_o)),
            torch.randn(8 if size < 200 else 1, 3, size, size),
        )
        filters = whole_filters(lift)
        works = {"lift": partial(lift, images), "Fourier": partial(by_fourier, filters, images)}
        scores, expected = (work() for work in works.values())
        apart = float((scores.permute(2, 0, 1).flatten() - expected.flatten()).abs().max())
        times = in_turns(works, rounds, clock=time.process_time)
        medians = [f"{1000 * statistics.median(one):.1f} ms" for one in times.values()]
        title = f"{len(images)} x 3 x {size} x {size}"
        print_row(
            title, n_o, *medians, f"{ratio(times['Fourier'], times['lift']):.2f}", f"{apart:.0e}"
        )


def plane(size: int, n_o: int, boundary: str = "open") -> Graph:
    return graph_of(
        GraphSpec("se2", size, orientations=n_o, boundary=boundary, levels=1, lambda_max=2)
    )


PARTS: dict[str, Callable[..., None]] = {
    "reconstruction": print_reconstruction,
    "turns": print_turns,
    "times": print_times,
}


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    run_parts(__doc__, PARTS, rounds=9)
