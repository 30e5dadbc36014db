"""The numbers in docs/explanation: from code without the package, and as printed.

A number on a page is followed by a comment with its name, `<!-- golden: NAME -->`, which stands for
all numbers of that name in tests/data/golden.json, `NAME[2]` for one and `NAME[:6]` for the first
ones. Eigenvalues are those of tests/data/spectra.json, by manifold, eps^2 and xi^2 where there are.
"""

import ast
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from golden_spectra import spectrum
from golden_truth import TRUTH

from cheblienet_graphs.manifolds import MANIFOLDS, Metric

ROOT = Path(__file__).parents[1]
GOLDEN: dict[str, list[float]] = json.loads((ROOT / "tests/data/golden.json").read_text())
SPECTRA: list[dict[str, Any]] = json.loads((ROOT / "tests/data/spectra.json").read_text())
PAGES = sorted((ROOT / "docs/explanation").glob("*.md"))
MARK = re.compile(r"<!-- golden: ([^\[>]+?)(\[[0-9:]+\])? -->")
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")


def spectrum_name(entry: dict[str, Any]) -> str:
    """Such as "spectrum se2 0.1 0.1"."""
    metric = [f"{entry[key]:.3g}" for key in ("eps_squared", "xi_squared") if key in entry]
    return " ".join(["spectrum", entry["manifold"], *metric])


def printable() -> dict[str, list[float]]:
    """All numbers that pages can name: of spectra the eigenvalues, and how often each occurs."""
    found = dict(GOLDEN)
    for entry in SPECTRA:
        for key, suffix in (("value", ""), ("multiplicity", " times")):
            found[spectrum_name(entry) + suffix] = [pair[key] for pair in entry["eigenvalues"]]
    return found


def marks() -> list[tuple[str, str, str, str]]:
    """(page, name, which of its numbers, the text from the mark before up to this one)."""
    found = []
    for page in PAGES:
        text, end = page.read_text(), 0
        for mark in MARK.finditer(text):
            found.append((page.name, mark[1], mark[2] or "", text[end : mark.start()]))
            end = mark.end()
    return found


def chosen(numbers: list[float], which: str) -> list[float]:
    """The numbers, or some: "[:6]" the first ones, "[2]" a single one."""
    if not which:
        return numbers
    inside = which[1:-1]
    if ":" in inside:
        start, stop = (int(part) if part else None for part in inside.split(":"))
        return numbers[start:stop]
    return [numbers[int(ast.literal_eval(inside))]]


def is_printed(text: str, number: float) -> bool:
    """Whether a number, rounded to the digits of a text, is that text."""
    decimals = len(text.partition(".")[2])
    return abs(float(text.replace(",", "")) - number) <= 0.5 * 10**-decimals * (1 + 1e-9)


@pytest.mark.parametrize("name", GOLDEN)
def test_numbers(name: str) -> None:
    assert TRUTH[name]() == pytest.approx(GOLDEN[name], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("entry", SPECTRA, ids=spectrum_name)
def test_eigenvalues(entry: dict[str, Any]) -> None:
    known = [pair["value"] for pair in entry["eigenvalues"] for _ in range(pair["multiplicity"])]
    name, squares = entry["manifold"], [entry.get(f"{key}_squared", 1.0) for key in ("eps", "xi")]
    package = MANIFOLDS[name].spectrum(len(known), Metric(*map(math.sqrt, squares)), None)
    for found in (package.tolist(), spectrum(name, *squares, len(known))):
        assert found == pytest.approx(known, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize(
    ("page", "name", "which", "before"), marks(), ids=lambda part: str(part)[-40:]
)
def test_pages_print_them(page: str, name: str, which: str, before: str) -> None:
    expected = chosen(printable()[name], which)
    printed = NUMBER.findall(before)[-len(expected) :]
    assert len(printed) == len(expected) > 0, page
    for text, number in zip(printed, expected, strict=True):
        assert is_printed(text, number), f"{page}: {name} is {number}, not {text}"


def test_every_number_is_on_a_page() -> None:
    assert GOLDEN.keys() == TRUTH.keys()
    assert GOLDEN.keys() <= {name for _, name, _, _ in marks()}


def test_a_wrong_digit_is_noticed() -> None:
    assert is_printed("0.0190", 0.01898)
    assert is_printed("2,562", 2562.0)
    assert not is_printed("0.0191", 0.01898)
    assert not is_printed("0.019", 0.0196)
