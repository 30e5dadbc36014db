"""Points along one dimension, as cfgrib opens reduced grids, and steps of time: by their labels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusing import refused

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.errors import InputError
from cheblienet_graphs.inputs.mask_files import read_mask
from cheblienet_graphs.inputs.masks import LatLonMask

xr = pytest.importorskip("xarray")

SPEC = GraphSpec("s2", gaussian="O8", levels=1)
BETA, GAMMA = SPEC.full_sampling(0).coordinates(0, SPEC.num_vertices).T
LATITUDES, LONGITUDES = 90 - np.degrees(BETA), np.degrees(GAMMA)
LAND = LATITUDES + LONGITUDES / 9 > 30
CF = {"latitude": {"units": "degrees_north"}, "longitude": {"units": "degrees_east"}}


def of_cfgrib(values: Any, decimals: int = 3) -> Any:
    """A field along `values`, coordinates rounded as GRIB has them."""
    places = {"latitude": LATITUDES.round(decimals), "longitude": LONGITUDES.round(decimals)}
    coords = {name: ("values", place, CF[name]) for name, place in places.items()}
    return xr.DataArray(values, {**coords, "time": 0, "number": 1}, "values")


MASK = of_cfgrib(LAND.astype(float))
INSIDE = GraphSpec("s2", gaussian="O8", levels=1, mask=LAND)


@pytest.mark.parametrize(
    "mask",
    [
        MASK,
        MASK.isel(values=np.random.default_rng(0).permutation(len(LAND))),
        MASK.assign_coords(longitude=("values", (LONGITUDES + 180) % 360 - 180)),
        MASK.expand_dims(step=[0]),
        of_cfgrib(np.where(LAND, 280.0, np.nan)),
    ],
)
def test_masks_of_points_are_where_their_coordinates_say(mask: Any) -> None:
    assert GraphSpec("s2", gaussian="O8", levels=1, mask=mask) == INSIDE


def test_points_are_taken_from_the_coordinates() -> None:
    own = GraphSpec("s2", coordinates=of_cfgrib(LAND, 12))
    table = np.stack([LATITUDES.round(12), LONGITUDES.round(12)], axis=1)
    assert own == GraphSpec("s2", coordinates=table)
    assert own == GraphSpec("s2", coordinates=of_cfgrib(LAND, 12).to_dataset(name="land"))


def test_masks_of_other_points_are_refused() -> None:
    refused("on the 1,600 points", GraphSpec, "s2", gaussian="O16", mask=MASK)
    count = len(LAND)
    refused(r"points up to .* degrees away", GraphSpec, "s2", points=count, mask=MASK)
    twice = MASK.isel(values=[0, *range(count - 1)])
    refused("on the points of the sampling", GraphSpec, "s2", gaussian="O8", mask=twice)
    several = xr.concat([MASK, MASK], "time")
    refused("along 'values' alone", GraphSpec, "s2", gaussian="O8", mask=several)
    radians = MASK.assign_coords(latitude=("values", BETA, {"units": "radians"}))
    refused("in degrees", GraphSpec, "s2", gaussian="O8", mask=radians)
    refused("latitudes and longitudes", GraphSpec, "r2", mask=MASK)


def test_files_have_them_too(tmp_path: Path) -> None:
    pytest.importorskip("h5netcdf")
    MASK.to_dataset(name="land").to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    assert GraphSpec("s2", gaussian="O8", levels=1, mask=read_mask(tmp_path / "a.nc")) == INSIDE


@pytest.fixture
def ice(tmp_path: Path) -> Path:
    """Ice on four latitudes, farther south from step to step."""
    pytest.importorskip("h5netcdf")
    latitudes = np.array([-60.0, -20, 20, 60])
    times = np.array(["2020-01-01T06", "2020-02-01T06", "2021-01-01T06"], "M8[ns]")
    cold = latitudes[:, None] > np.array([40, 0, -40])[:, None, None]
    coords = {"time": times, "lat": latitudes, "lon": np.arange(8) * 45.0}
    values = np.broadcast_to(cold, (3, 4, 8)).astype("i1")
    field = xr.DataArray(values, coords, ("time", "lat", "lon"))
    field.to_dataset(name="ice").to_netcdf(tmp_path / "ice.nc", engine="h5netcdf")
    return tmp_path / "ice.nc"


@pytest.mark.parametrize(
    ("step", "number"), [("2020-01", 0), ("2020-02-01", 1), ("2021-01-01T06", 2)]
)
def test_a_step_may_be_named_by_its_time(ice: Path, step: str, number: int) -> None:
    named, counted = (read_mask(f"{ice}:ice@{one}") for one in (step, number))
    assert isinstance(named, LatLonMask)
    assert isinstance(counted, LatLonMask)
    assert (named.inside == counted.inside).all()
    assert named.inside.sum() == 8 * (number + 1)


@pytest.mark.parametrize("step", ["2020", "2019-12", "2020-01-01T07", "2020-0", "2020-01,0"])
def test_times_that_are_none_are_refused(ice: Path, step: str) -> None:
    message = refused("time", read_mask, f"{ice}:ice@{step}", error=InputError)
    assert "ice.nc:ice must have" in message
