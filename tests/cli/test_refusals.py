"""Commands that must fail: an exit code, one line with options in it, and nothing left behind.

A dry run refuses what the real run refuses, in the same words.
"""

import errno
import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import nibabel
import numpy as np
import pytest
import zarr
from failures import failing
from PIL import Image

from cheblienet_cli.main import run
from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.store.export import check_output

LONG = "a" * 300
TABLES = {
    "radians": "lat,lon\n1,3\n-1,2\n0,0\n.5,.5\n",
    "twice": "x,y\n0,0\n1,1\n0,1\n1,1\n.5,.2\n",
}


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
    (here / "several").symlink_to(store)
    (here / "link").symlink_to(one)
    (here / "file").write_text("mine")
    (here / "dangling").symlink_to("nowhere")
    (here / "full" / "other").mkdir(parents=True)
    for pipe in ("pipe", "pipe.png"):
        os.mkfifo(here / pipe)
    (here / "b.png").mkdir()
    np.save(here / "eye.npy", np.eye(12, 16, dtype=bool))
    for name, text in TABLES.items():
        (here / f"{name}.csv").write_text(text)
    Image.fromarray(np.ones((4, 4, 3), np.uint8)).save(here / "color.png")
    volume = nibabel.Nifti1Image(np.ones((6, 7, 5), np.uint8), np.diag([2, 2, 3, 1]))
    nibabel.save(volume, here / "volume.nii.gz")
    (here / "damaged.nii.gz").write_bytes((here / "volume.nii.gz").read_bytes()[:60])
    (here / "few.toml").write_text('[graph]\nmanifold = "r2"\nsize = 8\nneighbors = 1\n')
    return here


HELPFUL = {
    "''": "clg",
    "build se2 8": "clg build se2",
    "build recipe": "clg build recipe",
    "rm": "clg rm",
    "export --to pickle": "clg export",
    "inspect --level one": "clg inspect",
}
"""Wrong usage, and the page that helps."""
USAGE = [
    *((command, f" See `{page} --help`.\n") for command, page in HELPFUL.items()),
    # Commands and options.
    ("biuld", "No such command 'biuld'. Did you mean 'build'? See `clg --help`."),
    ("build r2 --size 8 --nonsense", "No such option"),
    ("build s2 --size 16", "'--store'?) See `clg build s2 --help`."),
    *((f"build {of} 1", "No such option") for of in ("r2 --region", "r3 --gaussian")),
    ("build s5", "no manifold 's5'. Choose one of r2, se2, s2, so3, r3, r3s2, or `recipe NAME`"),
    ("build recipe imagenet", "There is no recipe 'imagenet'. There are cifar10, cifar10-isotr"),
    ("build recipe few.toml", "few.toml: neighbors must be at least 4"),
    ("build recipe other.toml", "The recipe other.toml can't be read: No such file or directory."),
    # What a specification refuses, its parameters being options.
    ("build se2", "--size must be given"),
    ("build s2", "by its size: --refined, --nside, --bandlimit, --gaussian, --pl, --points, --p"),
    ("build se2 --size 8 --eps 1 --eps-squared 1", "--eps must be left out where --eps-squared is"),
    ("build so3 --nside 4 --weights matched --neighbors 16", "Use --neighbors 24 or more"),
    ("build se2 --size 8 --weights matched --eps .001 --levels 1", "--levels, a larger --size or"),
    ("build r3s2 --size 8 --orientations 12", "be left out on r3s2: --axes says how many there"),
    # How to build.
    ("build r2 --size 8 --name a/b", "A graph's name must be "),
    ("build se2 --size 8 --memory-limit 1", "at least 100.4 MB here, with 1 worker. Got '1 B'."),
    ("build r2 --size 8 --engine stencil --device cuda", "Use --engine pruned for a GPU"),
    ("build s2 --nside 2 --engine stencil", "--engine must be auto, pruned or keops with"),
    # Files of masks and points, which begin the line.
    ("build se2 --size 8 --mask eye.npy", "Error: eye.npy: --mask must be "),
    ("build se2 --mask color.png", "color.png has colors (mode RGB). Save it as 8-bit gray"),
    ("build s2 --nside 4 --mask absent.nc:sea", "absent.nc does not exist."),
    ("build s2 --nside 4 --region 0,20,20,10", "S is north of N."),
    ("build s2 --points-file radians.csv", "--units degrees"),
    ("build s2 --points-file twice.csv", "columns named latitude and longitude. Got 'x', 'y'"),
    ("build se2 --points-file twice.csv --domain 1,1,0,0", "--domain must be four numbers X0, Y0"),
    ("build r3 --mask volume.nii.gz --spacing 1,1,2", "--spacing must be 2,2,3, as of the mask"),
    ("build r3 --mask damaged.nii.gz", "damaged.nii.gz can't be read as a NIfTI file"),
    # Stores, graphs and versions.
    ("ls --store none", "There is no store at "),
    ("inspect --store several", "r2-24x16, se2-16x16x6, torus"),
    ("inspect torus@v007 --store several", "v001"),
    ("inspect r2-8x8@", "Nothing follows the @ of r2-8x8@; give a version, such as @v001"),
    ("rm r2-8x8", "Say which version"),
    ("tag r2-8x8 latest", "latest"),
    ("diff r2-8x8 nothing", "No graph 'nothing'"),
    ("rm r2-8x8@v001 --keep 1", "Name the graph alone, not a version of it."),
    # Reports, figures and exports.
    ("inspect --level 5", "--level must be an integer in [0, 1]. Got 5."),
    ("inspect --html a.html --json", "not both"),
    ("inspect --html .", "--html must be a file"),
    ("neighbors", "--vertex must be given, or --at."),
    ("neighbors --vertex 64", "--vertex must be an integer in [0, 63]"),
    ("neighbors torus --at 2,0,0 --store several", "X,Y,THETA with X in [0, 1]"),
    ("plot", "FIGURE is missing. Choose one of neighborhood, spectrum"),
    ("plot sparsity", "--output must be given: a file that ends in .png, .svg or .pdf."),
    ("plot sparsity -o a.jpg", "--output must be a file that ends in .png, .svg or .pdf."),
    ("plot sparsity -o b.png", "--output must be a file. Got 'b.png, a folder'."),
    ("plot subgraphs -o a.png --seed -1", "--seed must be an integer in [0, "),
    ("plot sparsity --vertex 3 -o x.png", "--vertex must be left out: sparsity has none. Got 3."),
    ("plot --list heat", "it only lists the figures. See `clg plot --help`."),
    ("plot spectrum torus torus@v001 -o a.png --store several", "spectrum draws one graph, not 2"),
    ("export --to zip --level 0", "--level must be left out with --to zip, which has all"),
    ("export --to zip --output .", "--output must be a file. . is a folder."),
]
WHILE_BUILDING = [
    ("build so3 --points 99 --weights matched --neighbors 24", "Use more --neighbors, an --xi "),
    ("build s2 --subdivisions 0 --neighbors 4 --device cpu", "--neighbors must be at least 5 here"),
    ("build se2 --size 16 --eps .001 --alpha 1e6 --bandwidth .01 --levels 1", "--bandwidth must"),
]
"""What no dry run sees."""
PIPE = " is a device or a pipe, which would be replaced by a file; choose another"
TARGETS = ("graphs.zarr/zarr.json", "graphs.zarr/new", "graphs.zarr/r2-8x8/x", "link/x")
FAILED = [
    ("ls --store file", "is a file, not a store; "),
    ("build r2 --size 8 --store file", "choose another --store."),
    ("build r2 --size 8 --store foreign.zarr --name mine", "choose another --name"),
    ("ls --store graphs.zarr/r2-8x8", "is a graph within a store: give the store, "),
    ("rm r2-8x8@v001", "--force removes it anyway."),
    ("inspect --html graphs.zarr/a.html", "choose another --html"),
    ("plot sparsity -o there/a.png", "there is no folder there; make it or choose another --outp"),
    *(
        (f"export --to {kind} --output {target}", "is in the store")
        for kind in ("scipy", "pyg", "zip")
        for target in (*TARGETS, ".graphs.zarr.staging/../graphs.zarr/x")
    ),
    ("export --to zip --output missing/x", "missing/x can't be written: No such file or dir"),
    *((f"export --to {kind} --output pipe", PIPE) for kind in ("scipy", "zip", "npz")),
    ("plot sparsity -o pipe.png", PIPE),
    ("inspect --html pipe", PIPE),
    (f"export --to zip --output {LONG}", ": File name too long."),
    *(
        (f"import {name}", f"{name} is not a file; give what `clg export --to zip` wrote.")
        for name in ("pipe", "/dev/zero", ".")
    ),
    ("import color.png", "color.png"),
]


NONSENSE = {
    "workers": ("0", "-3", "1025", "many", "2.5", "''", "8 --memory-limit 500MB"),
    "memory-limit": ("-2GB", "0", "banana", "'5 cats'", "1kB", "''", "nan"),
    "name": ("''", ".hidden", "v001", "x" * 65, "zarr.json"),
    "store": ("file/below", "full", "~nobody-at-all/g.zarr", "n" * 300, "n" * 250, "dangling"),
    "dask": (
        *("nonsense", "tcp://", "http://a:1", "a:0", "a:99999", "none.json", "file", "''"),
        *("tcp://a:port", "tcp://a:1 --workers 2", "local --workers -1"),
    ),
    "engine": ("none",),
}
"""Ways in which nothing is built."""
BUILDS = [
    (f"build se2 --size 8 --levels 1 --{option} {value}", "Error: ")
    for option, values in NONSENSE.items()
    for value in values
]


@pytest.mark.parametrize(
    ("codes", "command", "message"),
    [
        (codes, *row)
        for codes, rows in (("2", USAGE), ("1", FAILED), ("12", BUILDS))
        for row in rows
    ],
    ids=lambda value: str(value)[:60],
)
def test_refusals(
    world: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    codes: str,
    command: str,
    message: str,
) -> None:
    if "--dask" in command:
        pytest.importorskip("distributed")
    monkeypatch.chdir(world)
    before = sorted(world.rglob("*"))
    refusal = failing(capsys, *shlex.split(command))
    assert (str(refusal[0]) in codes, message in refusal[1]) == (True, True), refusal
    assert not re.search(r"`\w+(=[^`]*)?`|Errno|Traceback", refusal[1])
    foreseen = command.startswith("build ") and (command, message) not in WHILE_BUILDING
    if foreseen and "--help" not in refusal[1]:
        assert failing(capsys, *shlex.split(command), "--dry-run") == refusal
    assert sorted(world.rglob("*")) == before


def test_devices_are_never_replaced() -> None:
    """Renaming a file onto /dev/null, as root may, would take it from the whole machine."""
    for device in ("/dev/null", "/dev/stdout"):
        with pytest.raises(StoreError, match=f"^{device} is a device or a pipe"):
            check_output(Path(device))


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


@pytest.mark.parametrize(
    ("function", "result", "message"),
    [
        ("os.access", lambda _, mode: not mode & os.W_OK, "Permission denied"),
        ("shutil.disk_usage", lambda _: SimpleNamespace(free=9), "bytes are needed, 9 are free"),
    ],
)
def test_a_dry_run_sees_what_the_place_refuses(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    result: Callable[..., object],
    message: str,
) -> None:
    monkeypatch.setattr(function, result)
    refused = failing(capsys, "build", "r2", "--size", "8")
    assert message in refused[1]
    assert failing(capsys, "build", "r2", "--size", "8", "--dry-run") == refused


def test_what_a_dry_run_takes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cluster is asked; where nothing has to be built, the place need not be writable."""
    pytest.importorskip("distributed")
    build = ["build", "r2", "--size", "8", "--quiet"]
    for how in (["--dask", "tcp://nobody.invalid:8786"], ["--dask", "local", "--workers", "3"]):
        assert run([*build, *how, "--dry-run"]) == 0
    assert list(here.iterdir()) == []
    assert run(build) == 0
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    assert run(build) == 0
    assert run([*build, "--dry-run"]) == 0


def test_unexpected_errors_are_one_line_and_debug_shows_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("cheblienet_graphs.assembly.pipeline.build", broken)
    code, message = failing(capsys, "build", "r2", "--size", "8")
    assert (code, "RuntimeError: two lines" in message) == (1, True)
    with pytest.raises(RuntimeError):
        run(["build", "r2", "--size", "8", "--debug"])


def test_no_gpu_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    code, message = failing(capsys, "build", "s2", "--subdivisions", "1", "--device", "cuda")
    assert code == 2
    assert "torch sees no CUDA device. Got 'cuda'. Use --device cpu" in message


def test_missing_healpix_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "astropy_healpix.healpy", None)
    code, message = failing(capsys, "build", "s2", "--nside", "2")
    assert code == 1
    assert "needs astropy-healpix, which is not installed" in message
    assert "pip install" in message
