"""Fields of models in NetCDF: masks, fractions, fields with missing values, or refused with why."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from failures import refusal_by

from cheblienet_graphs.inputs.mask_files import read_mask
from cheblienet_graphs.inputs.masks import LatLonMask

refusal = partial(refusal_by, read_mask)
INSIDE = np.random.default_rng(3).random((5, 7)) < 0.5
COORDINATES = {"lat": np.linspace(60, -60, 5), "lon": np.linspace(0, 300, 7)}
GAP = np.zeros((5, 7), bool)
GAP[0, np.flatnonzero(~INSIDE[0])[:1]] = True
"""One pixel, outside."""
LAND = np.where(INSIDE, 280.0, np.nan)
WARM = np.where(INSIDE, np.linspace(271, 300, 35).reshape(5, 7), np.nan)


def field(values: np.ndarray, **attributes: Any) -> xr.DataArray:
    return xr.DataArray(values, COORDINATES, ("lat", "lon"), attrs=attributes)


def written(file: Path, **variables: xr.DataArray) -> Path:
    engine = "scipy" if file.suffix == ".cdf" else "h5netcdf"
    bare = {
        key: {"_FillValue": None} for key in variables if "_FillValue" not in variables[key].attrs
    }
    xr.Dataset(variables).to_netcdf(file, engine=engine, encoding=bare)
    return file


def gap(values: np.ndarray) -> np.ndarray:
    return np.where(GAP, np.nan, values)


STORED = np.where(INSIDE, 60, 20).astype(np.int16)
SEA = {
    "integers": field(INSIDE.astype("i1")),
    "1 and NaN": field(np.where(INSIDE, 1.0, np.nan)),
    "temperatures": field(WARM),
    "half is outside": field(np.where(INSIDE, 0.51, 0.5).astype("f4")),
    "a mask of float32": field(np.where(INSIDE, 1 + 1.2e-7, -3e-8).astype("f4")),
    "such a mask with a gap": field(gap(np.where(INSIDE, 1 + 1.2e-7, -3e-8)).astype("f4")),
    "fractions of float32": field(np.where(INSIDE, 1 + 1.2e-7, 0.3).astype("f4"), units="1"),
    "fractions as ERA5 has them": field(np.where(INSIDE, 0.7, -3e-8), units="(0 - 1)"),
    "percent": field(np.where(INSIDE, 51.0, 50.0), units="%"),
    "percent of float32": field(np.where(INSIDE, 100.00001, 0.2).astype("f4"), units="percent"),
    "a mask in percent": field(gap(np.where(INSIDE, 100.0, 0.0)), units="%"),
    "a field": field(WARM, units="K"),
    "a thickness below 1": field(WARM / 1000, units="m"),
    "a valid minimum": field(np.where(INSIDE, WARM, -1e20), units="K", valid_min=200.0),
    "a valid maximum": field(np.where(INSIDE, WARM, 1e4), units="K", valid_max=400.0),
    "a valid range": field(np.where(INSIDE, WARM, np.inf), units="K", valid_range=[200.0, 400.0]),
    "limits of stored integers": field(
        STORED, units="K", valid_range=np.array([50, 70], "i2"), scale_factor=0.5, add_offset=100.0
    ),
    "limits of scaled numbers": field(
        STORED, units="K", valid_range=[129.0, 130.0], scale_factor=0.5, add_offset=100.0
    ),
    "unsigned limits": field(
        np.where(INSIDE, -100, 20).astype("i1"),
        units="K",
        _Unsigned="true",
        valid_min=np.int8(-120),
    ),
    "several values that are missing": field(
        np.where(INSIDE, 280.0, np.where(GAP, -1.0, -2.0)),
        units="K",
        _FillValue=-1.0,
        missing_value=-2.0,
    ),
}


@pytest.mark.parametrize("kind", SEA)
def test_fields_that_say_what_is_inside(tmp_path: Path, kind: str) -> None:
    mask = read_mask(written(tmp_path / "m.nc", m=SEA[kind]))
    assert isinstance(mask, LatLonMask)
    assert np.array_equal(mask.inside, INSIDE)


SHARES = np.where(INSIDE, 0.7, 0.2)
OTHERS = {
    "holds 0.2 to 0.7, units none, 1 of 35 missing: missing values and": field(gap(SHARES)),
    "holds 20 to 70, units '%', 1 of 35 missing: missing values and fr": field(
        gap(SHARES * 100), units="%"
    ),
    "holds 0 to 100, units none, 1 of 35 missing: missing values and what may be percent": field(
        gap(np.where(INSIDE, 100, np.where(np.arange(7) > 3, 0.0, 50.0)))
    ),
    "holds -0.05 to 1.05, units '1', 1 of 35 missing: missing values and": field(
        gap(np.where(INSIDE, 1.05, -0.05)), units="1"
    ),
    "holds 280 to inf, units 'K', 0 of 35 missing: infinite or huge": field(
        np.where(INSIDE, 280.0, np.inf), units="K"
    ),
    "280 to 1e+20, units 'K', 1 of 35 missing: infinite or huge": field(
        gap(np.where(INSIDE, 280.0, 1e20)), units="K"
    ),
    "holds 0.2 to 0.7, units 'm', 0 of 35 missing: it is no fraction": field(SHARES, units="m"),
    "holds 0.2 to 0.7, units '%', 0 of 35 missing: it is no fraction": field(SHARES, units="%"),
    "0 to 1, units '%', 0 of 35 missing": field(INSIDE * 1.0, units="%"),
    "has missing values alone": field(np.full((5, 7), np.nan)),
    "1 to 3, units none, 1 of 35 missing: missing values and labels": field(
        np.where(GAP, -1, np.where(INSIDE, 1, 3)).astype("i1"), _FillValue=np.int8(-1)
    ),
    "1 of 35 missing: missing values and labels": field(
        gap(np.where(INSIDE, 1.0, 2.0)), flag_values=[1.0, 2.0], flag_meanings="sea lake"
    ),
    "limits of valid values that are no two numbers": field(WARM, units="K", valid_range="0, 400"),
    "limits of valid values that are no two ": field(WARM, units="K", valid_range=[1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("message", OTHERS)
def test_fields_that_do_not(tmp_path: Path, message: str) -> None:
    file = written(tmp_path / "m.nc", m=OTHERS[message])
    assert message in refusal(f"{file}:m")


def test_steps_along_other_dimensions(tmp_path: Path) -> None:
    months = xr.concat([field(~INSIDE * 1.0), field(INSIDE * 1.0)], "time")
    one = months[:1].rename(time="run")
    depths = xr.concat([1 - months, months, months], "depth").transpose(
        "lat", "depth", "lon", "time"
    )
    for name in ("m.nc", "m.cdf"):
        file = written(tmp_path / name, m=months, deep=depths, one=one, flat=one[0])
        for source in ("m@1", "deep@0,0", "deep@2,1"):
            assert np.array_equal(read_mask(f"{file}:{source}").inside, INSIDE), source
        for source in ("one", "one@0", "flat"):
            assert np.array_equal(read_mask(f"{file}:{source}").inside, ~INSIDE), source
        assert f"It has time (2) too; select one, as {file}:m@0." in refusal(f"{file}:m")
        assert f"as {file}:deep@0,0." in refusal(f"{file}:deep")
        for steps in ("2", "-1", "0,0", "x", "", "1.0"):
            said = f"a step, from 0, for each other dimension: time (2). Got @{steps}."
            assert said in refusal(f"{file}:m@{steps}")
        assert "for each other dimension: none. Got @0." in refusal(f"{file}:flat@0")
        assert "no variable ice; it has " in refusal(f"{file}:ice@0")


def test_groups(tmp_path: Path) -> None:
    """Coordinates are those of the group, or of the one that it is in."""
    file = tmp_path / "m.nc"
    other = field(~INSIDE * 1.0).assign_coords(lat=-COORDINATES["lat"])
    xr.Dataset(coords=COORDINATES).to_netcdf(file, engine="h5netcdf")
    within = xr.Dataset({"m": field(INSIDE * 1.0).drop_vars(["lat", "lon"])})
    within.to_netcdf(file, mode="a", engine="h5netcdf", group="ocean/top")
    xr.Dataset({"m": other, "n": other}).to_netcdf(file, mode="a", engine="h5netcdf", group="land")
    for source in ("ocean/top/m", "/ocean/top/m"):
        mask = read_mask(f"{file}:{source}")
        assert np.array_equal(mask.inside, INSIDE)
        assert np.array_equal(mask.latitudes, COORDINATES["lat"])
    mask = read_mask(f"{file}:land/m")
    assert np.array_equal(mask.inside, ~INSIDE)
    assert np.array_equal(mask.latitudes, -COORDINATES["lat"])
    for source, said in (
        ("", f"it has none. The groups are land, ocean, ocean/top, as {file}:GROUP/VARIABLE."),
        (":sea/m", "has no group sea; it has land, ocean, ocean/top."),
        (":land/x", "has no variable land/x; it has m, n."),
    ):
        assert said in refusal(f"{file}{source}")
    several = xr.Dataset({"t": other.expand_dims(time=2)})
    several.to_netcdf(file, mode="a", engine="h5netcdf", group="ice")
    assert f"select one, as {file}:ice/t@0." in refusal(f"{file}:ice/t")
    assert np.array_equal(read_mask(f"{file}:ice/t@1").inside, ~INSIDE)
    old = written(tmp_path / "m.cdf", m=other)
    assert "has no group land; it has none." in refusal(f"{old}:land/m")
    inner = tmp_path / "x.nc:ocean"
    inner.mkdir()
    assert np.array_equal(read_mask(written(inner / "m.nc", m=other)).inside, ~INSIDE)


@pytest.mark.parametrize("top", [3, 100, 127, 200])
def test_parts_are_not_read_from_labels(tmp_path: Path, top: int) -> None:
    np.save(tmp_path / "m.npy", np.where(INSIDE, top, 0).astype(np.uint8))
    said = f"holds 0 to {top} of a range to 255"
    assert said in refusal_by(read_mask, tmp_path / "m.npy", edge="cut")


def test_parts_in_single_precision(tmp_path: Path) -> None:
    values = np.where(INSIDE, 1 + 1.2e-7, -3e-8).astype(np.float32)
    np.save(tmp_path / "m.npy", values)
    assert np.array_equal(read_mask(tmp_path / "m.npy"), INSIDE)
    assert np.array_equal(read_mask(tmp_path / "m.npy", "cut"), INSIDE)
