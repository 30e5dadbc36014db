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
def test_a_block_says_where_it_is_from_by_a_command_that_its_script_knows(name: str) -> None:
    block = BLOCKS[name]
    _, _, printed = TEXT[block.start : block.end].partition("\n")
    if block.state == NOT_YET:
        assert printed == ""
    else:
        assert RECORDED.fullmatch(block.state) or block.state.startswith(BEFORE)
        assert printed.strip()
    _, script, *words = shlex.split(block.command)
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


TABLE = "| a | b |\n|---|---|\n| 1 | {} |"
PRINTS_TABLE = f"import sys\nprint('''{TABLE}'''.format(sys.argv[1]))\n"


def test_a_block_is_replaced_and_nothing_else_and_ratios_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two blocks, of a script that prints a table and one that fails.

    Far is an interval wholly beyond 1.25 times what is recorded; then, too, nothing is written.
    """
    page, folder = tmp_path / "benchmarks/RESULTS.md", tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "table.py").write_text(PRINTS_TABLE)
    (folder / "fails.py").write_text("print('| a |')\nraise SystemExit('a fault\\nthe last line')")
    cell = "2 (1.9 to 2.3)"
    block = "<!-- {0} -->\n`python benchmarks/{0}.py '{1}'`, old.\n\n| old |\n<!-- /{0} -->\n"
    blocks = (block.format(name, cell) for name in ("table", "fails"))
    before = "# Measured\n\n" + "\nBetween | all.\n\n".join(blocks)
    page.write_text(before)
    for options in ([], ["--check"]):
        assert record.main(["fails", *options], page) == 1
        assert re.fullmatch("Error: .* 1: the last line\n", capsys.readouterr().err)
    assert page.read_text() == before
    assert record.main(["table"], page) == 0
    after = page.read_text()
    old, new = (record.blocks(text)["table"] for text in (before, after))
    assert RECORDED.fullmatch(new.state)
    first, _, rest = after[new.start : new.end].partition("\n")
    assert first.startswith(f"`python benchmarks/table.py '{cell}'` took ")
    assert rest == f"\n{TABLE.format(cell)}\n"
    assert after[: new.start] == before[: old.start]
    assert after[new.end :] == before[old.end :]
    for ratio, far in (("2.6 (2.4 to 2.7)", 0), ("1.5 (1.4 to 1.59)", 1)):
        changed = after.replace(f"table.py '{cell}'", f"table.py '{ratio}'")
        page.write_text(changed)
        assert record.main(["table", "--check"], page) == far
        assert ("b is " + ratio in capsys.readouterr().out) == far
        assert page.read_text() == changed
