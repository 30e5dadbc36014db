"""clg diff and clg neighbors as commands: output and exit codes."""

import json
from pathlib import Path

import pytest
from stores import store_of

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec

graphs = store_of(
    {
        "a": GraphSpec("se2", 8, orientations=4, levels=1),
        "b": GraphSpec("se2", 8, orientations=4, levels=1, weights="selling"),
        "ball": GraphSpec("s2", subdivisions=1, levels=1),
    }
)


@pytest.fixture
def store(graphs: Path) -> str:
    return str(graphs)


def test_diff(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", "a", "b", "--store", store]) == 0
    out = capsys.readouterr().out
    assert out.split()[:2] == ["a@v001", "b@v001"]
    assert run(["diff", "a", "b", "--store", store, "--json", "--exit-code"]) == 3
    difference = json.loads(capsys.readouterr().out)
    assert difference["specification"]["weights"] == ["kernel", "selling"]
    assert "edges" in difference["levels"][0]
    same = ["diff", "a", "a@v001", "--store", store, "--other-store", store, "--exit-code"]
    assert run(same) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_neighbors(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["neighbors", "a", "--vertex", "0", "--store", store]) == 0
    by_number = capsys.readouterr().out
    assert by_number.startswith("a@v001, level 0: vertex 0 at x 0, y 0, theta (deg) -90.00\n")
    assert run(["neighbors", "a", "--at", "0,0,90", "--store", store, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["vertex"] == 0
    assert listed["asked"] == {"distance": 0.0, "turn": 0.0}
    rows = by_number.splitlines()[4:]
    assert [int(row.split()[0]) for row in rows] == [n["vertex"] for n in listed["neighbors"]]
    assert run(["neighbors", "ball", "--at", "-33.9,18.4", "--store", store]) == 0
    assert "lat (deg)" in capsys.readouterr().out
