"""clg plot: files, captions, and what is refused."""

import subprocess
import sys
from pathlib import Path

import pytest

from cheblienet_cli.main import run
from cheblienet_graphs.plot import FIGURES


def test_a_figure_is_written_and_described(
    here: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["plot", "neighborhood", "torus", "--store", str(store), "-o", "a.svg"]
    assert run(arguments) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Vertex 648 (x = 0.5, y = 0.5, theta = 0): ")
    assert captured.out.count("\n") == 1
    assert captured.err == ""
    assert (here / "a.svg").read_text().startswith("<?xml")
    assert (here / "a.txt").read_text() == captured.out
    assert run([*arguments, "--level", "1", "--vertex", "3"]) == 0
    assert capsys.readouterr().out.startswith("Vertex 3 ")


def test_heat_alone_draws_graphs_beside_each_other(
    here: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["torus", "torus@v001", "--store", str(store), "-o", "a.svg"]
    assert run(["plot", "heat", *names]) == 0
    assert "Heat runs along its orientation" in capsys.readouterr().out


WITHOUT = (
    "import sys; sys.modules['matplotlib'] = None; from cheblienet_cli.main import run; "
    "print([run(line.split()) for line in sys.argv[1:]])"
)


def test_without_matplotlib_figures_are_listed_and_one_line_says_how_to_install_it(
    store: Path, here: Path
) -> None:
    drawing = "plot sparsity torus -o a.png", "inspect torus --html a"
    commands = ["plot --list", "plot heart", *(f"{line} --store {store}" for line in drawing)]
    command = [sys.executable, "-c", WITHOUT, *commands]
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
