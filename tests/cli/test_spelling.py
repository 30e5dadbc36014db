"""What the libraries say of parameters, the command line says of options."""

import pickle
import re
from pathlib import Path

import pytest

from cheblienet_cli.main import run
from cheblienet_cli.spelling import option
from cheblienet_graphs.errors import Remedy, SpecError, StoreError, Words


@pytest.mark.parametrize(
    ("remedy", "python", "spelled"),
    [
        (Remedy("neighbors", 24), "`neighbors=24`", "--neighbors 24"),
        (Remedy("levels", 1), "`levels=1`", "--levels 1"),
        (Remedy("eps_squared"), "`eps_squared`", "--eps-squared"),
        (Remedy("weights", "selling"), "`weights='selling'`", "--weights selling"),
        (Remedy("coordinates"), "`coordinates`", "--points-file"),
        (Remedy("resume", value=True), "`resume=True`", "--resume"),
        (
            Remedy("boundary_correction", value=False),
            "`boundary_correction=False`",
            "--no-boundary-correction",
        ),
    ],
)
def test_parameters_are_options(remedy: Remedy, python: str, spelled: str) -> None:
    assert (str(remedy), option(remedy)) == (python, spelled)


def test_messages_know_their_parameters_wherever_they_come_from() -> None:
    inner = Words("fewer ", Remedy("levels"), ", see `clg ls`")
    error = StoreError("No `eps=1` in `a`: ", inner, ".")
    error.add_note(inner)
    for known in (error, pickle.loads(pickle.dumps(error))):
        assert str(known) == "No `eps=1` in `a`: fewer `levels`, see `clg ls`."
        assert known.spelled(option) == "No `eps=1` in `a`: fewer --levels, see `clg ls`."
        assert known.__notes__[0].spelled(option) == "fewer --levels, see `clg ls`"
    refused = pickle.loads(pickle.dumps(SpecError("eps", inner, "`xi`", Words(Remedy("xi"), "."))))
    assert (
        refused.spelled(option) == "--eps must be fewer --levels, see `clg ls`. Got '`xi`'. --xi."
    )


REFUSED = [
    ("build se2 --size 8 --eps 1 --eps-squared 1", "--eps must be left out where --eps-squared is"),
    ("build se2 --size 8 --xi 1 --alpha 1", "--alpha must be left out where --xi is 1."),
    ("build se2 --size 8 --xi 1 --in-plane-fraction .4", "left out unless --xi is 'auto'"),
    ("build s2 --nside 4 --bandlimit 4", "--bandlimit must be left out on s2 with healpix"),
    ("build s2 --nside 4 --bandlimit 4", "given by --nside alone"),
    ("build s2", "by its size: --nside, --bandlimit, --gaussian, --points, --"),
    ("build so3 --nside 4 --weights matched", "Use --neighbors 24 or more"),
    ("build r2 --size 8 --engine stencil --device cuda", "Use --engine pruned for a GPU"),
    ("build se2 --size 8 --weights matched --eps .001 --levels 1", "--levels, a larger --size or"),
    ("build se2 --size 8 --weights matched --eps .001 --levels 1", "or --weights kernel."),
    ("build so3 --points 99 --weights matched --neighbors 24", "Use more --neighbors, an --xi "),
    ("build se2 --size 8 --workers 2 --memory-limit 1kB", "Use fewer --workers."),
    ("build r2 --size 8 --store file", "choose another --store."),
    ("build se2 --size 16 --weights selling --engine pruned", "--engine must be auto or stencil"),
    ("build se2 --size 8 --boundary-correction", "--boundary-correction must be left out with ke"),
    ("build r2 --size 8 --eps 1/10", "--eps must be 1 on r2, which is isotropic. Got '1/10'. Use"),
    ("build r3s2 --size 8 --orientations 12", "be left out on r3s2: --axes says how many there"),
    ("rm two@v001", "--force removes it all the same."),
]


@pytest.mark.parametrize(("arguments", "fragment"), REFUSED)
def test_refusals_name_options_alone(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: str, fragment: str
) -> None:
    (here / "file").touch()
    if arguments.startswith("rm"):
        assert run(["build", "r2", "--size", "8", "--name", "two", "--quiet"]) == 0
        assert run(["tag", "two", "paper"]) == 0
    capsys.readouterr()
    assert run(arguments.split()) in {1, 2}
    message = capsys.readouterr().err
    assert fragment in message
    assert not re.search(r"`\w+(=[^`]*)?`", message)


def test_what_is_said_of_a_build_and_in_a_report_names_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    build = ["build", "se2", "--size", "16", "--eps", "0.1", "--levels", "1"]
    assert run([*build, "--dry-run"]) == 0
    assert run(build) == 0
    captured = capsys.readouterr()
    assert captured.out.count("--eps-squared 0.1") == 1
    assert captured.err.count("--eps-squared 0.1") == 1
    assert run(["inspect"]) == 0
    short = capsys.readouterr().out
    assert "--weights selling" in short
    assert run(["inspect", "--full"]) == 0
    report = capsys.readouterr().out
    assert "--eps-squared 0.1" in report
    assert "--weights selling" in report
    assert run(["inspect", "--json"]) == 0
    json_report = capsys.readouterr().out
    assert "--weights selling" in json_report
    for said in (captured.out, captured.err, short, report, json_report):
        assert not re.search(r"`\w+(=[^`]*)?`", said)


def test_recipes_are_told_as_they_are_written(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = 'manifold = "so3"\nnside = 4\nweights = "matched"\n'
    (here / "mine.toml").write_text(f"[graph]\n{graph}")
    assert run(["build", "recipe", "mine.toml"]) == 2
    message = capsys.readouterr().err
    assert "mine.toml: neighbors must be at least 24" in message
    assert "Use `neighbors=24` or more" in message


BACKTICKS = ["`eps`.zarr", "`eps=3", "`eps=3.zarr", "a `eps=1` b", "`", "x`y`=`z"]


@pytest.mark.parametrize("name", BACKTICKS)
def test_what_a_user_gives_is_never_rewritten(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    def said(*arguments: str) -> str:
        assert run(arguments) in {1, 2}
        return capsys.readouterr().err

    (here / name).touch()
    assert f"There is no store at {here}/no{name}; " in said("ls", "--store", f"no{name}")
    assert f"There is no store at {here}/no{name}; " in said("ls", f"--store=no{name}")
    assert f"{here}/{name} is a file, not a store; " in said("ls", "--store", name)
    assert f"no{name}.npy does not exist" in said("build", "r2", "--mask", f"no{name}.npy")
    assert f"no{name}.toml can't be read" in said("build", "recipe", f"no{name}.toml")
    for field in ("size", "levels", "kernel", "name", "workers", "engine"):
        size = [] if field == "size" else ["--size", "8"]
        told = said("build", "r2", *size, f"--{field}", name)
        assert f"Got '{name}'" in told
    monkeypatch.setenv("CLG_STORE", f"no{name}")
    assert f"There is no store at {here}/no{name}; " in said("ls")
    monkeypatch.delenv("CLG_STORE")
    (here / f"in{name}").mkdir()
    monkeypatch.chdir(here / f"in{name}")
    assert f"There is no store at {here}/in{name}/graphs.zarr; " in said("ls")
    (here / f"in{name}" / "mine").mkdir()
    (here / f"in{name}" / "mine" / "file").touch()
    told = said("build", "r2", "--size", "8", "--store", "mine")
    assert told.startswith(f"Error: {here}/in{name}/mine is a folder of other files; choose")
    assert told.endswith("choose another --store.\n")
    capsys.readouterr()
    assert run(["build", "r2", "--size", "8", "--store", f"new{name}"]) == 0
    assert f"Published as r2-8x8@v001 in new{name}." in capsys.readouterr().err
    assert "--lambda" not in said("inspect", "--store", f"new{name}", name)
