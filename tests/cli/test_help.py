"""Every help page, as a user reads it on terminals of several widths."""

import re
import runpy
from pathlib import Path

import click
import pytest
from failures import failing

from cheblienet_cli.commands import clg
from cheblienet_cli.main import run


def pages(group: click.Group, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    """Every command by the words that call it, the group itself included."""
    commands: dict[tuple[str, ...], click.Command] = {path: group}
    for name, command in group.commands.items():
        below = pages(command, (*path, name)) if isinstance(command, click.Group) else None
        commands |= below or {(*path, name): command}
    return commands


PAGES = pages(clg)
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(params=[60, 80, 200])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """That of the terminal, in columns."""
    monkeypatch.setenv("COLUMNS", str(request.param))
    return int(request.param)


def page(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    assert run([*path, "--help"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("path", PAGES, ids=lambda path: " ".join(("clg", *path)))
def test_pages_are_whole(
    path: tuple[str, ...], width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    usage, _, body = page(path, capsys).partition("\n\n")
    assert usage.startswith(" ".join(("Usage: clg", *path)))
    assert "\\" not in body
    assert "\b" not in body
    assert "..." not in body, "a sentence is cut short"
    assert max(map(len, body.splitlines())) <= width


@pytest.mark.parametrize("path", PAGES, ids=lambda path: " ".join(("clg", *path)))
def test_every_command_and_option_says_what_it_does(path: tuple[str, ...]) -> None:
    assert " ".join(("clg", *path)) in (DOCS / "reference/commands.md").read_text()
    for parameter in PAGES[path].params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            words = re.sub(r"\[default.*\]", "", parameter.help or "")
            assert len(words.split()) >= 2, parameter.opts
            assert words.strip().endswith("."), parameter.opts


def test_an_option_given_twice_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No option is ignored in silence."""
    tried = 0
    for path, command in PAGES.items():
        for option in command.params if not isinstance(command, click.Group) else []:
            if isinstance(option, click.Option) and option.expose_value and not option.multiple:
                given = [option.opts[-1]] if option.is_flag else [option.opts[-1], "1"]
                code, message = failing(capsys, *path, *given, *given)
                assert code == 2
                assert message.startswith(f"Error: {option.opts[-1]} must be given once. See `clg ")
                tried += 1
    assert tried > 150
    assert list(here.iterdir()) == []


def test_the_page_of_the_reference_is_as_the_commands_are() -> None:
    written = (DOCS / "reference/cli.md").read_text()
    made = runpy.run_path(str(DOCS / "cli_reference.py"))["reference"]()
    assert written == made, "Write docs/reference/cli.md anew: python docs/cli_reference.py"
