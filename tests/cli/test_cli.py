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
from failures import Clg
from outside import HEX


def test_build_inspect_ls(here: Path, clg: Clg) -> None:
    out, err = clg("build se2 --size 16 --orientations 6 --eps 0.1")
    assert out == "se2-16x16x6-eps0.1@v001\n"
    size, fidelity, place = err.splitlines()  # without a bar, as this is no terminal
    assert size.startswith("1,536 vertices, ")
    assert fidelity.startswith("all levels: the paper's kernel weights: eps^2 realized 0.00353 .. ")
    assert fidelity.endswith("diffusion and spectra use --weights matched or --weights selling")
    assert place == "Published as se2-16x16x6-eps0.1@v001 in graphs.zarr."
    again = "build se2 --size 16x16 --orientations 6.0 --eps 1/10 --verbose"
    described = clg(again).err
    assert "R = diag(1, eps^-2, xi^2) = diag(1, 100, " in described
    assert "eps^2 = 0.01 is 10 times the paper's anisotropy" in described
    assert "Already published as se2-16x16x6-eps0.1@v001" in described
    assert "exclude each other" in clg(f"{again} --quiet", 2).err
    built = json.loads(clg(f"{again.removesuffix('--verbose')} --json --quiet").out)
    assert (built["version"], built["built"]) == ("v001", False)
    short = clg("inspect")
    assert "connected   yes" in short.out
    assert f"  size        {size}\n" in short.out
    assert "eigenvalues of Delta" not in short.out
    assert short.err == "Every measurement: --full. A page with figures: --html FILE.\n"
    assert "eigenvalues of Delta" in clg("inspect --full").out
    assert clg("ls").out.startswith("se2-16x16x6-eps0.1@v001  1,536 vertices  2 levels")
    assert [path.name for path in here.iterdir()] == ["graphs.zarr"]


def test_store_from_the_environment(here: Path, clg: Clg, monkeypatch: pytest.MonkeyPatch) -> None:
    build = "build r2 --size 8 --quiet"
    monkeypatch.setenv("CLG_STORE", "mine.zarr")
    clg(build)
    clg(f"{build} --store other.zarr")
    monkeypatch.setenv("CLG_STORE", "")  # counts as not given
    clg(f"{build} --store ''")
    names = {"mine.zarr", "other.zarr", "graphs.zarr"}
    assert {path.name for path in here.iterdir()} == names


def test_dry_run_writes_nothing(here: Path, clg: Clg) -> None:
    plan = clg("build se2 --size 32 --orientations 1 --dry-run").out
    for part in ("x 1 orientation,", "(1 pixel)", "level 0: 1,024 vertices"):
        assert part in plan
    assert ", at most " in clg("build r2 --points 60 --dry-run").out
    assert list(here.iterdir()) == []


def test_progress_bar_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    command = "from cheblienet_cli.main import main; main()", "build", "se2", "--size", "64"
    process = subprocess.Popen(
        [sys.executable, "-c", *command], stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # what a pseudo-terminal says at its end
        while piece := os.read(ours, 4096):
            shown += piece
    os.close(ours)
    assert process.wait() == 0
    assert b"level 0: writing edges and weights: 100%" in shown
    assert shown.rstrip().endswith(b"graphs.zarr.")


def test_versions_refs_and_removal(clg: Clg) -> None:
    for _ in range(2):
        clg("build r2 --size 8 --quiet --force")
    clg("tag r2-8x8@v001 paper")
    assert "Removed r2-8x8@v002" in clg("rm r2-8x8@latest").err
    first, total = clg("ls").out.splitlines()
    assert first.endswith("paper, latest")
    assert total.split()[:5] == ["total", "1", "version", "1", "graph"]
    clg("tag r2-8x8 paper --delete")
    clg("rm r2-8x8@v001")
    empty = clg("ls")
    assert (empty.out, empty.err.endswith("is empty; `clg build` makes a graph.\n")) == ("", True)


def test_verify(here: Path, clg: Clg) -> None:
    staging = here / ".graphs.zarr.staging"
    (staging / HEX[0]).mkdir(parents=True)
    clg("verify --clean")  # after a first build that was killed
    assert list(here.iterdir()) == []
    clg("verify", 2)
    clg("build r2 --size 8 --quiet")
    (staging / HEX[0]).mkdir(parents=True)
    message = clg("verify").err
    assert "1 version as published" in message
    assert "1 item left by interrupted builds" in message
    report = json.loads(clg("verify --clean --json").out)
    nothing = {"faults": [], "remarks": [], "leftovers": 0}
    assert report == {"versions": ["r2-8x8/v001"], **nothing}
    assert not staging.exists()
    degree = here / "graphs.zarr/r2-8x8/v001/levels/0/degree/c/0"
    degree.chmod(0o644)
    degree.write_bytes(b"")
    out, err = clg("verify r2-8x8", 1)
    assert out == "r2-8x8/v001/levels/0/degree/c/0: has 0 bytes; published were 256\n"
    assert re.fullmatch("Error: .*\n", err)


def test_export_and_import(here: Path, clg: Clg) -> None:
    built = clg("build se2 --size 16 --gradients --resume --name g")
    assert "There was no interrupted build of this graph." in built.err
    assert clg("export --to npz").out == "g-npz\n"
    assert (here / "g-npz/manifest.json").exists()
    assert clg("export g@v001 --to zip --output x.zip").out == "x.zip\n"
    assert clg("import x.zip --name copy").out == "copy@v001\n"
    clg("import x.zip --name a/b", 2)


def test_recipes(here: Path, clg: Clg) -> None:
    table = clg("recipes").out.splitlines()
    assert len(table) == 8
    assert any("61452 / 15372 / 3852 / 972 / 252 / 72" in line for line in table)
    names = [recipe["name"] for recipe in json.loads(clg("recipes --json").out)]
    assert names == [line.split()[0] for line in table] == sorted(names)
    assert clg("build recipe cifar10-isotropic").out == "cifar10-isotropic@v001\n"
    (here / "small.toml").write_text('[graph]\nmanifold = "s2"\nsubdivisions = 1\n')
    built = clg("build recipe small.toml --name tiny --device cpu")
    assert built.out == "tiny@v001\n"
    assert "level 0: 61,452 vertices" in clg("build recipe climatenet --dry-run").out


def test_version(clg: Clg) -> None:
    assert clg("--version").out == "clg, version 0.3.0\n"


def test_a_long_list_tells_graphs_of_a_sweep_apart(here: Path, clg: Clg) -> None:
    for eps in ("0.1", "0.2"):
        clg(f"build se2 --size 12 --orientations 4 --eps-squared {eps} --quiet")
    clg("build s2 --nside 4 --region 0,0,90,60 --name part --quiet")
    title, part, first, second, total = clg("ls --long").out.splitlines()
    assert re.split(r"  +", title.strip())[-5:] == ["weights", "eps^2", "alpha", "K", "inside"]
    assert re.search(r"  kernel +1 +8 +\d+ points$", part)
    assert re.search(r"  kernel +0.1 +1 +16", first)
    assert re.search(r"  kernel +0.2 +1 +16", second)
    assert total.startswith("total ")
    listed = json.loads(clg("ls --json").out)
    assert [one["spec"]["eps"] ** 2 for one in listed] == pytest.approx([1, 0.1, 0.2])
    (here / "graphs.zarr/part/v001/zarr.json").write_text("{}")
    assert "unreadable; clg verify says why" in clg("ls --long").out


def test_errors_are_json_where_json_was_asked_for(clg: Clg) -> None:
    out, err = clg("build se2 --size 8 --eps 7 --json", 2)
    error = json.loads(err)
    assert (out, err.count("\n"), error["kind"]) == ("", 1, "SpecError")
    assert (error["parameter"], error["exit_code"]) == ("eps", 2)
    assert error["error"] == "--eps must be a number in [0.001, 1]. Got '7'."
    assert json.loads(clg("inspect none --json", 2).err)["kind"] == "UnknownGraphError"
    assert clg("inspect none", 2).err.startswith("Error: ")


def test_long_errors_are_json_too(clg: Clg) -> None:
    """Signs that JSON escapes make it longer than a line of text may be."""
    text = '"\\' * 4_000
    for line in (f"inspect '{text}' --json", f"build se2 --size '{text}' --json"):
        assert len(json.loads(clg(line, 2).err)["error"]) <= 2_000
