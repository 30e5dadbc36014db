"""Random fields: power, covariance and deviation beside the wanted ones; time and memory.

A field is linear in its noise, so that unit noise gives the matrix A of u = A z: power, the sum
over orders of |m^1/2 A m^1/2 Y_lm|^2 with m the areas, and the covariance A A^T are exact, without
draws. Weights are Voronoi's. Fields are Matern's with nu = 1 and a range of sqrt(8) / 8 rad, 20
degrees, where no others are named.

power: over the wanted one, by degree. arrays: the same of C_l with peaks, (1 + .8 cos(pi l / 8)) /
(l (l + 1)) up to degree 24. covariance: its largest error, and the root of the mean square of
errors between points within .3 rad, in units of the variance; and the variances of points that the
other order of factors has, f(Delta) m^-1/2. coasts: variances of points on HEALPix pixels of nside
16 with five masks, without `std` and with it; correlations of pairs of points that a wall of 10
degrees divides, around it and through it. synfast: mean power of 1,000 draws over the wanted one in
bands of degrees at nside 32, by healpy's anafast, beside healpy's synfast; and the time of a draw.
earth2studio: variances of its correlated noise by latitude, and correlations along the equator,
400 draws of each, beside Gaussian fields with that length on HEALPix pixels, interpolated to its
grid. times: of a field beside one `smooth` with a width of half of the range, in turns, and the
memory of both in processes of their own; seconds of the first use of `std`, which finds deviations,
at ranges of up to 22 spacings.

    python benchmarks/random_fields.py
        [power|arrays|covariance|coasts|synfast|earth2studio|times] [--rounds N]
"""

import math
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.polynomial.legendre import legval
from numpy.typing import NDArray
from scipy.special import sph_harm_y
from scripts import print_head, print_row, pyramid_of, run_parts, unit_vectors
from turns import (
    in_fresh_process,
    in_turns,
    installed,
    middle_and_spread,
    peak_memory,
    ratio_and_spread,
    resident_memory,
)

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.typing import Floats
from cheblienet_models import (
    Gaussian,
    Matern,
    Pyramid,
    VerticesToLatLon,
    random_field,
    smooth,
)

KAPPA = 8
SPECTRUM = Matern(math.sqrt(8) / KAPPA)
DEGREES = np.arange(20_000)
POWER: Floats = (1 + DEGREES * (DEGREES + 1) / KAPPA**2) ** -2.0
POWER /= ((2 * DEGREES + 1) / (4 * math.pi) * POWER).sum()
SAMPLINGS: dict[str, dict[str, Any]] = {
    "HEALPix, nside 16": {"nside": 16},
    "icosphere, 4 subdivisions": {"subdivisions": 4},
    "octahedral Gaussian, O24": {"gaussian": "O24"},
    "regular Gaussian, F20": {"gaussian": "F20"},
    "equiangular, bandlimit 24": {"bandlimit": 24},
    "3,000 random points": {"points": 3000, "seed": 1},
    "6,000 random points": {"points": 6000, "seed": 1},
}
BANDS = ((8, 16), (16, 24), (24, 32))
DRAWS = 1_000
EARTH = 6.371e6
"""Radius in meters, as earth2studio has it."""


def sphere(**fields: Any) -> Pyramid:
    """One level with Voronoi weights."""
    return pyramid_of(GraphSpec("s2", levels=1, weights="voronoi", **fields))


def peaks(last: int) -> Floats:
    """C_l with peaks up to a last degree."""
    degree = np.arange(last + 1)
    degree[0] = 1
    power: Floats = (1 + 0.8 * np.cos(np.pi * degree / 8)) / (degree * (degree + 1))
    return power


def mean_power(pyramid: Pyramid, spectrum: Any, degree: int) -> float:
    """E |a_lm|^2, the mean over orders."""
    graph = pyramid.levels[0]
    beta, gamma = graph.coordinates.numpy().T
    root = (4 * math.pi / graph.num_vertices * graph.area.double()).sqrt()
    waves = [sph_harm_y(degree, order, beta, gamma) for order in range(degree + 1)]
    both = [waves[0].real, *(part * math.sqrt(2) for w in waves[1:] for part in (w.real, w.imag))]
    noise = torch.from_numpy(np.array(both)[:, None]) * root
    fields = random_field(pyramid, spectrum, noise=noise, tolerance=1e-4) * root
    return float(fields.square().sum()) / (2 * degree + 1)


def power(**_: object) -> None:
    """Print power over the wanted one."""
    degrees = (0, 4, 8, 16, 24, 32)
    print_head("sampling", "points", *(f"degree {degree}" for degree in degrees))
    for name, fields in SAMPLINGS.items():
        pyramid = sphere(**fields)
        shares = (mean_power(pyramid, SPECTRUM, n) / POWER[n] for n in degrees)
        print_row(
            name, f"{pyramid.levels[0].num_vertices:,}", *(f"{share:.3f}" for share in shares)
        )


def arrays(**_: object) -> None:
    """Print power over that of an array with peaks."""
    degrees, wanted = (4, 8, 12, 16, 20, 24), peaks(24)
    print_head("sampling", *(f"degree {degree}" for degree in degrees))
    for name, fields in SAMPLINGS.items():
        pyramid = sphere(**fields)
        shares = [mean_power(pyramid, wanted, n) / wanted[n] for n in degrees]
        print_row(name, *(f"{share:.3f}" for share in shares))


def matrix(pyramid: Pyramid, **options: Any) -> Floats:
    """(V, V) A of u = A z."""
    parts = torch.eye(pyramid.levels[0].num_vertices, dtype=torch.float64)[:, None].split(500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [random_field(pyramid, SPECTRUM, noise=part, **options) for part in parts]
    return np.asarray(torch.cat(rows)[:, 0].T)


def covariance(**_: object) -> None:
    """Print errors of covariances, and what the other order of factors makes of variances."""
    print_head("sampling", "largest error", "rms, near", "variance", "in the other order")
    angles = np.linspace(0, math.pi, 4001)
    table = legval(np.cos(angles), ((2 * DEGREES + 1) / (4 * math.pi) * POWER)[:400])
    for name, fields in SAMPLINGS.items():
        pyramid = sphere(**fields)
        graph = pyramid.levels[0]
        points = unit_vectors(graph).numpy()
        apart = np.arccos(np.clip(points @ points.T, -1, 1))
        right = matrix(pyramid, tolerance=1e-4)
        found = right @ right.T
        error = found - np.interp(apart, angles, table)
        root = graph.area.double().sqrt().numpy()
        wrong = ((right * root[:, None] / root) ** 2).sum(1)
        near = math.sqrt((error[apart < 0.3] ** 2).mean())
        cells = f"{abs(error).max():.3f}", f"{near:.3f}", between(np.diag(found)), between(wrong)
        print_row(name, *cells)


def between(values: Floats, digits: int = 2) -> str:
    """'0.98 to 1.02'."""
    return f"{values.min():.{digits}f} to {values.max():.{digits}f}"


def masks(points: Floats) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Five seas, by name."""
    random = np.random.default_rng(2)
    longitude, latitude = np.arctan2(points[:, 1], points[:, 0]), np.arcsin(points[:, 2])
    wall = abs(longitude) > math.radians(5)
    waves = [np.sin(k * points @ random.normal(size=3)) / math.sqrt(k) for k in (2, 5, 11, 17)]
    yield "half of the sphere", points[:, 2] > 0
    yield "a wall of 10 degrees", wall
    yield "one with a strait", wall | (abs(latitude) < math.radians(6))
    yield "5 % of single pixels", random.random(len(points)) > 0.05
    yield "a rough coast", np.sum(waves, axis=0) > 0


def coasts(**_: object) -> None:
    """Print variances of points with five masks, and correlations over a wall."""
    whole = sphere(nside=16)
    points = unit_vectors(whole.levels[0]).numpy()
    print_head("mask", "points", "variance", "with std=1", "rms", "around", "through")
    through = matrix(whole, std=1)
    for name, sea in masks(points):
        pyramid = sphere(nside=16, mask=sea)
        same = matrix(pyramid, std=1)
        variance = (same**2).sum(1)
        cells = [f"{sea.sum():,}", between((matrix(pyramid) ** 2).sum(1)), between(variance, 3)]
        cells.append(f"{math.sqrt(((variance - 1) ** 2).mean()):.3f}")
        if name.startswith("a wall"):
            own = points[sea]
            near = (abs(own[:, 1]) < 0.2) & (own[:, 0] > 0) & (abs(own[:, 2]) < 0.6)
            east, west = near & (own[:, 1] > 0), near & (own[:, 1] < 0)
            pairs = (each[east] @ each[west].T for each in (same, through[sea]))
            cells += [f"{abs(pair).max():.4f}" for pair in pairs]
        else:
            cells += ["", ""]
        print_row(name, *cells)


def in_bands(power: Floats, wanted: Floats) -> list[str]:
    """Mean power over the wanted one in each band."""
    cells = []
    for low, high in BANDS:
        orders = 2 * DEGREES[low:high] + 1
        cells.append(f"{(orders * power[low:high] / wanted[low:high]).sum() / orders.sum():.3f}")
    return cells


def synfast(rounds: int, **_: object) -> None:
    """Print power of draws in bands of degrees, and times, beside synfast's."""
    if not installed("healpy", "pip install healpy"):
        return
    import healpy

    nside = 32
    pyramid = sphere(nside=nside)
    deviations = [math.sqrt(2 / DRAWS / (high**2 - low**2)) for low, high in BANDS]
    titles = (f"{low} to {high - 1}" for low, high in BANDS)
    print_head("spectrum", "draws by", *titles, "deviation", "a draw", "/ synfast's")
    for name, spectrum, wanted in (
        ("Matern", SPECTRUM, POWER[: 3 * nside]),
        ("peaks to degree 64", peaks(64), peaks(64)),
    ):
        np.random.seed(0)  # noqa: NPY002 - synfast draws from it
        maps = {
            "random_field": healpy.reorder(
                random_field(pyramid, spectrum, DRAWS)[:, 0].numpy(), n2r=True
            ),
            "synfast": [healpy.synfast(wanted, nside) for _ in range(DRAWS)],
        }
        works = {
            "random_field": partial(random_field, pyramid, spectrum),
            "synfast": partial(healpy.synfast, wanted, nside),
        }
        took = in_turns(works, rounds, warm=True)
        for by, drawn in maps.items():
            cells = in_bands(np.mean([healpy.anafast(each) for each in drawn], axis=0), wanted)
            cells.append(f"{max(deviations):.3f} to {min(deviations):.3f}")
            cells += [middle_and_spread(took[by]), ratio_and_spread(took[by], took["synfast"])]
            print_row(name, by, *cells)


def earth2studio(**_: object) -> None:
    """Print variances by latitude and correlations along the equator of its noise and of ours."""
    if not installed("earth2studio", "pip install earth2studio torch-harmonics"):
        return
    from earth2studio.perturbation import CorrelatedSphericalGaussian

    length, draws, rows = 0.3, 400, 72
    # its noise lies on latitudes from pole to pole, both of them
    latitudes, longitudes = np.linspace(90, -90, rows), np.arange(2 * rows) * 180 / rows
    noise = CorrelatedSphericalGaussian(1.0, length_scale=length * EARTH)
    zeros = torch.zeros(draws, 1, rows, 2 * rows)
    names = ("time", np.arange(draws)), ("variable", np.arange(1)), ("lat", latitudes)
    torch.manual_seed(0)
    theirs = torch.cat(
        [
            noise(part, OrderedDict([*names, ("lon", longitudes)]))[0]
            for part in zeros.split(1)  # each begins anew
        ]
    )[:, 0].double()
    pyramid = sphere(nside=32)
    ours = VerticesToLatLon(pyramid, latitudes, longitudes)(
        random_field(pyramid, Gaussian(length), draws)
    )[:, 0]
    apart = (4, 8, 12, 20)
    titles = [f"variance at {latitude} N" for latitude in (0, 30, 60, 80, 90)]
    titles += [f"correlation at {longitudes[step]:.0f} degrees" for step in apart]
    print_head("fields", *titles)
    for name, fields in (("earth2studio", theirs), ("random_field", ours)):
        at = [int(abs(latitudes - each).argmin()) for each in (0, 30, 60, 80, 90)]
        cells = [f"{float(fields[:, row].square().mean()):.3f}" for row in at]
        line = fields[:, at[0]]
        for step in apart:
            shared = (line * line.roll(step, 1)).mean() / line.square().mean()
            cells.append(f"{float(shared):.3f}")
        print_row(name, *cells)
    shares = [math.exp(-(math.radians(longitudes[s]) ** 2) / (2 * length**2)) for s in apart]
    print_row("exp(-d^2 / (2 length^2))", *["1"] * 5, *(f"{share:.3f}" for share in shares))


def memory_of(kind: str, nside: int) -> int:
    """Bytes of one call above what is there before."""
    pyramid = sphere(nside=nside)
    graph = pyramid.levels[0]
    x = torch.randn(1, 1, graph.num_vertices, dtype=torch.float64)
    graph.filter(x, graph.polynomial(lambda e: torch.exp(-e), 1e-2))  # maps it, once
    before = resident_memory()
    if kind == "field":
        random_field(pyramid, SPECTRUM)
    else:
        smooth(pyramid, x, SPECTRUM.length / 2)
    return peak_memory() - before


def turns_of(pyramid: Pyramid, spectrum: Matern, rounds: int) -> dict[str, list[float]]:
    """Seconds of a field, of ten, and of one smoothing."""
    x = torch.randn(1, 1, pyramid.levels[0].num_vertices, dtype=torch.float64)
    works = {
        "field": lambda: random_field(pyramid, spectrum),
        "ten": lambda: random_field(pyramid, spectrum, 10),
        "smooth": lambda: smooth(pyramid, x, spectrum.length / 2),
    }
    return in_turns(works, rounds, warm=True)


def times(rounds: int, **_: object) -> None:
    """Print times and memory of fields beside those of one smoothing."""
    titles = "a field", "ten, each", "/ smooth", "memory", "of smooth", "std, first"
    print_head("nside", "range, degrees", *titles)
    for nside in (32, 64, 128):
        pyramid = sphere(nside=nside)
        for spectrum in (SPECTRUM, Matern(SPECTRUM.length * 8 / nside)):
            took = turns_of(pyramid, spectrum, rounds)
            each = [seconds / 10 for seconds in took["ten"]]
            cells = [f"{math.degrees(spectrum.length):.1f}", middle_and_spread(took["field"])]
            cells += [middle_and_spread(each), ratio_and_spread(took["field"], took["smooth"])]
            kinds = ("field", "smooth") if spectrum is SPECTRUM else ()
            found = [f"{in_fresh_process(memory_of, kind, nside) / 1e6:.0f} MB" for kind in kinds]
            cells += found or ["", ""]
            if spectrum.length * nside < 23:  # about 22 spacings
                began = time.perf_counter()
                random_field(pyramid, spectrum, std=1)
                cells.append(f"{time.perf_counter() - began:.1f} s")
            else:
                cells.append("")
            print_row(nside, *cells)


PARTS: dict[str, Callable[..., None]] = {
    "power": power,
    "arrays": arrays,
    "covariance": covariance,
    "coasts": coasts,
    "synfast": synfast,
    "earth2studio": earth2studio,
    "times": times,
}

if __name__ == "__main__":
    run_parts(__doc__, PARTS, rounds=15)
