"""Every help page, as a user reads it on a narrow terminal."""

import re
import runpy
from pathlib import Path

import click
import pytest
from failures import Clg, Failing

from cheblienet_cli import commands

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = runpy.run_path(str(DOCS / "cli_reference.py"))
PAGES = {
    context.command_path: context.command
    for context in REFERENCE["_commands"](REFERENCE["_context"](commands.clg, "clg"))
}
"""Every command by the words that call it, groups included."""


@pytest.mark.parametrize("called", PAGES)
def test_pages_are_whole_and_say_what_each_option_does(
    called: str, clg: Clg, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")  # of the terminal
    usage, _, body = clg(f"{called} --help".removeprefix("clg ")).out.partition("\n\n")
    assert usage.startswith(f"Usage: {called}")
    assert not re.search(r"\\|\x08|\.\.\.", body), "a sentence is cut short, or a sign is shown"
    assert max(map(len, body.splitlines())) <= 60
    assert called in (DOCS / "reference/commands.md").read_text()
    for parameter in PAGES[called].params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            words = re.sub(r"\[default.*\]", "", parameter.help or "").strip()
            assert re.fullmatch(r"(?s)\S+ .*\.", words), parameter.opts


def test_an_option_given_twice_is_refused(here: Path, failing: Failing) -> None:
    """No option is ignored in silence."""
    tried = 0
    for called, command in PAGES.items():
        for option in command.params if not isinstance(command, click.Group) else []:
            if isinstance(option, click.Option) and option.expose_value and not option.multiple:
                given = [option.opts[-1]] if option.is_flag else [option.opts[-1], "1"]
                code, message = failing(" ".join([*called.split()[1:], *given, *given]))
                assert code == 2
                assert message.startswith(f"Error: {option.opts[-1]} must be given once. See `clg ")
                tried += 1
    assert tried > 150
    assert list(here.iterdir()) == []


def test_the_page_of_the_reference_is_as_the_commands_are() -> None:
    written = (DOCS / "reference/cli.md").read_text()
    assert written == REFERENCE["reference"](), (
        "Write docs/reference/cli.md anew: python docs/cli_reference.py"
    )
