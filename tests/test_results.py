"""benchmarks/RESULTS.md stands between markers, under commands that exist; record.py writes it."""

import re
import shlex
from pathlib import Path

import pytest
from benchmark_scripts import FOLDER, loaded

ROOT = Path(__file__).parents[1]
(record,) = loaded("record")
TEXT = record.PAGE.read_text()
BLOCKS = record.blocks(TEXT)
NUMBER = re.compile(r"[\d.]+")
RECORDED = re.compile(
    r" took [\d,]+ s, [\d,]+ s of processors, on \d{4}(-\d\d){2}: .+; Python \d.+"
)
PARSED = re.compile(r"(?:parser_of|run_parts|study_parser)\(.*?\)[.\n]", re.DOTALL)
BEFORE = ", printed before these blocks recorded machine and date."
NOT_YET = ", not recorded yet."
SCRIPTS = [
    str(file.relative_to(ROOT))
    for file in sorted(FOLDER.rglob("*.py"))
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
    assert set() < set(re.findall(r"\]\(#([^)]+)\)", TEXT)) <= known


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
    options = {f"--{name}" for name in re.findall(r"(\w+)=", "".join(PARSED.findall(source)))}
    assert [word for word in named if f'"{word}"' not in source and word not in options] == []


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_a_script_prints_has_a_place(script: str) -> None:
    assert script in TEXT


def test_numbers_of_the_documentation_name_scripts_of_the_page() -> None:
    measured = (ROOT / "docs/reference/measured.md").read_text()
    quoted = set(re.findall(r"`(benchmarks/[\w/]+\.py)", measured))
    assert quoted
    assert quoted <= {shlex.split(block.command)[1] for block in BLOCKS.values()}


@pytest.mark.parametrize(("cell", "far"), [("2.6 (2.4 to 2.7)", 0), ("1.5 (1.4 to 1.59)", 1)])
def test_ratios_are_checked(
    page: Path, cell: str, far: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Far is an interval wholly beyond 1.25 times what is recorded; nothing is written."""
    before = page.read_text().replace("| old |", TABLE.format("2 (1.9 to 2.3)"), 1)
    before = before.replace("table.py 7", f"table.py '{cell}'")
    page.write_text(before)
    assert record.main(["table", "--check"], page) == far
    printed = capsys.readouterr().out
    assert ("b is " + cell in printed) == far
    assert page.read_text() == before
    assert record.main(["fails", "--check"], page) == 1


TABLE = "| a | b |\n|---|---|\n| 1 | {} |"
PRINTS_TABLE = f"import sys\nprint('''{TABLE}'''.format(sys.argv[1]))\n"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """With two blocks, of a script that prints a table and one that fails."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "table.py").write_text(PRINTS_TABLE)
    (folder / "fails.py").write_text("print('| a |')\nraise SystemExit('a fault\\nthe last line')")
    blocks = (
        f"<!-- {name} -->\n`python benchmarks/{name}.py 7`, old.\n\n| old |\n<!-- /{name} -->\n"
        for name in ("table", "fails")
    )
    (folder / "RESULTS.md").write_text("# Measured\n\n" + "\nBetween | all.\n\n".join(blocks))
    return folder / "RESULTS.md"


def test_a_block_is_replaced_and_nothing_else(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = page.read_text()
    assert record.main(["fails"], page) == 1
    assert re.fullmatch("Error: .* 1: the last line\n", capsys.readouterr().err)
    assert page.read_text() == before
    assert record.main(["table"], page) == 0
    after = page.read_text()
    old, new = (record.blocks(text)["table"] for text in (before, after))
    assert RECORDED.fullmatch(new.state)
    first, _, rest = after[new.start : new.end].partition("\n")
    assert first.startswith("`python benchmarks/table.py 7` took ")
    assert rest == f"\n{TABLE.format(7)}\n"
    assert after[: new.start] == before[: old.start]
    assert after[new.end :] == before[old.end :]
