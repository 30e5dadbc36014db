"""Masks and regions in a specification: their conventions."""

import pickle
from typing import Any

import numpy as np
import pytest
from sphere_truth import latitudes_longitudes, within_region

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.inputs.masks import LatLonMask

SPHERES = [
    {"manifold": "s2", "subdivisions": 2},
    {"manifold": "s2", "nside": 4},
    {"manifold": "so3", "bandlimit": 4},
    {"manifold": "s2", "points": 100},
]


def points_of(fields: dict[str, Any]) -> np.ndarray:
    return GraphSpec(**fields).full_sampling(0).base_points


@pytest.mark.parametrize("fields", SPHERES)
@pytest.mark.parametrize(
    "region", [(-30.3, -20.2, 55.5, 61.1), (170.1, -50.3, -100.7, 33.3), (-200, -90, 160, 90)]
)
def test_a_region_holds_points_between_its_limits(fields: dict, region: tuple) -> None:
    expected = within_region(points_of(fields), region)
    spec = GraphSpec(**fields, region=region)
    np.testing.assert_array_equal(spec.mask.on_level(0), np.flatnonzero(expected))
    assert spec.region == region
    assert GraphSpec(**fields, region=",".join(map(str, region))) == spec
    assert GraphSpec.from_dict(spec.to_dict()) == spec


@pytest.mark.parametrize("fields", SPHERES)
def test_an_image_of_the_sphere_is_taken_at_the_nearest_pixel(fields: dict) -> None:
    image = np.random.default_rng(0).random((9, 20)) < 0.5
    given, spec = LatLonMask.whole_sphere(image), GraphSpec(**fields, mask=image)
    expected = given.at(*latitudes_longitudes(points_of(fields)).T)
    np.testing.assert_array_equal(spec.mask.on_level(0), np.flatnonzero(expected))
    assert GraphSpec(**fields, mask=given) == spec


def test_a_mask_and_a_region_are_both_to_hold() -> None:
    fields = SPHERES[1]
    half = np.arange(192) % 2 == 0
    both = GraphSpec(**fields, mask=half, region=(0, -90, 180, 90))
    region = GraphSpec(**fields, region=(0, -90, 180, 90))
    inside = both.mask.on_level(0)
    assert inside.tolist() == [p for p in region.mask.on_level(0).tolist() if half[p]]


def test_ring_order_is_that_of_healpix() -> None:
    healpy = pytest.importorskip("astropy_healpix.healpy")
    ring = np.random.default_rng(1).random(192) < 0.5
    spec = GraphSpec("s2", nside=4, mask=ring, mask_order="ring")
    np.testing.assert_array_equal(
        spec.mask.on_level(0), np.sort(healpy.ring2nest(4, np.flatnonzero(ring)))
    )
    assert GraphSpec("s2", nside=4, mask=ring) != spec


def test_the_size_is_that_of_the_mask_whose_upper_half_is_inside() -> None:
    gray = np.array([[0, 127], [128, 255]], np.uint8).repeat(4, axis=0).repeat(6, axis=1)
    spec = GraphSpec("r2", mask=gray)
    assert spec.size == (12, 8)
    assert spec == GraphSpec("r2", mask=gray > 127) == GraphSpec("r2", mask=(gray > 127) * 1)
    assert GraphSpec("r3s2", mask=np.ones((2, 4, 6), bool)).size == (6, 4, 2)


def test_masks_and_points_do_not_weigh_on_what_is_pickled() -> None:
    many = np.random.default_rng(0).uniform([-90, -180], [90, 180], (20_000, 2))
    for spec in (GraphSpec("se2", mask=np.ones((256, 256))), GraphSpec("s2", coordinates=many)):
        assert len(pickle.dumps(spec.recorded())) < 2_000
        assert spec.recorded() == spec
