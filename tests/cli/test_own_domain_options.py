"""Options for masks, regions and points: what GraphSpec is given, and what is said of files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from failures import failing
from PIL import Image

from cheblienet_cli.main import run
from cheblienet_graphs.errors import Remedy, SpecError, Words
from cheblienet_graphs.inputs.masks import LatLonMask

DISC = np.hypot(*(np.indices((12, 16)) - 6)) < 5


@pytest.fixture
def given(here: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the specification of a build was given, which is then not built."""
    found: dict[str, Any] = {}
    monkeypatch.setattr(
        "cheblienet_graphs.spec.graph_spec.GraphSpec", lambda *a, **k: found.update(k)
    )
    monkeypatch.setattr("cheblienet_cli.build._run", lambda *a, **k: None)
    return found


def ran(arguments: str) -> None:
    assert run(["build", *arguments.split()]) == 0


@pytest.mark.parametrize("manifold", ["r2", "se2", "s2", "so3"])
def test_masks(here: Path, given: Mapping[str, Any], manifold: str) -> None:
    Image.fromarray(DISC).save(here / "disc.png")
    ran(f"{manifold} --mask disc.png")
    assert given.keys() == {"mask"}
    assert np.array_equal(given["mask"], DISC)


def test_masks_of_volumes(here: Path, given: Mapping[str, Any]) -> None:
    np.save(here / "ball.npy", np.stack([DISC, ~DISC]))
    ran("r3 --mask ball.npy --size 16x12x2")
    assert given["mask"].shape == (2, 12, 16)
    assert given["size"] == "16x12x2"


def test_netcdf(here: Path, given: Mapping[str, Any]) -> None:
    field = xr.DataArray(
        np.eye(4), {"lat": [30.0, 10, -10, -30], "lon": np.arange(4) * 90.0}, ("lat", "lon")
    )
    xr.Dataset({"sea": field, "ice": 1 - field}).to_netcdf(here / "m.nc", engine="h5netcdf")
    ran("s2 --nside 4 --mask m.nc:ice")
    assert isinstance(given["mask"], LatLonMask)
    assert np.array_equal(given["mask"].inside, np.eye(4) == 0)


def test_the_order_of_a_mask_is_left_to_the_specification(
    here: Path, given: Mapping[str, Any]
) -> None:
    np.save(here / "ring.npy", np.arange(48) < 10)
    ran("so3 --nside 2 --mask ring.npy --mask-order ring")
    assert np.array_equal(given["mask"], np.arange(48) < 10)
    assert given["mask_order"] == "ring"


def test_boxes_and_words(here: Path, given: dict[str, Any]) -> None:
    ran("s2 --bandlimit 8 --region 170,-10,-170,1e1")
    assert given["region"] == "170,-10,-170,1e1"
    given.clear()
    ran("so3 --gaussian O8")
    assert given["gaussian"] == "O8"
    (here / "p.csv").write_text("x,y\n1,2\n3,4\n")
    given.clear()
    ran("se2 --points-file p.csv --domain 0,0,10,5")
    assert given["domain"] == "0,0,10,5"
    assert given["coordinates"][0].tolist() == [[1, 2], [3, 4]]


def test_points_finest_first(here: Path, given: Mapping[str, Any]) -> None:
    np.save(here / "fine.npy", np.zeros((9, 2)))
    (here / "coarse.csv").write_text("lon,lat,area\n1,2,3\n")
    ran("s2 --points-file fine.npy --points-file coarse.csv --units degrees")
    assert [points.tolist() for points in given["coordinates"]] == [[[0, 0]] * 9, [[2, 1, 3]]]
    assert given["units"] == "degrees"


def test_what_is_left_out_is_not_given(given: Mapping[str, Any]) -> None:
    ran("s2 --nside 4")
    new = {"mask", "mask_order", "region", "coordinates", "domain", "units", "gaussian"}
    assert not new & given.keys()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("se2 --mask absent.png", "absent.png does not exist."),
        ("se2 --mask colour.png", "colour.png has colours (mode RGB). Save it as 8-bit grey"),
        ("s2 --nside 4 --mask absent.nc:sea", "absent.nc does not exist."),
        ("se2 --points-file bad.csv", "bad.csv, line 3: y must be a number. Got 'no'."),
        (
            "s2 --points-file bad.csv",
            "must have columns named latitude and longitude. Got 'x', 'y'",
        ),
        ("s2 --nside 4 --region 0,10,20", "--region must be W,S,E,N in degrees"),
        ("s2 --nside 4 --region 0,20,20,10", "S is north of N."),
        ("se2 --points-file good.csv --domain 1,1,0,0", "--domain must be four numbers X0, Y0"),
    ],
)
def test_one_line_for_what_is_wrong(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: str, message: str
) -> None:
    Image.fromarray(np.ones((4, 4, 3), np.uint8)).save(here / "colour.png")
    (here / "bad.csv").write_text("x,y\n1,2\n3,no\n")
    (here / "good.csv").write_text("x,y\n1,2\n3,4\n")
    code, said = failing(capsys, "build", *arguments.split())
    assert code == 2
    assert message in said


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
