"""clg build map, and the commands that read maps."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from failures import failing

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, MapSpec, build
from cheblienet_models import open_store

SIDES = ["--source", "s2 --gaussian O4", "--target", "s2 --subdivisions 1"]
SPEC = MapSpec(GraphSpec("s2", gaussian="O4"), GraphSpec("s2", subdivisions=1), neighbors=2)


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    assert run([*arguments]) == 0
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_a_map_is_built_once_and_read(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "s2-gaussian-O4-to-s2-icosahedral-1-k2"
    out, err = called(capsys, "build", "map", *SIDES, "--neighbors", "2")
    assert out == f"{name}@v001\n"
    assert "208 sources, 42 targets," in err
    assert f"Published as {name}@v001 in graphs.zarr." in err
    out, err = called(capsys, "build", "map", *SIDES, "--neighbors", "2", "--json")
    told = json.loads(out)
    assert (told["built"], told["spec"]) == (False, SPEC.to_dict())
    assert told["spec_sha256"] == SPEC.sha256
    assert "Already published" in err
    report = json.loads(called(capsys, "inspect", "--json")[0])
    assert (report["entries"], report["spec"]) == (told["sizes"]["nnz"], SPEC.to_dict())
    text, _ = called(capsys, "inspect", name)
    assert "the 2 nearest sources of each target, ties included" in text
    listed = json.loads(called(capsys, "ls", "--json")[0])
    assert [(of["kind"], of["vertices"]) for of in listed] == [("map", [42, 208])]
    assert "208 -> 42 vertices  map" in called(capsys, "ls")[0]
    assert json.loads(called(capsys, "verify", "--json")[0])["faults"] == []
    called(capsys, "tag", name, "paper")
    called(capsys, "export", name, "--to", "scipy", "--output", "m.npz")
    called(capsys, "export", f"{name}@paper", "--to", "zip", "--output", "m.zip")
    called(capsys, "import", "m.zip", "--store", "other.zarr")
    dense = scipy.sparse.load_npz("m.npz").toarray()
    assert (open_store("other.zarr").maps[name].matrix.to_dense().numpy() == dense).all()
    called(capsys, "rm", f"{name}@v001", "--force")
    assert list(open_store(here / "graphs.zarr").maps) == []


def test_a_dry_run_writes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = called(capsys, "build", "map", *SIDES, "--neighbors", "2", "--dry-run")
    assert out.startswith("from 208 vertices: S^2: 208 points (octahedral Gaussian grid O4)\nto 42")
    assert "the 2 nearest sources of each target, ties included; weights by inverse" in out
    planned = called(capsys, "build", "map", *SIDES, "--radius", "1", "--dry-run", "--json")
    told = json.loads(planned[0])
    assert (told["sources"], told["spec"]["radius"]) == (208, 1)
    assert not list(here.iterdir())


def test_sides_are_read_as_builds_are(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.csv").write_text("latitude,longitude\n50,10\n-20,120\n40,-80\n")
    np.save("m.npy", np.eye(6) == 0)
    called(
        *(capsys, "build", "map", "--name", "m", "--radius", "3"),
        *("--source", "s2 --points-file p.csv", "--target", "s2 --nside 1 --region 0,-90,90,90"),
    )
    assert open_store("graphs.zarr").maps["m"].num_sources == 3
    plane = "se2 --size 6 --mask m.npy --orientations 2"
    called(
        *(capsys, "build", "map", "--name", "p", "--neighbors", "1", "--weights", "uniform"),
        *("--source", f"{plane} --eps 0.5", "--target", plane),
    )
    assert open_store("graphs.zarr").maps["p"].spec["source"]["eps"] == 0.5


WRONG = {
    ("--neighbors", "0"): "--neighbors must be an integer in [1, 208]. Got '0'.",
    (): "--neighbors must be given, or --radius or --scales instead.",
    ("--neighbors", "2", "--radius", "1"): "--radius must be left out where --neighbors is",
    ("--radius", "0.01"): "--radius must be such that each target has a source. Got none of",
    ("--neighbors", "2", "--weights", "x"): "--weights must be one of inverse, gaussian,",
    ("--neighbors", "2", "--target", "r2 --size 4"): "--target must be given once.",
}


@pytest.mark.parametrize("given", WRONG)
def test_wrong_input(given: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, message = failing(capsys, "build", "map", *SIDES, *given)
    assert (code, message.startswith(f"Error: {WRONG[given]}")) == (2, True), message
    assert message.count("\n") == 1


SIDE = {
    "s3 --size 4": "--source must be what follows `clg build`, such as 's2 --gaussian O80'. Got",
    "'s2": "--source must be what follows `clg build`",
    "r2 --size 8 --help": "--source must be what follows `clg build`",
    "s2 --subdivisions 2 --engine keops": "--source: leave out --engine, which says how to build",
    "s2 --subdivisions x": "--source: --subdivisions must be an integer in [0, 9]. Got 'x'.",
    "s2 --subdivisions": "--source: Option '--subdivisions' requires an argument. See `clg",
    "s2": "--source: --subdivisions must be given",
    "s2 more": "--source: Got unexpected extra argument (more)",
}


@pytest.mark.parametrize("source", SIDE)
def test_wrong_sides(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    sides = ["--source", source, "--target", "s2 --subdivisions 1", "--neighbors", "1"]
    code, message = failing(capsys, "build", "map", *sides)
    assert (code, message.startswith(f"Error: {SIDE[source]}")) == (2, True), message


def test_commands_of_graphs_say_that_it_is_a_map(capsys: pytest.CaptureFixture[str]) -> None:
    called(capsys, "build", "map", *SIDES, "--neighbors", "2", "--name", "m")
    build(GraphSpec("s2", subdivisions=1), "graphs.zarr", name="g")
    for arguments in (
        ["plot", "spectrum", "m", "-o", "f.png"],
        ["diff", "m", "g"],
        ["neighbors", "m", "--vertex", "0"],
    ):
        code, message = failing(capsys, *arguments)
        assert code == 1
        assert "m/v001 is a map between samplings, where a graph is needed." in message
    for arguments in (
        ["inspect", "m", "--html", "page.html"],
        ["inspect", "m", "--level", "0"],
        ["export", "m", "--to", "pyg"],
        ["export", "m", "--to", "scipy", "--level", "0"],
    ):
        code, message = failing(capsys, *arguments)
        assert (code, "map" in message) == (2, True), message
