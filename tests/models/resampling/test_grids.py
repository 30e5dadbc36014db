"""Grids of latitudes and longitudes: regular ones, and those that are refused."""

import math

import pytest
import torch
from sphere_fields import LAT, LON

from cheblienet_models import LatLonToVertices, Store, VerticesToLatLon, regular_grid


def test_regular_grids_are_centers_of_pixels() -> None:
    latitudes, longitudes = regular_grid(4, 8, west=-180)
    assert latitudes.tolist() == [67.5, 22.5, -22.5, -67.5]
    assert longitudes.tolist() == [-157.5, -112.5, -67.5, -22.5, 22.5, 67.5, 112.5, 157.5]
    assert regular_grid(4, 8, west=0)[1][0] == 22.5
    with pytest.raises(ValueError, match=r"height must be at least 2. Got 1"):
        regular_grid(1, 8, west=0)
    with pytest.raises(ValueError, match=r"west must be in \[-360, 360\]"):
        regular_grid(4, 8, west=math.nan)


@pytest.mark.parametrize(
    ("latitudes", "longitudes", "message"),
    [
        (LAT.deg2rad(), LON, "to cover the sphere, in degrees, has other numbers"),
        (LAT[[0, 2, 1, 3, 4, 5]], LON, "must descend .north up. or ascend"),
        (LAT[[0, 1, 1, 3, 4, 5]], LON, "must descend .north up. or ascend"),
        (LAT + 30, LON, r"must be in \[-90, 90\] degrees. Got 6 from 105 to -45"),
        (LAT[None], LON, r"latitudes must be at least 2 finite numbers.*shape \(1, 6\)"),
        (LAT * math.nan, LON, "latitudes must be at least 2 finite numbers.* 6 of them not finite"),
        (LAT, LON.deg2rad(), "to cover the sphere, in degrees, has other numbers"),
        (LAT, LON.flip(0), "longitudes must ascend, across the date line as 170, ..., 190"),
        (LAT, torch.tensor([170.0, 180, -170]), "or add 360 to those east of it"),
        (LAT, torch.linspace(0, 360, 13), "the first not repeated as the last"),
        (LAT, LON[:1], "longitudes must be at least 2"),
    ],
)
def test_refused_grids(
    spheres: Store, latitudes: torch.Tensor, longitudes: torch.Tensor, message: str
) -> None:
    for kind in (LatLonToVertices, VerticesToLatLon):
        with pytest.raises(ValueError, match=message):
            kind(spheres["so3"], latitudes, longitudes)
