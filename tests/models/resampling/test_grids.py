"""Grids of latitudes and longitudes: regular ones, refused ones, fields of xarray."""

import math

import numpy as np
import pytest
import torch
from refusing import refused
from sphere_fields import LAT, LON

from cheblienet_models import LatLonToVertices, Store, VerticesToLatLon, regular_grid

CUT = torch.tensor([60.0, 50, 40, -40, -50, -60])
APART = torch.tensor([0.0, 10, 20, 180, 190, 200])
"""Latitudes with a hole, and longitudes with two."""


def test_regular_grids_are_centers_of_pixels() -> None:
    latitudes, longitudes = regular_grid(4, 8, west=-180)
    assert latitudes.tolist() == [67.5, 22.5, -22.5, -67.5]
    assert longitudes.tolist() == [-157.5, -112.5, -67.5, -22.5, 22.5, 67.5, 112.5, 157.5]
    assert regular_grid(4, 8, west=0)[1][0] == 22.5
    for low in (-(10**400), 1):
        refused(r"height must be in \[2, 16777216\]. Got ", regular_grid, low, 8, west=0)
    for high in (2**70, 2**40, 10**400):
        refused(r"height must be in \[2, 16777216\]", regular_grid, high, 8, west=0)
        refused(r"width must be in \[2, 16777216\]", regular_grid, 8, high, west=0)
    refused(r"west must be in \[-360, 360\]", regular_grid, 4, 8, west=math.nan)


@pytest.mark.parametrize(
    ("latitudes", "longitudes", "message"),
    [
        (LAT.deg2rad(), LON, "to cover the sphere, in degrees, has other numbers"),
        (LAT[[0, 1, 1, 3, 4, 5]], LON, "must descend .north up. or ascend"),
        (LAT + 30, LON, r"must be in \[-90, 90\] degrees. Got 6 from 105 to -45"),
        (LAT[None], LON, r"latitudes must be at least 2 finite numbers.*shape \(1, 6\)"),
        (LAT * math.nan, LON, "latitudes must be at least 2 finite numbers.* 6 of them not finite"),
        (LAT, LON.deg2rad(), "to cover the sphere, in degrees, has other numbers"),
        (LAT, torch.tensor([170.0, 180, -170]), "or add 360 to those east of it"),
        (LAT, torch.linspace(0, 360, 13), "the first not repeated as the last"),
        (LAT, LON[:1], "longitudes must be at least 2"),
        *((rows, LON, "latitudes .* Got none between -40 and 40") for rows in (CUT, CUT.flip(0))),
        (LAT, APART, "several holes. Got none between 20 and 180 and between 200"),
    ],
)
def test_refused_grids(
    spheres: Store, latitudes: torch.Tensor, longitudes: torch.Tensor, message: str
) -> None:
    for kind in (LatLonToVertices, VerticesToLatLon):
        refused(message, kind, spheres["so3"], latitudes, longitudes)


def test_data_arrays(spheres: Store) -> None:
    xarray = pytest.importorskip("xarray")
    pyramid, (lat, lon) = spheres["so3"], (grid.numpy() for grid in regular_grid(6, 12, west=0))
    values = np.random.default_rng(0).normal(size=(12, 4, 6)).astype(">f4")
    values.setflags(write=False)
    dimensions = "longitude", "time", "lat"
    array = xarray.DataArray(values, {"longitude": lon, "lat": lat}, dimensions)
    up = LatLonToVertices.from_dataarray(pyramid, array)
    image = torch.from_numpy(values.astype("f4").transpose(1, 2, 0).copy())[:, None]
    points = up(array)
    assert points.dtype == torch.float32
    assert torch.allclose(points, up(image)[:, 0])
    assert torch.allclose(up(array[:, 0]), points[0])
    assert torch.equal(up(array.transpose("lat", "time", "longitude")), points)
    assert up(array[:, :0]).shape == (0, 162)
    assert VerticesToLatLon.from_dataarray(pyramid, array).shape == (6, 12)
    for other, message in (
        (array[..., ::-1], "latitudes must be the module's, 6 from"),
        (array.rename(lat="y"), "one dimension named lat or latitude"),
        (array.drop_vars("lat"), "dimension 'lat' must have coordinates"),
        (array.assign_coords(lat=("lat", lat, {"units": "radians"})), "has the units 'radians'"),
    ):
        refused(message, up, other)
    for kind in (LatLonToVertices, VerticesToLatLon):
        refused("has the units 'radians'", kind.from_dataarray, pyramid, other)
        refused("has the units 'radians'", kind, pyramid, other.lat, lon)
    named = array.rename(lat="y", longitude="x")
    for name, standard in (("y", "latitude"), ("x", "longitude")):
        named[name].attrs["standard_name"] = standard
    assert torch.equal(LatLonToVertices.from_dataarray(pyramid, named)(named), points)
    dataset = xarray.Dataset({"wind": array, "rain\n": array})
    for given, message in (
        (dataset, r"with the variables 'wind', 'rain\\n': give .* dataset\['wind'\],"),
        (xarray.Dataset(), "with the variables none"),
        (xarray.Dataset({f"{n:099}": array for n in range(99)}), r"^.{300,500}, \.\.\.: give one"),
    ):
        refused(message, up, given)
    assert torch.equal(up(dataset["wind"]), points)
    assert torch.equal(up(dataset.to_dataarray()), torch.stack([points, points]))
