"""Grids of latitudes and longitudes: regular ones, refused ones, fields of xarray."""

import math
from types import SimpleNamespace

import numpy as np
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


def stand_in(values: np.ndarray, **coords: np.ndarray) -> SimpleNamespace:
    """What is used of a DataArray whose dimensions are the keywords, in order."""
    held = {name: SimpleNamespace(values=c) for name, c in coords.items() if c is not None}
    return SimpleNamespace(dims=tuple(coords), coords=held, values=values)


def test_data_arrays(spheres: Store) -> None:
    pyramid, (lat, lon) = spheres["so3"], (grid.numpy() for grid in regular_grid(6, 12, west=0))
    values = np.random.default_rng(0).normal(size=(12, 4, 6)).astype(">f4")
    values.setflags(write=False)
    array = stand_in(values, longitude=lon, time=None, lat=lat)
    up = LatLonToVertices.from_dataarray(pyramid, array)
    image = torch.from_numpy(values.astype("f4").transpose(1, 2, 0).copy())[:, None]
    points = up(array)
    assert points.dtype == torch.float32
    assert torch.allclose(points, up(image)[:, 0])
    flat = stand_in(values[:, 0], longitude=lon, lat=lat)
    assert torch.allclose(up(flat), points[0])
    assert up(stand_in(values[:, :0], lon=lon, time=None, lat=lat)).shape == (0, 162)
    assert VerticesToLatLon.from_dataarray(pyramid, array).shape == (6, 12)
    for other, message in (
        ({"lon": lon, "time": None, "lat": lat[::-1]}, "latitudes must be the module's, 6 from"),
        ({"lon": lon - 180, "time": None, "lat": lat}, "longitudes must be the module's"),
        ({"lon": lon, "time": None, "y": lat}, "one dimension named lat or latitude"),
        ({"lon": lon, "longitude": lon, "lat": lat}, "one dimension named lon or longitude"),
        ({"lon": lon, "time": None, "lat": None}, "dimension 'lat' must have coordinates"),
    ):
        with pytest.raises(ValueError, match=message):
            up(stand_in(values, **other))
    with pytest.raises(ValueError, match=r"or xarray.DataArrays .* Got ndarray"):
        up(values)


def test_xarray(spheres: Store) -> None:
    xarray = pytest.importorskip("xarray")
    lat, lon = (grid.numpy() for grid in regular_grid(6, 12, west=0))
    values = np.random.default_rng(0).normal(size=(3, 6, 12))
    array = xarray.DataArray(values, {"lat": lat, "lon": lon}, ("time", "lat", "lon"))
    up = LatLonToVertices.from_dataarray(spheres["so3"], array)
    expected = up(torch.from_numpy(values)[:, None])[:, 0]
    assert torch.equal(up(array), expected)
    assert torch.equal(up(array.transpose("lon", "time", "lat")), expected)
    dataset = xarray.Dataset({"wind": array, "rain\n": array})
    for given, message in (
        (dataset, r"with the variables 'wind', 'rain\\n': give .* dataset\['wind'\],"),
        (xarray.Dataset(), "with the variables none"),
        (xarray.Dataset({f"{n:099}": array for n in range(99)}), r", \.\.\.: give one"),
    ):
        for take in (up, lambda field: LatLonToVertices.from_dataarray(spheres["so3"], field)):
            with pytest.raises(ValueError, match=message) as caught:
                take(given)
            assert len(str(caught.value)) < 600
    assert torch.equal(up(dataset["wind"]), expected)
    assert torch.equal(up(dataset.to_dataarray()), torch.stack([expected, expected]))
