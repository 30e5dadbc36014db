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
    assert run([*arguments, "--level", "1", "--vertex", "3"]) == 0
    assert capsys.readouterr().out.startswith("Vertex 3 ")


def test_heat_alone_draws_graphs_beside_each_other(
    here: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["torus", "torus@v001", "--store", str(store), "-o", "a.svg"]
    assert run(["plot", "heat", *names]) == 0
    assert "It runs along the orientation" in capsys.readouterr().out


def without_matplotlib(*arguments: str) -> "subprocess.CompletedProcess[str]":
    script = (
        "import sys; sys.modules['matplotlib'] = None; from cheblienet_cli.main import run; "
        f"sys.exit(run({arguments!r}))"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)


def test_figures_are_listed_without_matplotlib() -> None:
    done = without_matplotlib("plot", "--list")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert lines == [[figure.name, figure.title] for figure in FIGURES]
    done = without_matplotlib("plot", "heart")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: There is no figure 'heart'. Choose one of neighb")


@pytest.mark.parametrize("command", ["plot sparsity torus -o", "inspect torus --html"])
def test_without_matplotlib_one_line_says_how_to_install_it(
    store: Path, here: Path, command: str
) -> None:
    done = without_matplotlib(*command.split(), "a.png", "--store", str(store))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "Error: A figure needs matplotlib, which is not installed. Install it: "
        "pip install 'cheblienet[plot]'.\n"
    )
    assert list(here.iterdir()) == []
