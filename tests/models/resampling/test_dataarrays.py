"""Fields of xarray, and stand-ins for them."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from cheblienet_models import LatLonToVertices, Store, VerticesToLatLon, regular_grid


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
