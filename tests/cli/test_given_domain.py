"""Building on masks, regions and given points, as a user meets it."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest
import xarray as xr
from astropy_healpix import HEALPix
from failures import Clg, Failing
from PIL import Image

from cheblienet_graphs import GraphSpec, LatLonMask
from cheblienet_graphs.errors import SpecError

DISC = np.hypot(*(np.indices((12, 16)) - 6)) < 5
RNG = np.random.default_rng(0)
PLANE = RNG.uniform(0, 3, (60, 2))
FINE = np.column_stack([np.degrees(np.arcsin(RNG.uniform(-1, 1, 80))), RNG.uniform(-180, 180, 80)])
NESTED, RING = HEALPix(4, "nested"), HEALPix(4, "ring")
SKY = RNG.random(192) < 0.6
VOXELS = np.indices((4, 6, 5)).sum(0) < 12
"""(depth, height, width)."""
NORTH = LatLonMask(np.repeat([[False], [True]], 36, axis=1), [-45, 45], np.arange(0, 360, 10))
"""Of a field of temperatures that are missing in the south."""


@pytest.mark.parametrize(
    ("manifold", "options", "fields"),
    [
        ("se2", "--mask disc.png --orientations 4", {"mask": DISC, "orientations": 4}),
        ("r3", "--mask v.nii.gz", {"mask": VOXELS, "spacing": (2, 2, 3)}),
        ("s2", "--nside 4 --mask nested.npy", {"nside": 4, "mask": SKY}),
        ("s2", "--nside 4 --mask ring.npy --mask-order ring", {"nside": 4, "mask": SKY}),
        ("s2", "--subdivisions 2 --mask sst.nc", {"subdivisions": 2, "mask": NORTH}),
        ("r2", "--points-file p.csv --domain 0,0,3,3", {"coordinates": PLANE, "domain": "0,0,3,3"}),
        ("s2", "--points-file f.npy --points-file c.npz", {"coordinates": [FINE, FINE[:20]]}),
    ],
)
def test_files_and_options_are_what_the_library_takes(
    here: Path, clg: Clg, manifold: str, options: str, fields: Any
) -> None:
    Image.fromarray(DISC).save(here / "disc.png")
    volume = nibabel.Nifti1Image(VOXELS.T.astype(np.uint8), np.diag([2, 2, 3, 1]))
    nibabel.save(volume, here / "v.nii.gz")
    np.save(here / "nested.npy", SKY)
    np.save(here / "ring.npy", SKY[NESTED.lonlat_to_healpix(*RING.healpix_to_lonlat(range(192)))])
    places = {"lat": NORTH.latitudes, "lon": NORTH.longitudes}
    sst = xr.DataArray(np.where(NORTH.inside, 280, np.nan), places, ("lat", "lon"))
    xr.Dataset({"sst": sst}).to_netcdf(here / "sst.nc", engine="h5netcdf")
    np.savetxt(here / "p.csv", PLANE[:, ::-1], "%.17g", ",", header="y,x", comments="")
    np.save(here / "f.npy", FINE)
    np.savez(here / "c.npz", lat=FINE[:20, 0], lon=FINE[:20, 1])
    plan = json.loads(clg(f"build {manifold} {options} --dry-run --json").out)
    assert plan["spec"] == GraphSpec(manifold, **fields).to_dict()


def test_areas_far_from_cells_are_remarked_on(here: Path, clg: Clg) -> None:
    points = "".join(f"{x},{x * x % 7},{1 + 9 * (x == 3)}\n" for x in range(12))
    (here / "p.csv").write_text("x,y,area\n" + points)
    clg("build r2 --points-file p.csv --name p --quiet")
    clg("export p --to zip")
    what = "levels/0/area holds given areas that are"
    assert f"p/v001/{what}" in clg("verify").err
    assert f"p.zip: {what}" in clg("import p.zip --store other.zarr").err
    [remark] = json.loads(clg("verify --json").out)["remarks"]
    assert remark["where"] == "p/v001/levels/0/area"


def test_what_the_specification_refuses_names_its_file(
    here: Path, failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(field: str, *_: Any, **__: Any) -> None:
        raise SpecError(field, "true", 1, "Or leave out `coordinates`.")

    np.save(here / "m.npy", DISC)
    for name in ("p.csv", "q.csv"):
        (here / name).write_text("lat,lon\n1,2\n")
    both = "--points-file p.csv --points-file q.csv"
    for field, options, named in (
        ("mask", "--mask m.npy", "m.npy: --mask must be true. Got 1. Or leave out --points-file."),
        ("coordinates", both, "p.csv, q.csv: --points-file"),
        ("mask", "--points-file p.csv", "--mask must be true."),
    ):
        monkeypatch.setattr("cheblienet_graphs.spec.graph_spec.GraphSpec", partial(refuse, field))
        code, message = failing(f"build s2 {options}")
        assert (code, message.startswith(f"Error: {named}")) == (2, True), message
