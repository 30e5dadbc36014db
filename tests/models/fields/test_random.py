"""Random fields: power by the exact formula, covariance by Legendre sums, variance at every point.

A field is linear in its noise: (V, V) unit noise gives the matrix A of u = A z, and A A^T is the
covariance of the draws, without drawing. E |a_lm|^2 = |m^1/2 A m^1/2 Y_lm|^2, with m the areas.
"""

import math
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from numpy.polynomial.legendre import legval
from refusing import refused
from scipy.special import sph_harm_y
from stores import folder

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import (
    Gaussian,
    Graph,
    Lift,
    Matern,
    Pyramid,
    noise_matrix,
    open_store,
    random_field,
)
from cheblienet_models.fields.spectra import Spectrum

RANGE = math.sqrt(8) / 8
MATERN = Matern(RANGE)
"""Of nu = 1 and kappa = 8."""
DEGREES = np.arange(20_000)


def matern(kappa: float) -> np.ndarray:
    """C_l of a Matern field of nu = 1 and variance 1."""
    power: np.ndarray = (1 + DEGREES * (DEGREES + 1) / kappa**2) ** -2.0
    return power / ((2 * DEGREES + 1) / (4 * math.pi) * power).sum()


POWER = matern(8)
LOW = np.arange(1, 25)
PEAKS = np.concatenate([[0.0], (1 + 0.8 * np.cos(2 * np.pi * LOW / 16)) / (LOW * (LOW + 1))])
PEAKS[0] = PEAKS[1]
SAMPLINGS: dict[str, dict[str, Any]] = {
    "healpix": {"nside": 16},
    "icosphere": {"subdivisions": 4},
    "octahedral": {"gaussian": "O24"},
    "regular": {"gaussian": "F20"},
}


@cache
def sphere(**fields: Any) -> Pyramid:
    """One level with Voronoi weights, built once."""
    spec = GraphSpec("s2", weights="voronoi", levels=1, **fields)
    return build(spec, folder() / "fields.zarr", device="cpu").open()


def vectors(graph: Graph) -> np.ndarray:
    beta, gamma = graph.coordinates.numpy().T
    return np.stack([np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma), np.cos(beta)], 1)


def power(pyramid: Pyramid, spectrum: Spectrum, degree: int) -> float:
    """The mean over orders of E |a_lm|^2."""
    graph = pyramid.levels[0]
    beta, gamma = graph.coordinates.numpy().T
    root = (4 * math.pi / graph.num_vertices * graph.area.double()).sqrt()
    waves = [sph_harm_y(degree, order, beta, gamma) for order in range(degree + 1)]
    real = [waves[0].real, *(part * math.sqrt(2) for w in waves[1:] for part in (w.real, w.imag))]
    noise = torch.from_numpy(np.array(real)[:, None]) * root
    fields = random_field(pyramid, spectrum, noise=noise, tolerance=1e-4) * root
    return float(fields.square().sum()) / (2 * degree + 1)


@pytest.mark.parametrize("name", ["healpix", "icosphere", "octahedral", "regular"])
def test_power_is_the_spectrum_s_up_to_the_degree_that_points_carry(name: str) -> None:
    pyramid = sphere(**SAMPLINGS[name])
    for degree, off in ((0, 0.001), (4, 0.002), (8, 0.002), (16, 0.01), (24, 0.05)):
        assert power(pyramid, MATERN, degree) / POWER[degree] == pytest.approx(1, abs=off)


@pytest.mark.parametrize("name", ["healpix", "icosphere", "octahedral"])
def test_an_array_has_the_power_of_each_of_its_degrees(name: str) -> None:
    pyramid = sphere(**SAMPLINGS[name])
    for degree in (2, 4, 8, 12, 16):
        assert power(pyramid, PEAKS, degree) / PEAKS[degree] == pytest.approx(1, abs=0.005)


UNEVEN: dict[str, dict[str, Any]] = {
    "octahedral": {"gaussian": "O16"},
    "random": {"points": 1200, "seed": 1},
}


def matrix(pyramid: Pyramid, spectrum: Spectrum, **options: Any) -> np.ndarray:
    """(V, V) A of u = A z."""
    parts = torch.eye(pyramid.levels[0].num_vertices, dtype=torch.float64)[:, None].split(500)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*twice the variance")
        rows = [random_field(pyramid, spectrum, noise=part, **options) for part in parts]
    columns: np.ndarray = torch.cat(rows)[:, 0].T.numpy()
    return columns


def covariance(pyramid: Pyramid, spectrum: Spectrum, **options: Any) -> np.ndarray:
    """(V, V) of the draws."""
    found = matrix(pyramid, spectrum, **options)
    return found @ found.T


def correlation(pyramid: Pyramid, spectrum: Spectrum) -> np.ndarray:
    """(V, V) of the draws."""
    found = covariance(pyramid, spectrum, tolerance=1e-5)
    return found / np.sqrt(np.outer(np.diag(found), np.diag(found)))


def legendre(graph: Graph, power: np.ndarray) -> np.ndarray:
    """(V, V) sum_l C_l (2 l + 1) / (4 pi) P_l, by a table of angles."""
    angles = np.linspace(0, np.pi, 4001)
    terms = (2 * DEGREES + 1) / (4 * np.pi) * power
    table = legval(np.cos(angles), terms[:400])
    points = vectors(graph)
    return np.interp(np.arccos(np.clip(points @ points.T, -1, 1)), angles, table)


@pytest.mark.parametrize("name", UNEVEN)
def test_covariance_is_the_legendre_sum_in_this_order_of_factors_alone(name: str) -> None:
    pyramid = sphere(**UNEVEN[name])
    graph = pyramid.levels[0]
    right = matrix(pyramid, Matern(2 * RANGE), tolerance=1e-4)
    assert abs(right @ right.T - legendre(graph, matern(4))).max() < 0.09
    root = graph.area.double().sqrt().numpy()
    wrong = right * root[:, None] / root  # f(Delta) m^-1/2
    assert abs(np.diag(wrong @ wrong.T) - 1).max() > 0.25


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
    pyramid = ocean(name)
    assert np.diag(covariance(pyramid, MATERN)).max() > 1.6
    off = np.diag(covariance(pyramid, MATERN, std=2)) / 4 - 1
    assert abs(off).max() < 0.03
    assert np.sqrt((off**2).mean()) < 0.01
    share = random_field(pyramid, MATERN, 400, std=2)[:, 0].square().mean(0) / 4
    assert float(share.mean()) == pytest.approx(1, abs=0.02)
    assert float(share.std()) < 0.1  # of 400 draws .071


def test_a_field_goes_around_a_wall_or_through_it() -> None:
    masked, inside = ocean("wall").levels[0], mask("wall")
    around = correlation(ocean("wall"), MATERN)
    through = correlation(sphere(nside=16), MATERN)[np.ix_(inside, inside)]
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


def test_noise_is_white_and_stays_the_same() -> None:
    """A spectrum that is flat as far as the points carry it leaves the noise."""
    pyramid = sphere(nside=16)
    with pytest.warns(UserWarning, match="does not carry"):
        fields = random_field(pyramid, np.ones(200), 30, seed=3)
    white = fields[:, 0] * math.sqrt(4 * math.pi / 3072)
    expected = torch.tensor([-1.3463139, -0.4346952, -0.9732724], dtype=torch.float64)
    torch.testing.assert_close(white[5, :3], expected, rtol=0, atol=1e-6)
    assert abs(float(white.mean())) < 0.02
    assert float(white.std()) == pytest.approx(1, abs=0.01)
    assert float((white**4).mean()) == pytest.approx(3, abs=0.1)


def test_noise_may_be_given_and_is_differentiated() -> None:
    pyramid = sphere(subdivisions=1)
    noise = torch.randn(2, 1, 42, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda z: random_field(pyramid, Matern(1.5), noise=z, std=1.0), noise
    )
    assert random_field(pyramid, Matern(1.5), noise=noise.float()).dtype == torch.float32


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
    pyramid = build(spec, folder() / "fields.zarr", device="cpu").open()
    variance = np.diag(covariance(pyramid, spectrum))
    assert variance.mean() == pytest.approx(1, abs=0.1)
    assert np.diag(covariance(pyramid, spectrum, std=1)) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("manifold", ["s2", "r2"])
def test_given_points_of_a_store_that_is_read(manifold: str) -> None:
    """Their specification knows them by a digest alone."""
    random = np.random.default_rng(3)
    places = random.uniform((10, 20), (70, 110), (300, 2))
    spec = GraphSpec(manifold, coordinates=places, weights="voronoi", levels=1)
    store = folder() / "fields.zarr"
    build(spec, store, name="given", device="cpu")
    pyramid = open_store(store)["given"]
    spectrum = Matern(0.8 if manifold == "s2" else 0.5)
    off = np.diag(covariance(pyramid, spectrum, std=1)) - 1
    assert abs(off).max() < 0.04
    assert np.sqrt((off**2).mean()) < 0.01


def test_rows_of_the_matrix_have_norm_one() -> None:
    pyramid, spectrum = ocean("half"), Gaussian(0.15)
    made = noise_matrix(pyramid, spectrum)
    rows = made.to_dense().double().numpy()
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert abs(rows @ rows.T - correlation(pyramid, spectrum)).max() < 0.02
    assert len(made.values()) < 150 * len(rows)


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
            "has a normalized Laplacian: build it with `laplacian='combinatorial'`",
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
    refused("length must be at most 3.142, radians", random_field, sphere3, Matern(20))
    for power in ([1.0, -1.0], [0.0, 0.0], [1.0, math.nan], [1.0], np.ones((2, 2))):
        refused("spectrum must be C_l", random_field, sphere3, power)
    for std in (0, -1.0, math.nan, math.inf):
        refused("std must be positive", random_field, sphere3, MATERN, std=std)
    noise = torch.zeros(2, 1, 642)
    refused("noise has 2", random_field, sphere3, MATERN, 3, noise=noise)
    refused("takes finite values", random_field, sphere3, MATERN, noise=noise + math.nan)
    refused("spectrum must be Matern", random_field, sphere3, "white", error=TypeError)
    refused("n must be at least 1|n must be in", random_field, sphere3, MATERN, 0)
    refused("random_field takes", random_field, sphere3, MATERN, noise=torch.zeros(1, 1, 5))
    refused("tolerance must be", noise_matrix, sphere3, MATERN, tolerance=1.0)
    plane = opened("r2", size=8, boundary="periodic", weights="selling", levels=1)
    refused("Matern or Gaussian off the sphere", random_field, plane, [1.0, 1.0])
    refused(
        "length must be at most 1, where the domain's width is 1", random_field, plane, Matern(8)
    )


def test_a_region_has_coasts() -> None:
    spec = GraphSpec("s2", subdivisions=3, region=(-40, 40, 0, 90), levels=1)
    pyramid = build(spec, folder() / "fields.zarr", device="cpu").open()
    with pytest.warns(UserWarning, match="twice the variance at coasts"):
        random_field(pyramid, MATERN)


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
