"""clg diff and clg neighbors as commands: output, exit codes, refusals of one line."""

import json

import pytest

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, build


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("cli") / "g.zarr"
    build(GraphSpec("se2", 8, orientations=4, levels=1), path, name="a")
    build(GraphSpec("se2", 8, orientations=4, levels=1, weights="selling"), path, name="b")
    build(GraphSpec("s2", subdivisions=1, levels=1), path, name="ball", device="cpu")
    return str(path)


def test_diff(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", "a", "b", "--store", store]) == 0
    out = capsys.readouterr().out
    assert out.split()[:2] == ["a@v001", "b@v001"]
    assert run(["diff", "a", "b", "--store", store, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["specification"]["weights"] == ["kernel", "selling"]
    assert "edges" in found["levels"][0]
    assert run(["diff", "a", "a@v001", "--store", store, "--other-store", store]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_exit_code_of_diff(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", "a", "a", "--store", store, "--exit-code"]) == 0
    quick = ["--store", store, "--exit-code"]
    assert run(["diff", "a", "b", *quick]) == 3
    assert run(["diff", "a", "b", *quick, "--json"]) == 3
    capsys.readouterr()


def test_neighbors(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["neighbors", "a", "--vertex", "0", "--store", store]) == 0
    by_number = capsys.readouterr().out
    assert by_number.startswith("a@v001, level 0: vertex 0 at x 0, y 0, theta (deg) -90.00\n")
    assert run(["neighbors", "a", "--at", "0,0,90", "--store", store, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["vertex"] == 0
    assert found["asked"] == {"distance": 0.0, "turn": 0.0}
    rows = by_number.splitlines()[4:]
    assert [int(row.split()[0]) for row in rows] == [n["vertex"] for n in found["neighbors"]]
    assert run(["neighbors", "ball", "--at", "-33.9,18.4", "--store", store]) == 0
    assert "lat (deg)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["diff", "a"], 2, "Missing argument"),
        (["diff", "a", "nothing"], 2, "No graph 'nothing'"),
        (["diff", "a", "b", "--other-store", "nowhere"], 2, "There is no store at "),
        (["neighbors", "a"], 2, "--vertex must be given, or --at."),
        (["neighbors", "--vertex", "0"], 2, "Name one of the graphs"),
        (["neighbors", "a", "--vertex", "256"], 2, "--vertex must be an integer in [0, 255]"),
        (["neighbors", "a", "--vertex", "-1"], 2, "--vertex must be an integer in [0, 255]"),
        (["neighbors", "a", "--at", "0.5,0.5"], 2, "--at must be X,Y,THETA with X in [0, 1]"),
        (["neighbors", "a", "--at", "2,0,0"], 2, "Got '2,0,0'"),
        (["neighbors", "ball", "--at", "0,0,0"], 2, "--at must be LAT,LON with"),
        (["neighbors", "a", "--vertex", "0", "--at", "0,0,0"], 2, "left out where --at is given"),
        (["neighbors", "a", "--vertex", "0", "--level", "1"], 2, "--level must be an integer in"),
    ],
)
def test_refusals(
    store: str,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    assert run([*arguments, "--store", store]) == code
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
