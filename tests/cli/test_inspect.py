"""clg diff, clg neighbors, clg inspect --html and clg plot: output, files and exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from failures import Clg
from parsed_pages import check_page

from cheblienet_graphs.plot import FIGURES


@pytest.fixture(autouse=True)
def known(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs are those of the store that tests share."""
    monkeypatch.setenv("CLG_STORE", str(store))


def test_diff(store: Path, clg: Clg) -> None:
    out = clg("diff se2-16x16x6 torus").out
    assert out.split()[:2] == ["se2-16x16x6@v001", "torus@v001"]
    difference = json.loads(clg("diff se2-16x16x6 torus --json --exit-code", 3).out)
    assert difference["specification"]["boundary"] == ["open", "periodic"]
    assert "edges" in difference["levels"][0]
    same = clg(f"diff torus torus@v001 --other-store {store} --exit-code").out
    assert same.count("\n") == 1


def test_neighbors(clg: Clg) -> None:
    by_number = clg("neighbors torus --vertex 0").out
    assert by_number.startswith("torus@v001, level 0: vertex 0 at x, y, theta = 0, 0, -1.5708\n")
    listed = json.loads(clg("neighbors torus --vertex 0 --json").out)
    assert listed["vertex"] == 0
    rows = by_number.splitlines()[4:]
    assert [int(row.split()[0].replace(",", "")) for row in rows] == listed["vertices"]


def test_a_page_is_written_and_named(here: Path, clg: Clg) -> None:
    out, err = clg("inspect torus --html report.html --level 1 --eigenvalues 3")
    assert (out, err) == ("report.html\n", "")
    html = check_page((here / "report.html").read_text(encoding="utf-8"))
    assert html.inside("h1")[0].words == "torus@v001"
    assert " edges on level 1; " in html.text
    assert "--weights matched" in html.text  # what to do, in options
    assert "All of level 1." in html.text


def test_a_figure_is_written_and_described(here: Path, clg: Clg) -> None:
    plot = "plot neighborhood torus -o a.svg"
    out, err = clg(plot)
    assert out.startswith("Vertex 648 (x = 0.5, y = 0.5, theta = 0): ")
    assert (out.count("\n"), err) == (1, "")
    assert (here / "a.svg").read_text().startswith("<?xml")
    assert (here / "a.svg.txt").read_text() == out
    assert clg(f"{plot} --level 1 --vertex 3").out.startswith("Vertex 3 ")
    beside = clg("plot heat torus torus@v001 -o a.svg").out
    assert "Heat runs along its orientation" in beside


WITHOUT = (
    "import sys; sys.modules['matplotlib'] = None; from cheblienet_cli.main import run; "
    "print([run(line.split()) for line in sys.argv[1:]])"
)


def test_without_matplotlib_figures_are_listed_and_one_line_says_how_to_install_it(
    here: Path,
) -> None:
    drawing = "plot sparsity torus -o a.png", "inspect torus --html a"
    command = [sys.executable, "-c", WITHOUT, "plot --list", "plot heart", *drawing]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *listed, codes = done.stdout.splitlines()
    expected = [[figure.name, figure.title] for figure in FIGURES]
    assert [line.split(maxsplit=1) for line in listed] == expected
    assert codes == "[0, 2, 1, 1]"
    wrong, *refused = done.stderr.splitlines()
    assert wrong.startswith("Error: There is no figure 'heart'. Choose one of neighb")
    needed = "Error: A figure needs matplotlib, which is not installed. Install it: pip install"
    assert refused == [f"{needed} 'cheblienet[plot]'."] * 2
    assert list(here.iterdir()) == []
