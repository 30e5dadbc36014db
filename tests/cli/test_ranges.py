"""The range that an option's help states is the one its error states."""

import re
from collections.abc import Iterator

import pytest

from cheblienet_cli.commands import clg
from cheblienet_cli.main import run

BUILDS = clg.commands["build"].commands
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


CASES = [(name, *case) for name in ("r2", "se2", "s2", "so3") for case in ranges(name)]


def arguments(manifold: str, name: str, value: str) -> list[str]:
    sized = "--size 64" if manifold in {"r2", "se2"} else "--subdivisions 4"
    alone = "--orientations 1" if manifold == "se2" else ""
    beside = BESIDE.get(name, "{sized}").format(sized=sized, alone=alone)
    return f"build {manifold} --{name.replace('_', '-')} {value} {beside}".split()


@pytest.mark.parametrize(("manifold", "name", "written", "low", "high"), CASES)
def test_what_is_beyond_is_refused_with_the_range_of_the_help(
    manifold: str,
    name: str,
    written: str,
    low: float,
    high: float,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for beyond in (low - 1, high + 1):
        assert run(arguments(manifold, name, f"{beyond:.17g}")) == 2
        message = capsys.readouterr().err
        assert message.startswith(f"Error: --{name.replace('_', '-')} must be ")
        assert f"in {written}" in message


def test_all_numbers_have_a_range() -> None:
    numbers = {field for field, *_ in ranges("se2")} | {field for field, *_ in ranges("so3")}
    assert len(numbers) == 18
