"""Grids of a part of the sphere: what they reach, across the date line, nothing beyond."""

import math

import numpy as np
import pytest
import torch
from refusing import refused
from sphere_fields import EVERY_METHOD, angles, harmonics, on_grid

from cheblienet_models import LatLonToVertices, Pyramid, Store, VerticesToLatLon, regular_grid

LAT, LON = (part.numpy() for part in regular_grid(90, 180, west=-180))


def region(south: float, north: float, west: float, east: float) -> tuple[np.ndarray, np.ndarray]:
    """The part of a 2 degree grid between these edges, longitudes from the west."""
    longitudes = np.concatenate([LON, LON + 360])
    rows = (south < LAT) & (south < north) & (north > LAT)
    return LAT[rows], longitudes[(longitudes > west) & (longitudes < east)]


REGIONS = {
    "europe": region(30, 70, -10, 40),
    "date line": region(-30, 20, 160, 200),
    "hemisphere": region(0, 90, -180, 180),
    "band": region(-20, 20, -180, 180),
    "cap without a sector": region(40, 90, 0, 300),
    "half turned": region(-60, 60, 100, 280),
}


def cut(image: torch.Tensor, grid: tuple[np.ndarray, np.ndarray]) -> torch.Tensor:
    """The part of images of the whole sphere, (..., 90, 180), that a region shows."""
    rows = np.searchsorted(-LAT, -grid[0])
    columns = (np.searchsorted(LON, LON[0]) + np.rint((grid[1] - LON[0]) / 2).astype(int)) % 180
    return image[..., rows, :][..., columns]


def within(pyramid: Pyramid, grid: tuple[np.ndarray, np.ndarray], margin: float) -> np.ndarray:
    """(points,) those so many degrees, or more, inside of a region's outermost centers."""
    beta, gamma = angles(pyramid)
    latitude, longitude = 90 - np.degrees(beta), np.degrees(gamma)
    lat, lon = grid
    south, north = lat.min() + margin, lat.max() - margin
    turned = (longitude - lon[0] - margin) % 360
    across = turned <= lon[-1] - lon[0] - 2 * margin
    if lon[-1] - lon[0] > 357.9:
        across = np.ones(len(beta), dtype=bool)
        south = -90 if lat.min() < -88 else south
        north = 90 if lat.max() > 88 else north
    return (latitude >= south) & (latitude <= north) & across


def assert_close(resampled: torch.Tensor, expected: torch.Tensor, method: str) -> None:
    """Nearest ones may tie."""
    apart = (resampled - expected).abs()
    if method == "nearest":
        assert (apart > 1e-6).double().mean() < 0.02
    else:
        assert apart.max() < 1e-4
    assert apart.mean() < 0.02


@pytest.mark.parametrize("grid", REGIONS.values(), ids=REGIONS)
@EVERY_METHOD
def test_regions_agree_with_the_whole_sphere(
    spheres: Store, grid: tuple[np.ndarray, np.ndarray], method: str
) -> None:
    pyramid = spheres["healpix"]
    image = torch.rand(1, 2, 90, 180)
    whole = LatLonToVertices(pyramid, LAT, LON, method)(image)
    resampled = LatLonToVertices(pyramid, *grid, method, skipna=True)(cut(image, grid))
    # A cell of nside 16 reaches less than 4 degrees, up to 4 / cos(latitude) in longitude.
    margin = {"bilinear": 1e-9, "nearest": 1e-9, "conservative": 8}[method]
    inside = within(pyramid, grid, margin)
    assert inside.sum() > 30
    assert_close(resampled[..., inside], whole[..., inside], method)
    x = torch.rand(1, 2, 3072)
    shown = cut(VerticesToLatLon(pyramid, LAT, LON, method)(x), grid)
    assert_close(VerticesToLatLon(pyramid, *grid, method)(x), shown, method)
    beyond = ~within(pyramid, grid, -1 - 1e-6 if method != "conservative" else -8)
    if method == "conservative":  # near the poles cells are wide in longitude
        beyond &= np.abs(angles(pyramid)[0] - math.pi / 2) < 1
    assert resampled[..., beyond].isnan().all()
    assert not resampled[..., within(pyramid, grid, -1 + 1e-6)].isnan().any()


@EVERY_METHOD
def test_regions_that_leave_points_out_are_refused(spheres: Store, method: str) -> None:
    (lat, lon), healpix = REGIONS["europe"], spheres["healpix"]
    refused(r"must cover .*: \d+ of .*=True makes", LatLonToVertices, healpix, lat, lon, method)
    refused("from -179 to 169, degrees: ", LatLonToVertices, healpix, LAT, LON[:-5], method)
    filled = LatLonToVertices(healpix, lat, lon, method, fill=-1)
    image = torch.ones(1, 1, len(lat), len(lon))
    assert set(filled(image).round(decimals=6).unique().tolist()) == {-1.0, 1.0}
    image[0, 0, 0, 0] = math.nan
    refused(
        "without NaN or UNSEEN. Got 1 of them among .* leave them out with skipna=True",
        filled,
        image,
    )
    if method == "nearest":
        labels = torch.randint(0, 5, image.shape)
        assert set(filled(labels).unique().tolist()) == {-1, 0, 1, 2, 3, 4}
        skipping = LatLonToVertices(healpix, lat, lon, method, skipna=True)
        refused("fill must be a value of torch.int64, which has no", skipping, labels)
    lat, lon = np.array([3.01, 3.0]), np.array([7.0, 7.01])
    for skipna in (False, True):
        refused("have no place in", LatLonToVertices, spheres["so3"], lat, lon, skipna=skipna)


def test_uneven_longitudes(spheres: Store) -> None:
    """Interpolation of what is linear in longitude is exact, whatever the steps."""
    pyramid, random = spheres["icosahedral"], np.random.default_rng(0)
    lon = np.sort(random.uniform(150, 230, 40))
    lat = np.sort(random.uniform(-30, 30, 30))[::-1]
    image = torch.from_numpy(lon + 3 * lat[:, None])[None, None]
    up = LatLonToVertices(pyramid, lat, lon, skipna=True).double()
    inside = within(pyramid, (lat, lon), 0)
    beta, gamma = (part[inside] for part in angles(pyramid))
    expected = np.degrees(gamma) % 360 + 3 * (90 - np.degrees(beta))
    assert np.abs(up(image)[0, 0, inside].numpy() - expected).max() < 1e-4
    around = np.sort(random.uniform(0, 360, 300))
    image = harmonics(*on_grid(torch.from_numpy(LAT.copy()), torch.from_numpy(around)), 2)
    gap = np.radians(np.diff(around, append=around[0] + 360).max())
    for method, bound in (("bilinear", (2 * gap) ** 2 / 8 + 0.01), ("conservative", 2 * gap)):
        resampled = LatLonToVertices(pyramid, LAT, around, method, skipna=True)(image)
        assert (resampled - harmonics(*angles(pyramid), 2)).abs().max() < bound


def test_rounded_coordinates_reach_the_same_points(spheres: Store) -> None:
    """Float32 degrees, as files have them, on a region whose edge points lie on."""
    pyramid = spheres["equiangular"]
    step = 360 / 48
    lon = np.arange(12) * step + step  # edges on the points' longitudes
    lat = 90 - (np.arange(20) + 0.5) * 4
    exact = LatLonToVertices(pyramid, lat, lon, skipna=True)
    rounded = LatLonToVertices(pyramid, lat.astype("f4"), lon.astype("f4"), skipna=True)
    image = torch.rand(1, 1, 20, 12)
    assert torch.equal(exact(image).isnan(), rounded(image).isnan())


SEAMS = {
    "Greenwich": ([0.0, 10, 20, 350], [-10.0, 0, 10, 20]),
    "Greenwich, mostly west": ([0.0, 10, 330, 340, 350], [-30.0, -20, -10, 0, 10]),
    "date line": ([-180.0, -170, 160, 170], [160.0, 170, 180, 190]),
}
"""Longitudes of a crop as a file has them, and from its western end."""
ROWS = np.array([60.0, 30, 0, -30, -60])


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1]], ids=["north up", "south up"])
@pytest.mark.parametrize("seam", SEAMS)
@EVERY_METHOD
def test_a_crop_that_the_seam_cuts_is_the_same_crop(
    spheres: Store, seam: str, method: str, rows: np.ndarray
) -> None:
    pyramid, (cut_open, west_first) = spheres["healpix"], map(np.array, SEAMS[seam])
    columns = [int(np.flatnonzero((west_first - lon) % 360 == 0)[0]) for lon in cut_open]
    image = torch.rand(1, 1, 5, len(west_first))
    up = LatLonToVertices(pyramid, rows, cut_open, method, skipna=True)
    found = up(image[..., columns])
    expected = LatLonToVertices(pyramid, rows, west_first, method, skipna=True)(image)
    assert torch.equal(found.isnan(), expected.isnan())
    assert torch.allclose(found.nan_to_num(), expected.nan_to_num(), atol=1e-6)
    east = np.degrees(angles(pyramid)[1]) - west_first.mean()
    far = np.abs((east + 180) % 360 - 180) > 40  # half of the crop, half a step, and a cell
    if method == "conservative":  # near the poles cells are wide in longitude
        far &= np.abs(angles(pyramid)[0] - math.pi / 2) < 1
    assert far.sum() > 1000
    assert found[0, 0, far].isnan().all()
    refused("must cover", LatLonToVertices, pyramid, rows, cut_open, method)
    cosine = torch.from_numpy(np.cos(angles(pyramid)[1]))[None, None]
    back = VerticesToLatLon(pyramid, rows, cut_open, method)(cosine)
    # Means over 10 degrees, of cells of up to 4, at latitudes where these are 8 wide.
    assert np.abs(back[0, 0].numpy() - np.cos(np.radians(cut_open))).max() < 0.1
