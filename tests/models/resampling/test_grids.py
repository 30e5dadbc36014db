"""Grids of latitudes and longitudes: regular ones, refused ones, fields of xarray."""

import math

import numpy as np
import pytest
import torch
from refusing import refused
from sphere_fields import LAT, LON

from cheblienet_models import LatLonToVertices, Store, VerticesToLatLon, regular_grid


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
    ):
        refused(message, up, other)
    dataset = xarray.Dataset({"wind": array, "rain\n": array})
    for given, message in (
        (dataset, r"with the variables 'wind', 'rain\\n': give .* dataset\['wind'\],"),
        (xarray.Dataset(), "with the variables none"),
        (xarray.Dataset({f"{n:099}": array for n in range(99)}), r"^.{300,500}, \.\.\.: give one"),
    ):
        refused(message, up, given)
    assert torch.equal(up(dataset["wind"]), points)
    assert torch.equal(up(dataset.to_dataarray()), torch.stack([points, points]))


def test_coordinates_are_known_by_what_they_say(spheres: Store) -> None:
    xarray = pytest.importorskip("xarray")
    pyramid, (lat, lon) = spheres["so3"], (grid.numpy() for grid in regular_grid(6, 12, west=0))
    plain = xarray.DataArray(np.random.default_rng(0).normal(size=(6, 12)), dims=("y", "x"))

    def saying(latitude: dict[str, str], longitude: dict[str, str]) -> "xarray.DataArray":
        return plain.assign_coords(y=("y", lat, latitude), x=("x", lon, longitude))

    expected = LatLonToVertices(pyramid, lat, lon)(torch.from_numpy(plain.values)[None, None])[0, 0]
    for array in (
        saying({"units": "degrees_north", "axis": "Y"}, {"units": "degrees_east"}),
        saying({"standard_name": "latitude"}, {"standard_name": "longitude", "units": "degrees"}),
    ):
        assert torch.equal(LatLonToVertices.from_dataarray(pyramid, array)(array), expected)
        assert torch.equal(LatLonToVertices(pyramid, lat, lon)(array.T), expected)
    named = plain.rename(y="lat", x="lon").assign_coords(lat=lat, lon=lon)
    for coordinate, attributes, message in (
        ("lat", {"units": "radians"}, "latitude .*has the units 'radians'. Convert it"),
        ("lon", {"units": "rad"}, "longitude .*has the units 'rad'"),
        ("lat", {"standard_name": "grid_latitude"}, "has the standard_name 'grid_latitude'"),
    ):
        array = named.copy()
        array[coordinate].attrs.update(attributes)
        for kind in (LatLonToVertices, VerticesToLatLon):
            refused(message, kind.from_dataarray, pyramid, array)
        refused(message, LatLonToVertices(pyramid, lat, lon), array)
        if coordinate == "lat":
            refused(attributes.popitem()[1], LatLonToVertices, pyramid, array.lat, array.lon)


def test_units_of_coordinates_are_kept(spheres: Store) -> None:
    units = pytest.importorskip("astropy.units")
    pyramid, (lat, lon) = spheres["so3"], (grid.numpy() for grid in regular_grid(6, 12, west=0))
    image = torch.rand(1, 1, 6, 12)
    expected = LatLonToVertices(pyramid, lat, lon)(image)
    turned = LatLonToVertices(pyramid, (lat * units.deg).to(units.rad), lon * units.deg)(image)
    assert torch.allclose(turned, expected, atol=1e-5)
    refused(
        "latitudes must be angles. Got the unit 'm'", LatLonToVertices, pyramid, lat * units.m, lon
    )
