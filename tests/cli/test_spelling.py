"""What the libraries say of parameters, the command line says of options."""

import pickle
import re
from pathlib import Path

import pytest
from failures import Clg, Failing

from cheblienet_cli.spelling import option
from cheblienet_graphs.errors import Remedy, SpecError, StoreError, Words


def test_parameters_are_options() -> None:
    off = Remedy("boundary_correction", value=False)
    assert (str(off), option(off)) == ("`boundary_correction=False`", "--no-boundary-correction")
    assert option(Remedy("eps_squared")) == "--eps-squared"
    assert option(Remedy("coordinates")) == "--points-file"


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


def test_what_is_told_of_a_build_and_in_a_report_names_options(clg: Clg) -> None:
    build, texts = "build se2 --size 16 --eps 0.1 --levels 1", []
    inspect = "inspect", "inspect --full", "inspect --json"
    for command in (f"{build} --dry-run", f"{build} --verbose", *inspect):
        texts.append("".join(clg(command)))
        assert not re.search(r"`\w+(=[^`]*)?`", texts[-1])
    assert [text.count("--eps-squared 0.1") for text in texts[:4]] == [1, 1, 0, 1]
    assert all("--weights selling" in text for text in texts[2:])


@pytest.mark.parametrize("name", ["`eps`.zarr", "a `eps=1` b"])
def test_what_a_user_gives_is_never_rewritten(
    here: Path, clg: Clg, failing: Failing, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (here / name).touch()
    for refused, command in (
        (f"There is no store at {here}/no{name}; ", f"ls '--store=no{name}'"),
        (f"{here}/{name} is a file, not a store; ", f"ls --store '{name}'"),
        (f"no{name}.npy does not exist", f"build r2 --mask 'no{name}.npy'"),
        (f"no{name}.toml can't be read", f"build recipe 'no{name}.toml'"),
        (f"Got '{name}'", f"build r2 --size '{name}'"),
        (f"Got '{name}'", f"build r2 --size 8 --engine '{name}'"),
    ):
        assert refused in failing(command)[1]
    (here / f"in{name}" / "mine" / "other").mkdir(parents=True)
    monkeypatch.chdir(here / f"in{name}")
    refused = failing("build r2 --size 8 --store mine")[1]
    assert refused.startswith(f"Error: {here}/in{name}/mine is a folder of other files; choose")
    assert refused.endswith("choose another --store.\n")
    published = clg(f"build r2 --size 8 --store 'new{name}'").err
    assert f"Published as r2-8x8@v001 in new{name}." in published
    monkeypatch.setenv("CLG_STORE", f"new{name}")
    assert "--lambda" not in failing(f"inspect '{name}'")[1]
