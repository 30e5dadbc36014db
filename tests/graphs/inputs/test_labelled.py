"""Ways in which longitudes, latitudes and their units come: all right, or refused by name.

What is right is known by formula: the pixels north of 20 degrees and east of Greenwich are inside,
and points are unit vectors.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from astropy import units
from astropy.table import QTable, Table
from refusing import refused

from cheblienet_graphs import GraphSpec, SpecError, nearest_neighbors, point_laplacian
from cheblienet_graphs.inputs.mask_files import read_mask
from cheblienet_graphs.inputs.masks import LatLonMask
from cheblienet_graphs.inputs.volumes import Volume

xr = pytest.importorskip("xarray")

RNG = np.random.default_rng(0)
POINTS = np.column_stack([RNG.uniform(-89, 89, 300), RNG.uniform(-180, 180, 300)])
LAT, LON = np.arange(-85.0, 90, 10), np.arange(5.0, 360, 10)
LAND = (LAT[:, None] > 20) & (LON < 180)
MASK = xr.DataArray(LAND, {"lat": LAT, "lon": LON}, ("lat", "lon"))
CROP = MASK.sel(lat=slice(0, 90), lon=slice(0, 90))
SEA = xr.where(MASK, np.nan, 285.0)
"""Temperatures of the sea, missing on land."""
INSIDE = (POINTS[:, 0] > 20) & (POINTS[:, 1] > 0)


def told(latitude: dict[str, str], longitude: dict[str, str]) -> Any:
    """The mask on dimensions y and x whose coordinates say these."""
    along = {"y": ("y", LAT, latitude), "x": ("x", LON, longitude)}
    return xr.DataArray(LAND, along, ("y", "x"))


def lat_saying(**attributes: str) -> Any:
    return MASK.assign_coords(lat=("lat", LAT, attributes))


def covered(mask: Any, **sampling: Any) -> list[bool]:
    """Which of the points a mask takes."""
    spec = GraphSpec("s2", coordinates=POINTS, mask=mask, **sampling)
    assert spec.mask is not None
    return np.isin(np.arange(len(POINTS)), spec.mask.on_level(0)).tolist()


def western(mask: Any) -> Any:
    """With longitudes in [-180, 180)."""
    return mask.assign_coords(lon=(LON + 180) % 360 - 180).sortby("lon")


MASKS = {
    "longitudes 0 to 360": MASK,
    "longitudes -180 to 180": western(MASK),
    "descending longitudes": MASK[:, ::-1],
    "in no order": MASK[RNG.permutation(len(LAT)), RNG.permutation(len(LON))],
    "north up": MASK[::-1],
    "transposed": MASK.T,
    "a step of time": MASK.expand_dims(time=[0], depth=[1]),
    "spelled out": MASK.rename(lat="Latitude", lon="LONGITUDE"),
    "units of CF": told({"units": "degrees_north"}, {"units": "degree_E"}),
    "standard names": told({"standard_name": "latitude"}, {"standard_name": "longitude"}),
    "degrees, with an axis": lat_saying(units="degrees", axis="Y"),
    "zeros and ones": MASK.astype(float),
    "a DataFrame": MASK.to_pandas(),
    "a DataFrame, transposed": MASK.to_pandas().T,
    "Quantities": LatLonMask(LAND, LAT * units.deg, (LON * units.deg).to(units.rad)),
    "fields and their coordinates": LatLonMask(MASK, MASK.lat, MASK.lon),
    "fields on another turn": LatLonMask(MASK, LAT, LON - 360),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_masks_are_where_their_coordinates_say(mask: Any) -> None:
    assert covered(mask) == INSIDE.tolist()


def test_a_region_stays_where_it_is() -> None:
    crop = CROP.copy(data=np.ones(CROP.shape, bool))
    shown = (POINTS[:, 0] > 0) & (POINTS[:, 1] > 0) & (POINTS[:, 1] < 90)
    assert covered(crop) == shown.tolist()
    turned = CROP.assign_coords(lon=CROP.lon - 45).copy(data=np.ones(CROP.shape, bool))
    for region in (turned, turned.assign_coords(lon=turned.lon % 360)):
        shown = (POINTS[:, 0] > 0) & (abs(POINTS[:, 1]) < 45)
        assert covered(region) == shown.tolist()


def test_fields_have_missing_values() -> None:
    assert covered(SEA) == (~INSIDE).tolist()


def test_values_a_point_need_no_names() -> None:
    for mask in (xr.DataArray(INSIDE, dims="cell"), pd.Series(INSIDE), xr.DataArray(INSIDE)):
        assert covered(mask) == INSIDE.tolist()


ROTATED = {"standard_name": "grid_latitude", "units": "degrees"}
NO_MASKS = {
    "radians": (lat_saying(units="radians"), "latitude .*'lat' has the units 'radians'"),
    "radians of a region": (
        CROP.assign_coords(lon=("lon", np.radians(CROP.lon.values), {"units": "rad"})),
        "longitude .*'lon' has the units 'rad'",
    ),
    "radians without a word": (
        MASK.assign_coords(lat=np.radians(LAT), lon=np.radians(LON)),
        "in degrees, not in radians",
    ),
    "meters": (lat_saying(units="m"), "latitude .*'lat' has the units 'm'"),
    "a rotated pole": (lat_saying(**ROTATED), "'lat' has the standard_name 'grid_latitude'"),
    "named as such": (MASK.rename(lat="rlat", lon="rlon"), "dimensions .*rlat"),
    "units of the other": (lat_saying(units="degrees_east"), "longitude .* Got 'lat' and 'lon'"),
    "the other axis": (lat_saying(axis="X"), "'lat' has the axis 'X'"),
    "one of two": (MASK.rename(lat="y"), r"Got dimensions \('y', 'lon'\)"),
    "no coordinates": (MASK.drop_vars("lat"), "each with coordinates"),
    "two times": (MASK.expand_dims(time=[0, 1]), "latitudes and longitudes alone"),
    "a Dataset": (MASK.to_dataset(name="land"), "a Dataset of 'land'"),
    "a frame without names": (MASK.to_pandas().rename_axis(None, axis=0), "dim_0"),
    "points with places": (
        xr.DataArray(INSIDE, dims="cell", coords={"lat": ("cell", POINTS[:, 0])}),
        "Got dimensions .*'lat'",
    ),
    "points with labels": (pd.Series(INSIDE, np.arange(300)[::-1]), "labels 'dim_0' of its own"),
}


@pytest.mark.parametrize(("mask", "message"), NO_MASKS.values(), ids=NO_MASKS)
def test_masks_that_say_something_else(mask: Any, message: str) -> None:
    refused(message, covered, mask, error=SpecError)


NO_GRIDS: list[tuple[Callable[[], object], str]] = [
    (lambda: LatLonMask(LAND, np.radians(LAT), np.radians(LON)), "in degrees, not in radians"),
    (lambda: LatLonMask(LAND, LAT * units.m, LON), "latitudes must be angles. Got the unit 'm'"),
    (lambda: LatLonMask(MASK.T, MASK.lat, MASK.lon), r"Got \('lon', 'lat'\). Transpose it"),
    (lambda: LatLonMask(MASK[::-1], LAT, LON), "on the latitudes that it has itself"),
    (lambda: LatLonMask(LAND, lat_saying(**ROTATED).lat, LON), "standard_name 'grid_latitude'"),
    (lambda: LatLonMask.whole_sphere(MASK), "without coordinates of its own. Got coordinates"),
    (lambda: LatLonMask(LAND * units.percent, LAT, LON), "without a unit. Got the unit '%'"),
    (lambda: GraphSpec("r2", "36x18", mask=MASK), "one on latitudes and longitudes"),
]


@pytest.mark.parametrize(("make", "message"), NO_GRIDS)
def test_grids_that_say_something_else(make: Callable[[], object], message: str) -> None:
    refused(message, make, error=SpecError)


def test_files_are_read_as_arrays_are(tmp_path: Path) -> None:
    for number, mask in enumerate((told({"units": "degrees_north"}, {"units": "degrees_east"}),)):
        mask.astype("i1").to_netcdf(tmp_path / f"{number}.nc", engine="h5netcdf")
        assert covered(read_mask(tmp_path / f"{number}.nc")) == INSIDE.tolist()
    lat_saying(**ROTATED).astype("i1").to_netcdf(tmp_path / "rotated.nc", engine="h5netcdf")
    with pytest.raises(Exception, match="no variable on latitudes and longitudes in degrees"):
        read_mask(tmp_path / "rotated.nc")


PIXELS = RNG.random((4, 6)) < 0.5
IMAGE = xr.DataArray(PIXELS, dims=("y", "x"))


def test_pixels_by_their_dimensions() -> None:
    expected = GraphSpec("r2", mask=PIXELS).mask
    same = [IMAGE, IMAGE.T, IMAGE.expand_dims(band=[1]), IMAGE.assign_coords(x=np.arange(6) * 0.5)]
    for image in [*same, xr.DataArray(PIXELS), pd.DataFrame(PIXELS)]:
        assert GraphSpec("r2", mask=image).mask == expected
    voxels = RNG.random((3, 4, 5)) < 0.7
    space = xr.DataArray(voxels, dims=("z", "y", "x"))
    assert GraphSpec("r3", mask=space.T).mask == GraphSpec("r3", mask=voxels).mask
    sides = {"z": np.arange(3) * 2.0, "y": np.arange(4.0), "x": np.arange(5.0)}
    assert GraphSpec("r3", mask=space.assign_coords(sides)).spacing == (1, 1, 2)


def test_parts_of_pixels_and_volumes_by_their_dimensions() -> None:
    parts = RNG.random((6, 8))
    image = xr.DataArray(parts, dims=("y", "x"))
    cut = {"mask_edge": "cut", "weights": "selling", "levels": 1}
    expected = GraphSpec("r2", mask=parts, **cut).mask
    assert GraphSpec("r2", mask=image.T, **cut).mask == expected
    voxels = xr.DataArray(np.ones((3, 4, 5)), dims=("z", "y", "x"))
    assert Volume(voxels, np.eye(4)).size == (5, 4, 3)
    refused("values must be of dimensions z, y, x", Volume, voxels.T, np.eye(4), error=SpecError)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (IMAGE.rename(x="time"), "of dimensions y, x. Got dimensions .*time"),
        (IMAGE.assign_coords(y=np.arange(4)[::-1]), "coordinates y that ascend evenly"),
        (IMAGE.assign_coords(x=[0, 1, 2, 4, 8, 16]), "coordinates x that ascend evenly"),
        (IMAGE.assign_coords(x=range(6), y=[0, 2, 4, 6]), "Got steps 2 and 1"),
        (pd.DataFrame(PIXELS, columns=[*"abcdef"]), "of dimensions y, x. Got dimensions"),
    ],
)
def test_pixels_that_are_elsewhere(image: Any, message: str) -> None:
    refused(message, GraphSpec, "r2", mask=image, error=SpecError)


FRAME = pd.DataFrame({"lon": POINTS[:, 1], "Latitude": POINTS[:, 0]})
TABLES = {
    "by place": POINTS,
    "numbered": pd.DataFrame(POINTS),
    "by name": FRAME,
    "records": FRAME.to_records(index=False),
    "labels": xr.DataArray(POINTS[:, ::-1], dims=("n", "c"), coords={"c": ["lon", "lat"]}),
    "of astropy": Table({"lon": np.radians(POINTS[:, 1]) * units.rad, "lat": POINTS[:, 0]}),
    "with units": QTable({"lon": np.radians(POINTS[:, 1]) * units.rad, "lat": POINTS[:, 0]}),
    "Quantities": (POINTS * units.deg).to(units.arcmin),
    "Quantities in radians": (POINTS * units.deg).to(units.rad),
}
NORTH, EAST = np.radians(POINTS.T)
VECTORS = np.stack([np.cos(NORTH) * np.cos(EAST), np.cos(NORTH) * np.sin(EAST), np.sin(NORTH)], 1)
CHORDS = np.linalg.norm(VECTORS[:, None] - VECTORS, axis=2)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_tables_of_points(table: Any) -> None:
    spec = GraphSpec("s2", coordinates=table)
    assert np.abs(spec.full_sampling(0).base_points - VECTORS).max() < 1e-12
    neighbors, _ = nearest_neighbors(table, 3, manifold="s2")
    assert np.array_equal(neighbors, np.argsort(CHORDS, axis=1)[:, 1:4])
    several = GraphSpec("s2", coordinates=[table, table[:100]])
    assert several.vertices == (300, 100)


def test_other_columns() -> None:
    areas = RNG.uniform(0.5, 2, 300)
    given = GraphSpec("s2", coordinates=FRAME.assign(area=areas)).full_sampling(0).base_areas
    assert np.allclose(given, areas / areas.mean())
    poses = pd.DataFrame({"theta": POINTS[:, 0], "y": POINTS[:, 1], "x": POINTS[:, 0]})
    by_place = poses[["x", "y", "theta"]].to_numpy()
    found, expected = (nearest_neighbors(p, 5, manifold="se2", xi=1)[0] for p in (poses, by_place))
    assert np.array_equal(found, expected)
    plane = pd.DataFrame({"y": POINTS[:, 1], "x": POINTS[:, 0]})
    by_name, by_place = (point_laplacian(p, manifold="r2", neighbors=8) for p in (plane, POINTS))
    assert (by_name != by_place).nnz == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (FRAME.assign(name="a"), "of columns latitude, longitude.* Got columns .*'name'"),
        (FRAME.rename(columns={"lon": "x"}), "Got columns 'x', 'Latitude'"),
        (FRAME.assign(lat=0.0), "of columns latitude.* Got columns 'lon', 'Latitude', 'lat'"),
        (FRAME.to_xarray(), "a table of points. Got a Dataset"),
        (POINTS * units.m, "must be angles. Got the unit 'm'"),
    ],
)
def test_tables_of_something_else(table: Any, message: str) -> None:
    refused(message, GraphSpec, "s2", coordinates=table, error=SpecError)
    refused(message, nearest_neighbors, table, 3, manifold="s2", error=SpecError)


def test_units_of_lengths_are_refused() -> None:
    given = POINTS * units.m
    refused("without a unit. Got the unit 'm'", GraphSpec, "r2", coordinates=given)
    refused("without a unit", nearest_neighbors, given, 3, manifold="r2")
    turned = (POINTS * units.deg).to(units.rad)
    refused("units must be left out", nearest_neighbors, turned, 3, manifold="s2", units="radians")
