"""Streams that are closed or break, a folder that is gone, signals while libraries load."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = "from cheblienet_cli.main import main; main()"
BUILD = "build r2 --size 8 --levels 1 --store g.zarr"
FULL = pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="it is Linux that has one")


def clg(here: Path, shell: str, program: str = MAIN) -> subprocess.CompletedProcess[str]:
    """What a shell's line does, in which $CLG is the command line."""
    own = {"CLG": sys.executable, "MAIN": program, "CLG_STORE": "", "PYTHONUNBUFFERED": ""}
    command = ["bash", "-c", shell.replace("clg ", '"$CLG" -c "$MAIN" ')]
    return subprocess.run(
        command, cwd=here, env=os.environ | own, capture_output=True, errors="surrogateescape"
    )


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&- >&- 2>&-"])
def test_closed_streams(tmp_path: Path, closed: str) -> None:
    built = clg(tmp_path, f"clg {BUILD} {closed}")
    assert built.returncode == 0
    assert built.stdout == ("" if " >&-" in f" {closed}" else "r2-8x8@v001\n")
    assert ("Published" in built.stderr) == ("2>&-" not in closed)
    for command in ("ls", "verify") if closed.count("&-") == 3 else ():
        assert clg(tmp_path, f"clg {command} --store g.zarr {closed}").returncode == 0
    refused = clg(tmp_path, f"clg nonsense {closed}")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == ("2>&-" not in closed)


@pytest.mark.slow
def test_closed_streams_of_workers(tmp_path: Path) -> None:
    assert clg(tmp_path, f"clg {BUILD} --workers 2 >&- 2>&-").returncode == 0
    assert clg(tmp_path, "clg verify --store g.zarr").returncode == 0


@pytest.mark.slow
@FULL
def test_messages_that_can_not_be_shown(tmp_path: Path) -> None:
    built = clg(tmp_path, f"clg {BUILD} 2>/dev/full")
    assert (built.returncode, built.stdout) == (0, "r2-8x8@v001\n")
    assert clg(tmp_path, "clg nonsense 2>/dev/full").returncode == 2
    done = clg(tmp_path, f"(clg {BUILD} --force 2>&1 >out; echo $? >code) | true")
    assert done.returncode == 0
    assert (tmp_path / "code").read_text() == "0\n"
    assert (tmp_path / "out").read_text() == "r2-8x8@v002\n"


@pytest.mark.slow
@FULL
def test_output_that_can_not_be_written(tmp_path: Path) -> None:
    built = clg(tmp_path, f"clg {BUILD} >/dev/full")
    assert built.returncode == 1
    assert built.stderr.splitlines()[-1] == (
        "Error: what was to be printed can't be written: no space left; free some. "
        "r2-8x8@v001 is published."
    )
    for command in ("ls --store g.zarr", "--help"):
        done = clg(tmp_path, f"clg {command} >/dev/full")
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
    broken = clg(tmp_path, "(clg recipes; echo $? >code) | true")
    assert broken.stderr == ""


@pytest.mark.slow
def test_names_that_are_no_text(tmp_path: Path) -> None:
    """What is printed is the name, byte by byte."""
    assert clg(tmp_path, f"clg {BUILD} --quiet").returncode == 0
    how = "PYTHONIOENCODING=utf-8:strict"
    done = clg(tmp_path, f"{how} clg export --to zip --store g.zarr --output $'\\xff.zip'")
    assert (done.returncode, done.stdout, done.stderr) == (0, "\udcff.zip\n", "")


@pytest.mark.parametrize("command", ["ls", BUILD, "doctor"])
def test_a_working_folder_that_was_removed(tmp_path: Path, command: str) -> None:
    done = clg(tmp_path, f"mkdir gone; cd gone; rmdir ../gone; clg {command}")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: The working folder can't be used: No such file or directory.\n"


COMMANDS = (
    *("ls", "recipes", "plot --list", "verify", "inspect", "inspect --html a.html", "doctor"),
    *(f"export --to {library}" for library in ("npz", "zip")),
    *("import g.zip --store other.zarr", "diff r2-8x8 r2-8x8", "neighbors --vertex 0"),
    *("tag r2-8x8 paper", "rm r2-8x8@v001 --force", "plot heat -o a.png"),
    *(f"build r2 --size 9 {how}" for how in ("", "--dry-run", "--workers 2", "--dask local")),
    "build s2 --points 60 --weights voronoi",
    "build map --source 'r2 --size 8' --target 'r2 --size 4' --neighbors 2",
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store and an archive of its graph."""
    folder = tmp_path_factory.mktemp("whole")
    prepared = "clg build r2 --size 8 --quiet; clg export --to zip --output g.zip"
    assert clg(folder, f"export CLG_STORE=g.zarr; {prepared}").returncode == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "files"), [(command, 8 + 4 * (n % 2)) for n, command in enumerate(COMMANDS)]
)
def test_few_files_may_be_open(tmp_path: Path, whole: Path, command: str, files: int) -> None:
    """A command works, or one line says what is short."""
    here = tmp_path / "here"
    shutil.copytree(whole, here)
    done = clg(here, f"export CLG_STORE=g.zarr; ulimit -n {files}; clg {command}")
    if done.returncode != 0:
        assert done.returncode == 1
        assert done.stderr.startswith("Error: ")
        assert "open files" in done.stderr
        assert done.stderr.count("\n") == 1
        assert "--debug" not in done.stderr


OURS = ["click", "cheblienet_cli.build", "cheblienet_graphs.spec", "numpy", "scipy.sparse"]
WITHIN = ["numpy._core", "scipy.sparse._base", "scipy.linalg.blas"]
"""Modules that numpy and scipy import while they load: a signal must not wait for them."""
LIBRARIES = [*OURS, *WITHIN]
SHORT = 1, "Error: out of memory; build fewer vertices or free some.\n"
FEW = 1, "Error: too many open files; close some, or allow more with `ulimit -n`.\n"
ENDINGS = {
    "raise MemoryError": SHORT,
    "raise ImportError('lib.so: failed to map segment from shared object')": SHORT,
    "raise ImportError('lib.so: cannot allocate memory in static TLS block')": SHORT,
    "raise OSError(12, 'Cannot allocate memory')": SHORT,
    'raise RuntimeError("can\'t start new thread")': SHORT,
    "raise OSError(24, 'Too many open files')": FEW,
    "raise ImportError('lib.so: cannot open shared object file: Too many open files')": FEW,
    "signal.raise_signal(signal.SIGINT)": (130, "Interrupted.\n"),
    "signal.raise_signal(signal.SIGTERM)": (143, "Terminated.\n"),
}
"""Code and message of what happens."""
AT_ONCE = {
    "signal.raise_signal(signal.SIGINT)": (-signal.SIGINT, ""),
    "signal.raise_signal(signal.SIGTERM)": (-signal.SIGTERM, ""),
}
"""The same of what the system does itself."""
LOADING = f"""
import os, signal, sys
from importlib.abc import MetaPathFinder

libraries, happening = {LIBRARIES}, {[*ENDINGS]}

class Happening(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name not in libraries:
            return
        libraries.remove(name)
        for number, what in enumerate(happening):
            os.mkdir(folder := f"{{name}}-{{number}}")
            if not os.fork():
                libraries.clear()
                for stream, kind in ((1, "out"), (2, "messages")):
                    os.dup2(os.open(f"{{folder}}.{{kind}}", os.O_CREAT | os.O_WRONLY), stream)
                os.chdir(folder)
                exec(what)
            code = os.waitstatus_to_exitcode(os.wait()[1])
            print(code, file=open(f"{{folder}}.code", "w"))

sys.meta_path.insert(0, Happening())
signal.signal(signal.SIGINT, signal.default_int_handler)
from cheblienet_cli.main import main
main()
"""
"""A build that comes through; at each library a process for each thing that happens leaves it."""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each library and what happens at it; beside them what was said, and the code."""
    folder = tmp_path_factory.mktemp("loading")
    assert clg(folder, f"clg {BUILD}", LOADING).returncode == 0
    return folder


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("what", ENDINGS)
def test_what_happens_while_libraries_load(ended: Path, library: str, what: str) -> None:
    """Nothing is printed besides, and no file written."""
    case = ended / f"{library}-{[*ENDINGS].index(what)}"
    assert list(case.iterdir()) == []
    assert Path(f"{case}.out").read_bytes() == b""
    message = Path(f"{case}.messages").read_text()
    if "signal" in what:
        message = message.lstrip("\n")  # click ends the line in which ^C stands
    expected = ENDINGS | (AT_ONCE if library in WITHIN else {})
    assert (int(Path(f"{case}.code").read_text()), message) == expected[what]
