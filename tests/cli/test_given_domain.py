"""Building on masks, regions and given points, as a user meets it."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from astropy_healpix import HEALPix
from failures import failing
from PIL import Image

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, LatLonMask, open_group
from cheblienet_graphs.errors import Remedy, SpecError, Words

DISC = np.hypot(*(np.indices((12, 16)) - 6)) < 5
RNG = np.random.default_rng(0)
PLANE = RNG.uniform(0, 3, (60, 2))
FINE = np.column_stack([np.degrees(np.arcsin(RNG.uniform(-1, 1, 80))), RNG.uniform(-180, 180, 80)])
NESTED, RING = HEALPix(4, "nested"), HEALPix(4, "ring")
SKY = RNG.random(192) < 0.6
NORTH = LatLonMask(np.repeat([[False], [True]], 36, axis=1), [-45, 45], np.arange(0, 360, 10))
"""Of a field of temperatures that are missing in the south."""


def planned(capsys: pytest.CaptureFixture[str], arguments: str) -> Any:
    assert run(["build", *arguments.split(), "--dry-run", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_an_image_sets_the_size(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Image.fromarray(DISC).save(here / "disc.png")
    points = int(DISC.sum())
    digest = hashlib.sha256(DISC.astype(np.uint8).tobytes()).hexdigest()
    plan = planned(capsys, "se2 --mask disc.png --orientations 4 --levels 1")
    assert plan["spec"]["mask"] == {"inside": [points], "sha256": digest}
    assert plan["spec"]["size"] == [16, 12]
    assert [path.name for path in here.iterdir()] == ["disc.png"]
    build = "build se2 --mask disc.png --orientations 4 --neighbors 8 --levels 1 --quiet --name g"
    assert run(build.split()) == 0
    assert run(["verify", "--quiet"]) == 0
    group = open_group("graphs.zarr", "g")
    places = np.flatnonzero(DISC)
    assert np.array_equal(group["levels/0/base_index"], places)
    facts = group.attrs["clg"]["levels"][0]
    assert facts["grid"] == [4, 12, 16]
    assert facts["vertices"] == plan["levels"][0]["vertices"] == 4 * points
    capsys.readouterr()
    assert run(["inspect", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["levels"][0]["vertices"] == 4 * points
    assert run(["export", "--to", "npz"]) == 0
    assert np.array_equal(np.load(here / "g-npz/base_index-0.npy"), places)
    files = json.loads((here / "g-npz/manifest.json").read_text())["files"]
    assert files["laplacian-0.npz"]["shape"] == [4 * points] * 2
    assert files["base_index-0.npy"]["shape"] == [points]


@pytest.mark.parametrize(
    ("manifold", "options", "fields"),
    [
        ("s2", "--nside 4 --mask nested.npy", {"nside": 4, "mask": SKY}),
        ("s2", "--nside 4 --mask ring.npy --mask-order ring", {"nside": 4, "mask": SKY}),
        ("s2", "--nside 4 --region 150,-30,-150,60", {"nside": 4, "region": (150, -30, -150, 60)}),
        ("s2", "--subdivisions 2 --mask sst.nc", {"subdivisions": 2, "mask": NORTH}),
        ("so3", "--gaussian F8 --orientations 2", {"gaussian": "F8", "orientations": 2}),
        ("r2", "--points-file p.csv --domain 0,0,3,3", {"coordinates": PLANE, "domain": "0,0,3,3"}),
        ("s2", "--points-file f.npy --points-file c.npz", {"coordinates": [FINE, FINE[:20]]}),
    ],
)
def test_files_and_options_are_what_the_library_takes(
    here: Path, capsys: pytest.CaptureFixture[str], manifold: str, options: str, fields: Any
) -> None:
    np.save(here / "nested.npy", SKY)
    np.save(here / "ring.npy", SKY[NESTED.lonlat_to_healpix(*RING.healpix_to_lonlat(range(192)))])
    places = {"lat": NORTH.latitudes, "lon": NORTH.longitudes}
    sst = xr.DataArray(np.where(NORTH.inside, 280, np.nan), places, ("lat", "lon"))
    xr.Dataset({"sst": sst}).to_netcdf(here / "sst.nc", engine="h5netcdf")
    np.savetxt(here / "p.csv", PLANE[:, ::-1], "%.17g", ",", header="y,x", comments="")
    np.save(here / "f.npy", FINE)
    np.savez(here / "c.npz", lat=FINE[:20, 0], lon=FINE[:20, 1])
    plan = planned(capsys, f"{manifold} {options}")
    assert plan["spec"] == GraphSpec(manifold, **fields).to_dict()


def test_areas_far_from_cells_are_remarked_on(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    points = "".join(f"{x},{x * x % 7},{1 + 9 * (x == 3)}\n" for x in range(12))
    (here / "p.csv").write_text("x,y,area\n" + points)
    assert run(["build", "r2", "--points-file", "p.csv", "--name", "p", "--quiet"]) == 0
    assert run(["export", "p", "--to", "zip"]) == 0
    capsys.readouterr()
    what = "levels/0/area holds given areas that are"
    for command, where in (
        (["verify"], "p/v001/"),
        (["import", "p.zip", "--store", "other.zarr"], "p.zip: "),
    ):
        assert run(command) == 0
        assert f"{where}{what}" in capsys.readouterr().err
    assert run(["verify", "--json"]) == 0
    [remark] = json.loads(capsys.readouterr().out)["remarks"]
    assert remark["where"] == "p/v001/levels/0/area"


@pytest.mark.parametrize(
    ("field", "options", "named"),
    [
        ("mask", "--mask m.npy", "m.npy: --mask must be true. Got 1. Or leave out --points-file."),
        ("coordinates", "--points-file p.csv", "p.csv: --points-file must be true. Got 1."),
        ("coordinates", "--points-file p.csv --points-file q.csv", "p.csv, q.csv: --points-file"),
        ("mask", "--points-file p.csv", "--mask must be true."),
        ("nside", "--mask m.npy", "--nside must be true."),
    ],
)
def test_what_the_specification_refuses_names_its_file(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    field: str,
    options: str,
    named: str,
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise SpecError(field, "true", 1, Words("Or leave out ", Remedy("coordinates"), "."))

    monkeypatch.setattr("cheblienet_graphs.spec.graph_spec.GraphSpec", refuse)
    np.save(here / "m.npy", DISC)
    for name in ("p.csv", "q.csv"):
        (here / name).write_text("lat,lon\n1,2\n")
    code, message = failing(capsys, "build", "s2", *options.split())
    assert code == 2
    assert message.startswith(f"Error: {named}")
