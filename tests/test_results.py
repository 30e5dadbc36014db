"""Results are data under commands that exist; pages show them, and record.py writes them."""

import re
import shlex
from pathlib import Path

import pytest
from benchmark_scripts import FOLDER, loaded

ROOT = Path(__file__).parents[1]
results, record = loaded("results", "record")
NAMES = results.names()
NUMBER = re.compile(r"[\d.]+")
RECORDED = re.compile(r"took [\d,]+ s, [\d,]+ s of processors, on \d{4}(-\d\d){2}: .+; Python \d.+")
PARSED = re.compile(r"(?:parser_of|run_parts|study_parser)\(.*?\)[.\n]", re.DOTALL)
BEFORE = "printed before these blocks recorded machine and date."
NOT_YET = "not recorded yet"
PAGES = "".join(page.read_text() for page in results.pages())
SCRIPTS = [
    str(file.relative_to(ROOT))
    for file in sorted(FOLDER.rglob("*.py"))
    if "__main__" in file.read_text() and file.name not in {"record.py", "results.py"}
]


def test_pages_have_the_recorded_numbers() -> None:
    assert results.refresh(write=False) == []


def test_each_result_is_on_one_page() -> None:
    shown = re.findall(r"^<!-- /([a-z0-9-]+) -->$", PAGES, re.MULTILINE)
    assert sorted(set(shown) & set(NAMES)) == NAMES
    assert [name for name in NAMES if shown.count(name) > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_result_says_where_it_is_from_by_a_command_that_its_script_knows(name: str) -> None:
    result = results.load(name)
    if result.taken == NOT_YET:
        assert result.output == []
    else:
        assert RECORDED.fullmatch(result.taken) or result.taken.startswith(BEFORE)
        assert result.output
    _, script, *words = shlex.split(result.command)
    source = (ROOT / script).read_text()
    named = [w for w in words if not (NUMBER.fullmatch(w) or record.PLACEHOLDER.fullmatch(w))]
    options = {f"--{name}" for name in re.findall(r"(\w+)=", "".join(PARSED.findall(source)))}
    assert [word for word in named if f'"{word}"' not in source and word not in options] == []


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_a_script_prints_has_a_place(script: str) -> None:
    assert script in PAGES


@pytest.mark.parametrize(
    ("value", "like", "text"),
    [
        (437.2, "440", "440"),
        (452.0, "440", "452"),
        (59.8, "60", "60"),
        (-0.284, "0.28", "0.28"),
        (-0.284, "-0.3", "-0.3"),
        (8.83e-6, "8.8e-6", "8.8e-6"),
        (55296.0, "55,296", "55,296"),
        (0.651, ".65", ".65"),
    ],
)
def test_numbers_are_written_as_precisely_as_before(value: float, like: str, text: str) -> None:
    assert results.written(value, like) == text


TABLE = "| a | b |\n|---|---|\n| one | {} |"
PRINTS_TABLE = f"import sys\nprint('before\\n\\n' + '''{TABLE}'''.format(sys.argv[1]))\n"


def test_a_result_is_replaced_and_nothing_else_and_ratios_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two results, of a script that prints a table and one that fails.

    Far is an interval wholly beyond 1.25 times what is recorded; then, too, nothing is written.
    """
    folder, page = tmp_path / "benchmarks/results", tmp_path / "docs/page.md"
    folder.mkdir(parents=True)
    page.parent.mkdir()
    (folder.parent / "table.py").write_text(PRINTS_TABLE)
    (folder.parent / "fails.py").write_text("raise SystemExit('a fault\\nthe last line')")
    for name in ("table", "fails"):
        command = f"python benchmarks/{name}.py '2 (1.9 to 2.3)'"
        results.save(name, results.Result(command, NOT_YET, []), folder)
    text = "# A page\n\n<!-- table -->\n{}<!-- /table -->\n\nIt is {}<!-- table; one; b -->.\n"
    page.write_text(text.format("", 3))
    for options in ([], ["--check"]):
        assert record.main(["fails", *options], tmp_path) == 1
        assert re.search("Error: .* 1: the last line\n", capsys.readouterr().err)
    assert results.load("fails", folder).taken == NOT_YET
    assert record.main(["table"], tmp_path) == 0
    known = results.load("table", folder)
    assert RECORDED.fullmatch(known.taken)
    assert known.output == ["before", results.Table(["a", "b"], [["one", "2 (1.9 to 2.3)"]])]
    assert page.read_text() == text.format(known, 2)
    assert known.number(["one"], "b #2") == 1.9
    with pytest.raises(ValueError, match="table has no number at two; b"):
        results.refreshed("1<!-- table; two; b -->", folder)
    for ratio, far in (("2.6 (2.4 to 2.7)", 0), ("1.5 (1.4 to 1.59)", 1)):
        command = f"python benchmarks/table.py '{ratio}'"
        results.save("table", results.Result(command, known.taken, known.output), folder)
        assert record.main(["table", "--check"], tmp_path) == far
        assert ("b is " + ratio in capsys.readouterr().out) == far
