"""Building on masks, regions, given points and Gaussian grids, as a user meets it."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from astropy_healpix import HEALPix
from failures import failing
from PIL import Image

from cheblienet_cli.main import run
from cheblienet_graphs import open_group
from cheblienet_graphs.errors import Remedy, SpecError, Words

DISC = np.hypot(*(np.indices((12, 16)) - 6)) < 5
RNG = np.random.default_rng(0)


def built(arguments: str) -> zarr.Group:
    """The only graph of the store, once it is built."""
    assert run(["build", *arguments.split(), "--levels", "1", "--quiet", "--name", "g"]) == 0
    assert run(["verify", "--quiet"]) == 0
    return open_group("graphs.zarr", "g")


def base_index(group: zarr.Group) -> np.ndarray:
    return np.asarray(group["levels/0/base_index"])


def planned(capsys: pytest.CaptureFixture[str], arguments: str) -> Any:
    assert run(["build", *arguments.split(), "--dry-run", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def sky(here: Path) -> np.ndarray:
    """A mask with one boolean for each HEALPix pixel, nested; saved in both orders."""
    nested, ring = HEALPix(4, "nested"), HEALPix(4, "ring")
    mask = RNG.random(192) < 0.6
    np.save(here / "nested.npy", mask)
    np.save(here / "ring.npy", mask[nested.lonlat_to_healpix(*ring.healpix_to_lonlat(range(192)))])
    return mask


def test_an_image_sets_the_size(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Image.fromarray(DISC).save(here / "disc.png")
    group = built("se2 --mask disc.png --orientations 4 --neighbors 8")
    assert np.array_equal(base_index(group), np.flatnonzero(DISC))
    facts = group.attrs["clg"]["levels"][0]
    assert facts["grid"] == [4, 12, 16]
    assert facts["vertices"] == 4 * DISC.sum()
    capsys.readouterr()
    assert run(["inspect", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["levels"][0]["vertices"] == 4 * DISC.sum()


def test_an_export_has_the_places_of_the_points(here: Path) -> None:
    np.save(here / "disc.npy", DISC)
    group = built("r2 --mask disc.npy")
    assert run(["export", "--to", "npz"]) == 0
    places = np.load(here / "g-npz/base_index-0.npy")
    assert np.array_equal(places, base_index(group))
    files = json.loads((here / "g-npz/manifest.json").read_text())["files"]
    assert files["laplacian-0.npz"]["shape"] == [DISC.sum()] * 2
    assert files["base_index-0.npy"]["shape"] == [DISC.sum()]


def test_a_dry_run_tells_the_mask(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(here / "disc.npy", DISC)
    plan = planned(capsys, "r2 --mask disc.npy --levels 1")
    digest = hashlib.sha256(DISC.astype(np.uint8).tobytes()).hexdigest()
    assert plan["spec"]["mask"] == {"inside": [int(DISC.sum())], "sha256": digest}
    assert plan["spec"]["size"] == [16, 12]
    assert plan["levels"][0]["vertices"] == DISC.sum()
    assert [path.name for path in here.iterdir()] == ["disc.npy"]


def test_healpix_in_both_orders(sky: np.ndarray, capsys: pytest.CaptureFixture[str]) -> None:
    nested = planned(capsys, "s2 --nside 4 --mask nested.npy --levels 1")
    ring = planned(capsys, "s2 --nside 4 --mask ring.npy --mask-order ring --levels 1")
    assert nested == ring
    group = built("s2 --nside 4 --mask ring.npy --mask-order ring")
    assert np.array_equal(base_index(group), np.flatnonzero(sky))


def degrees(group: zarr.Group) -> tuple[np.ndarray, np.ndarray]:
    """Latitudes and longitudes of the vertices."""
    colatitude, longitude = np.degrees(group["levels/0/coordinates"]).T
    return 90 - colatitude, longitude


def test_a_region(here: Path) -> None:
    group = built("s2 --bandlimit 8 --region 150,-30,-150,60")
    latitudes, longitudes = degrees(group)
    assert len(latitudes) > 0
    assert ((latitudes >= -30) & (latitudes <= 60) & (longitudes % 360 >= 150)).all()
    assert (longitudes % 360 <= 210).all()
    assert group.attrs["clg"]["spec"]["region"] == [150, -30, -150, 60]


def test_netcdf_at_the_nearest_pixel(here: Path) -> None:
    north = xr.DataArray(
        np.repeat([[np.nan], [280.0]], 36, axis=1),
        {"lat": [-45.0, 45.0], "lon": np.arange(0.0, 360, 10)},
        ("lat", "lon"),
    )
    xr.Dataset({"sst": north}).to_netcdf(here / "sst.nc", engine="h5netcdf")
    group = built("s2 --subdivisions 2 --mask sst.nc")
    latitudes, _ = degrees(group)
    assert latitudes.min() > 0
    assert len(latitudes) == pytest.approx(81, abs=9)  # of 162, but for those on the equator


def test_points(here: Path) -> None:
    rows = "\n".join(f"{y},{x}" for x, y in RNG.uniform(0, 3, (60, 2)))
    (here / "p.csv").write_text(f"y,x\n{rows}\n")
    group = built("r2 --points-file p.csv --domain 0,0,3,3")
    assert group["levels/0/coordinates"].shape == (60, 2)
    assert group.attrs["clg"]["spec"]["sampling"] == "unstructured"


def test_levels_of_points(here: Path) -> None:
    latitudes = np.degrees(np.arcsin(RNG.uniform(-1, 1, 80)))
    points = np.column_stack([latitudes, RNG.uniform(-180, 180, 80)])
    np.save(here / "fine.npy", points)
    np.savez(here / "coarse.npz", lat=points[:20, 0], lon=points[:20, 1])
    files = "--points-file fine.npy --points-file coarse.npz"
    assert run(["build", "s2", *files.split(), "--quiet", "--name", "g"]) == 0
    group = open_group("graphs.zarr", "g")
    assert [facts["vertices"] for facts in group.attrs["clg"]["levels"]] == [80, 20]


def test_gaussian_grids(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reduced = planned(capsys, "s2 --gaussian O8 --levels 1")
    assert reduced["levels"][0]["vertices"] == 4 * 8 * (8 + 9)
    regular = planned(capsys, "so3 --gaussian F8 --orientations 2 --levels 1")
    assert regular["levels"][0]["vertices"] == 2 * 16 * 32


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("se2 --size 8 --mask disc.npy", "disc.npy: --mask must be "),
        ("r2 --mask none.npy", "none.npy: --mask must be "),
        ("s2 --nside 4 --mask short.npy", "short.npy: --mask must be "),
        ("r3 --mask disc.npy", "disc.npy: --mask must be "),
        ("se2 --mask m.nc", "m.nc: --mask must be "),
        ("s2 --bandlimit 4 --mask short.npy --mask-order ring", "--mask"),
        ("s2 --nside 4 --mask-order ring", "--mask-order must be left out"),
        ("s2 --points-file radians.csv", "--units degrees"),
        ("s2 --points-file swapped.csv", "swapped.csv: --points-file must be "),
        ("s2 --points-file nan.csv", "nan.csv: --points-file must be "),
        ("r2 --points-file twice.csv", "twice.csv"),
        ("s2 --gaussian X8", "--gaussian must be "),
        ("se2 --mask absent.png", "absent.png does not exist."),
        ("se2 --mask color.png", "color.png has colors (mode RGB). Save it as 8-bit gray"),
        ("s2 --nside 4 --mask absent.nc:sea", "absent.nc does not exist."),
        ("s2 --points-file twice.csv", "columns named latitude and longitude. Got 'x', 'y'"),
        ("s2 --nside 4 --region 0,20,20,10", "S is north of N."),
        ("se2 --points-file twice.csv --domain 1,1,0,0", "--domain must be four numbers X0, Y0"),
    ],
)
def test_one_line_for_what_is_wrong(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: str, message: str
) -> None:
    np.save(here / "disc.npy", DISC)
    np.save(here / "none.npy", np.zeros((8, 8), bool))
    np.save(here / "short.npy", np.ones(11, bool))
    field = xr.DataArray(np.eye(4), {"lat": np.arange(4.0), "lon": np.arange(4.0)}, ("lat", "lon"))
    xr.Dataset({"m": field}).to_netcdf(here / "m.nc", engine="h5netcdf")
    tables = {"radians": "1,3\n-1,2\n0,0\n.5,.5", "swapped": "170,10\n-150,20\n10,30\n0,40",
              "nan": "1,2\nnan,3\n40,5\n10,80"}  # fmt: skip
    for name, rows in tables.items():
        (here / f"{name}.csv").write_text(f"lat,lon\n{rows}\n")
    (here / "twice.csv").write_text("x,y\n0,0\n1,1\n0,1\n1,1\n.5,.2\n")
    Image.fromarray(np.ones((4, 4, 3), np.uint8)).save(here / "color.png")
    before = sorted(here.iterdir())
    code, said = failing(capsys, "build", *arguments.split())
    assert code in {1, 2}
    assert message in said
    assert sorted(here.iterdir()) == before


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
    code, said = failing(capsys, "build", "s2", *options.split())
    assert code == 2
    assert said.startswith(f"Error: {named}")


@pytest.mark.parametrize(
    ("manifold", "option"),
    [("r2", "--region"), ("r2", "--mask-order"), ("r3", "--points-file"), ("r3", "--gaussian"),
     ("s2", "--domain"), ("se2", "--units")],
)  # fmt: skip
def test_options_of_other_manifolds(
    here: Path, capsys: pytest.CaptureFixture[str], manifold: str, option: str
) -> None:
    code, said = failing(capsys, "build", manifold, option, "1")
    assert code == 2
    assert f"No such option: {option}" in said or f"No such option '{option}'" in said
