"""Commands that must fail: an exit code, one line with options in it, and nothing left behind.

A dry run refuses what the real run refuses, in the same words.
"""

import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import zarr
from failures import Failing

from cheblienet_cli.main import run
from cheblienet_graphs.archives.npz import check_output
from cheblienet_graphs.errors import StoreError


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, store: Path) -> Path:
    """A folder with stores of one graph and of several, and files of all kinds."""
    here = tmp_path_factory.mktemp("world")
    one = str(here / "graphs.zarr")
    build = "build r2 --size 8 --levels 2 --name r2-8x8 --quiet --store"
    assert run([*build.split(), one]) == 0
    assert run(["tag", "r2-8x8", "paper", "--store", one]) == 0
    shutil.copytree(one, here / "foreign.zarr")
    zarr.open_group(here / "foreign.zarr" / "mine", mode="w")
    zarr.open_group(here / "theirs.zarr", mode="w")
    (here / "several").symlink_to(store)
    (here / "link").symlink_to(one)
    (here / "file").write_text("mine")
    (here / "dangling").symlink_to("nowhere")
    (here / "full" / "other").mkdir(parents=True)
    (here / "empty").mkdir()
    for pipe in ("pipe", "pipe.png"):
        os.mkfifo(here / pipe)
    np.save(here / "eye.npy", np.eye(12, 16, dtype=bool))
    np.save(here / "fractions.npy", np.full((4, 4), 0.5))
    (here / "plane.csv").write_text("x,y\n0,0\n1,1\n0,1\n")
    (here / "few.toml").write_text('[graph]\nmanifold = "r2"\nsize = 8\nneighbors = 1\n')
    return here


MAP = "build map --source 's2 --gaussian O4' --target 's2 --subdivisions 1'"
TO = "build map --target s2 --neighbors 1"
USAGE = [
    # Wrong usage, and the page that helps.
    ("''", " See `clg --help`.\n"),
    ("build se2 8", " See `clg build se2 --help`.\n"),
    ("build recipe", " See `clg build recipe --help`.\n"),
    ("export --to pickle", " See `clg export --help`.\n"),
    ("inspect --level one", " See `clg inspect --help`.\n"),
    # Commands and options.
    ("biuld", "No such command 'biuld'. Did you mean 'build'? See `clg --help`."),
    ("build s2 --size 16", "'--store'?) See `clg build s2 --help`."),
    ("build s5", "no manifold 's5'. Choose one of r2, se2, s2, so3, r3, r3s2, or `recipe NAME`"),
    ("build recipe imagenet", "There is no recipe 'imagenet'. There are cifar10, cifar10-isotr"),
    ("build recipe few.toml", "few.toml: neighbors must be at least 4"),
    # What a specification refuses, its parameters being options.
    ("build se2 --size 8 --weights matched --eps .001 --levels 1", "--levels, a larger --size or"),
    # How to build.
    ("build r2 --size 8 --name a/b", "A graph's name must be "),
    ("build se2 --size 8 --memory-limit 1", "at least 100.1 MB here, with 1 worker. Got '1 B'."),
    ("build s2 --nside 2 --engine stencil", "--engine must be auto, pruned or keops with"),
    # Files of masks and points, which begin the line.
    ("build se2 --size 8 --mask eye.npy", "Error: eye.npy: --mask must be "),
    ("build se2 --mask fractions.npy", "or on lattices give --mask-edge cut."),
    ("build s2 --points-file plane.csv", "columns named latitude and longitude. Got 'x', 'y'"),
    # Stores, graphs and versions.
    ("inspect --store several", "r2-24x16, se2-16x16x6, torus"),
    ("inspect r2-8x8@", "Nothing follows the @ of r2-8x8@; give a version, such as @v001"),
    ("rm r2-8x8", "Say which version"),
    # Files that are missing.
    ("import none.zip", "Error: none.zip does not exist."),
    ("import file/none.zip", "Error: file/none.zip does not exist."),
    ("build r2 --mask none.png", "Error: none.png does not exist."),
    ("build s2 --points-file none.csv", "Error: none.csv does not exist."),
    ("build recipe none.toml", "Error: The recipe none.toml can't be read: No such file"),
    ("build r2 --size 8 --dask none.json", "at none.json: there is no such file. Give the address"),
    ("ls --store none", "none; `clg build` makes one."),
    ("ls --store empty", "There is no store at "),
    ("diff r2-8x8 r2-8x8 --other-store none", "none; `clg build` makes one."),
    # Reports, figures and exports.
    ("inspect --level 5", "--level must be an integer in [0, 1]. Got 5."),
    ("inspect --eigenvalues 1001", "--eigenvalues must be an integer in [0, 1000]"),
    ("inspect --html a.html --json", "not both"),
    ("neighbors", "Missing option '--vertex'. See `clg neighbors --help`."),
    ("plot", "FIGURE is missing. Choose one of neighborhood, spectrum"),
    ("plot sparsity", "--output must be given: a file that ends in .png, .svg or .pdf."),
    ("plot sparsity --vertex 3 -o x.png", "--vertex must be left out: sparsity has none. Got 3."),
    ("plot --list heat", "it only lists the figures. See `clg plot --help`."),
    ("plot spectrum torus torus@v001 -o a.png --store several", "spectrum draws one graph, not 2"),
    ("export --to zip --output .", "--output must be a file. . is a folder."),
    # Maps, whose sides are like builds.
    (f"{MAP} --neighbors 0", "Error: --neighbors must be an integer in [1, 208]. Got '0'."),
    (f"{MAP} --neighbors 2 --target r2", "Error: --target must be given once."),
    (f"{TO} --source 's3 --size 4'", "what follows `clg build`, such as 's2 --gaussian O80'. Got"),
    (f'{TO} --source "\'s2"', "Error: --source must be what follows `clg build`"),
    (f"{TO} --source 's2 --engine keops'", "--source: leave out --engine, which says how to build"),
    (f"{TO} --source 's2 --nside x'", "Error: --source: --nside must be a power of two in "),
    (f"{TO} --source 's2 --nside'", "--source: Option '--nside' requires an argument. See `clg"),
]
WHILE_BUILDING = [
    ("build s2 --subdivisions 0 --neighbors 4 --device cpu", "--neighbors must be at least 5 here"),
    (f"{MAP} --radius 0.01", "--radius must be such that each target has a source. Got none of"),
]
"""What no dry run sees."""
PIPE = " is a device or a pipe, which would be replaced by a file; choose another"
TARGETS = ("graphs.zarr/zarr.json", "graphs.zarr/new", "graphs.zarr/r2-8x8/x", "link/x")
FAILED = [
    ("ls --store file", "is a file, not a store; "),
    (
        "build r2 --size 8 --store foreign.zarr --name mine",
        "not a graph of ours; choose another --name",
    ),
    ("build r2 --size 8 --store file", "is a file"),
    ("build r2 --size 8 --store full", "other files"),
    ("build r2 --size 8 --store theirs.zarr", "another program"),
    ("build r2 --size 8 --store graphs.zarr/r2-8x8", "is a graph within a store"),
    ("ls --store graphs.zarr/r2-8x8", "is a graph within a store: give the store, "),
    *(
        (f"{command} --store {place}", "must be a folder of this machine's file systems")
        for command in ("build r2 --size 8", "ls", "verify --clean", "inspect", "tag r2-8x8 x")
        for place in ("s3://bucket/k", "' '")
    ),
    ("rm r2-8x8@v001", "--force removes it anyway."),
    ("inspect --html graphs.zarr/a.html", "choose another --html"),
    *(
        (f"export --to {kind} --output {target}", "is in the store")
        for kind in ("npz", "zip")
        for target in (*TARGETS, ".graphs.zarr.staging/../graphs.zarr/x")
    ),
    *((f"export --to {kind} --output pipe", PIPE) for kind in ("zip", "npz")),
    ("plot sparsity -o pipe.png", PIPE),
    ("inspect --html pipe", PIPE),
    *(
        (f"import {name}", f"{name} is not a file; give what `clg export --to zip` wrote.")
        for name in ("pipe", "/dev/zero", ".")
    ),
    ("import plane.csv", "plane.csv"),
]


NONSENSE = {
    "workers": ("0", "many", "''", "8 --memory-limit 500MB"),
    "memory-limit": ("-2GB", "banana", "''", "nan"),
    "name": ("''", ".hidden", "v001", "..", "a/b", "zarr.json", "x" * 65, "a@b", "-x", "é"),
    "store": ("file/below", "~nobody-at-all/g.zarr", "n" * 300, "dangling"),
    "dask": (
        *("nonsense", "http://a:1", "a:99999", "file", "''"),
        *("tcp://a:1 --workers 2", "local --workers -1"),
    ),
    "engine": ("none",),
}
"""Ways in which nothing is built."""
SAYING = {"name": "A graph's name must be "}
"""What is said besides that it is an error."""
BUILDS = [
    (f"build se2 --size 8 --levels 1 --{option} {value}", SAYING.get(option, "Error: "))
    for option, values in NONSENSE.items()
    for value in values
]


@pytest.mark.parametrize(
    ("codes", "command", "message"),
    [
        (codes, *row)
        for codes, rows in (("2", USAGE + WHILE_BUILDING), ("1", FAILED), ("12", BUILDS))
        for row in rows
    ],
    ids=lambda value: str(value)[:60],
)
def test_refusals(world: Path, failing: Failing, codes: str, command: str, message: str) -> None:
    if "--dask" in command:
        pytest.importorskip("distributed")
    os.chdir(world)  # which the fixture of all commands takes back
    before = sorted(world.rglob("*"))
    refusal = failing(command)
    assert (str(refusal[0]) in codes, message in refusal[1]) == (True, True), refusal
    assert not re.search(r"`\w+(=[^`]*)?`|Errno|Traceback", refusal[1])
    foreseen = command.startswith("build ") and (command, message) not in WHILE_BUILDING
    if foreseen and "--help" not in refusal[1]:
        assert failing(f"{command} --dry-run") == refusal
    assert sorted(world.rglob("*")) == before


def test_devices_are_never_replaced() -> None:
    """Renaming a file onto /dev/null, as root may, would take it from the whole machine."""
    for device in ("/dev/null", "/dev/stdout"):
        with pytest.raises(StoreError, match=f"^{device} is a device or a pipe"):
            check_output(Path(device))


SMALL = "build r2 --size 8"


def test_a_dry_run_sees_what_the_place_refuses(
    failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    for function, result, message in (
        ("shutil.disk_usage", lambda _: SimpleNamespace(free=9), "bytes are needed, 9 are free"),
        ("os.access", lambda _, mode: not mode & os.W_OK, "Permission denied"),
    ):
        monkeypatch.setattr(function, result)
        refused = failing(SMALL)
        assert message in refused[1]
        assert failing(f"{SMALL} --dry-run") == refused


def test_what_a_dry_run_takes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cluster is asked; where nothing has to be built, the place need not be writable."""
    pytest.importorskip("distributed")
    build = [*SMALL.split(), "--quiet"]
    for how in (["--dask", "tcp://nobody.invalid:8786"], ["--dask", "local", "--workers", "3"]):
        assert run([*build, *how, "--dry-run"]) == 0
    assert list(here.iterdir()) == []
    assert run(build) == 0
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    assert run(build) == 0
    assert run([*build, "--dry-run"]) == 0


def test_unexpected_errors_are_one_line_and_debug_shows_them(
    failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("cheblienet_graphs.assembly.pipeline.build", broken)
    code, message = failing(SMALL)
    assert (code, "RuntimeError: two lines" in message) == (1, True)
    with pytest.raises(RuntimeError):
        run([*SMALL.split(), "--debug"])


def test_what_the_machine_lacks_is_said(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    code, message = failing("build s2 --nside 2 --device cuda")
    assert (code, "Got 'cuda'. Use --device cpu" in message) == (2, True), message


@pytest.mark.parametrize(
    "told", ["abc", "", " ", "-5", "1.5", "1_0", "٣", "253402300800", "9" * 5000]
)
@pytest.mark.parametrize("command", [SMALL, "ls"])
def test_times_that_libraries_would_not_take(
    failing: Failing, monkeypatch: pytest.MonkeyPatch, here: Path, told: str, command: str
) -> None:
    """numpy reads the variable as it is loaded, matplotlib as it draws."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", told)
    code, message = failing(command)
    accepted = "SOURCE_DATE_EPOCH must be whole seconds since 1970, in [0, 253402300799]. Got "
    assert (code, accepted in message, "Correct or unset it." in message) == (2, True, True)
    assert not [*here.iterdir()]


@pytest.mark.parametrize("told", ["0", "1700000000", "253402300799"])
def test_times_that_are_taken(monkeypatch: pytest.MonkeyPatch, told: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", told)
    assert run(["recipes"]) == 0


def test_a_clock_beyond_what_python_tells(
    failing: Failing, monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    """Nanoseconds since 1970 are 64 bits."""

    def year_2300() -> float:
        raise OverflowError("timestamp too large to convert to C _PyTime_t")

    monkeypatch.setattr("time.time", year_2300)
    code, message = failing(SMALL)
    expected = "Error: The clock of this machine must be before the year 2262. Set it.\n"
    assert (code, message) == (1, expected)
    assert not [*here.iterdir()]
