"""The range that an option's help states is the one its error states."""

import re
from collections.abc import Iterator

import pytest
from failures import Failing

from cheblienet_cli.commands import clg

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
