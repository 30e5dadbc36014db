"""Images to points of the sphere and back: against harmonics, loops over pixels, integrals."""

import copy
import math
import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import sph_harm_y

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import (
    LatLonToVertices,
    Lift,
    Pyramid,
    VerticesToLatLon,
    regular_grid,
)
from cheblienet_models import open_store as open_graphs
from cheblienet_models.resampling.hull import facet_weights
from cheblienet_models.symmetries import symmetries

SPECS = {
    "icosahedral": GraphSpec("s2", subdivisions=5, levels=2),
    "healpix": GraphSpec("s2", nside=16, levels=1),
    "equiangular": GraphSpec("s2", bandlimit=24, levels=1),
    "random": GraphSpec("s2", points=2000),
    "so3": GraphSpec("so3", subdivisions=2, orientations=3, levels=1),
    "few": GraphSpec("s2", points=3),
    "plane": GraphSpec("se2", 8, orientations=2, levels=1),
}
METHODS = ("bilinear", "conservative", "nearest")
EVERY_SAMPLING = pytest.mark.parametrize(
    "name", ["icosahedral", "healpix", "equiangular", "random", "so3"]
)
EVERY_METHOD = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module")
def spheres(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pyramid]:
    path = tmp_path_factory.mktemp("resampling") / "graphs.zarr"
    for name, spec in SPECS.items():
        build(spec, path, name=name)
    store = open_graphs(path)
    return {name: store[name] for name in SPECS}


def angles(pyramid: Pyramid, level: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(points,) beta and gamma."""
    graph = pyramid.levels[level]
    beta, gamma = graph.coordinates[: graph.num_vertices // graph.orientations, -2:].numpy().T
    return beta, gamma


def harmonics(beta: np.ndarray, gamma: np.ndarray, degree: int = 8) -> torch.Tensor:
    """(1, (degree + 1)^2, ...) real spherical harmonics, divided by their largest values."""
    everywhere = np.linspace(0, math.pi, 2001)
    found = []
    for l in range(degree + 1):  # noqa: E741
        for m in range(l + 1):
            value = sph_harm_y(l, m, beta, gamma)
            value /= np.abs(sph_harm_y(l, m, everywhere, 0.0)).max()
            found += [value.real, value.imag] if m else [value.real]
    return torch.from_numpy(np.stack(found))[None]


def on_grid(latitudes: torch.Tensor, longitudes: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """(lat, lon) beta and gamma of the pixels."""
    beta, gamma = np.meshgrid(
        np.radians(90 - latitudes.numpy()), np.radians(longitudes.numpy()), indexing="ij"
    )
    return beta, gamma


def integral(image: torch.Tensor) -> torch.Tensor:
    """Means over the sphere of images of a regular grid, (B, C, lat, lon) -> (B, C)."""
    edges = torch.linspace(-90, 90, image.shape[2] + 1, dtype=torch.float64).deg2rad().sin()
    return (image.mean(3) * edges.diff() / 2).sum(2)


def interpolated(image: np.ndarray, lat: list, lon: list, latitude: float, longitude: float):
    """Bilinear interpolation written out: image (lat, lon), latitudes descending."""
    height, width = image.shape
    step = 360 / width
    ring = np.concatenate([[image[0].mean()] * width, *image, [image[-1].mean()] * width])
    ring = ring.reshape(height + 2, width)
    rows = [90.0, *lat, -90.0]
    above = max(i for i in range(height + 1) if rows[i] >= latitude)
    down = (rows[above] - latitude) / (rows[above] - rows[above + 1])
    place = ((longitude - lon[0]) % 360) / step
    left = math.floor(place)
    across = place - left
    left, right = left % width, (left + 1) % width
    upper = (1 - across) * ring[above, left] + across * ring[above, right]
    lower = (1 - across) * ring[above + 1, left] + across * ring[above + 1, right]
    return (1 - down) * upper + down * lower


def test_regular_grids_are_centres_of_pixels() -> None:
    latitudes, longitudes = regular_grid(4, 8, west=-180)
    assert latitudes.tolist() == [67.5, 22.5, -22.5, -67.5]
    assert longitudes.tolist() == [-157.5, -112.5, -67.5, -22.5, 22.5, 67.5, 112.5, 157.5]
    assert regular_grid(4, 8, west=0)[1][0] == 22.5
    with pytest.raises(ValueError, match=r"at least 2 rows and 2 columns. Got 1 x 8"):
        regular_grid(1, 8, west=0)
    with pytest.raises(ValueError, match=r"west must be in \[-360, 360\]"):
        regular_grid(4, 8, west=math.nan)


@EVERY_SAMPLING
@EVERY_METHOD
def test_constants_stay(spheres: dict[str, Pyramid], name: str, method: str) -> None:
    pyramid, grid = spheres[name], regular_grid(110, 220, west=0)
    up = LatLonToVertices(pyramid, *grid, method)
    down = VerticesToLatLon(pyramid, *grid, method)
    points = len(angles(pyramid)[0])
    on_points = up(torch.full((2, 3, 110, 220), 7.0))
    assert on_points.shape == (2, 3, points)
    assert torch.allclose(on_points, torch.tensor(7.0), rtol=1e-6, atol=0)
    image = down(torch.full((2, 3, points), 7.0))
    assert image.shape == (2, 3, 110, 220)
    assert torch.allclose(image, torch.tensor(7.0), rtol=1e-6, atol=0)


def test_harmonics_survive_round_trips(spheres: dict[str, Pyramid]) -> None:
    pyramid, grid = spheres["icosahedral"], regular_grid(180, 360, west=-180)
    up, down = LatLonToVertices(pyramid, *grid), VerticesToLatLon(pyramid, *grid)
    on_points, image = harmonics(*angles(pyramid)), harmonics(*on_grid(*grid))
    assert (up(image) - on_points).abs().max() < 0.004
    assert (down(on_points) - image).abs().max() < 0.02
    assert (up(down(on_points)) - on_points).abs().max() < 0.02
    assert (down(up(image)) - image).abs().max() < 0.02


# Degree 4: the same error, h^2 l^2 / 8, at half of the resolution. Random points leave wide gaps.
@pytest.mark.parametrize(
    ("name", "bound"), [("healpix", 0.02), ("equiangular", 0.04), ("random", 0.12)]
)
def test_harmonics_survive_on_other_samplings(
    spheres: dict[str, Pyramid], name: str, bound: float
) -> None:
    pyramid, grid = spheres[name], regular_grid(90, 180, west=0)
    up, down = LatLonToVertices(pyramid, *grid), VerticesToLatLon(pyramid, *grid)
    on_points, image = harmonics(*angles(pyramid), 4), harmonics(*on_grid(*grid), 4)
    assert (up(down(on_points)) - on_points).abs().max() < bound
    assert (down(up(image)) - image).abs().max() < bound


@pytest.mark.parametrize("name", ["icosahedral", "healpix", "equiangular", "random"])
@pytest.mark.parametrize("width", [240, 360])
def test_conservative_averages_keep_integrals(
    spheres: dict[str, Pyramid], name: str, width: int
) -> None:
    pyramid, grid = spheres[name], regular_grid(width // 2, width, west=-180)
    area = pyramid.levels[0].area.double()
    up = LatLonToVertices(pyramid, *grid, "conservative")
    image = 1.5 + harmonics(*on_grid(*grid), 4)
    assert torch.allclose((up(image) * area).mean(2), integral(image), rtol=1e-3, atol=0)
    down = VerticesToLatLon(pyramid, *grid, "conservative")
    on_points = 1.5 + harmonics(*angles(pyramid), 4)
    kept = integral(down(on_points))
    assert torch.allclose(kept, (on_points * area).mean(2), rtol=1e-3, atol=0)


def test_coarsening_to_images_keeps_integrals(spheres: dict[str, Pyramid]) -> None:
    pyramid, grid = spheres["icosahedral"], regular_grid(12, 24, west=0)
    down = VerticesToLatLon(pyramid, *grid, "conservative")
    torch.manual_seed(0)
    rough = 1 + torch.rand(1, 5, 10242)
    kept = (rough * pyramid.levels[0].area).double().mean(2)
    assert torch.allclose(integral(down(rough).double()), kept, rtol=1e-3, atol=0)


def test_conservative_averages_are_of_the_pixels_nearest_to_a_point(
    spheres: dict[str, Pyramid],
) -> None:
    """Against all pairs of points and pixels, on a grid fine enough that parts do not matter."""
    pyramid, grid = spheres["so3"], regular_grid(180, 360, west=0)
    beta, gamma = on_grid(*grid)
    torch.manual_seed(0)
    image = torch.rand(180, 360, dtype=torch.float64)
    pixels = np.stack([np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma), np.cos(beta)])
    b, g = angles(pyramid)
    points = np.stack([np.sin(b) * np.cos(g), np.sin(b) * np.sin(g), np.cos(b)])
    nearest = (points.T @ pixels.reshape(3, -1)).argmax(0)
    weight = np.sin(beta).ravel()
    total = np.bincount(nearest, weight, len(b))
    expected = np.bincount(nearest, weight * image.numpy().ravel(), len(b)) / total
    found = LatLonToVertices(pyramid, *grid, "conservative")(image[None, None])[0, 0].numpy()
    assert np.abs(found - expected).max() < 0.01
    labels = VerticesToLatLon(pyramid, *grid, "nearest")(torch.arange(len(b))[None, None])
    assert (labels.numpy().ravel() == nearest).mean() > 0.999


@settings(max_examples=10, deadline=None)
@given(
    height=st.integers(2, 12),
    width=st.integers(2, 12),
    west=st.floats(-360, 360),
    seed=st.integers(0, 99),
)
def test_bilinear_agrees_with_a_loop(
    spheres: dict[str, Pyramid], height: int, width: int, west: float, seed: int
) -> None:
    pyramid, (lat, lon) = spheres["so3"], regular_grid(height, width, west=west)
    image = torch.rand(height, width, generator=torch.Generator().manual_seed(seed)).double()
    found = LatLonToVertices(pyramid, lat, lon).double()(image[None, None])[0, 0]
    assert found.shape == (162,)
    for point, (beta, gamma) in enumerate(zip(*angles(pyramid), strict=True)):
        place = 90 - math.degrees(beta), math.degrees(gamma)
        expected = interpolated(image.numpy(), lat.tolist(), lon.tolist(), *place)
        assert found[point] == pytest.approx(expected, abs=1e-6)


def test_interpolation_to_images_is_barycentric(spheres: dict[str, Pyramid]) -> None:
    """Weights are from 0, of the corners of one facet of the hull, and place the pixel."""
    from scipy.spatial import ConvexHull

    for name, corners in (("healpix", 4), ("equiangular", 4), ("random", 3)):
        pyramid, grid = spheres[name], regular_grid(20, 40, west=0)
        down = VerticesToLatLon(pyramid, *grid)
        beta, gamma = angles(pyramid)
        points = np.stack([np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma)])
        points = np.concatenate([points, np.cos(beta)[None]])
        chords = down.double()(torch.from_numpy(points)[None])[0].flatten(1).numpy()
        b, g = (angle.ravel() for angle in on_grid(*grid))
        pixels = np.stack([np.sin(b) * np.cos(g), np.sin(b) * np.sin(g), np.cos(b)])
        radius = np.linalg.norm(chords, axis=0)
        assert np.abs(chords / radius - pixels).max() < 1e-6
        assert down.values.min() >= 0
        assert down.row_pointers.diff().max() == corners
        # The hull's boundary is where the first facet's plane is met.
        facets = ConvexHull(points.T).equations
        height = facets[:, :3] @ pixels
        with np.errstate(divide="ignore"):
            reached = np.where(height > 0, -facets[:, 3:] / height, np.inf)
        assert np.abs(radius - reached.min(0)).max() < 1e-6
        plane = facets[reached.argmin(0)].repeat(down.row_pointers.diff(), 0)
        away = (plane[:, :3] * points.T[down.columns]).sum(1) + plane[:, 3]
        # A pixel on an edge may be on the facet beyond it, whose other corners count nothing.
        assert np.abs(away[down.values > 1e-6]).max() < 1e-6


MIRRORED = {  # what a symmetry of the sphere does to images of a whole number of quarter turns
    "reflection": lambda image: image.flip(3),
    "half_turn_x": lambda image: image.flip(2, 3),
    "half_turn_y": lambda image: image.flip(2, 3).roll(image.shape[3] // 2, 3),
    "half_turn_z": lambda image: image.roll(image.shape[3] // 2, 3),
    "quarter_turn_z": lambda image: image.roll(image.shape[3] // 4, 3),
}


@pytest.mark.parametrize("method", ["bilinear", "conservative"])
@pytest.mark.parametrize(
    "spec",
    [
        GraphSpec("s2", bandlimit=16, levels=1),
        GraphSpec("s2", bandlimit=3, levels=1),
        GraphSpec("s2", nside=8, levels=1),
        GraphSpec("s2", nside=1, levels=1),
        GraphSpec("s2", subdivisions=2, levels=1),
    ],
    ids=["equiangular-16", "equiangular-3", "healpix-8", "healpix-1", "icosahedral"],
)
def test_resampling_commutes_with_symmetries(tmp_path: Path, spec: GraphSpec, method: str) -> None:
    """The facets of a lattice's hull are no triangles: no diagonal may be preferred."""
    build(spec, tmp_path / "graphs.zarr", name="g")
    pyramid, grid = open_graphs(tmp_path / "graphs.zarr")["g"], regular_grid(64, 128, west=0)
    up = LatLonToVertices(pyramid, *grid, method)
    down = VerticesToLatLon(pyramid, *grid, method)
    motions = {n: m for n, m in symmetries(pyramid, [0]).items() if n in MIRRORED}
    assert len(motions) >= 4
    on_points, image = harmonics(*angles(pyramid)), harmonics(*on_grid(*grid))
    for name, motion in motions.items():
        vertices = motion[0].vertices
        moved = torch.empty_like(on_points)
        moved[..., vertices] = on_points
        assert (down(moved) - MIRRORED[name](down(on_points))).abs().max() < 1e-6
        taken = torch.empty_like(on_points)
        taken[..., vertices] = up(image)
        assert (up(MIRRORED[name](image)) - taken).abs().max() < 1e-6


def test_fans_of_a_polygon_are_a_mean(tmp_path: Path) -> None:
    """On the rectangle between two rows and columns both diagonals count half."""
    build(GraphSpec("s2", bandlimit=3, levels=1), tmp_path / "graphs.zarr", name="g")
    pyramid = open_graphs(tmp_path / "graphs.zarr")["g"]
    beta, gamma = angles(pyramid)
    points = np.stack([np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma), np.cos(beta)])
    corners = np.array([6, 7, 13, 12])  # rows 1 and 2, columns 0 and 1, around
    torch.manual_seed(0)
    for share in torch.rand(20, 2).tolist():
        corner = points[:, corners]
        west, east = corner[:, [0, 3]], corner[:, [1, 2]]
        side = west + share[0] * (east - west)
        place = side[:, 0] + share[1] * (side[:, 1] - side[:, 0])
        weights = np.zeros(4)
        for triangle in ((0, 1, 2), (0, 2, 3), (1, 2, 3), (0, 1, 3)):
            found = np.linalg.solve(corner[:, triangle], place)
            if found.min() >= 0:
                weights[list(triangle)] += found / 2
        _, point, weight = facet_weights(points.T, place[None] / np.linalg.norm(place))
        expected = np.zeros(36)
        expected[corners] = weights
        assert np.allclose(np.bincount(point, weight, 36), expected, atol=1e-7)


@EVERY_METHOD
def test_order_of_latitudes_and_start_of_longitudes_do_not_matter(
    spheres: dict[str, Pyramid], method: str
) -> None:
    pyramid = spheres["so3"]
    lat, lon = regular_grid(18, 36, west=0)
    image = torch.rand(1, 2, 18, 36)
    up = LatLonToVertices(pyramid, lat, lon, method)
    flipped = LatLonToVertices(pyramid, lat.flip(0), lon, method)
    assert torch.allclose(up(image), flipped(image.flip(2)), atol=1e-6)
    shifted = LatLonToVertices(pyramid, lat, regular_grid(18, 36, west=-180)[1], method)
    assert torch.allclose(up(image), shifted(image.roll(18, 3)), atol=1e-6)
    x = torch.rand(1, 2, 162)
    down = VerticesToLatLon(pyramid, lat, lon, method)
    flipped = VerticesToLatLon(pyramid, lat.flip(0), lon, method)
    assert torch.allclose(down(x), flipped(x).flip(2), atol=1e-6)


@EVERY_METHOD
def test_north_is_up_and_east_is_gamma(spheres: dict[str, Pyramid], method: str) -> None:
    pyramid, (lat, lon) = spheres["icosahedral"], regular_grid(90, 180, west=-180)
    beta, gamma = angles(pyramid)
    image = torch.stack(
        [
            lat[:, None].expand(90, 180),
            lon.deg2rad().cos().expand(90, 180),
            lon.deg2rad().sin().expand(90, 180),
        ]
    )[None]
    north, cosine, sine = LatLonToVertices(pyramid, lat, lon, method)(image)[0].numpy()
    near_equator = np.abs(beta - math.pi / 2) < 1
    assert np.abs(north - (90 - np.degrees(beta)))[near_equator].max() < 1.5
    assert np.abs(cosine - np.cos(gamma))[near_equator].max() < 0.05
    assert np.abs(sine - np.sin(gamma))[near_equator].max() < 0.05
    axes = torch.from_numpy(np.stack([np.cos(beta), np.sin(beta) * np.sin(gamma)]))[None]
    z, y = VerticesToLatLon(pyramid, lat, lon, method)(axes)[0]
    assert (z - lat.deg2rad().sin()[:, None]).abs().max() < 0.04
    assert (y - lat.deg2rad().cos()[:, None] * lon.deg2rad().sin()).abs().max() < 0.04


def test_poles_and_seam(spheres: dict[str, Pyramid]) -> None:
    """Points at the poles take the last row's mean; those about the seam both sides' values."""
    pyramid = spheres["icosahedral"]
    lat, lon = regular_grid(10, 20, west=-180)
    up = LatLonToVertices(pyramid, lat, lon).double()
    torch.manual_seed(0)
    image = torch.rand(1, 1, 10, 20, dtype=torch.float64)
    beta, gamma = angles(pyramid)
    found = up(image)[0, 0].numpy()
    nearly = np.flatnonzero(beta < 0.03)
    assert len(nearly) > 0
    assert np.abs(found[nearly] - image[0, 0, 0].mean().item()).max() < 0.03 / math.radians(9)
    at_seam = np.flatnonzero((np.abs(gamma) > math.pi - 0.002) & (np.abs(beta - 1.5) < 1))
    assert len(at_seam) > 5
    between = LatLonToVertices(pyramid, lat, lon + 18).double()(image.roll(-1, 3))[0, 0].numpy()
    assert np.abs(found - between).max() < 1e-6
    both = (image[0, 0, :, 0] + image[0, 0, :, -1]).numpy()[::-1] / 2
    expected = np.interp(90 - np.degrees(beta[at_seam]), lat.numpy()[::-1], both)
    assert np.abs(found[at_seam] - expected).max() < 0.01


def test_rows_on_the_poles_and_uneven_latitudes(spheres: dict[str, Pyramid]) -> None:
    pyramid = spheres["icosahedral"]
    lon = np.arange(0, 360, 2.0)
    gaussian = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(90)[0]))
    for lat in (np.linspace(90, -90, 91), gaussian):
        image = harmonics(*on_grid(torch.from_numpy(lat), torch.from_numpy(lon)), 4)
        expected = harmonics(*angles(pyramid), 4)
        for method, bound in (("bilinear", 0.005), ("conservative", 0.03)):
            found = LatLonToVertices(pyramid, lat, lon, method)(image)
            assert (found - expected).abs().max() < bound
        down = VerticesToLatLon(pyramid, lat, lon)
        assert (down(expected) - image).abs().max() < 0.005


@EVERY_METHOD
def test_gradients(spheres: dict[str, Pyramid], method: str) -> None:
    pyramid, grid = spheres["so3"], regular_grid(10, 20, west=0)
    up = LatLonToVertices(pyramid, *grid, method).double()
    image = torch.rand(1, 1, 10, 20, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(up, image)
    down = VerticesToLatLon(pyramid, *grid, method).double()
    x = torch.rand(2, 1, 162, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(down, x)
    if method == "bilinear":
        assert torch.autograd.gradgradcheck(lambda x: down(x) ** 2, x)


def test_labels_keep_their_dtype(spheres: dict[str, Pyramid]) -> None:
    pyramid, grid = spheres["so3"], regular_grid(90, 180, west=0)
    up = LatLonToVertices(pyramid, *grid, "nearest")
    down = VerticesToLatLon(pyramid, *grid, "nearest")
    for dtype in (torch.int64, torch.uint8, torch.bool, torch.float16):
        labels = torch.randint(0, 2, (1, 1, 162)).to(dtype)
        assert down(labels).dtype == dtype
        assert torch.equal(up(down(labels)), labels)


def test_other_levels_and_orientations(spheres: dict[str, Pyramid]) -> None:
    grid = regular_grid(20, 40, west=0)
    coarse = LatLonToVertices(spheres["icosahedral"], *grid, level=1)
    assert coarse(torch.ones(1, 1, 20, 40)).shape == (1, 1, 2562)
    graph = spheres["so3"].levels[0]
    lifted = Lift(graph)(LatLonToVertices(spheres["so3"], *grid)(torch.ones(1, 1, 20, 40)))
    assert lifted.shape == (1, 1, graph.num_vertices)


def test_matrices_are_shared_and_stay_out_of_checkpoints(spheres: dict[str, Pyramid]) -> None:
    grid = regular_grid(20, 40, west=0)
    first, second = (LatLonToVertices(spheres["so3"], *grid) for _ in range(2))
    assert first.values.data_ptr() == second.values.data_ptr()
    other = LatLonToVertices(spheres["so3"], *regular_grid(20, 40, west=-180))
    assert not torch.equal(other.columns, first.columns)
    assert first.state_dict() == {}
    assert first.half().values.dtype == torch.float32
    assert first(torch.ones(1, 1, 20, 40).half()).dtype == torch.float32
    assert first.double()(torch.ones(1, 1, 20, 40)).dtype == torch.float64
    assert second.values.dtype == torch.float32
    image = torch.rand(2, 2, 20, 40)
    for again in (copy.deepcopy(second), pickle.loads(pickle.dumps(second))):
        assert torch.equal(again(image), second(image))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(second(image), second(image.clone()))
    assert second(image[:0]).shape == (0, 2, 162)
    assert torch.equal(second.latitudes, grid[0])
    assert torch.equal(second.longitudes, grid[1])
    assert "20 x 40, method='bilinear'" in repr(second)


def stand_in(values: np.ndarray, **coords: np.ndarray) -> SimpleNamespace:
    """What is used of a DataArray whose dimensions are the keywords, in order."""
    held = {name: SimpleNamespace(values=c) for name, c in coords.items() if c is not None}
    return SimpleNamespace(dims=tuple(coords), coords=held, values=values)


def test_data_arrays(spheres: dict[str, Pyramid]) -> None:
    pyramid, (lat, lon) = spheres["so3"], (grid.numpy() for grid in regular_grid(6, 12, west=0))
    values = np.random.default_rng(0).normal(size=(12, 4, 6)).astype(">f4")
    values.setflags(write=False)
    array = stand_in(values, longitude=lon, time=None, lat=lat)
    up = LatLonToVertices.from_dataarray(pyramid, array)
    image = torch.from_numpy(values.astype("f4").transpose(1, 2, 0).copy())[:, None]
    found = up(array)
    assert found.shape == (4, 162)
    assert found.dtype == torch.float32
    assert torch.allclose(found, up(image)[:, 0])
    flat = stand_in(values[:, 0], longitude=lon, lat=lat)
    assert torch.allclose(up(flat), found[0])
    assert up(stand_in(values[:, :0], lon=lon, time=None, lat=lat)).shape == (0, 162)
    assert VerticesToLatLon.from_dataarray(pyramid, array).shape == (6, 12)
    with pytest.raises(
        ValueError, match=r"latitudes must be the module's, 6 from 75 to -75. Got 6"
    ):
        up(stand_in(values, lon=lon, time=None, lat=lat[::-1]))
    with pytest.raises(ValueError, match="longitudes must be the module's"):
        up(stand_in(values, lon=lon - 180, time=None, lat=lat))
    with pytest.raises(ValueError, match="one dimension named lat or latitude"):
        up(stand_in(values, lon=lon, time=None, y=lat))
    with pytest.raises(ValueError, match="one dimension named lon or longitude"):
        up(stand_in(values, lon=lon, longitude=lon, lat=lat))
    with pytest.raises(ValueError, match="dimension 'lat' must have coordinates"):
        up(stand_in(values, lon=lon, time=None, lat=None))
    with pytest.raises(ValueError, match=r"or xarray.DataArrays .* Got ndarray"):
        up(values)


def test_xarray(spheres: dict[str, Pyramid]) -> None:
    xarray = pytest.importorskip("xarray")
    lat, lon = (grid.numpy() for grid in regular_grid(6, 12, west=0))
    values = np.random.default_rng(0).normal(size=(3, 6, 12))
    array = xarray.DataArray(values, {"lat": lat, "lon": lon}, ("time", "lat", "lon"))
    up = LatLonToVertices.from_dataarray(spheres["so3"], array)
    expected = up(torch.from_numpy(values)[:, None])[:, 0]
    assert torch.equal(up(array), expected)
    assert torch.equal(up(array.transpose("lon", "time", "lat")), expected)
    dataset = xarray.Dataset({"wind": array, "rain\n": array})
    for take in (up, lambda field: LatLonToVertices.from_dataarray(spheres["so3"], field)):
        message = r"Got a Dataset with the variables 'wind', 'rain\\n': give .* dataset\['wind'\],"
        with pytest.raises(ValueError, match=message):
            take(dataset)
        with pytest.raises(ValueError, match="with the variables none"):
            take(xarray.Dataset())
        many = xarray.Dataset({f"{n:099}": array for n in range(99)})
        with pytest.raises(ValueError, match=r", \.\.\.: give one") as caught:
            take(many)
        assert len(str(caught.value)) < 600
    assert torch.equal(up(dataset["wind"]), expected)
    assert torch.equal(up(dataset.to_dataarray()), torch.stack([expected, expected]))


LAT, LON = regular_grid(6, 12, west=0)


@pytest.mark.parametrize(
    ("latitudes", "longitudes", "message"),
    [
        (LAT.deg2rad(), LON, "must cover the sphere, in degrees"),
        (LAT[2:], LON, "must cover the sphere"),
        (LAT[[0, 2, 1, 3, 4, 5]], LON, "must descend .north up. or ascend"),
        (LAT[[0, 1, 1, 3, 4, 5]], LON, "must descend .north up. or ascend"),
        (LAT + 30, LON, r"must be in \[-90, 90\] degrees. Got 6 from 105 to -45"),
        (LAT[None], LON, r"latitudes must be at least 2 finite numbers.*shape \(1, 6\)"),
        (LAT * math.nan, LON, "latitudes must be at least 2 finite numbers.* 6 of them not finite"),
        (LAT, LON[:-1], "steps of 360/11 degrees"),
        (LAT, LON.flip(0), "must ascend in steps of 360/12 degrees"),
        (LAT, torch.linspace(0, 360, 13), "the first not repeated as the last"),
        (LAT, LON[:1], "longitudes must be at least 2"),
    ],
)
def test_refused_grids(
    spheres: dict[str, Pyramid], latitudes: torch.Tensor, longitudes: torch.Tensor, message: str
) -> None:
    for kind in (LatLonToVertices, VerticesToLatLon):
        with pytest.raises(ValueError, match=message):
            kind(spheres["so3"], latitudes, longitudes)


def test_refused_pyramids_and_methods(spheres: dict[str, Pyramid]) -> None:
    with pytest.raises(ValueError, match=r"must be on s2 or so3. Got plane@v001 on se2"):
        LatLonToVertices(spheres["plane"], LAT, LON)
    with pytest.raises(ValueError, match=r"is a pyramid, as a store gives it.* Got Graph"):
        LatLonToVertices(spheres["so3"].levels[0], LAT, LON)
    with pytest.raises(ValueError, match=r"levels 0 to 0. Got 1"):
        VerticesToLatLon(spheres["so3"], LAT, LON, level=1)
    with pytest.raises(ValueError, match=r"method must be .* Got 'cubic'"):
        VerticesToLatLon(spheres["so3"], LAT, LON, "cubic")
    with pytest.raises(ValueError, match="coarser than the vertices: 72 pixels for 162 points"):
        LatLonToVertices(spheres["so3"], LAT, LON, "conservative")
    with pytest.raises(ValueError, match="these 3 leave about half of it empty"):
        VerticesToLatLon(spheres["few"], LAT, LON)
    assert VerticesToLatLon(spheres["few"], LAT, LON, "nearest").shape == (6, 12)


def test_refused_fields(spheres: dict[str, Pyramid]) -> None:
    up = LatLonToVertices(spheres["so3"], LAT, LON)
    down = VerticesToLatLon(spheres["so3"], LAT, LON)
    for shape in ((1, 1, 12, 6), (1, 6, 12), (1, 1, 72)):
        with pytest.raises(ValueError, match=r"takes \(B, C, 6, 12\)"):
            up(torch.ones(shape))
    for shape in ((1, 1, 486), (1, 162), (1, 1, 6, 12)):
        with pytest.raises(ValueError, match=r"takes \(B, C, 162\).* Got \("):
            down(torch.ones(shape))
    with pytest.raises(ValueError, match="Got ndarray"):
        down(np.ones((1, 1, 162)))
    image = torch.ones(1, 1, 6, 12)
    image[0, 0, 0, :3] = math.nan
    with pytest.raises(ValueError, match=r"without NaN. Got 3 NaN among 72 values"):
        up(image)
    with pytest.raises(ValueError, match=r"floating-point fields. Got torch.int64: .*'nearest'"):
        down(torch.ones(1, 1, 162, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"takes real fields. Got torch.complex64"):
        down(torch.ones(1, 1, 162, dtype=torch.complex64))
