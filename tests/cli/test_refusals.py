"""Commands that fail: exit codes, one-line errors, and nothing left behind."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import zarr
from failures import failing

from cheblienet_cli.main import run


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["build", "s5"], "no manifold 's5'. Choose one of r2, se2"),
        (["build", "se2"], "--size must be given"),
        (["build", "r2", "--size", "8", "--nonsense"], "--nonsense"),
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


SIGNALED = """
import signal, sys
from cheblienet_cli.main import main
from cheblienet_graphs.assembly import pipeline
from cheblienet_graphs.store.staged import Records

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
    program = [sys.executable, "-c", SIGNALED, str(int(number)), str(blocks)]
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


def test_weights_that_vanish_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    thin = ["--eps", "0.001", "--alpha", "1e6", "--bandwidth", "0.01"]
    size = ["--size", "16", "--orientations", "12", "--levels", "1"]
    code, message = failing(capsys, "build", "se2", *size, *thin)
    assert (code, message.startswith("Error: --bandwidth must be larger here")) == (2, True)
    assert list(here.iterdir()) == []
