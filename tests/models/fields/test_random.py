"""Random fields: power by the exact formula, covariance by Legendre sums, variance at every point.

E |a_lm|^2 = |f(Delta) m^1/2 Y_lm|^2 takes no draws; where draws are counted, errors are a few of
their deviations.
"""

import math
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from refusing import refused
from scipy.special import eval_legendre, sph_harm_y
from stores import folder

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Gaussian, Graph, Lift, Matern, Pyramid, noise_matrix, random_field
from cheblienet_models.fields import random as drawn
from cheblienet_models.fields.random import _areas, _Field

RANGE = math.sqrt(8) / 8
MATERN = Matern(RANGE)
"""Of nu = 1 and kappa = 8."""
DEGREES = np.arange(20_000)
POWER = (1 + DEGREES * (DEGREES + 1) / 64) ** -2.0
POWER /= ((2 * DEGREES + 1) / (4 * math.pi) * POWER).sum()
"""C_l of that Matern field, of variance 1."""
LOW = np.arange(1, 25)
PEAKS = np.concatenate([[0.0], (1 + 0.8 * np.cos(2 * np.pi * LOW / 16)) / (LOW * (LOW + 1))])
PEAKS[0] = PEAKS[1]
SAMPLINGS: dict[str, dict[str, Any]] = {
    "healpix": {"nside": 16},
    "icosphere": {"subdivisions": 4},
    "octahedral": {"gaussian": "O24"},
    "regular": {"gaussian": "F20"},
    "random": {"points": 3000, "seed": 1},
}


@cache
def sphere(**fields: Any) -> Pyramid:
    """One level with Voronoi weights, built once."""
    spec = GraphSpec("s2", weights="voronoi", levels=1, **fields)
    return build(spec, folder() / "fields.zarr", device="cpu").open()


def vectors(graph: Graph) -> np.ndarray:
    beta, gamma = graph.coordinates.numpy().T
    return np.stack([np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma), np.cos(beta)], 1)


def power(graph: Graph, field: _Field, degree: int) -> float:
    """The mean over orders of E |a_lm|^2."""
    beta, gamma = graph.coordinates.numpy().T
    root = _areas(graph).sqrt()
    waves = [sph_harm_y(degree, order, beta, gamma) for order in range(degree + 1)]
    real = [waves[0].real, *(part * math.sqrt(2) for w in waves[1:] for part in (w.real, w.imag))]
    x = torch.from_numpy(np.array(real)) * root
    return float(graph.filter(x[:, None], field.polynomial).square().sum()) / (2 * degree + 1)


@pytest.mark.parametrize("name", ["healpix", "icosphere", "octahedral", "regular"])
def test_power_is_the_spectrum_s_up_to_the_degree_that_points_carry(name: str) -> None:
    pyramid = sphere(**SAMPLINGS[name])
    graph = pyramid.levels[0]
    field = _Field(graph, MATERN, 1e-4, "")
    for degree, off in ((0, 0.001), (4, 0.002), (8, 0.002), (16, 0.01), (24, 0.05)):
        assert power(graph, field, degree) / POWER[degree] == pytest.approx(1, abs=off)


@pytest.mark.parametrize("name", ["healpix", "icosphere", "octahedral"])
def test_an_array_has_the_power_of_each_of_its_degrees(name: str) -> None:
    pyramid = sphere(**SAMPLINGS[name])
    graph = pyramid.levels[0]
    field = _Field(graph, torch.from_numpy(PEAKS), 1e-4, "")
    for degree in (2, 4, 8, 12, 16):
        assert power(graph, field, degree) / PEAKS[degree] == pytest.approx(1, abs=0.005)


def covariance(graph: Graph, field: _Field) -> np.ndarray:
    """(V, V), exactly."""
    eye = torch.eye(graph.num_vertices, dtype=torch.float64)[:, None]
    rows = torch.cat([field.applied(part) for part in eye.split(500)])[:, 0].T.numpy()
    return rows @ rows.T


def legendre(graph: Graph) -> np.ndarray:
    """(V, V) sum_l C_l (2 l + 1) / (4 pi) P_l, by a table of angles."""
    degrees = DEGREES[:400]
    angles = np.linspace(0, np.pi, 4001)
    terms = (2 * degrees + 1) / (4 * np.pi) * POWER[:400]
    table = sum(c * eval_legendre(n, np.cos(angles)) for n, c in zip(degrees, terms, strict=True))
    points = vectors(graph)
    return np.interp(np.arccos(np.clip(points @ points.T, -1, 1)), angles, table)


@pytest.mark.parametrize("name", ["octahedral", "random"])
def test_covariance_is_the_legendre_sum_in_this_order_of_factors_alone(name: str) -> None:
    pyramid = sphere(**SAMPLINGS[name])
    graph = pyramid.levels[0]
    field, truth = _Field(graph, MATERN, 1e-4, ""), legendre(graph)
    found = covariance(graph, field)
    assert abs(found - truth).max() < 0.13
    eye = torch.eye(graph.num_vertices, dtype=torch.float64)[:, None]
    other = graph.filter(eye * field.root, field.polynomial)[:, 0].T.numpy()
    assert abs(np.diag(other @ other.T) - 1).max() > 0.25


MASKS = ("half", "wall", "strait", "islands", "rough")


def mask(name: str) -> np.ndarray:
    """Of HEALPix, nside 16: half a sphere, a wall, one with a strait, islands, a rough coast."""
    points = vectors(sphere(nside=16).levels[0])
    random = np.random.default_rng(2)
    longitude = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
    latitude = np.degrees(np.arcsin(points[:, 2]))
    wall = abs(longitude) > 5
    waves = [np.sin(k * points @ random.normal(size=3)) / math.sqrt(k) for k in (2, 5, 11, 17)]
    parts = {
        "half": points[:, 2] > 0,
        "wall": wall,
        "strait": wall | (abs(latitude) < 6),
        "islands": random.random(len(points)) > 0.05,
        "rough": sum(waves) > 0,
    }
    return parts[name]


@cache
def ocean(name: str) -> Pyramid:
    spec = GraphSpec("s2", nside=16, weights="voronoi", levels=1, mask=mask(name))
    return build(spec, folder() / "fields.zarr", device="cpu").open()


@pytest.mark.parametrize("name", MASKS)
def test_every_point_has_the_deviation_that_was_asked_for(name: str) -> None:
    """Without it coasts have twice the variance, and more."""
    graph = ocean(name).levels[0]
    field = _Field(graph, MATERN, 1e-3, "")
    exact = np.diag(covariance(graph, field))
    assert exact.max() > 1.6
    found = field.variance().numpy()
    error = found / exact - 1
    assert abs(error).max() < 0.03
    assert np.sqrt((error**2).mean()) < 0.01
    fields = random_field(ocean(name), MATERN, 400, std=2.0)[:, 0]
    share = fields.square().mean(0).numpy() / 4 / (exact / found)
    assert share.mean() == pytest.approx(1, abs=0.02)
    assert share.std() < 0.1  # of 400 draws .071


def test_a_field_goes_around_a_wall_or_through_it() -> None:
    masked, whole = ocean("wall").levels[0], sphere(nside=16).levels[0]
    around = covariance(masked, _Field(masked, MATERN, 1e-5, ""))
    around /= np.sqrt(np.outer(np.diag(around), np.diag(around)))
    inside = mask("wall")
    through = covariance(whole, _Field(whole, MATERN, 1e-5, ""))[np.ix_(inside, inside)]
    points = vectors(masked)
    near = (abs(points[:, 1]) < 0.2) & (points[:, 0] > 0) & (abs(points[:, 2]) < 0.6)
    east, west = near & (points[:, 1] > 0), near & (points[:, 1] < 0)
    assert abs(around[np.ix_(east, west)]).max() < 0.005
    assert through[np.ix_(east, west)].max() > 0.2
    field = random_field(sphere(nside=16), MATERN, 2)
    restricted = Lift(masked)(field.float())
    assert torch.equal(restricted, field.float()[..., torch.from_numpy(inside)])


def test_draws_depend_on_seed_and_number_alone() -> None:
    pyramid = sphere(subdivisions=3)
    every = random_field(pyramid, MATERN, 5, seed=7)
    assert every.shape == (5, 1, 642)
    assert every.dtype == torch.float64
    for number in range(5):
        alone = random_field(pyramid, MATERN, first=number, seed=7)
        assert (alone - every[number : number + 1]).abs().max() < 1e-13
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        assert (random_field(pyramid, MATERN, 5, seed=7) - every).abs().max() < 1e-13
    finally:
        torch.set_num_threads(threads)
    assert (random_field(pyramid, MATERN, 5, seed=8) - every).abs().max() > 1
    white = drawn._white(100_000, 3, 4)
    assert abs(float(white.mean())) < 0.02
    assert float(white.std()) == pytest.approx(1, abs=0.01)
    assert float((white**4).mean()) == pytest.approx(3, abs=0.1)


def test_noise_may_be_given_and_is_differentiated() -> None:
    pyramid = sphere(subdivisions=1)
    noise = torch.randn(2, 1, 42, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda z: random_field(pyramid, Matern(1.5), noise=z, std=1.0), noise
    )
    own = torch.stack([drawn._white(42, 0, number) for number in range(2)])[:, None]
    given = random_field(pyramid, Matern(1.5), noise=own)
    assert torch.equal(given, random_field(pyramid, Matern(1.5), 2))
    assert random_field(pyramid, Matern(1.5), noise=own.float()).dtype == torch.float32


FLAT: dict[str, tuple[dict[str, Any], Any]] = {
    "plane": ({"manifold": "r2", "size": 48, "weights": "selling"}, Matern(0.2)),
    "plane, Gaussian": ({"manifold": "r2", "size": 32, "weights": "selling"}, Gaussian(0.12)),
    "space": ({"manifold": "r3", "size": 14, "weights": "selling"}, Gaussian(0.22)),
    "lines": (
        {"manifold": "se2", "size": 16, "orientations": 12, "weights": "selling", "xi": 0.3}
        | {"eps_squared": 0.5},
        Gaussian(0.22),
    ),
}


@pytest.mark.filterwarnings("ignore:.*does not carry")
@pytest.mark.parametrize("name", FLAT)
def test_families_have_variance_one_on_tori(name: str) -> None:
    fields, spectrum = FLAT[name]
    spec = GraphSpec(**fields, boundary="periodic", levels=1)
    graph = build(spec, folder() / "fields.zarr", device="cpu").open().levels[0]
    variance = _Field(graph, spectrum, 1e-4, "").variance()
    assert float(variance.mean()) == pytest.approx(1, abs=0.1)


def test_rows_of_the_matrix_have_norm_one() -> None:
    pyramid, spectrum = ocean("half"), Gaussian(0.15)
    matrix = noise_matrix(pyramid, spectrum)
    rows = matrix.to_dense().double().numpy()
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    graph = pyramid.levels[0]
    exact = covariance(graph, _Field(graph, spectrum, 1e-5, ""))
    exact /= np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert abs(rows @ rows.T - exact).max() < 0.02
    assert len(matrix.values()) < 150 * graph.num_vertices


def test_points_without_neighbors_are_zero() -> None:
    inside = np.zeros((12, 12), bool)
    inside[2:9, 2:9] = inside[11, 11] = True
    spec = GraphSpec("r2", mask=inside, weights="selling", levels=1)
    pyramid = build(spec, folder() / "fields.zarr", device="cpu").open()
    with pytest.warns(UserWarning, match="twice the variance at coasts"):
        fields = random_field(pyramid, Matern(0.3), 3)
    assert (fields[..., -1] == 0).all()
    assert (fields[..., :-1] != 0).all()
    assert noise_matrix(pyramid, Matern(0.3)).to_dense()[-1].abs().max() == 0
    whole = random_field(pyramid, Matern(0.3), 3, std=1.0)
    assert whole.isfinite().all()


def test_what_has_no_meaning_is_refused() -> None:
    def opened(manifold: str, **fields: Any) -> Pyramid:
        return build(GraphSpec(manifold, **fields), folder() / "fields.zarr", device="cpu").open()

    for pyramid, said in (
        (opened("s2", nside=4, levels=1), "has kernel weights: build it with `weights='voronoi'`"),
        (
            opened("s2", nside=4, weights="voronoi", laplacian="normalized", levels=1),
            "has a normalized Laplacian",
        ),
        (opened("so3", subdivisions=1, levels=1), "is on so3, not on s2"),
        (
            opened("se2", size=12, weights="selling", directional=0.1, levels=1),
            "has directional Laplacians: build it without",
        ),
        (
            opened("s2", points=300, weights="matched", neighbors=48),
            "eigenvalues stay off",
        ),
    ):
        refused(f"random_field takes a graph .*{said}", random_field, pyramid, MATERN)
        refused(f"noise_matrix takes a graph .*{said}", noise_matrix, pyramid, MATERN)
    sphere3 = sphere(subdivisions=3)
    refused("length must be positive", Matern, 0)
    refused("nu must be positive", Matern, 1, -1)
    refused("spectrum must be C_l", random_field, sphere3, [1.0, -1.0])
    refused("spectrum must be Matern", random_field, sphere3, "white", error=TypeError)
    refused("n must be at least 1|n must be in", random_field, sphere3, MATERN, 0)
    refused("random_field takes", random_field, sphere3, MATERN, noise=torch.zeros(1, 1, 5))
    refused("tolerance must be", noise_matrix, sphere3, MATERN, tolerance=1.0)
    plane = opened("r2", size=8, boundary="periodic", weights="selling", levels=1)
    refused("Matern or Gaussian off the sphere", random_field, plane, [1.0, 1.0])


def test_spectra_that_points_do_not_carry_are_told() -> None:
    pyramid = sphere(subdivisions=3)
    for spectrum in (Matern(0.1), Gaussian(0.1), np.ones(60)):
        with pytest.warns(UserWarning, match="does not carry"):
            random_field(pyramid, spectrum)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        random_field(pyramid, MATERN)
    short = torch.ones(10) / 100
    values = random_field(pyramid, short, 300, std=1.0)
    assert values.square().mean(0).std() < 0.12
