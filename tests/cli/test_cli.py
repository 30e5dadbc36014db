"""The command line as a user meets it: output, progress, versions."""

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from failures import failing

from cheblienet_cli.main import run

CLG = [sys.executable, "-c", "from cheblienet_cli.main import main; main()"]


def test_build_inspect_ls(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "se2", "--size", "16", "--orientations", "6", "--eps", "0.1"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "se2-16x16x6-eps0.1@v001\n"
    size, fidelity, place = captured.err.splitlines()
    assert size.startswith("1,536 vertices, ")
    assert re.fullmatch(r"kernel .* where 0.01 was asked; --weights matched .* exactly", fidelity)
    assert place == "Published as se2-16x16x6-eps0.1@v001 in graphs.zarr."
    again = ["build", "se2", "--size", "16x16", "--orientations", "6.0", "--eps", "1/10"]
    assert run([*again, "--verbose"]) == 0
    described = capsys.readouterr().err
    assert "R = diag(1, eps^-2, xi^2) = diag(1, 100, " in described
    assert "eps^2 = 0.01 is 10 times the paper's anisotropy" in described
    assert "Already published as se2-16x16x6-eps0.1@v001" in described
    assert run([*again, "--verbose", "--quiet"]) == 2
    assert "exclude each other" in capsys.readouterr().err
    assert run(["inspect"]) == 0
    short = capsys.readouterr()
    assert "connected   yes" in short.out
    assert f"  size        {size}\n" in short.out
    assert "eigenvalues of Delta" not in short.out
    assert short.err == "Every measurement: --full. A page with figures: --html FILE.\n"
    assert run(["inspect", "--full"]) == 0
    assert "eigenvalues of Delta" in capsys.readouterr().out
    assert run(["ls"]) == 0
    assert capsys.readouterr().out.startswith("se2-16x16x6-eps0.1@v001  1,536 vertices  2 levels")
    assert [path.name for path in here.iterdir()] == ["graphs.zarr"]


def test_json_output(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "r2", "--size", "8", "--json", "--quiet"]) == 0
    captured = capsys.readouterr()
    built = json.loads(captured.out)
    assert (built["name"], built["version"], built["built"]) == ("r2-8x8", "v001", True)
    assert captured.err == ""
    assert run(["inspect", "r2-8x8@latest", "--json", "--eigenvalues", "3.0", "--level", "0"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["spec_sha256"] == built["spec_sha256"]
    assert len(report["levels"][0]["eigenvalues"]) == 3
    assert run(["ls", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["refs"] == ["latest"]


def test_store_from_the_environment(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = ["build", "r2", "--size", "8", "--quiet", "--store"]
    monkeypatch.setenv("CLG_STORE", "mine.zarr")
    assert run(build[:-1]) == 0
    assert run([*build, "other.zarr"]) == 0
    monkeypatch.setenv("CLG_STORE", "")  # counts as not given
    assert run([*build, ""]) == 0
    names = {"mine.zarr", "other.zarr", "graphs.zarr"}
    assert {path.name for path in here.iterdir()} == names


def test_dry_run_writes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build = ["build", "se2", "--size", "32", "--orientations", "1", "--dry-run"]
    assert run(build) == 0
    plan = capsys.readouterr().out
    for part in ("x 1 orientation,", "(1 pixel)", "level 0: 1,024 vertices"):
        assert part in plan
    assert run([*build, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["levels"][0]["vertices"] == 1024
    assert list(here.iterdir()) == []


def test_no_progress_bar_without_a_terminal(tmp_path: Path) -> None:
    arguments = ["build", "r2", "--size", "64", "--store", str(tmp_path / "g.zarr")]
    done = subprocess.run([*CLG, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout == "r2-64x64@v001\n"
    assert "\r" not in done.stderr
    assert "entries" not in done.stderr


def test_progress_bar_on_a_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    arguments = ["build", "se2", "--size", "64", "--store", str(tmp_path / "g.zarr")]
    process = subprocess.Popen([*CLG, *arguments], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # what a pseudo-terminal says at its end
        while piece := os.read(ours, 4096):
            shown += piece
    os.close(ours)
    assert process.wait() == 0
    assert b"level 0: writing edges and weights: 100%" in shown
    assert shown.rstrip().endswith(b"g.zarr.")


def test_versions_refs_and_removal(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert run(["build", "r2", "--size", "8", "--quiet", "--force"]) == 0
    assert run(["tag", "r2-8x8@v001", "paper"]) == 0
    capsys.readouterr()
    assert run(["rm", "r2-8x8@latest"]) == 0
    assert "Removed r2-8x8@v002" in capsys.readouterr().err
    assert run(["ls"]) == 0
    first, total = capsys.readouterr().out.splitlines()
    assert first.endswith("paper, latest")
    assert total.split()[:5] == ["total", "1", "version", "1", "graph"]
    assert run(["tag", "r2-8x8", "paper", "--delete"]) == 0
    assert run(["rm", "r2-8x8@v001"]) == 0
    capsys.readouterr()
    assert run(["ls"]) == 0
    assert capsys.readouterr().out == ""


def test_verify(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "r2", "--size", "8", "--quiet"]) == 0
    (here / ".graphs.zarr.staging" / "dead").mkdir(parents=True)
    capsys.readouterr()
    assert run(["verify"]) == 0
    message = capsys.readouterr().err
    assert "1 version as published" in message
    assert "1 item left by interrupted builds" in message
    assert run(["verify", "--clean", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    nothing = {"faults": [], "remarks": [], "leftovers": 0}
    assert report == {"versions": ["r2-8x8/v001"], **nothing}
    assert not (here / ".graphs.zarr.staging").exists()
    degree = here / "graphs.zarr/r2-8x8/v001/levels/0/degree/c/0"
    degree.chmod(0o644)
    degree.write_bytes(b"")
    assert run(["verify", "r2-8x8"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ("r2-8x8/v001/levels/0/degree/c/0: has 0 bytes; published were 256\n")
    assert captured.err.startswith("Error: ")
    assert captured.err.count("\n") == 1


def test_clean_after_a_killed_first_build(here: Path) -> None:
    (here / ".graphs.zarr.staging" / "dead").mkdir(parents=True)
    assert run(["verify", "--clean"]) == 0
    assert list(here.iterdir()) == []
    assert run(["verify"]) == 2


def test_export_and_import(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "se2", "--size", "16", "--quiet"]) == 0
    capsys.readouterr()
    for target, suffix in (("scipy", "npz"), ("pyg", "pyg.npz")):
        assert run(["export", "--to", target, "--level", "1"]) == 0
        assert capsys.readouterr().out == f"se2-16x16x6-level1.{suffix}\n"
        assert (here / f"se2-16x16x6-level1.{suffix}").exists()
    assert run(["export", "--to", "scipy", "--output", "laplacian"]) == 0
    assert capsys.readouterr().out == "laplacian\n"
    assert (here / "laplacian").exists()
    assert run(["export", "se2-16x16x6@v001", "--to", "zip", "--output", "x.zip"]) == 0
    assert run(["import", "x.zip", "--name", "copy"]) == 0
    assert capsys.readouterr().out == "x.zip\ncopy@v001\n"
    assert failing(capsys, "import", "x.zip", "--name", "a/b")[0] == 2


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == "clg, version 0.2.0\n"
