"""Every help page, as a user reads it on a narrow terminal."""

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from failures import Failing

from cheblienet_cli import commands


def pages(group: click.Group, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    """Every command by the words that call it, the group itself included."""
    commands: dict[tuple[str, ...], click.Command] = {path: group}
    for name, command in group.commands.items():
        below = pages(command, (*path, name)) if isinstance(command, click.Group) else None
        commands |= below or {(*path, name): command}
    return commands


PAGES = pages(commands.clg)
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: " ".join(("clg", *path)))
def test_pages_are_whole_and_say_what_each_option_does(
    path: tuple[str, ...], clg: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    called = " ".join(("clg", *path))
    monkeypatch.setenv("COLUMNS", "60")  # of the terminal
    usage, _, body = clg(" ".join([*path, "--help"])).out.partition("\n\n")
    assert usage.startswith(f"Usage: {called}")
    assert not re.search(r"\\|\x08|\.\.\.", body), "a sentence is cut short, or a sign is shown"
    assert max(map(len, body.splitlines())) <= 60
    assert called in (DOCS / "reference/commands.md").read_text()
    for parameter in PAGES[path].params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            words = re.sub(r"\[default.*\]", "", parameter.help or "").strip()
            assert re.fullmatch(r"(?s)\S+ .*\.", words), parameter.opts


def test_an_option_given_twice_is_refused(here: Path, failing: Failing) -> None:
    """No option is ignored in silence."""
    tried = 0
    for path, command in PAGES.items():
        for option in command.params if not isinstance(command, click.Group) else []:
            if isinstance(option, click.Option) and option.expose_value and not option.multiple:
                given = [option.opts[-1]] if option.is_flag else [option.opts[-1], "1"]
                code, message = failing(" ".join([*path, *given, *given]))
                assert code == 2
                assert message.startswith(f"Error: {option.opts[-1]} must be given once. See `clg ")
                tried += 1
    assert tried > 150
    assert list(here.iterdir()) == []


def test_the_page_of_the_reference_is_as_the_commands_are() -> None:
    written = (DOCS / "reference/cli.md").read_text()
    made = runpy.run_path(str(DOCS / "cli_reference.py"))["reference"]()
    assert written == made, "Write docs/reference/cli.md anew: python docs/cli_reference.py"
