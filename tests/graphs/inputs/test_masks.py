"""Masks on latitudes and longitudes against a search over all pixels; regions."""

import numpy as np
import pytest
import torch
from numpy.polynomial.legendre import leggauss
from refusing import refused

from cheblienet_graphs import SpecError
from cheblienet_graphs.inputs.masks import LatLonMask, inside_region, region

RNG = np.random.default_rng(0)
POINTS = np.column_stack([RNG.uniform(-90, 90, 400), RNG.uniform(-400, 400, 400)])


def around(a: float, b: float) -> float:
    """Degrees between two longitudes, by their directions."""
    turn = np.radians(a - b)
    return abs(float(np.degrees(np.arctan2(np.sin(turn), np.cos(turn)))))


def brute(mask: LatLonMask, latitude: float, longitude: float) -> bool:
    """The value of the pixel whose latitude is nearest and whose longitude is."""
    row = min(range(len(mask.latitudes)), key=lambda i: abs(mask.latitudes[i] - latitude))
    column = min(range(len(mask.longitudes)), key=lambda j: around(mask.longitudes[j], longitude))
    return bool(mask.inside[row, column])


def noise(rows: int, columns: int) -> np.ndarray:
    return RNG.random((rows, columns)) < 0.5


WHOLE = {
    "north up, from -180": (np.linspace(87.5, -87.5, 36), np.arange(-175.0, 180, 10)),
    "in no order": (RNG.permutation(np.linspace(-85, 85, 18)), RNG.permutation(40) * 9.0),
    "Gaussian": (np.degrees(np.arcsin(leggauss(24)[0])), np.arange(48) * 7.5),
    "two by two": (np.array([45.0, -45.0]), np.array([0.0, 180.0])),
    "uneven steps": (np.array([-60.0, -10, 0, 55]), np.array([0.0, 100, 130, 250])),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_grids_take_the_nearest_pixel(name: str) -> None:
    latitudes, longitudes = WHOLE[name]
    mask = LatLonMask(noise(len(latitudes), len(longitudes)), latitudes, longitudes)
    points = POINTS
    if name in {"uneven steps", "two by two"}:  # of which the outermost rows don't reach the poles
        points = POINTS[np.abs(POINTS[:, 0]) < 59]
    expected = [brute(mask, *point) for point in points]
    for turn in (-360, 0, 360):
        assert mask.at(points[:, 0], points[:, 1] + turn).tolist() == expected


REGIONAL = {
    "across the date line": (np.arange(-20.0, 20, 2), np.r_[170.0:180:2, -180.0:-160:2]),
    "across longitude 0": (np.arange(20.0, 0, -1), np.r_[350.0:360, 0.0:10]),
    "in no order": (RNG.permutation(np.arange(20.0)), RNG.permutation(np.arange(100.0, 140))),
    "all but a few columns": (np.linspace(-87.5, 87.5, 36), np.arange(0.0, 340, 5)),
}


@pytest.mark.parametrize("name", REGIONAL)
def test_points_half_a_pixel_beyond_a_region_are_outside(name: str) -> None:
    latitudes, longitudes = REGIONAL[name]
    step = np.abs(np.diff(np.sort(latitudes))).min()
    column_step = 5.0 if name.startswith("all") else np.abs(np.diff(np.sort(longitudes))).min()
    everywhere = LatLonMask(np.ones((len(latitudes), len(longitudes)), bool), latitudes, longitudes)
    some = LatLonMask(noise(*everywhere.inside.shape), latitudes, longitudes)
    rows = RNG.uniform(latitudes.min() - 3 * step, latitudes.max() + 3 * step, 900).clip(-90, 90)
    columns = RNG.choice(longitudes, 900) + RNG.uniform(-4, 4, 900) * column_step
    near = np.column_stack([rows, columns])
    within = [
        min(abs(latitudes - latitude)) <= step / 2
        and min(around(column, longitude) for column in longitudes) <= column_step / 2
        for latitude, longitude in near
    ]
    assert 0 < sum(within) < len(within)
    assert everywhere.at(*near.T).tolist() == within
    expected = [w and brute(some, *point) for w, point in zip(within, near, strict=True)]
    assert some.at(*near.T).tolist() == expected


def test_on_a_border_the_southern_and_the_eastern_pixel() -> None:
    mask = LatLonMask.whole_sphere(np.array([[True, False], [False, True]]))
    for off in (0, 1e-12, -1e-12):
        assert mask.at([off], [off]).tolist() == [True]
        assert mask.at([0.1], [180 + off]).tolist() == [True]


def test_poles_are_reached_from_one_step_away_only() -> None:
    longitudes = np.arange(0.0, 360, 10)
    near = LatLonMask(np.ones((3, 36), bool), np.array([89.0, 88, 87]), longitudes)
    assert near.at([90.0, 86.6, 86.4], [0, 0, 0]).tolist() == [True, True, False]
    far = LatLonMask(np.ones((3, 36), bool), np.array([88.0, 87, 86]), longitudes)
    assert far.at([90.0, 88.6, 88.4], [0, 0, 0]).tolist() == [False, False, True]


def test_a_longitude_that_is_there_twice() -> None:
    longitudes = np.arange(0.0, 361, 60)
    inside = noise(4, 6)
    repeated = np.hstack([inside, inside[:, :1]])
    latitudes = np.array([67.5, 22.5, -22.5, -67.5])
    twice = LatLonMask(repeated, latitudes, longitudes)
    once = LatLonMask(inside, latitudes, longitudes[:-1])
    assert np.array_equal(twice.at(*POINTS.T), once.at(*POINTS.T))
    repeated[0, -1] ^= True
    grid = repeated, latitudes, longitudes
    refused("longitude 360 is there twice", LatLonMask, *grid, error=SpecError)


WRONG = [
    (np.ones((3, 4)), [0, 1, 2], [0, 1, 2, 3], "boolean"),
    (np.ones((3, 3), bool), [0, 1, 2], [0, 1, 2, 3], r"shape \(3, 4\)"),
    (np.ones((2, 2), bool), [0, 91], [0, 1], r"latitudes in \[-90, 90\]"),
    (np.ones((2, 2), bool), [0, 0], [0, 1], "all different"),
    (np.ones((2, 2), bool), [0, 1], [0, 360], "2 longitudes"),
    (np.ones((2, 2), bool), [[0, 1], [2, 3]], 0, r"on latitudes of one dimension. Got \(2, 2\)"),
    (np.ma.masked_array([[True] * 2] * 2, np.eye(2)), [0, 1], [0, 1], "without masked values"),
    (
        torch.ones(2, 2, device="meta") > 0,
        [0, 1],
        [0, 1],
        "Got Tensor. numpy says: can't convert m",
    ),
]


@pytest.mark.parametrize(("inside", "latitudes", "longitudes", "message"), WRONG)
def test_wrong_grids(
    inside: np.ndarray, latitudes: list[float], longitudes: list[float], message: str
) -> None:
    grid = inside, latitudes, longitudes
    refused(f"^mask must be .*{message}", LatLonMask, *grid, error=SpecError)


@pytest.mark.parametrize("shape", [(4,), (1, 1), (2, 2, 2)])
def test_images_of_the_whole_sphere_have_two_rows_and_columns(shape: tuple[int, ...]) -> None:
    refused("mask must be", LatLonMask.whole_sphere, np.ones(shape, bool), error=SpecError)
    tensor = torch.ones(shape, requires_grad=True)
    refused("Got Tensor. numpy says: .*grad", LatLonMask.whole_sphere, tensor, error=SpecError)


def test_limits_and_poles_belong_to_a_region() -> None:
    box = region("170,-10,-170,90")
    inside = np.array([(-10, 180), (90, 0), (0, 170), (0, -170), (0, 190)])
    assert inside_region(*inside.T, box).all()
    assert not inside_region(np.array([-10.01, 0]), np.array([180, -169.9]), box).any()
    turned = np.degrees(np.radians(np.arange(-180.0, 181, 10)))
    assert inside_region(np.zeros(37), turned, region("-30,0,30,10")).sum() == 7
    assert inside_region(np.zeros(37), turned, region("-180,-1,180,1")).all()
    assert inside_region(np.zeros(37), turned, region("0,-1,360,1")).all()


@pytest.mark.parametrize(
    "value",
    ["", "1,2,3", "1,2,3,4,5", "a,b,c,d", "0,nan,10,20", "0,20,10,10", "0,10,10,10", "0,-91,10,0",
     "0,0,10,91", "361,0,10,10", "10,0,10,10", "370,0,10,10", "180,0,-180,10", "0,inf,1,2", 5, None,
     [1, 2, 3], [None] * 4, [True, 0, 1, 2], {1, 2, 3, 4}],
)  # fmt: skip
def test_no_regions(value: object) -> None:
    refused("region must be W,S,E,N", region, value, error=SpecError)


def test_regions_are_normalized() -> None:
    for limits in (" -30, -0,30 ,1/2", (-30, -0.0, 30, 0.5)):
        assert str(region(limits)) == "(-30.0, 0.0, 30.0, 0.5)"
