"""The command line as a user meets it: output, exit codes, one-line errors."""

import contextlib
import errno
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import click
import pytest
import zarr

from cheblienet_cli.main import clg, run

CLG = [sys.executable, "-c", "from cheblienet_cli.main import main; main()"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CLG_STORE", raising=False)
    return tmp_path


def failing(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and message of a command that must fail, with one line and without output."""
    code = run(arguments)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Error: ")
    assert captured.err.count("\n") == 1
    return code, captured.err


def test_build_inspect_ls(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "se2", "--size", "16", "--orientations", "6", "--eps", "0.1"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "se2-16x16x6@v001\n"
    assert "R = diag(1, eps^-2, xi^2) = diag(1, 100, " in captured.err
    assert "eps^2 = 0.01 is 10 times the paper's anisotropy" in captured.err
    assert run(["build", "se2", "--size", "16x16", "--orientations", "6.0", "--eps", "1/10"]) == 0
    assert "Already published as se2-16x16x6@v001" in capsys.readouterr().err
    assert run(["inspect"]) == 0
    assert "eigenvalues of Delta" in capsys.readouterr().out
    assert run(["ls"]) == 0
    assert capsys.readouterr().out.startswith("se2-16x16x6@v001  1,536 vertices  2 levels")
    assert [path.name for path in here.iterdir()] == ["graphs.zarr"]


def test_json_output(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "r2", "--size", "8", "--json", "--quiet"]) == 0
    captured = capsys.readouterr()
    built = json.loads(captured.out)
    assert (built["name"], built["version"], built["built"]) == ("r2-8x8", "v001", True)
    assert captured.err == ""
    assert run(["inspect", "r2-8x8@latest", "--json", "--eigenvalues", "3", "--level", "0"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["spec_sha256"] == built["spec_sha256"]
    assert len(report["levels"][0]["eigenvalues"]) == 3
    assert run(["ls", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["refs"] == ["latest"]


def test_store_from_the_environment(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLG_STORE", str(here / "mine.zarr"))
    assert run(["build", "r2", "--size", "8", "--quiet"]) == 0
    assert run(["build", "r2", "--size", "8", "--quiet", "--store", "other.zarr"]) == 0
    assert {path.name for path in here.glob("*.zarr")} == {"mine.zarr", "other.zarr"}


def test_dry_run_writes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "se2", "--size", "32", "--dry-run"]) == 0
    assert "level 0: 6,144 vertices" in capsys.readouterr().out
    assert run(["build", "se2", "--size", "32", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["levels"][0]["vertices"] == 6144
    assert list(here.iterdir()) == []


BAD_OPTIONS = [
    ("--size", "0", "width and height in [2, 65536]"),
    ("--size", "x", "width and height"),
    ("--size", "8x8x8", "width and height"),
    ("--orientations", "0", "[1, 180]"),
    ("--orientations", "six", "[1, 180]"),
    ("--eps", "0", "[0.001, 1]"),
    ("--eps", "nan", "[0.001, 1]"),
    ("--eps-squared", "2", "[1e-06, 1]"),
    ("--alpha", "-1", "[1e-06, 1e+06]"),
    ("--xi", "inf", "[1e-06, 1e+06]"),
    ("--neighbors", "0", "[1, 1024]"),
    ("--neighbors", "1", "at least 2"),
    ("--kernel", "sinc", "gaussian, laplace, cauchy, rectangular"),
    ("--bandwidth", "0", "[0.01, 100]"),
    ("--boundary", "torus", "open, periodic"),
    ("--levels", "7", "[1, 3]"),
    ("--lambda-max", "1", "'exact' or 2"),
]


@pytest.mark.parametrize(("option", "value", "accepted"), BAD_OPTIONS)
def test_bad_options(
    here: Path, capsys: pytest.CaptureFixture[str], option: str, value: str, accepted: str
) -> None:
    size = [] if option == "--size" else ["--size", "8"]
    code, message = failing(capsys, "build", "se2", *size, option, value)
    assert code == 2
    assert message.startswith(f"Error: {option} must be ")
    assert accepted in message
    assert value in message
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["build", "s5"], "no manifold 's5'. Choose one of r2, se2"),
        (["build", "se2"], "--size must be given"),
        (["build", "r2", "--size", "8", "--nonsense"], "--nonsense"),
        (["build", "r2", "--size", "8", "--eps", "0.1"], "Use se2"),
        (["build", "se2", "--size", "8", "--eps", "1", "--eps-squared", "1"], "Give one"),
        (["build", "r2", "--size", "8", "--name", "a/b"], "name must be"),
        (["nonsense"], "nonsense"),
        (["inspect"], "no store"),
        (["inspect", "--level", "one"], "--level"),
        (["ls"], "no store"),
    ],
)
def test_wrong_usage(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], fragment: str
) -> None:
    code, message = failing(capsys, *arguments)
    assert code == 2
    assert fragment in message
    assert list(here.iterdir()) == []


def test_ambiguous_and_unknown_graphs(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, message = failing(capsys, "inspect", "--store", str(store))
    assert code == 2
    assert "r2-24x16, se2-16x16x6, torus" in message
    code, message = failing(capsys, "inspect", "torus@v007", "--store", str(store))
    assert code == 2
    assert "v001" in message
    code, message = failing(capsys, "inspect", "torus", "--level", "5", "--store", str(store))
    assert (code, message.startswith("Error: --level must be")) == (2, True)


def test_store_that_is_a_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "file").write_text("mine")
    for command in (["build", "r2", "--size", "8"], ["ls"], ["inspect"]):
        code, message = failing(capsys, *command, "--store", "file")
        assert (code, "is a file" in message) == (1, True)
    assert (here / "file").read_text() == "mine"


def test_foreign_group_of_that_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "r2", "--size", "8", "--quiet"]) == 0
    zarr.open_group(here / "graphs.zarr" / "mine", mode="w")
    capsys.readouterr()
    code, message = failing(capsys, "build", "r2", "--size", "8", "--name", "mine")
    assert (code, "choose another --name" in message) == (1, True)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_place_that_refuses_writes(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    exit_code, message = failing(capsys, "build", "r2", "--size", "8")
    assert exit_code == 1
    assert os.strerror(code) in message
    assert "Nothing was published" in message
    assert list(here.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "locked").mkdir(mode=0o555)
    code, message = failing(capsys, "build", "r2", "--size", "8", "--store", "locked/graphs.zarr")
    assert (code, "Permission denied" in message) == (1, True)


def test_unexpected_errors_are_one_line_and_debug_shows_them(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("cheblienet_graphs.assembly.pipeline.build", broken)
    code, message = failing(capsys, "build", "r2", "--size", "8")
    assert (code, "RuntimeError: two lines" in message) == (1, True)
    with pytest.raises(RuntimeError):
        run(["build", "r2", "--size", "8", "--debug"])


SIGNALLED = """
import signal, sys
from cheblienet_cli.main import main
from cheblienet_graphs.assembly import pipeline
from cheblienet_graphs.store.records import Records

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job may start with it ignored
number, blocks = int(sys.argv.pop(1)), int(sys.argv.pop(1))
pipeline.rows_within = lambda *_: 100
keep = Records.keep

def counted(records, *block):
    global blocks
    if blocks == 0:
        signal.raise_signal(number)
    blocks -= 1
    keep(records, *block)

Records.keep = counted
main()
"""


@pytest.mark.parametrize("blocks", [0, 1, 2])
@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_leave_what_is_said_and_no_trace_else(
    tmp_path: Path, number: int, expected: int, blocks: int
) -> None:
    """The signal comes right before one block more is recorded."""
    command = ["build", "se2", "--size", "32", "--store", str(tmp_path / "g.zarr")]
    program = [sys.executable, "-c", SIGNALLED, str(int(number)), str(blocks)]
    ended = subprocess.run([*program, *command], capture_output=True, text=True, check=False)
    assert ended.returncode == expected, ended.stderr
    assert "Traceback" not in ended.stderr
    if not blocks:
        assert list(tmp_path.iterdir()) == []
        assert "kept" not in ended.stderr
        return
    assert [path.name for path in tmp_path.iterdir()] == [".g.zarr.staging"]
    told = "1 finished block is kept" if blocks == 1 else "2 finished blocks are kept"
    assert told in ended.stderr
    assert run([*command, "--resume", "--quiet"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["g.zarr"]


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
    assert b"level 0: writing the Laplacian: 100%" in shown
    assert shown.rstrip().endswith(b"g.zarr.")


def test_versions_refs_and_removal(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert run(["build", "r2", "--size", "8", "--quiet", "--force"]) == 0
    assert run(["tag", "r2-8x8@v001", "paper"]) == 0
    capsys.readouterr()
    code, message = failing(capsys, "rm", "r2-8x8@paper")
    assert (code, "--force" in message) == (1, True)
    code, message = failing(capsys, "rm", "r2-8x8")
    assert (code, "Say which version" in message) == (2, True)
    code, message = failing(capsys, "rm", "r2-8x8@")
    assert (code, "Nothing follows the @" in message) == (2, True)
    code, message = failing(capsys, "tag", "r2-8x8@v001", "latest")
    assert code == 2
    code, message = failing(capsys, "tag", "r2-8x8@v007", "x")
    assert code == 2
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
    assert report == {"versions": ["r2-8x8/v001"], "faults": [], "leftovers": 0}
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


def test_weights_that_vanish_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    thin = ["--eps", "0.001", "--alpha", "1e6", "--bandwidth", "0.01"]
    size = ["--size", "16", "--orientations", "12", "--levels", "1"]
    code, message = failing(capsys, "build", "se2", *size, *thin)
    assert (code, message.startswith("Error: --bandwidth must be larger here")) == (2, True)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ("se2 --size 16 --weights selling --neighbors 16", "--neighbors must be left out"),
        ("se2 --size 16 --weights selling --xi auto", "--xi must be a number or 'alpha'"),
        ("se2 --size 16 --weights selling --engine pruned", "--engine must be auto or stencil"),
        ("se2 --size 16 --weights selling --lambda-max 2", "--lambda-max must be 'exact'"),
        ("se2 --points 99 --weights matched", "--weights must be kernel on the plane"),
        ("se2 --size 8 --weights matched --eps 0.001 --levels 1", "--levels must be such that"),
        ("so3 --subdivisions 1 --weights matched", "--neighbors must be at least 24"),
        ("so3 --points 99 --weights matched --neighbors 24", "--weights must be kernel here"),
        ("r2 --size 8 --eigenpairs 65", "--eigenpairs must be an integer in [1, 64]"),
        ("r2 --size 8 --weights cotan", "--weights must be one of kernel, matched, selling"),
        ("r2 --size 8 --laplacian signed", "--laplacian must be one of normalized, combinatorial"),
    ],
)
def test_weights_that_do_not_exist_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: str, fragment: str
) -> None:
    code, message = failing(capsys, "build", *arguments.split())
    assert code == 2
    assert message.startswith(f"Error: {fragment}")
    assert list(here.iterdir()) == []


def test_export_and_import(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "se2", "--size", "16", "--quiet"]) == 0
    capsys.readouterr()
    for target, suffix in (("scipy", "npz"), ("anndata", "h5ad"), ("pyg", "pyg.npz")):
        assert run(["export", "--to", target, "--level", "1"]) == 0
        assert capsys.readouterr().out == f"se2-16x16x6-level1.{suffix}\n"
        assert (here / f"se2-16x16x6-level1.{suffix}").exists()
    assert run(["export", "--to", "scipy", "--output", "laplacian"]) == 0
    assert capsys.readouterr().out == "laplacian\n"
    assert (here / "laplacian").exists()
    assert run(["export", "se2-16x16x6@v001", "--to", "zip", "--output", "x.zip"]) == 0
    assert run(["import", "x.zip", "--name", "copy"]) == 0
    assert capsys.readouterr().out == "x.zip\ncopy@v001\n"
    for arguments in (
        ["export", "se2-16x16x6", "--to", "pickle"],
        ["export", "se2-16x16x6", "--to", "scipy", "--level", "2"],
        ["import", "x.zip", "--name", "a/b"],
        ["export", "se2-16x16x6", "--to", "zip", "--output", "."],
    ):
        assert failing(capsys, *arguments)[0] == 2
    assert failing(capsys, "import", "se2-16x16x6-level1.h5ad")[0] == 1


def commands(group: click.Group, prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for name, command in group.commands.items():
        found.append((*prefix, name))
        if isinstance(command, click.Group):
            found += commands(command, (*prefix, name))
    return found


@pytest.mark.parametrize("command", commands(clg), ids=" ".join)
def test_every_command_has_help_and_is_in_the_readme(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: clg " + " ".join(command))
    readme = Path(__file__).parents[2] / "README.md"
    assert "clg " + " ".join(command) in readme.read_text()


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == "clg, version 0.2.0\n"
