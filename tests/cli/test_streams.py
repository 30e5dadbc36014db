"""Streams that are closed or break, a folder that is gone, signals while libraries load."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = "from cheblienet_cli.main import main; main()"
BUILD = "build r2 --size 8 --levels 1 --store g.zarr"
FULL = pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="it is Linux that has one")


def clg(here: Path, shell: str, program: str = MAIN) -> subprocess.CompletedProcess[str]:
    """What a shell's line does, in which $CLG is the command line."""
    environment = {
        k: v for k, v in os.environ.items() if k not in {"CLG_STORE", "PYTHONUNBUFFERED"}
    }
    environment |= {"CLG": sys.executable, "MAIN": program}
    line = shell.replace("clg ", '"$CLG" -c "$MAIN" ')
    command = ["bash", "-c", line]
    return subprocess.run(
        command, cwd=here, env=environment, capture_output=True, text=True, errors="surrogateescape"
    )


@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-", "<&-"])
def test_closed_streams(tmp_path: Path, closed: str) -> None:
    built = clg(tmp_path, f"clg {BUILD} {closed}")
    assert built.returncode == 0
    assert built.stdout == ("" if " >&-" in f" {closed}" else "r2-8x8@v001\n")
    assert ("Published" in built.stderr) == ("2>&-" not in closed)
    for command in ("ls", "verify"):
        assert clg(tmp_path, f"clg {command} --store g.zarr {closed}").returncode == 0
    refused = clg(tmp_path, f"clg nonsense {closed}")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == ("2>&-" not in closed)


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-"])
def test_closed_streams_of_workers(tmp_path: Path, closed: str) -> None:
    assert clg(tmp_path, f"clg {BUILD} --engine pruned --workers 2 {closed}").returncode == 0
    assert clg(tmp_path, "clg verify --store g.zarr").returncode == 0


@FULL
def test_messages_that_can_not_be_shown(tmp_path: Path) -> None:
    built = clg(tmp_path, f"clg {BUILD} 2>/dev/full")
    assert (built.returncode, built.stdout) == (0, "r2-8x8@v001\n")
    assert clg(tmp_path, "clg nonsense 2>/dev/full").returncode == 2
    done = clg(tmp_path, f"(clg {BUILD} --force 2>&1 >out; echo $? >code) | true")
    assert done.returncode == 0
    assert (tmp_path / "code").read_text() == "0\n"
    assert (tmp_path / "out").read_text() == "r2-8x8@v002\n"


@FULL
def test_output_that_can_not_be_written(tmp_path: Path) -> None:
    built = clg(tmp_path, f"clg {BUILD} >/dev/full")
    assert built.returncode == 1
    assert built.stderr.splitlines()[-1] == (
        "Error: what was to be printed can't be written: no space left; free some. "
        "r2-8x8@v001 is published."
    )
    for command in ("ls --store g.zarr", "--help", "recipes", "ls --json --store g.zarr"):
        done = clg(tmp_path, f"clg {command} >/dev/full")
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
    broken = clg(tmp_path, "(clg recipes; echo $? >code) | true")
    assert broken.stderr == ""


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """What is printed is the name, byte by byte."""
    assert clg(tmp_path, f"clg {BUILD} --quiet").returncode == 0
    how = "PYTHONIOENCODING=utf-8:strict"
    done = clg(tmp_path, f"{how} clg export --to zip --store g.zarr --output $'\\xff.zip'")
    assert (done.returncode, done.stdout, done.stderr) == (0, "\udcff.zip\n", "")


@pytest.mark.parametrize("command", ["ls", BUILD, f"{BUILD} --dry-run", "recipes", "doctor"])
def test_a_working_folder_that_was_removed(tmp_path: Path, command: str) -> None:
    done = clg(tmp_path, f"mkdir gone; cd gone; rmdir ../gone; clg {command}")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: The working folder can't be used: No such file or directory.\n"


LOADING = """
import signal, sys
from importlib.abc import MetaPathFinder

library = sys.argv.pop(1)

class Signals(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == library:
            {what}

sys.meta_path.insert(0, Signals())
signal.signal(signal.SIGINT, signal.default_int_handler)
from cheblienet_cli.main import main
main()
"""


LIBRARIES = ["click", "cheblienet_cli.build", "cheblienet_graphs.spec", "numpy", "scipy.sparse"]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_signals_while_libraries_load(tmp_path: Path, library: str, number: str, code: int) -> None:
    program = LOADING.format(what=f"signal.raise_signal(signal.{number})")
    done = clg(tmp_path, f"clg {library} {BUILD}", program)
    assert (done.returncode, done.stdout) == (code, "")
    ended = "Interrupted.\n" if code == 130 else "Terminated.\n"
    assert done.stderr.lstrip("\n") == ended  # click ends the line in which ^C stands
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "what",
    [
        "raise MemoryError",
        "raise ImportError('lib.so: failed to map segment from shared object')",
        "raise ImportError('lib.so: cannot allocate memory in static TLS block')",
        "raise OSError(12, 'Cannot allocate memory')",
    ],
)
def test_memory_that_is_short_while_libraries_load(tmp_path: Path, library: str, what: str) -> None:
    done = clg(tmp_path, f"clg {library} {BUILD}", LOADING.format(what=what))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: out of memory; build fewer vertices or free some.\n"
    assert list(tmp_path.iterdir()) == []
