"""Enhancing fiber orientation distributions: diffusion on the graph beside dipy's convolution.

A made-up volume of thin straight bundles that cross at 60 degrees and of a bent one; along each the
distribution is a lobe of degree 6, and white noise is added to the coefficients. Compared are what
comes of it after

- `graph.diffuse` on positions and axes, with two eps and two kinds of weights;
- dipy's shift-twist convolution with its tabulated kernel (Duits and Franken; Meesters et al.), on
  the same axes and their opposites;
- a Gaussian filter of each axis' field, which knows no directions,

all with the ratio of angular to spatial diffusion, 0.02, of dipy's example. Of each method that
time is shown, of those tried, which has the least error. Errors are in units of the noise-free
field, after the best factor for each method; peaks are compared at crossings, where both bundles
should be seen. Every method runs in a process of its own, on one thread; seconds are of the
processor, and memory is what the process' peak grows by.

    python benchmarks/accuracy/fibers.py [--times 0.5 1 2]

dipy is needed: pip install dipy. Its kernel takes minutes, and much longer for longer times.
"""

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import shared_path  # noqa: F401  to import what all scripts share
import torch
from scipy.ndimage import gaussian_filter
from scripts import graph_of, parser_of, print_head, print_row
from torch import Tensor
from turns import in_fresh_process, peak_memory

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.typing import Floats
from cheblienet_models import FromHarmonics, Lift, ToHarmonics, harmonics_matrix

SIDE, AXES, DEGREE = 16, "43", 6
RATIO = 0.02
"""Angular over spatial diffusion, squared radians over squared voxels."""
CONCENTRATION, NOISE = 8.0, 1.0
"""Of the lobes, exp(c cos^2); of the coefficients, over their root mean square in bundles."""
RADIUS = 1.0
"""Of the bundles, in voxels; their shares fall to 0 half a voxel farther out."""
HALF = 0.5
"""Share from which on a voxel is inside a bundle."""
TIMES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Of diffusion, in squared voxels."""


@dataclass(frozen=True)
class Bundles:
    """Where bundles run: (n, D, H, W) shares, (n, D, H, W, 3) unit vectors along them."""

    shares: Tensor
    along: Tensor

    @property
    def crossings(self) -> Tensor:
        """(D, H, W) whether a voxel is inside two bundles."""
        return (self.shares >= HALF).sum(0) == 2


def axes() -> Tensor:
    """(n_o, 3) of the graph."""
    return torch.tensor(axis_set(AXES).points)


def on_axes(coefficients: Tensor) -> Tensor:
    """(n_o, D, H, W) values of (coefficients, D, H, W)."""
    values = harmonics_matrix(axes(), DEGREE, "tournier07")
    return torch.einsum("nk,kzyx->nzyx", values, coefficients)


def bundles() -> Bundles:
    """Three and three straight ones in a plane, and an arc above it, turned off the lattice."""
    line = torch.arange(SIDE, dtype=torch.float64) - (SIDE - 1) / 2
    z, y, x = torch.meshgrid(line, line, line, indexing="ij")
    turn = torch.linalg.qr(torch.tensor(np.random.default_rng(0).standard_normal((3, 3))))[0]
    at = torch.stack([x, y, z], dim=-1) @ turn
    distances, along = [], []
    for angle, offset in itertools.product((-torch.pi / 6, torch.pi / 6), (-5, 0, 5)):
        unit = torch.tensor([np.cos(angle), np.sin(angle), 0.0])
        beside = at - offset * torch.tensor([-np.sin(angle), np.cos(angle), 0.0])
        beside = beside + torch.tensor([0.0, 0.0, 2.0])
        forward = beside @ unit
        distances.append((beside - forward[..., None] * unit).norm(dim=-1))
        along.append(unit.expand(at.shape))
    from_center = at - torch.tensor([0.0, -SIDE / 2, 3.0])
    flat = from_center * torch.tensor([1.0, 1.0, 0.0])
    radius = flat.norm(dim=-1)
    distances.append(torch.hypot(radius - SIDE / 2, from_center[..., 2]))
    around = torch.stack([-flat[..., 1], flat[..., 0], 0 * radius], dim=-1)
    along.append(around / radius.clamp(min=1e-9)[..., None])
    inside = (RADIUS + 0.5 - torch.stack(distances)).clamp(0, 1)
    return Bundles(inside, torch.stack(along) @ turn.T)


def distribution(scene: Bundles) -> Tensor:
    """(coefficients, D, H, W) of lobes along the bundles, in tournier07."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    lobe = np.exp(CONCENTRATION * (nodes**2 - 1))
    degrees = np.repeat(np.arange(0, DEGREE + 1, 2), 2 * np.arange(0, DEGREE + 1, 2) + 1)
    # Funk and Hecke: of a function of the cosine each degree is multiplied by a number.
    shares = [
        2 * np.pi * np.sum(weights * lobe * np.polynomial.legendre.Legendre.basis(degree)(nodes))
        for degree in degrees
    ]
    values = harmonics_matrix(scene.along.reshape(-1, 3), DEGREE, "tournier07")
    values = values.view(*scene.along.shape[:-1], -1) * torch.tensor(np.array(shares))
    return (scene.shares[..., None] * values).sum(0).permute(3, 0, 1, 2)


def noisy(coefficients: Tensor) -> Tensor:
    """The same with white noise."""
    inside = coefficients.square().sum(0) > 0
    scale = coefficients[:, inside].square().mean().sqrt()
    noise = np.random.default_rng(1).standard_normal(coefficients.shape)
    return coefficients + NOISE * scale * torch.from_numpy(noise)


@dataclass(frozen=True)
class Outcome:
    """What a method made of the noise: (n_o, D, H, W) by time; seconds, and bytes of memory."""

    fields: dict[float, Floats]
    prepared: dict[float, float]
    applied: dict[float, float]
    memory: float


def diffused(coefficients: Tensor, times: Sequence[float], **spec: Any) -> Outcome:
    """By diffusion on the graph."""
    began, before = time.process_time(), peak_memory()
    # The unit of length is the volume's width.
    xi = 1 / RATIO**0.5 / SIDE
    graph = graph_of(GraphSpec("r3s2", SIDE, axes=AXES, xi=xi, levels=1, **spec), workers=1)
    prepared, scale = time.process_time() - began, graph.eigenvalue_scale
    assert scale is not None  # each build stores it
    fields, applied = {}, {}
    for t in times:
        began = time.process_time()
        signal = Lift(graph)(FromHarmonics(graph, DEGREE, "tournier07")(coefficients[None, None]))
        part = graph.diffuse(signal.float(), t / SIDE**2 * scale, density=True, tolerance=1e-3)
        fields[t] = graph.to_grid(part)[0, 0].double().numpy()
        applied[t] = time.process_time() - began
    return Outcome(fields, dict.fromkeys(times, prepared), applied, peak_memory() - before)


def convolved(coefficients: Tensor, times: Sequence[float]) -> Outcome:
    """By dipy's shift-twist convolution."""
    from dipy.core.sphere import Sphere  # its own process alone has it
    from dipy.denoise.enhancement_kernel import EnhancementKernel
    from dipy.denoise.shift_twist_convolution import convolve_sf

    before = peak_memory()
    field = on_axes(coefficients).permute(3, 2, 1, 0)
    both = np.ascontiguousarray(torch.cat([field, field], dim=3).numpy())
    fields, prepared, applied = {}, {}, {}
    for t in times:
        began = time.process_time()
        sphere = Sphere(xyz=np.vstack([axes(), -axes()]))
        kernel = EnhancementKernel(
            1.0, RATIO, t, force_recompute=True, orientations=sphere, verbose=False
        )
        prepared[t] = time.process_time() - began
        began = time.process_time()
        enhanced = np.asarray(convolve_sf(both, kernel, num_threads=1, normalize=False))
        fields[t] = enhanced.reshape(SIDE, SIDE, SIDE, 2, -1).mean(3).T
        applied[t] = time.process_time() - began
    return Outcome(fields, prepared, applied, peak_memory() - before)


def blurred(coefficients: Tensor, times: Sequence[float]) -> Outcome:
    """By a Gaussian filter, the same for all axes."""
    before = peak_memory()
    fields, applied = {}, {}
    for t in times:
        began = time.process_time()
        field = on_axes(coefficients).numpy()
        fields[t] = np.stack([gaussian_filter(part, (2 * t) ** 0.5) for part in field])
        applied[t] = time.process_time() - began
    return Outcome(fields, dict.fromkeys(times, 0.0), applied, peak_memory() - before)


def unchanged(coefficients: Tensor, _: Sequence[float]) -> Outcome:
    """The noise itself."""
    return Outcome({0.0: on_axes(coefficients).numpy()}, {0.0: 0.0}, {0.0: 0.0}, 0.0)


@dataclass(frozen=True)
class Truth:
    """The noise-free field, and how far another one is from it."""

    bundles: Bundles
    coefficients: Tensor

    def errors(self, field: Floats) -> tuple[float, float]:
        """Relative, of all voxels and of those at crossings, after the best factor for all."""
        truth = on_axes(self.coefficients)
        given = torch.from_numpy(field)
        given = given * ((given * truth).sum() / given.square().sum())
        crossing = self.bundles.crossings
        return tuple(  # type: ignore[return-value]  # of two
            float((given - truth)[:, where].norm() / truth[:, where].norm())
            for where in (torch.ones_like(crossing), crossing)
        )

    def peaks(self, field: Floats) -> tuple[float, float]:
        """At crossings: mean angle in degrees to the nearest peak, and share beyond 20 degrees.

        Of as many peaks of a voxel, the highest, as it has bundles.
        """
        crossing = self.bundles.crossings
        fit = ToHarmonics(axes(), DEGREE, "tournier07")
        fitted = fit(torch.from_numpy(field)[None, None])[0, 0][:, crossing]
        dense = _dense(1500)
        values = harmonics_matrix(dense, DEGREE, "tournier07") @ fitted
        near = (dense @ dense.T).abs() > np.cos(np.radians(8))
        around = torch.stack([values[places].amax(0) for places in near])
        heights = values.masked_fill(values < around, -torch.inf)
        there = self.bundles.shares[:, crossing] >= HALF
        counted = heights.sort(0, descending=True).values.gather(0, there.sum(0)[None] - 1)
        peak = heights >= counted
        angles = []
        for inside, along in zip(there, self.bundles.along, strict=True):
            cosines = (dense @ along[crossing].T).abs().masked_fill(~peak, 0)
            angles.append(cosines.amax(0).clamp(max=1).acos().rad2deg()[inside])
        every = torch.cat(angles)
        return float(every.mean()), float((every > 20).double().mean())


def _dense(count: int) -> Tensor:
    """(count, 3) on half a sphere, a spiral."""
    z = (torch.arange(count).double() + 0.5) / count
    turn = torch.arange(count).double() * (np.pi * (3 - 5**0.5))
    radius = (1 - z**2).sqrt()
    return torch.stack([radius * turn.cos(), radius * turn.sin(), z], dim=1)


def main() -> None:
    arguments = parser_of(__doc__, times=[0.5, 1.0, 2.0]).parse_args()
    scene = bundles()
    clean = distribution(scene)
    truth, noise = Truth(scene, clean), noisy(clean)
    runs: dict[str, tuple[Callable[..., Outcome], Sequence[float], dict[str, Any]]] = {
        "nothing": (unchanged, (0.0,), {}),
        "Gaussian filter": (blurred, TIMES, {}),
    }
    for squared, weights in ((0.1, "kernel"), (0.1, "selling"), (0.02, "selling")):
        spec: dict[str, Any] = {"eps_squared": squared, "weights": weights}
        runs[f"diffuse, eps^2 = {squared:g}, {weights}"] = diffused, TIMES, spec
    runs["dipy"] = convolved, arguments.times, {}
    print(f"{SIDE}^3 voxels, {AXES} axes; {int(scene.crossings.sum())} voxels at crossings")
    clear = truth.peaks(unchanged(clean, ()).fields[0.0])[0]
    print(f"without noise peaks are {clear:.1f} degrees off\n")
    errors = "error", "at crossings", "peaks off", "lost"
    print_head("method", "time", *errors, "prepare s", "apply s", "MB")
    for name, (method, times, spec) in runs.items():
        if not times:
            continue
        outcome = in_fresh_process(partial(method, **spec), noise, times, threads=1)
        by_time = {t: truth.errors(field) for t, field in outcome.fields.items()}
        best = min(by_time, key=lambda t: by_time[t][0])
        angle, lost = truth.peaks(outcome.fields[best])
        cells = [f"{best:g} of {', '.join(f'{t:g}' for t in by_time)}"]
        cells += [f"{error:.3f}" for error in by_time[best]]
        cells += [f"{angle:.1f} deg", f"{100 * lost:.0f} %", f"{outcome.prepared[best]:.1f}"]
        print_row(name, *cells, f"{outcome.applied[best]:.2f}", f"{outcome.memory / 1e6:.0f}")


if __name__ == "__main__":
    main()
