"""benchmarks/RESULTS.md stands between markers, under commands that exist; record.py writes it."""

import importlib
import re
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
try:
    record = importlib.import_module("record")
finally:
    sys.path.remove(str(BENCHMARKS))

TEXT = record.PAGE.read_text()
BLOCKS = record.blocks(TEXT)
NUMBER = re.compile(r"[\d.]+")
RECORDED = re.compile(
    r" took [\d,]+ s, [\d,]+ s of processors, on \d{4}(-\d\d){2}: .+; Python \d.+"
)
BEFORE = ", printed before these blocks recorded machine and date."
NOT_YET = ", not recorded yet."
SCRIPTS = [
    str(file.relative_to(ROOT))
    for file in sorted(BENCHMARKS.rglob("*.py"))
    if "__main__" in file.read_text() and file.name != "record.py"
]


def test_nothing_is_printed_outside_of_blocks() -> None:
    outside = TEXT
    for block in reversed(BLOCKS.values()):
        outside = outside[: block.start] + outside[block.end :]
    assert [line for line in outside.splitlines() if line.startswith(("|", "    "))] == []


def test_the_contents_lead_to_headings() -> None:
    headings = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    known = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    links = re.findall(r"\]\(#([^)]+)\)", TEXT)
    assert links
    assert set(links) <= known


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_says_where_it_is_from(name: str) -> None:
    block = BLOCKS[name]
    _, _, printed = TEXT[block.start : block.end].partition("\n")
    if block.state == NOT_YET:
        assert printed == ""
    else:
        assert RECORDED.fullmatch(block.state) or block.state.startswith(BEFORE)
        assert printed.strip()


@pytest.mark.parametrize("name", BLOCKS)
def test_the_script_of_a_block_knows_what_its_command_names(name: str) -> None:
    _, script, *words = shlex.split(BLOCKS[name].command)
    source = (ROOT / script).read_text()
    named = [w for w in words if not (NUMBER.fullmatch(w) or record.PLACEHOLDER.fullmatch(w))]
    assert [word for word in named if f'"{word}"' not in source] == []


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_a_script_prints_has_a_place(script: str) -> None:
    assert script in TEXT


def test_numbers_of_the_documentation_name_scripts_of_the_page() -> None:
    measured = (ROOT / "docs/reference/measured.md").read_text()
    quoted = re.findall(r"`(benchmarks/[\w/]+\.py)", measured)
    commands = " ".join(block.command for block in BLOCKS.values())
    assert quoted
    assert [script for script in quoted if script not in commands] == []


TABLE = "| a | b |\n|---|---|\n| 1 | {} |"
PRINTS_TABLE = f"import sys\nprint('''{TABLE}'''.format(sys.argv[1]))\n"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """With three blocks, of a script that prints a table, one that fails and one of lines."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "table.py").write_text(PRINTS_TABLE)
    (folder / "fails.py").write_text(
        "print('| a |')\nraise SystemExit('a fault\\nthe last line')\n"
    )
    (folder / "lines.py").write_text("print('one: 1\\ntwo: 2\\n')\n")
    (folder / "RESULTS.md").write_text(
        "# Measured\n\nBefore.\n\n"
        "<!-- first -->\n`python benchmarks/table.py 7`, not recorded yet.\n<!-- /first -->\n"
        "\nBetween | all.\n\n"
        "<!-- second -->\n`python benchmarks/fails.py`, old.\n\n| old |\n<!-- /second -->\n"
        "<!-- lines -->\n`python benchmarks/lines.py`, old.\n<!-- /lines -->\n"
        "<!-- data -->\n`python benchmarks/table.py FOLDER`\n<!-- /data -->\n\nAfter.\n"
    )
    return folder / "RESULTS.md"


def recorded(page: Path, name: str) -> tuple[str, str]:
    """The first line of a block, and what stands below it."""
    text = page.read_text()
    block = record.blocks(text)[name]
    first, _, rest = text[block.start : block.end].partition("\n")
    return first, rest


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The error, without a traceback or anything else beside it."""
    said = capsys.readouterr().err
    assert said.startswith("Error: ")
    assert said.count("\n") == 1
    return said


def test_a_block_is_replaced_and_nothing_else(page: Path) -> None:
    before = page.read_text()
    assert record.main(["first"], page) == 0
    first, rest = recorded(page, "first")
    assert first.startswith("`python benchmarks/table.py 7` took ")
    assert RECORDED.fullmatch(record.blocks(page.read_text())["first"].state)
    assert rest == f"\n{TABLE.format(7)}\n"
    old, new = (record.blocks(text)["first"] for text in (before, page.read_text()))
    assert page.read_text()[: new.start] == before[: old.start]
    assert page.read_text()[new.end :] == before[old.end :]
    assert {file.suffix for file in page.parent.iterdir()} == {".py", ".md"}


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("print('| a |')\nraise SystemExit('a fault\\nthe last line')", "1: the last line"),
        ("import os; os.abort()", "exited with -6: it said nothing"),
        ("print()", "printed nothing"),
        ("print('| a |\\n<!-- /first -->')", "printed a marker"),
    ],
)
def test_a_script_that_fails_changes_nothing(
    page: Path, capsys: pytest.CaptureFixture[str], source: str, why: str
) -> None:
    page.with_name("fails.py").write_text(source)
    before = page.read_text()
    assert record.main(["second"], page) == 1
    assert why in one_line(capsys)
    assert page.read_text() == before
