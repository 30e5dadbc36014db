"""clg plot: files, captions, and what is refused."""

import subprocess
import sys
from pathlib import Path

import pytest
from failures import failing

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
    code, said = failing(capsys, "plot", "spectrum", *names)
    assert code == 2
    assert "spectrum draws one graph, not 2 beside each other." in said


def test_figures_are_listed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plot", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [figure.name for figure in FIGURES]
    assert all(line.endswith(figure.title) for line, figure in zip(lines, FIGURES, strict=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "FIGURE is missing. Choose one of neighborhood, spectrum"),
        (["heart", "-o", "a.png"], "There is no figure 'heart'. Choose one of neighborhood"),
        (["sparsity"], "--output must be given: a file that ends in .png, .svg or .pdf."),
        (["sparsity", "-o", "a.jpg"], "--output must be a file that ends in .png, .svg or .pdf."),
        (["sparsity", "-o", "a"], "--output must be a file that ends in .png, .svg or .pdf."),
        (["sparsity", "torus@v009", "-o", "a.png"], "No version 'v009' of torus"),
        (
            ["sparsity", "-o", "a.png", "--level", "7"],
            "--level must be an integer in [0, 1]. Got 7.",
        ),
        (["sparsity", "-o", "a.png", "--level", "x"], "--level"),
        (
            ["heat", "-o", "a.png", "--vertex", "1024"],
            "--vertex must be an integer in [0, 1023]",
        ),
        (["subgraphs", "-o", "a.png", "--seed", "-1"], "--seed must be an integer in [0, "),
    ],
)
def test_wrong_usage(
    here: Path, store: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    named = (
        arguments
        if len(arguments) < 3 or "@" in arguments[1]
        else [arguments[0], "torus", *arguments[1:]]
    )
    code, said = failing(capsys, "plot", *named, "--store", str(store))
    assert code == 2
    assert message in said
    assert list(here.iterdir()) == []


def test_a_missing_folder_and_a_store_are_refused(
    here: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["plot", "sparsity", "torus", "--store", str(store), "-o"]
    code, said = failing(capsys, *common, "there/a.png")
    assert code == 1
    assert (
        "there/a.png can't be written: there is no folder there; make it or choose another" in said
    )
    assert "--output" in said
    code, said = failing(capsys, *common, str(store / "a.png"))
    assert code == 1
    assert "is in the store" in said
    (here / "b.png").mkdir()
    code, said = failing(capsys, *common, "b.png")
    assert code == 2
    assert "--output must be a file. Got 'b.png, a folder'." in said


def without_matplotlib(*arguments: str) -> "subprocess.CompletedProcess[str]":
    script = (
        "import sys; sys.modules['matplotlib'] = None; from cheblienet_cli.main import run; "
        f"sys.exit(run(['plot', *{arguments!r}]))"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)


def test_figures_are_listed_and_mistakes_told_without_matplotlib() -> None:
    done = without_matplotlib("--list")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == f"{FIGURES[0].name}  {FIGURES[0].title}"
    done = without_matplotlib("heart")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: There is no figure 'heart'. Choose one of neighb")


def test_without_matplotlib_one_line_says_how_to_install_it(store: Path, tmp_path: Path) -> None:
    named = ("sparsity", "torus", "--store", str(store))
    done = without_matplotlib(*named, "-o", str(tmp_path / "a.png"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "Error: Figures need matplotlib, which is not installed (matplotlib). Install it: "
        "pip install 'cheblienet[plot]', or pip install matplotlib.\n"
    )
