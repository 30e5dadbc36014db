"""Graphs on s2 as xarray reads them: names of dimensions, coordinates, HEALPix' numbering."""

from pathlib import Path

import astropy_healpix
import numpy as np
import pytest
import xarray
from stores import store_of

from cheblienet_graphs import GraphSpec, verify
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.layout import check_version
from cheblienet_models import open_store

SPECS = {
    "sky": GraphSpec("s2", nside=8, neighbors=8, levels=2, eigenpairs=3),
    "bay": GraphSpec("s2", nside=8, region=(-60, 10, 60, 70), neighbors=6, levels=1),
    "mesh": GraphSpec("s2", subdivisions=2, levels=1),
    "plane": GraphSpec("se2", 8, orientations=4, levels=1),
}
store = store_of(SPECS)


def dataset(store: Path, name: str, level: int = 0) -> xarray.Dataset:
    group = f"{name}/v001/levels/{level}"
    return xarray.open_zarr(store, group=group, consolidated=False, chunks=None)


@pytest.mark.parametrize("level", [0, 1])
def test_printing_shows_named_dimensions_and_coordinates(store: Path, level: int) -> None:
    sky = dataset(store, "sky", level)
    graph = open_store(store)["sky"].levels[level]
    sizes = {"vertex": graph.num_vertices, "coordinate": 2, "frequency": 3, "none": 0}
    assert dict(sky.sizes) == sizes
    assert list(sky.coords) == ["coordinates"]
    assert set(sky.data_vars) == {"degree", "area", "eigenvalues", "eigenvectors", "crs"}
    coordinates = str(sky).partition("Coordinates:\n")[2].partition("Dimensions without")[0]
    assert coordinates.split()[:3] == ["coordinates", "(vertex,", "coordinate)"]
    for name in ("degree", "area", "coordinates", "eigenvalues", "eigenvectors"):
        np.testing.assert_array_equal(sky[name], np.asarray(getattr(graph, name)))
        assert {"long_name", "units"} <= sky[name].attrs.keys()


@pytest.mark.parametrize(("name", "level"), [("sky", 0), ("sky", 1), ("bay", 0)])
def test_healpix_says_how_it_is_numbered(store: Path, name: str, level: int) -> None:
    """By which another library finds the same places. xdggs takes no other attributes."""
    sky = dataset(store, name, level)
    mapping = sky[sky.area.attrs["grid_mapping"]].attrs
    assert mapping.keys() == {"grid_mapping_name", "refinement_level", "indexing_scheme"}
    assert (mapping["grid_mapping_name"], mapping["indexing_scheme"]) == ("healpix", "nested")
    pixels = astropy_healpix.HEALPix(
        2 ** mapping["refinement_level"], order=mapping["indexing_scheme"]
    )
    index = np.arange(pixels.npix)
    if name == "bay":
        assert sky.base_index.dims == ("vertex",)
        assert sky.base_index.attrs["standard_name"] == "healpix_index"
        assert sky[sky.base_index.attrs["grid_mapping"]].attrs == mapping
        index = sky.base_index.values
    longitude, latitude = pixels.healpix_to_lonlat(index)
    assert sky.coordinates.attrs["units"] == "radian"
    np.testing.assert_allclose(sky.coordinates[:, 0], np.pi / 2 - latitude.value, atol=1e-12)
    turn = np.exp(1j * (sky.coordinates[:, 1].values - longitude.value))
    np.testing.assert_allclose(turn, 1, atol=1e-12)


def test_schemas(store: Path) -> None:
    """Other manifolds are written as before, which older readers take."""
    schemas = {name: check_version(Folder(store / name / "v001"))["schema"] for name in SPECS}
    assert schemas == dict.fromkeys(("sky", "mesh", "bay"), "1.6") | {"plane": "1.0"}
    assert not {"crs", "grid_mapping"} & {*(mesh := dataset(store, "mesh")), *mesh.area.attrs}
    node = store / "plane/v001/levels/0/degree/zarr.json"
    assert "dimension_names" not in node.read_text()
    assert verify(store) == []
