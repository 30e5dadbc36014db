"""Every help page, as a user reads it on a narrow terminal; ranges in it are those of errors."""

import re
import runpy
from collections.abc import Iterator
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


BUILDS = commands.clg.commands["build"].commands
NUMERIC = re.compile(r"\bin \[(\S+), (\S+)\]")
BESIDE = {
    **dict.fromkeys(("points", "subdivisions", "nside", "bandlimit"), ""),
    "seed": "--points 9",
    "size": "--levels 1 {alone}",
    "in_plane_fraction": "{sized} --xi auto",
    "eigenpairs": "{sized} --levels 1",
    "drift": "{sized} --weights matched --neighbors 24",
}
"""Options that a limit needs beside it; else the size."""


def ranges(manifold: str) -> Iterator[tuple[str, str, float, float]]:
    """Option, range as written, and its ends, of every option whose help states one."""
    for option in BUILDS[manifold].params:
        written = NUMERIC.search(getattr(option, "help", None) or "")
        if written and not option.hidden:
            yield option.name, written[0].removeprefix("in "), *map(float, written.groups())


def line(manifold: str, name: str, value: str) -> str:
    sized = "--size 64" if manifold in {"r2", "se2"} else "--subdivisions 4"
    alone = "--orientations 1" if manifold == "se2" else ""
    beside = BESIDE.get(name, "{sized}").format(sized=sized, alone=alone)
    return f"build {manifold} --{name.replace('_', '-')} {value} {beside}"


@pytest.mark.parametrize("manifold", ["r2", "se2", "s2", "so3"])
def test_what_is_beyond_is_refused_with_the_range_of_the_help(
    manifold: str, failing: Failing
) -> None:
    for name, written, low, high in ranges(manifold):
        for beyond in (low - 1, high + 1):
            code, message = failing(line(manifold, name, f"{beyond:.17g}"))
            assert code == 2
            assert message.startswith(f"Error: --{name.replace('_', '-')} must be ")
            assert f"in {written}" in message


def test_all_numbers_have_a_range() -> None:
    numbers = {field for field, *_ in ranges("se2")} | {field for field, *_ in ranges("so3")}
    assert len(numbers) == 18
