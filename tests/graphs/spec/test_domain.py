"""Masks and regions in a specification: their conventions, and one line for each wrong one."""

from typing import Any

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.inputs.masks import LatLonMask

SPHERES = [
    {"manifold": "s2", "subdivisions": 2},
    {"manifold": "s2", "nside": 4},
    {"manifold": "so3", "bandlimit": 4},
    {"manifold": "s2", "points": 100},
]


EARTH = LatLonMask.whole_sphere(np.ones((8, 16), bool))


def degrees(fields: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Latitudes and longitudes, from Cartesian coordinates."""
    x, y, z = GraphSpec(**fields).full_sampling(0).base_points.T
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


def places(spec: GraphSpec) -> np.ndarray:
    return spec.mask.on_level(0)


@pytest.mark.parametrize("fields", SPHERES)
@pytest.mark.parametrize(
    "region", [(-30.3, -20.2, 55.5, 61.1), (170.1, -50.3, -100.7, 33.3), (-200, -90, 160, 90)]
)
def test_a_region_holds_points_between_its_limits(fields: dict, region: tuple) -> None:
    west, south, east, north = region
    lat, lon = degrees(fields)
    turns = [lon + 360 * n for n in (-1, 0, 1)]
    upper = east if west < east else east + 360
    within = np.any([(west <= t) & (t <= upper) for t in turns], axis=0)
    expected = within & (south <= lat) & (lat <= north)
    spec = GraphSpec(**fields, region=region)
    np.testing.assert_array_equal(places(spec), np.flatnonzero(expected))
    assert spec.region == region
    assert GraphSpec(**fields, region=",".join(map(str, region))) == spec
    assert GraphSpec.from_dict(spec.to_dict()) == spec


def test_limits_belong_to_a_region() -> None:
    """The icosphere has points at the poles, on the equator and on the meridians of the axes."""
    fields = SPHERES[0]
    lat, lon = degrees(fields)
    spec = GraphSpec(**fields, region=(0, 0, 90, 90))
    inside = np.zeros(len(lat), bool)
    inside[places(spec)] = True
    on_limits = (abs(lat) < 1e-9) & ((abs(lon) < 1e-9) | (abs(lon - 90) < 1e-9))
    assert on_limits.sum() == 2
    assert inside[on_limits].all()
    assert inside[lat > 90 - 1e-9].all()


@pytest.mark.parametrize("fields", SPHERES)
def test_an_image_of_the_sphere_is_taken_at_the_nearest_pixel(fields: dict) -> None:
    image = np.random.default_rng(0).random((9, 20)) < 0.5
    lat, lon = degrees(fields)
    rows, columns = 90 - (np.arange(9) + 0.5) * 20, -180 + (np.arange(20) + 0.5) * 18
    row = abs(lat[:, None] - rows).argmin(axis=1)
    column = abs((lon[:, None] - columns + 180) % 360 - 180).argmin(axis=1)
    # Between two pixels rounding decides; those points are left out.
    off = (lat % 20, (lon + 180) % 18)
    sure = (np.minimum(off[0] - 10, 1) != 0) & (np.minimum(off[1], 18 - off[1]) > 1e-6)
    sure &= abs(off[0] - 10) > 1e-6
    spec = GraphSpec(**fields, mask=image)
    inside = np.zeros(len(lat), bool)
    inside[places(spec)] = True
    np.testing.assert_array_equal(inside[sure], image[row, column][sure])
    given = LatLonMask.whole_sphere(image)
    assert GraphSpec(**fields, mask=given) == spec


def test_a_mask_and_a_region_are_both_to_hold() -> None:
    fields = SPHERES[1]
    half = np.arange(192) % 2 == 0
    both = GraphSpec(**fields, mask=half, region=(0, -90, 180, 90))
    region = GraphSpec(**fields, region=(0, -90, 180, 90))
    assert places(both).tolist() == [p for p in places(region).tolist() if half[p]]


def test_ring_order_is_that_of_healpix() -> None:
    healpy = pytest.importorskip("astropy_healpix.healpy")
    ring = np.random.default_rng(1).random(192) < 0.5
    spec = GraphSpec("s2", nside=4, mask=ring, mask_order="ring")
    expected = np.sort(healpy.ring2nest(4, np.flatnonzero(ring)))
    np.testing.assert_array_equal(places(spec), expected)
    assert GraphSpec("s2", nside=4, mask=ring, mask_order="nested") == GraphSpec(
        "s2", nside=4, mask=ring
    )


def test_gray_is_inside_above_half_of_its_range() -> None:
    gray = np.array([[0, 127], [128, 255]], np.uint8).repeat(4, axis=0).repeat(4, axis=1)
    assert GraphSpec("r2", mask=gray) == GraphSpec("r2", mask=gray > 127)
    assert GraphSpec("r2", mask=(gray > 127).astype(int)) == GraphSpec("r2", mask=gray > 127)


def test_the_size_is_that_of_the_mask() -> None:
    assert GraphSpec("se2", mask=np.ones((8, 12), bool)).size == (12, 8)
    assert GraphSpec("r3", mask=np.ones((2, 3, 4), bool)).size == (4, 3, 2)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"manifold": "r2", "mask": np.ones(5, bool)}, r"mask .*\(H, W\) on r2\. Got \(5,\)"),
        ({"manifold": "r3", "mask": np.ones((4, 4), bool)}, r"mask .*\(D, H, W\) on r3"),
        (
            {"manifold": "r2", "size": 8, "mask": np.ones((4, 8), bool)},
            r"mask must be of shape \(8, 8\).*Got \(4, 8\)\. `size` may be left out",
        ),
        ({"manifold": "r2", "mask": np.full((8, 8), 0.5)}, "mask .*other than 0 and 1"),
        ({"manifold": "r2", "mask": np.full((8, 8), np.nan)}, "mask .*holds NaN"),
        ({"manifold": "r2", "mask": np.zeros((8, 8), bool)}, r"mask .*Got no point inside\."),
        ({"manifold": "r2", "mask": [[True, False], [True]]}, "mask .*booleans. Got a list"),
        ({"manifold": "r2", "mask": "disc.png"}, "mask .*booleans. Got a str"),
        (
            {"manifold": "r2", "mask": np.ma.masked_array(np.eye(8), np.eye(8) == 1)},
            r"mask .*without masked values; fill them",
        ),
        *(
            ({"manifold": "r2", "mask": EARTH} | size, "r2. Got one on latitudes and longitudes")
            for size in ({}, {"size": 8})
        ),
        *(
            (
                {"manifold": "s2", "nside": 2, "mask": mask, "mask_order": "ring"},
                "mask_order must be left out of a mask on latitudes and longitudes",
            )
            for mask in (EARTH, np.ones((8, 16), bool))
        ),
        ({"manifold": "s2", "subdivisions": 1, "mask": np.ones(41, bool)}, r"Got \(41,\)"),
        (
            {"manifold": "s2", "bandlimit": 4, "mask": np.ones((8, 8), bool)},
            r"mask must be of shape \(64,\), .* or on known longitudes, as NetCDF",
        ),
        ({"manifold": "se2", "size": 8, "region": (0, 0, 1, 1)}, "region .*se2, which is flat"),
        ({"manifold": "s2", "nside": 2, "region": (0, 10, 20, 5)}, "region .*S is north of N"),
        ({"manifold": "s2", "nside": 2, "region": (1, 1, 1.1, 1.1)}, "region .*one of 48 points"),
        ({"manifold": "s2", "nside": 2, "mask_order": "ring"}, "mask_order must be left out"),
        (
            {"manifold": "r2", "mask": np.ones((8, 8), bool), "mask_order": "ring"},
            "mask_order must be left out",
        ),
    ],
)
def test_one_line_for_each_wrong_mask(fields: dict, said: str) -> None:
    with pytest.raises(SpecError, match=said) as error:
        GraphSpec(**fields)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "mask",
    [
        {},
        {"sha256": "0" * 64},
        {"sha256": "0" * 63, "inside": [4]},
        {"sha256": "0" * 64, "inside": [4, 1]},
        {"sha256": "0" * 64, "inside": [0]},
        {"sha256": "0" * 64, "inside": [True]},
        {"sha256": "0" * 64, "inside": [65]},
        {"sha256": "0" * 64, "inside": [4], "more": 1},
    ],
)
def test_a_recorded_mask_of_another_form_is_refused(mask: dict) -> None:
    values = GraphSpec("r2", mask=np.eye(8), levels=1).to_dict() | {"mask": mask}
    with pytest.raises(SpecError, match="mask must be a digest"):
        GraphSpec.from_dict(values)


def test_masks_do_not_weigh_on_what_is_pickled() -> None:
    import pickle

    spec = GraphSpec("se2", mask=np.ones((256, 256), bool))
    assert len(pickle.dumps(spec.recorded())) < 2_000
    assert spec.recorded() == spec
