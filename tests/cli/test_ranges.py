"""The range that an option's help states is the one its error states and the one it accepts."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cheblienet_cli.commands import clg
from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.machine.processes import opened_pool

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


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[GraphSpec]:
    """The specifications that commands come to, instead of being built."""
    specs: list[GraphSpec] = []

    def note(spec: GraphSpec, **how: Any) -> None:
        with opened_pool(how["workers"], None):
            specs.append(spec)

    monkeypatch.setattr("cheblienet_cli.build._run", note)
    return specs


def arguments(manifold: str, name: str, value: str) -> list[str]:
    sized = "--size 64" if manifold in {"r2", "se2"} else "--subdivisions 4"
    alone = "--orientations 1" if manifold == "se2" else ""
    beside = BESIDE.get(name, "{sized}").format(sized=sized, alone=alone)
    return f"build {manifold} --{name.replace('_', '-')} {value} {beside}".split()


@pytest.mark.parametrize(("manifold", "name", "written", "low", "high"), CASES)
def test_both_ends_are_accepted_and_what_is_beyond_refused(
    manifold: str,
    name: str,
    written: str,
    low: float,
    high: float,
    asked: list[GraphSpec],
    capsys: pytest.CaptureFixture[str],
) -> None:
    for end in (low, high):
        text = f"{end:.17g}"
        assert run(arguments(manifold, name, text)) == 0, (text, capsys.readouterr().err)
        assert asked.pop().manifold == manifold
    whole = low.is_integer() and high.is_integer() and name not in {"eps", "eps_squared"}
    below = low - 1 if whole else math.nextafter(low, -math.inf)
    above = high + 1 if whole else math.nextafter(high, math.inf)
    for beyond in (below, above):
        assert run(arguments(manifold, name, f"{beyond:.17g}")) == 2
        message = capsys.readouterr().err
        assert message.startswith(f"Error: --{name.replace('_', '-')} must be ")
        assert f"in {written}" in message
    assert not asked


def test_all_numbers_have_a_range() -> None:
    numbers = {field for field, *_ in ranges("se2")} | {field for field, *_ in ranges("so3")}
    assert len(numbers) == 18


def test_eigenvalues_of_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "graphs.zarr"
    build(GraphSpec("r2", 8, levels=1), store)
    option = next(o for o in clg.commands["inspect"].params if o.name == "eigenvalues")
    written = NUMERIC.search(option.help)[0]
    assert written == "in [0, 1000]"
    for end, code in (("0", 0), ("1000", 0), ("-1", 2), ("1001", 2)):
        assert run(["inspect", "--store", str(store), "--eigenvalues", end]) == code
        message = capsys.readouterr().err
        refused = message.startswith("Error: --eigenvalues must be") and written in message
        assert refused == (code == 2)
