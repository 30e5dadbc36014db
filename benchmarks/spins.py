"""Fields of spin: eigenvalues, smoothing, E and B, derivatives, frames, costs.

Weights are Voronoi's. Fields are the harmonics of gradients and, but where it is said, have no B;
of equal power in each l (l + 1) C_l, with seeds. Errors are of root mean squares, relative.

spectra: largest relative error of the eigenvalues l (l + 1) - s^2, l <= 5, and its order, from a
level with half of the spacing or, of random points, a quarter of them. smoothing: fields up to
degrees nside or 8 beside healpy's harmonics times the beam, all over the sphere and within 15
degrees of a pole, as fields of spin and each component alone; and the power of B in E's. samplings:
the same errors up to degree 8 on other samplings, with a width of 15 degrees, by derivatives of
scipy's harmonics. poles: what smoothing leaves of the smoothest field that is not 0 at a pole, by
distance from it, over what it should be. skies: fields up to degree 24 at nside 32 that are
smoothed with a mask, beside those that are smoothed without one; as fields of spin, with 0 for what
is missing, and each component alone; and within half of a width of the mask's edge. derivatives:
divergence and curl of fields of both kinds up to degree 6, and with each component derived alone.
modes: the scalars of spin 2 lowered twice beside healpy's E and B up to degree 8. frames: fields of
degree 1 (spin 2: 2) that go from a grid of 5 degrees to points, from points to it, and there and
back, within 10 degrees of a pole; and mean pooling from nside 32 to 16. denoising: least squares of
polynomials of degree 7 that remove noise as large as the signal from fields up to degree 16 at
nside 16, with 8 complex weights, and with 32 real ones that mix both components. products: time of
sparse products and of layers in float32 beside those of scalars of the same real width, in turns.

    python benchmarks/spins.py
        [spectra|smoothing|samplings|poles|skies|derivatives|modes|frames|denoising|products]
        [--rounds N]
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, eye_array
from scripts import print_head, print_row, pyramid_of, run_parts, smallest_eigenvalues, unit_vectors
from spin_fields import (
    beam,
    drawn,
    error,
    fields_of,
    from_healpy,
    near_poles,
    nested,
    pair,
    potential,
    share_of_b,
)
from spin_times import products
from torch import Tensor

from cheblienet_graphs import GraphSpec
from cheblienet_models import (
    Connection,
    Gradient,
    Graph,
    LatLonToVertices,
    Pyramid,
    SpatialPool,
    VerticesToLatLon,
    smooth,
)

SAMPLINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "HEALPix, nside 16": ({"nside": 16}, {"nside": 8}),
    "icosphere, 4 subdivisions": ({"subdivisions": 4}, {"subdivisions": 3}),
    "octahedral Gaussian, O24": ({"gaussian": "O24"}, {"gaussian": "O12"}),
    "regular Gaussian, F24": ({"gaussian": "F24"}, {"gaussian": "F12"}),
    "equiangular, bandlimit 24": ({"bandlimit": 24}, {"bandlimit": 12}),
    "12,000 random points": ({"points": 12_000, "seed": 1}, {"points": 3_000, "seed": 1}),
}
LAT, LON = np.arange(-87.5, 90, 5.0), np.arange(0, 360, 5.0)


def sphere(levels: int = 1, **fields: Any) -> Pyramid:
    """With Voronoi weights."""
    return pyramid_of(GraphSpec("s2", levels=levels, weights="voronoi", **fields))


def off_at(graph: Graph, spin: int) -> float:
    """The largest error of eigenvalues."""
    connection = graph.connection(spin)
    pointers, columns, values = (part.numpy() for part in connection.parts())
    delta = csr_array((values.astype(float), columns, pointers)) + eye_array(len(pointers) - 1)
    assert graph.eigenvalue_scale
    delta = delta * (connection.lambda_max / 2 * graph.eigenvalue_scale)
    wanted = [n * (n + 1) - spin**2 for n in range(spin, 6) for _ in range(2 * (2 * n + 1))]
    found = smallest_eigenvalues(delta, len(wanted))
    return float(np.abs(found / wanted - 1).max())


def spectra(**_: object) -> None:
    """Print errors of eigenvalues and their order."""
    spins = (1, 2, 3)
    print_head(
        "sampling", "points", *(f"s = {s}" for s in spins), *(f"order, s = {s}" for s in spins)
    )
    for name, pair_of in SAMPLINGS.items():
        fine, coarse = (sphere(**fields).levels[0] for fields in pair_of)
        halvings = math.log2(fine.num_vertices / coarse.num_vertices) / 2
        errors = [(off_at(fine, s), off_at(coarse, s)) for s in spins]
        orders = (math.log2(b / a) / halvings for a, b in errors)
        cells = [f"{a:.4f}" for a, _ in errors] + [f"{order:.2f}" for order in orders]
        print_row(name, f"{fine.num_vertices:,}", *cells)


def smoothing(**_: object) -> None:
    """Print errors beside healpy."""
    kinds = "", ", apart", ", apart, poles"
    titles = (f"s = {spin}{kind}" for spin in (1, 2) for kind in kinds)
    print_head("nside", "width", "degrees to", *titles, "B / E", "B / E, apart")
    cases = [(16, 5, 16), (16, 10, 16), (32, 10, 32), (32, 20, 32), (64, 10, 64)]
    for nside, degrees, largest in [*cases, (8, 20, 8), (16, 20, 8), (32, 20, 8)]:
        pyramid, cells, shares = sphere(nside=nside), [], []
        fwhm, polar = math.radians(degrees), near_poles(pyramid.levels[0], 15)
        for spin in (1, 2):
            alm, of = drawn(largest, spin, 0)
            x = from_healpy(nside, spin, alm, largest)
            wanted = from_healpy(nside, spin, alm * beam(spin, of, fwhm), largest)
            turned, apart = smooth(pyramid, x, fwhm, spin=spin), smooth(pyramid, x, fwhm)
            cells += [error(turned, wanted), error(apart, wanted), error(apart, wanted, polar)]
            shares = [share_of_b(y, spin, largest) for y in (turned, apart)]
        numbers = (f"{each:.4f}" if n % 3 == 0 else f"{each:.3f}" for n, each in enumerate(cells))
        print_row(nside, degrees, largest, *numbers, *(f"{share:.0e}" for share in shares))


def samplings(**_: object) -> None:
    """Print errors of smoothing on other samplings."""
    print_head("sampling", "s = 1", "s = 2", "apart, s = 1", "apart, s = 2")
    fwhm = math.radians(15)
    for name, (fields, _) in SAMPLINGS.items():
        pyramid = sphere(**fields)
        errors = {}
        for spin in (1, 2):
            found = fields_of(spin, 8, pyramid.levels[0].coordinates.numpy())
            factors = beam(spin, np.arange(max(1, spin), 9.0), fwhm)
            x, wanted = pair(found), pair(found, factors)
            for s in (spin, 0):
                errors[spin, s] = error(smooth(pyramid, x, fwhm, spin=s), wanted)
        cells = (errors[key] for key in ((1, 1), (2, 2), (1, 0), (2, 0)))
        print_row(name, *(f"{cell:.4f}" for cell in cells))


def poles(**_: object) -> None:
    """Print gains by distance from a pole, at nside 64."""
    distances = (2, 5, 10, 20)
    print_head("spin", "width", "as", *(f"{d} degrees" for d in distances))
    pyramid = sphere(nside=64)
    at = pyramid.levels[0].coordinates.numpy()
    for spin in (1, 2):
        weights = np.zeros(spin + 1, complex)
        weights[-1 if spin == 2 else 1] = 1
        x = pair([potential(spin, spin, weights, *at.T)])
        for width in (10, 20):
            fwhm = math.radians(width)
            wanted = x * float(beam(spin, np.array([float(spin)]), fwhm)[0])
            for words, s in (("a field of spin", spin), ("components apart", 0)):
                y = smooth(pyramid, x, fwhm, spin=s)
                rings = [
                    torch.from_numpy(np.abs(np.degrees(at[:, 0]) - d) < 0.7) for d in distances
                ]
                gains = (
                    float((y * wanted)[..., r].sum() / wanted[..., r].square().sum()) for r in rings
                )
                print_row(spin, width, words, *(f"{gain:.4f}" for gain in gains))


def skies(**_: object) -> None:
    """Print errors on a cut sky."""
    print_head(
        "missing", "width", "spin: all, at the edge, B / E", "with zeros", "components apart"
    )
    pyramid, largest = sphere(nside=32), 24
    graph = pyramid.levels[0]
    points = unit_vectors(graph)
    rng = torch.Generator().manual_seed(0)
    holes = torch.nn.functional.normalize(torch.randn(4, 3, generator=rng).double(), dim=1)
    masks = {
        "15 degrees about the equator": points[:, 2].abs() < math.sin(math.radians(15)),
        "4 holes of 6 degrees": (points @ holes.T).amax(1) > math.cos(math.radians(6)),
        "1 % of the points": torch.rand(len(points), generator=rng) < 0.01,
    }
    alm, of = drawn(largest, 2, 0)
    x = from_healpy(32, 2, alm, largest)
    for name, mask in masks.items():
        for width in (5, 10):
            fwhm = math.radians(width)
            wanted = from_healpy(32, 2, alm * beam(2, of, fwhm), largest)
            cosine = (points @ points[mask].T).amax(1) if int(mask.sum()) < 4000 else _edge(points)
            edge = ~mask & (cosine > math.cos(fwhm / 2))
            cut = x.masked_fill(mask, math.nan)
            ways = {
                "spin": smooth(pyramid, cut, fwhm, spin=2),
                "zeros": smooth(pyramid, x.masked_fill(mask, 0.0), fwhm, spin=2),
                "apart": smooth(pyramid, cut, fwhm),
            }
            cells = []
            for y in ways.values():
                whole = torch.where(mask, wanted, y)
                share = share_of_b(whole, 2, largest)
                cells.append(
                    f"{error(y, wanted, ~mask):.3f}, {error(y, wanted, edge):.3f}, {share:.0e}"
                )
            print_row(name, width, *cells)


def _edge(points: Tensor) -> Tensor:
    """(V,) cosine of the distance to the band about the equator."""
    latitude = points[:, 2].asin().abs() - math.radians(15)
    return latitude.clamp(min=0).cos()


def derivatives(**_: object) -> None:
    """Print errors of divergence and curl."""
    print_head(
        "sampling", "points", "divergence, curl", "within 15 degrees of a pole", "components apart"
    )
    for name, pair_of in SAMPLINGS.items():
        if "random" in name:
            continue
        for fields in pair_of[::-1]:
            graph = sphere(**fields, gradients=True).levels[0]
            at = graph.coordinates.numpy()
            x = pair(fields_of(1, 6, at, kinds=2))
            factors = [-math.sqrt(n * (n + 1)) for n in range(1, 7)]  # from spin 1 to the Laplacian
            wanted = pair(fields_of(0, 6, at, kinds=2), factors)
            assert graph.gradients is not None
            unit = graph.gradients.units[0]
            found = Gradient(graph, spin=1)(x)[1] * unit
            apart = Gradient(graph)(x) * unit  # south of both, then east of both
            south, east = apart.chunk(2, 1)
            alone = torch.stack([south[:, 0] + east[:, 1], south[:, 1] - east[:, 0]], 1)
            polar = near_poles(graph, 15)
            cells = error(found, wanted), error(found, wanted, polar), error(alone, wanted)
            label = name.split(",")[0]
            print_row(label, f"{graph.num_vertices:,}", *(f"{cell:.4f}" for cell in cells))


def modes(**_: Any) -> None:
    """Print errors of E and B as scalars, and the share of B."""
    import healpy

    print_head("nside", "E and B", "B / E of fields without B")
    for nside in (16, 32, 64):
        graph = sphere(nside=nside, gradients=True).levels[0]
        (e, of), (b, __) = drawn(8, 2, 0), drawn(8, 2, 1)
        factors = np.sqrt((of + 2) * (of + 1) * of * (of - 1).clip(0))
        wanted = nested([healpy.alm2map(-alm * factors, nside, 8) for alm in (e, b)])
        assert graph.gradients is not None
        found = lowered(graph, nested(healpy.alm2map_spin([e, b], nside, 2, 8)))
        power = lowered(graph, from_healpy(nside, 2, e, 8))[0].square().sum(1)
        off = error(found * graph.gradients.units[0] ** 2, wanted)
        print_row(nside, f"{off:.4f}", f"{float(power[1] / power[0]):.0e}")


def lowered(graph: Graph, x: Tensor) -> Tensor:
    """(1, 2, V) scalars of E and of B."""
    _, once = Gradient(graph, spin=2)(x)
    twice: Tensor = Gradient(graph, spin=1)(once)[1]
    return twice


def frames(**_: object) -> None:
    """Print errors of resampling and pooling near poles."""
    print_head("spin", "method", "as", "to points", "to the grid", "there and back", "pooling")
    pyramid = sphere(levels=2, nside=32)
    at = [level.coordinates.numpy() for level in pyramid.levels]
    grid = np.stack(np.meshgrid(np.radians(90 - LAT), np.radians(LON), indexing="ij"), -1)
    polar = [near_poles(level, 10) for level in pyramid.levels]
    rows = torch.from_numpy(np.repeat(np.abs(LAT) > 80, len(LON)))
    for spin in (1, 2):
        points, coarse, pixels = (
            pair(fields_of(spin, spin, places, kinds=2)) for places in (*at, grid.reshape(-1, 2))
        )
        image = pixels.view(1, 2, *grid.shape[:2])
        for method in ("bilinear", "conservative"):
            for words, s in (("a field of spin", spin), ("components apart", 0)):
                there = LatLonToVertices(pyramid, LAT, LON, method, spin=s)
                back = VerticesToLatLon(pyramid, LAT, LON, method, spin=s)
                pool = SpatialPool(pyramid, 0, "mean", spin=s)
                cells = [
                    error(there(image), points, polar[0]),
                    error(back(points).flatten(2), pixels, rows),
                    error(back(there(image)).flatten(2), pixels),
                    error(pool(points), coarse, polar[1]),
                ]
                print_row(spin, method, words, *(f"{cell:.4f}" for cell in cells))


def denoising(**_: object) -> None:
    """Print errors of the best polynomials."""
    print_head("spin", "weights", "error", "within 20 degrees of a pole")
    pyramid, largest, terms = sphere(nside=16), 16, 8
    graph = pyramid.levels[0]
    polar = near_poles(graph, 20)
    for spin in (1, 2):
        trained, tested = (
            torch.cat([from_healpy(16, spin, drawn(largest, spin, n)[0], largest) for n in part])
            for part in (range(16), range(100, 116))
        )
        noisy = [
            x + x.std() * torch.randn(x.shape, generator=torch.Generator().manual_seed(n)).double()
            for n, x in enumerate((trained, tested))
        ]
        for words, s in (("8 complex", spin), ("32 real, components apart", 0)):
            bases = [basis_of(graph, x, s, terms) for x in noisy]
            weights = torch.linalg.lstsq(
                bases[0].flatten(0, 1), target_of(trained, s).flatten(0, 1)
            )
            found = bases[1] @ weights.solution
            found = found.squeeze(-1).unflatten(1, (2, -1)) if s else found.permute(0, 2, 1)
            print_row(
                spin, words, f"{error(found, tested):.3f}", f"{error(found, tested, polar):.3f}"
            )


def basis_of(graph: Graph, x: Tensor, spin: int, terms: int) -> Tensor:
    """(B, 2 V, 2 K) of T_k x and i T_k x, or (B, V, 2 K) of T_k of both components."""
    source: Graph | Connection = graph.connection(spin) if spin else graph
    made = [source.filter(x, partial(term, k, source.lambda_max)) for k in range(terms)]
    if not spin:
        return torch.cat(made, 1).permute(0, 2, 1)
    turned = [torch.stack([-y[:, 1], y[:, 0]], 1) for y in made]
    return torch.stack([y.flatten(1) for y in (*made, *turned)], 2)


def term(k: int, largest: float, eigenvalues: Tensor) -> Tensor:
    """T_k of eigenvalues up to a largest."""
    return torch.cos(k * (2 * eigenvalues / largest - 1).clamp(-1, 1).arccos())


def target_of(x: Tensor, spin: int) -> Tensor:
    """(B, 2 V, 1), or (B, V, 2)."""
    return x.flatten(1)[..., None] if spin else x.permute(0, 2, 1)


PARTS: dict[str, Callable[..., None]] = {
    "spectra": spectra,
    "smoothing": smoothing,
    "samplings": samplings,
    "poles": poles,
    "skies": skies,
    "derivatives": derivatives,
    "modes": modes,
    "frames": frames,
    "denoising": denoising,
    "products": products,
}

if __name__ == "__main__":
    run_parts(__doc__, PARTS, rounds=15)
