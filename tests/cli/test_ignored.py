"""No option is ignored in silence: it is heeded, or refused in one line."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from failures import failing

from cheblienet_cli.commands import clg
from cheblienet_cli.main import run


def options_of(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Option]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from options_of(command, *names, name)
        else:
            for option in command.params:
                if isinstance(option, click.Option) and option.expose_value:
                    yield (*names, name), option


OPTIONS = [(names, option) for names, option in options_of(clg) if not option.multiple]


def test_an_option_given_twice(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(OPTIONS) > 150
    for names, option in OPTIONS:
        given = [option.opts[-1]] if option.is_flag else [option.opts[-1], "1"]
        code, message = failing(capsys, *names, *given, *given)
        assert code == 2
        assert message.startswith(f"Error: {option.opts[-1]} must be given once. See `clg ")
    assert list(here.iterdir()) == []


def test_an_empty_store_counts_as_not_given(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["build", "r2", "--size", "8", "--quiet"]) == 0
    assert run(["ls", "--store", ""]) == 0
    monkeypatch.setenv("CLG_STORE", "")
    assert run(["ls"]) == 0
    assert run(["ls", "--store", ""]) == 0
    monkeypatch.setenv("CLG_STORE", "other.zarr")
    capsys.readouterr()
    assert "no store at" in failing(capsys, "ls", "--store", "")[1]
