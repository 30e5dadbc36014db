"""Cells that a region clips: areas by counting, eigenvalues of a rectangle of the sphere."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from cell_spectra import first_eigenvalues
from scipy.sparse.linalg import eigsh
from scipy.spatial import KDTree
from sphere_truth import latitudes_longitudes

from cheblienet_graphs import CheblienetError, GraphSpec, SpecError, build, inspect, verify
from cheblienet_graphs.samplings.region import RegionSampling, clipped

EUROPE = (-10.0, 35.0, 30.0, 70.0)
REGIONS = [
    EUROPE,
    (170, -30, -150, 20),  # over the date line
    (-180, 20, 180, 90),  # a cap
    (0, -90, 200, 90),  # more than half, with both poles
    (0, -90, 90, -50),
]


def on_the_sphere(region: tuple[float, ...], shares: np.ndarray) -> np.ndarray:
    """(N, 3) unit vectors at shares, (N, 2), of a region's longitudes and areas."""
    west, south, east, north = region
    low, high = np.sin(np.radians([south, north]))
    longitude = np.radians(west + ((east - west) % 360 or 360) * shares[:, 0])
    z = low + (high - low) * shares[:, 1]
    across = np.sqrt(1 - z**2)
    return np.stack([across * np.cos(longitude), across * np.sin(longitude), z], axis=1)


def area(region: tuple[float, ...]) -> float:
    west, south, east, north = region
    low, high = np.sin(np.radians([south, north]))
    return float(np.radians((east - west) % 360 or 360) * (high - low))


@pytest.mark.parametrize("count", [1, 3, 40])
@pytest.mark.parametrize("region", REGIONS)
def test_areas_are_those_counted(region: tuple[float, ...], count: int) -> None:
    points = on_the_sphere(region, np.random.default_rng(count).random((count, 2)))
    cells = clipped(points, region).cells
    grid = (np.indices((500, 500)).reshape(2, -1).T + 0.5) / 500
    owner = KDTree(points).query(on_the_sphere(region, grid))[1]
    counted = np.bincount(owner, minlength=count) / len(owner) * area(region)
    assert cells.sum() == pytest.approx(area(region), rel=1e-12)
    assert np.abs(cells - counted).max() <= 0.012 * cells.mean()


def rectangle(region: tuple[float, ...], count: int, n: int = 1500) -> np.ndarray:
    """Eigenvalues without flux, of cos(k pi longitude / width) times linear elements in z."""
    z = np.linspace(*np.sin(np.radians([region[1], region[3]])), n + 1)
    h, middle = np.diff(z), (z[1:] + z[:-1]) / 2
    width = np.radians((region[2] - region[0]) % 360)

    def summed(own: np.ndarray, other: np.ndarray) -> scipy.sparse.csc_array:
        diagonal = np.append(own, 0) + np.append(0, own)
        return scipy.sparse.csc_array(scipy.sparse.diags([other, diagonal, other], [-1, 0, 1]))

    values = []
    for k in range(8):
        flux, well = (1 - middle**2) / h, (k * np.pi / width) ** 2 / (1 - middle**2) * h
        stiffness = summed(flux + well / 3, -flux + well / 6)
        mass = summed(h / 3, h / 6)
        values += [*eigsh(stiffness, 8, mass, sigma=-0.1, return_eigenvectors=False)]
    return np.sort(values)[:count]


def error(shares: np.ndarray, region: tuple[float, ...]) -> float:
    """Of eigenvalues with Voronoi weights and clipped areas."""
    points = latitudes_longitudes(on_the_sphere(region, shares))
    full = GraphSpec("s2", coordinates=points).full_sampling(0)
    found = first_eigenvalues(RegionSampling(full, np.arange(len(points)), region), 12)
    return float(np.abs(found[1:] / rectangle(region, 12)[1:] - 1).max())


@pytest.mark.parametrize("region", [EUROPE, (100, -60, -60, 80)])
def test_second_order_up_to_the_sides(region: tuple[float, ...]) -> None:
    random = np.random.default_rng(1)
    coarse, fine = (error(random.random((count, 2)), region) for count in (800, 12_800))
    assert fine <= 0.002
    assert np.log(coarse / fine) / np.log(4) >= 1.6


def test_graded_and_doubled_stations() -> None:
    shares = np.random.default_rng(2).random((3000, 2))
    assert error(shares**1.5, EUROPE) <= 0.03
    doubled = np.concatenate([shares[:1500], shares[:1500] + 4e-8])  # about a meter apart
    assert error(doubled, EUROPE) <= 0.03


@pytest.fixture
def stations() -> np.ndarray:
    """Latitudes and longitudes, some of them outside."""
    points = on_the_sphere((-30, 20, 50, 80), np.random.default_rng(3).random((900, 2)))
    return latitudes_longitudes(points)


@pytest.mark.parametrize("weights", ["kernel", "voronoi"])
def test_stations_in_a_region(tmp_path: Path, stations: np.ndarray, weights: str) -> None:
    """No cell reaches outside, whatever the weights; the version holds what its spec says."""
    spec = GraphSpec("s2", coordinates=stations, region=EUROPE, weights=weights)
    assert (spec.mask_edge, spec.schema) == ("cut", "1.6")
    assert GraphSpec.from_dict(spec.to_dict()) == spec
    published = build(spec, tmp_path / "a.zarr")
    assert published.checks[0].largest_cell < 6
    assert verify(tmp_path / "a.zarr") == []
    two = build(spec, tmp_path / "b.zarr", workers=2)
    assert two.levels == published.levels


def test_points_that_coincide_have_no_cells_in_a_region() -> None:
    points = on_the_sphere(EUROPE, np.random.default_rng(3).random((9, 2)))
    with pytest.raises(
        CheblienetError, match=r"coincide\. Take points that are .* `mask_edge='pix"
    ):
        clipped(np.append(points, points[:1], axis=0), EUROPE)


def test_what_is_clipped_by_default(stations: np.ndarray) -> None:
    """Given points of which the areas are not given; recorded ones without the field are not."""
    spec = GraphSpec("s2", coordinates=stations, region=EUROPE)
    earlier = {name: value for name, value in spec.to_dict().items() if name != "mask_edge"}
    assert GraphSpec.from_dict(earlier).mask_edge is None
    assert GraphSpec("s2", subdivisions=4, region=EUROPE).mask_edge is None
    known = {"coordinates": stations, "region": EUROPE}
    matched = {"weights": "matched", "neighbors": 24}
    with_areas = {"coordinates": np.column_stack([stations, np.ones(len(stations))])}
    for fields in (matched, with_areas, {"mask_edge": "pixels"}):
        assert GraphSpec("s2", **known | fields).mask_edge is None
    for fields in (matched, with_areas):
        with pytest.raises(SpecError, match="mask_edge must be pixels w"):
            GraphSpec("s2", **known | fields, mask_edge="cut")


def test_pooling_takes_means_by_mass() -> None:
    """HEALPix: of a pixel's children inside, by the area of each within the region."""
    spec = GraphSpec("s2", nside=16, region=EUROPE, levels=2)
    full = spec.full_sampling(0)
    inside = spec.mask.on_level(0)
    sampling = RegionSampling(full, inside, EUROPE)
    field = np.random.default_rng(0).random(len(inside))
    parents, row = np.unique(inside // 4, return_inverse=True)
    assert np.array_equal(parents, spec.mask.on_level(1))
    sums = np.bincount(row, sampling.cells * field) / np.bincount(row, sampling.cells)
    assert sampling.cells.min() < 0.9 * sampling.cells.max()
    assert np.allclose(sampling.pooling().scipy() @ field, sums, rtol=1e-12)


def test_regular_points(tmp_path: Path) -> None:
    fields = {"region": EUROPE, "weights": "voronoi", "mask_edge": "cut"}
    with pytest.raises(CheblienetError, match=r"have no part in the region\. Give fewer"):
        build(GraphSpec("s2", subdivisions=5, **fields), tmp_path)
    build(GraphSpec("s2", subdivisions=5, **fields, levels=2), tmp_path)
    assert verify(tmp_path) == []
    level = inspect(tmp_path).levels[0]
    found = np.array(level.eigenvalues[1:6]) * level.eigenvalue_scale
    assert np.abs(found / rectangle(EUROPE, 6)[1:] - 1).max() <= 0.03
