"""Sentences of every page that is written by hand are short, as .ci/prose.py counts them."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROSE: dict[str, Any] = runpy.run_path(str(ROOT / ".ci/prose.py"))
PAGES = {str(file.relative_to(ROOT)): file for file in PROSE["pages"]()}


def test_what_counts() -> None:
    several = PROSE["prose_of"]("Half is 0.5. It ends! So does 2.").sentences
    assert [len(sentence) for sentence in several] == [3, 2, 3]


@pytest.mark.parametrize("page", PAGES)
def test_sentences_are_short(page: str) -> None:
    prose = PROSE["prose_of"](PROSE["text_of"](PAGES[page]))
    assert prose.words > 20
    assert prose.mean <= 18


def test_the_pages_are_all_of_them() -> None:
    hand_written = {str(file.relative_to(ROOT)) for file in (ROOT / "docs").rglob("*.md")}
    built = {name for name in hand_written if re.search("/_(build|gallery)/", name)}
    assert hand_written - built - set(PAGES) == {"docs/reference/cli.md"}
    assert {"README.md", "CHANGELOG.md", "docs/gallery/plot_heat.py"} <= set(PAGES)
