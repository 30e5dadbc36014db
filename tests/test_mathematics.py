"""The numbers in docs/explanation, as printed, from code without the package.

A number on a page is followed by a comment with its name, `<!-- golden: NAME -->`, which stands for
all numbers of that name in `TRUTH`, `NAME[2]` for one and `NAME[:6]` for the first ones.
Eigenvalues are those of tests/data/spectra.json, by manifold, eps^2 and xi^2 where there are.
"""

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from golden_spectra import spectrum
from golden_truth import TRUTH

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"<!-- golden: ([^\[>]+?)(?:\[(:?)([0-9]+)\])? -->")
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")


def spectrum_name(entry: dict[str, Any]) -> str:
    """Such as "spectrum se2 0.1 0.1"."""
    metric = [f"{entry[key]:.3g}" for key in ("eps_squared", "xi_squared") if key in entry]
    return " ".join(["spectrum", entry["manifold"], *metric])


SPECTRA = {
    spectrum_name(entry): entry
    for entry in json.loads((ROOT / "tests/data/spectra.json").read_text())
}


@functools.cache
def numbers(name: str) -> list[float]:
    """Of spectra the eigenvalues, and how often each occurs."""
    if name in TRUTH:
        return TRUTH[name]()
    key = "multiplicity" if name.endswith(" times") else "value"
    return [pair[key] for pair in SPECTRA[name.removesuffix(" times")]["eigenvalues"]]


def marks() -> list[tuple[str, str, slice, str]]:
    """(page, name, which of its numbers, the text from the mark before up to this one)."""
    marked = []
    for page in sorted((ROOT / "docs/explanation").glob("*.md")):
        text, end = page.read_text(), 0
        for mark in MARK.finditer(text):
            first = 0 if mark[2] or not mark[3] else int(mark[3])
            which = slice(first, int(mark[3]) + (not mark[2]) if mark[3] else None)
            marked.append((page.name, mark[1], which, text[end : mark.start()]))
            end = mark.end()
    return marked


def is_printed(text: str, number: float) -> bool:
    """Whether a number, rounded to the digits of a text, is that text."""
    decimals = len(text.partition(".")[2])
    return abs(float(text.replace(",", "")) - number) <= 0.5 * 10**-decimals * (1 + 1e-9)


@pytest.mark.parametrize("name", SPECTRA)
def test_eigenvalues(name: str) -> None:
    entry, values, times = SPECTRA[name], numbers(name), numbers(f"{name} times")
    known = [value for value, count in zip(values, times, strict=True) for _ in range(count)]
    squares = [entry.get(f"{key}_squared", 1.0) for key in ("eps", "xi")]
    computed = spectrum(entry["manifold"], *squares, len(known))
    assert computed == pytest.approx(known, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize(("page", "name", "which", "before"), marks(), ids=lambda p: str(p)[-40:])
def test_pages_print_them(page: str, name: str, which: slice, before: str) -> None:
    expected = numbers(name)[which]
    printed = NUMBER.findall(before)[-len(expected) :]
    assert len(printed) == len(expected) > 0, page
    for text, number in zip(printed, expected, strict=True):
        assert is_printed(text, number), f"{page}: {name} is {number}, not {text}"


def test_every_number_is_on_a_page_and_a_wrong_digit_is_noticed() -> None:
    assert TRUTH.keys() <= {name for _, name, _, _ in marks()}
    assert not is_printed("0.0191", 0.01898)
    assert not is_printed("0.019", 0.0196)
