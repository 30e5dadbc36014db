"""Fields on the sphere: smoothed as by a beam, with half of them missing; filled; as a matrix.

beam: random harmonics of one degree, all orders, at nside 64. The share of them that is left,
beside exp(-l (l + 1) s^2 / 2): the largest relative error of it over degrees 8, 16, ... 64, and the
largest root of the mean square of all that differs, in units of the field's; `diffuse` alone beside
`smooth`. samplings: the largest relative error of that share on other samplings, with Voronoi
weights, over degrees up to the root of a twelfth of their points, nside on HEALPix, for beams of 1,
2 and 5.5 spacings. edges: a field of degrees up to 4 on half of the sphere, smoothed; the largest
error beside the whole field smoothed exactly, in units of its largest value, with zeros for what is
missing, with means of what is known, and by `smooth`; and how far a constant of 1 moves. holes: a
harmonic function with a hole of 0.5 radians, filled; the largest error in units of its largest
value there, and the order. matrix: entries a row, the largest error of the field of edges, and
processor seconds.

    python benchmarks/sky.py [beam|samplings|edges|holes|matrix]
"""

import math
import time
from typing import Any

import numpy as np
import torch
from scipy.special import sph_harm_y
from scripts import print_head, print_row, pyramid_of, run_parts, unit_vectors
from torch import Tensor

from cheblienet_graphs import GraphSpec
from cheblienet_models import Pyramid, inpaint, smooth, smoothing_matrix

NSIDE, WIDTHS = 64, (1, 2, 5)
DEGREES = range(8, 65, 8)
WEIGHTS: dict[str, dict[str, Any]] = {
    "voronoi": {"weights": "voronoi"},
    "matched, K = 24": {"weights": "matched", "neighbors": 24},
    "kernel, K = 20": {"neighbors": 20},
}
SPACINGS = (1.0, 2.0, 5.5)
AXIS = (0.3, -0.5, 0.8)


def sky(nside: int = NSIDE, **weights: Any) -> Pyramid:
    """HEALPix pixels; with Voronoi weights where no others are given."""
    given = weights or WEIGHTS["voronoi"]
    return pyramid_of(GraphSpec("s2", nside=nside, levels=1, **given))


def harmonic(pyramid: Pyramid, degree: int) -> Tensor:
    """(1, 1, V) float64, of all orders."""
    beta, gamma = pyramid.levels[0].coordinates.numpy().T
    turns = np.exp(2j * np.pi * np.random.default_rng(degree).random(degree + 1))
    waves = (sph_harm_y(degree, m, beta, gamma) for m in range(degree + 1))
    field = sum(((t * w).real for t, w in zip(turns, waves, strict=True)), np.zeros(len(beta)))
    return torch.from_numpy(field)[None, None]


def left(degree: int, fwhm: float) -> float:
    """The share of a harmonic that a Gaussian beam leaves."""
    return math.exp(-degree * (degree + 1) * fwhm**2 / (16 * math.log(2)))


def diffused(pyramid: Pyramid, x: Tensor, fwhm: float) -> Tensor:
    """By the graph's own heat kernel."""
    graph = pyramid.levels[0]
    time = fwhm**2 / (16 * math.log(2)) * (graph.eigenvalue_scale or math.nan)
    return graph.diffuse(x, time, density=True, tolerance=1e-9)


def beam(**_: object) -> None:
    """Print errors of what a beam leaves of harmonics."""
    print_head(
        "weights", "fwhm, degrees", "share, diffuse", "share, smooth", "rms, diffuse", "rms, smooth"
    )
    for name, weights in WEIGHTS.items():
        pyramid = sky(**weights)
        x = torch.cat([harmonic(pyramid, degree) for degree in DEGREES], dim=1)
        for width in WIDTHS:
            fwhm = math.radians(width)
            exact = torch.tensor([left(degree, fwhm) for degree in DEGREES], dtype=torch.float64)
            smoothed = smooth(pyramid, x, fwhm, allow_inconsistent=True)
            ways = [diffused(pyramid, x, fwhm), smoothed]
            shares = [(x * y).sum(2) / (x * x).sum(2) / exact - 1 for y in ways]
            rests = [(y - exact[:, None] * x).norm(dim=2) / x.norm(dim=2) for y in ways]
            cells = [f"{float(each.abs().max()):.2%}" for each in (*shares, *rests)]
            print_row(name, width, *cells)


def samplings(**_: object) -> None:
    """Print errors of what is left of harmonics on other samplings."""
    given: dict[str, dict[str, Any]] = {
        "HEALPix, nside 16": {"nside": 16},
        "icosphere, 4 subdivisions": {"subdivisions": 4},
        "octahedral Gaussian, O24": {"gaussian": "O24"},
        "regular Gaussian, F12": {"gaussian": "F12"},
        "equiangular, bandlimit 16": {"bandlimit": 16},
        "4,000 random points": {"points": 4000},
    }
    print_head("sampling", "points", "degrees to", *(f"{width} spacings" for width in SPACINGS))
    for name, fields in given.items():
        pyramid = pyramid_of(GraphSpec("s2", **fields, levels=1, weights="voronoi"))
        area = pyramid.levels[0].area.double()
        top = math.isqrt(len(area) // 12)
        degrees = sorted({1, top // 2, 3 * top // 4, top})
        x = torch.cat([harmonic(pyramid, degree) for degree in degrees], dim=1)
        spacing, cells = math.sqrt(4 * math.pi / len(area)), []
        for width in SPACINGS:
            y = smooth(pyramid, x, width * spacing)
            exact = torch.tensor([left(d, width * spacing) for d in degrees], dtype=torch.float64)
            share = (area * x * y).sum(2) / (area * x * x).sum(2) / exact - 1
            cells.append(f"{float(share.abs().max()):.2%}")
        print_row(name, f"{len(area):,}", top, *cells)


def field_and_beams(pyramid: Pyramid) -> tuple[Tensor, dict[int, Tensor]]:
    """A field of degrees up to 4, and by widths in degrees what beams make of it."""
    parts = [harmonic(pyramid, degree) for degree in range(5)]
    smoothed = {
        width: sum(
            (left(d, math.radians(width)) * part for d, part in enumerate(parts)), 0 * parts[0]
        )
        for width in (*WIDTHS, 10)
    }
    return sum(parts[1:], parts[0]), smoothed


def edges(**_: object) -> None:
    """Print errors at the edge of half of the sky."""
    pyramid = sky()
    known = unit_vectors(pyramid.levels[0]) @ torch.tensor(AXIS, dtype=torch.float64) > 0
    x, exact = field_and_beams(pyramid)
    print_head("fwhm, degrees", "zeros", "means", "smooth", "constant")
    for width, expected in exact.items():
        fwhm = math.radians(width)
        zeros = diffused(pyramid, x * known, fwhm)
        share = diffused(pyramid, known.double()[None, None], fwhm)
        ways = (zeros, zeros / share, smooth(pyramid, torch.where(known, x, torch.nan), fwhm))
        errors = ((y - expected)[..., known].abs().max() / x.abs().max() for y in ways)
        constant = smooth(pyramid, torch.where(known, 1.0, torch.nan)[None, None], fwhm)
        moved = float((constant[..., known] - 1).abs().max())
        print_row(width, *(f"{float(e):.2%}" for e in errors), f"{moved:.0e}")


def holes(**_: object) -> None:
    """Print errors of filled holes, by the number of pixels."""
    print_head("nside", "pixels missing", "largest error", "order", "processor seconds")
    before = math.nan
    for nside in (16, 32, 64, 128):
        pyramid = sky(nside)
        points = unit_vectors(pyramid.levels[0]).numpy()
        east, north, up = np.linalg.qr(np.array([AXIS, (0.2, 0.8, 0.1), (0.9, 0.1, 0.3)]))[0]
        plane = (points @ east + 1j * (points @ north)) / np.maximum(1 + points @ up, 1e-3)
        x = torch.from_numpy((plane + plane**3).real)[None, None]
        hole = torch.from_numpy(
            points @ (math.cos(0.6) * up + math.sin(0.6) * east) > math.cos(0.5)
        )
        start = time.process_time()
        filled = inpaint(pyramid, torch.where(hole, torch.nan, x))
        seconds = time.process_time() - start
        error = float((filled - x).abs().max() / x[..., hole].abs().max())
        order = "" if math.isnan(before) else f"{math.log2(before / error):.2f}"
        print_row(nside, f"{int(hole.sum()):,}", f"{error:.1e}", order, f"{seconds:.2f}")
        before = error


def matrix(**_: object) -> None:
    """Print sizes and errors of smoothing as a matrix."""
    pyramid = sky()
    x, exact = field_and_beams(pyramid)
    print_head("fwhm, degrees", "tolerance", "entries a row", "largest error", "processor seconds")
    for width in (2, 5):
        for tolerance in (1e-2, 1e-4):
            start = time.process_time()
            made = smoothing_matrix(pyramid, math.radians(width), tolerance=tolerance)
            seconds = time.process_time() - start
            error = (made.double() @ x[0, 0] - exact[width][0, 0]).abs().max() / x.abs().max()
            entries = made.values().numel() / x.shape[2]
            cells = f"{tolerance:g}", f"{entries:.0f}", f"{float(error):.1e}", f"{seconds:.1f}"
            print_row(width, *cells)


PARTS = {"beam": beam, "samplings": samplings, "edges": edges, "holes": holes, "matrix": matrix}

if __name__ == "__main__":
    run_parts(__doc__, PARTS)
