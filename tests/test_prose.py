"""Pages have short sentences, as .ci/prose.py counts them; docstrings begin with what they name."""

import ast
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROSE: dict[str, Any] = runpy.run_path(str(ROOT / ".ci/prose.py"))
HEADS = "those that what of as where how whether which whose such"
NEVER = re.compile(r"\b(told|tells?|whoever|none of which|of which none)\b")
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


def docstrings(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """The docstrings of a module, its classes, functions and constants; True for a constant's."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for place, item in enumerate(body if isinstance(body, list) else []):
            match item:
                case ast.Expr(ast.Constant(str(text))) if text.strip():
                    assigned = isinstance(body[place - 1], ast.Assign | ast.AnnAssign)
                    yield text.strip(), place > 0 and assigned


@pytest.mark.parametrize("package", ["cheblienet_graphs", "cheblienet_models", "cli"])
def test_docstrings_are_whole_sentences_that_begin_with_a_noun_or_a_verb(package: str) -> None:
    text, lines = "", 0
    for file in (ROOT / package).rglob("*.py"):
        lines += file.read_text().count("\n")
        for doc, of_constant in docstrings(ast.parse(file.read_text())):
            first = re.match(r"[\"'`*(]*([A-Za-z]+)", doc)
            assert not first or first[1].lower() not in HEADS.split(), f"{file.name}: {doc}"
            assert not NEVER.search(doc), f"{file.name}: {doc}"
            whole = doc[-1] in ".:)`?!" and not doc[0].islower()
            assert whole or not of_constant, f"{file.name}: {doc}"
            text += doc
    for word in ("those", "whose"):
        assert len(re.findall(rf"\b{word}\b", text, re.IGNORECASE)) <= max(2, lines / 1_000)
