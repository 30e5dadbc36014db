"""Changes of code that tests must notice: tests run on the changed code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "benchmarks" / "robustness"


DIGITS = """
def digits(n):
    count = 0
    while n > 0:
        n //= 10
        count += 1
    return count
"""
TEST = """
from tiny.digits import digits

def test_digits():
    assert digits(1234) == 4
"""
RUN = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from mutants import Part, Results, examine, table
import tested_copy
root, folder = Path(sys.argv[2]), Path(sys.argv[3])
part = Part(("tiny/digits.py",), ("tests",))
copy = tested_copy.TestedCopy(root, folder, part.sources, part.tests)
tested_copy.MORE = 1
source = (root / "tiny/digits.py").read_text()
told = [
    copy.judge("tiny/digits.py", source.replace(*change), copy.tests_of("tiny/digits.py", 2))
    for change in (
        ("n //= 10", "pass"),
        ("count += 1", "count -= 1"),
        ("n > 0", "n >= 1"),
        ("count = 0", "import os; os.abort()"),
        ("def digits", "def other"),
    )
]
print(json.dumps(told))
results = Results(folder / "results.json")
print(json.dumps(examine(root, part, 2, "0", results)))
print(json.dumps(examine(root, part, 2, "0", Results(folder / "results.json"))))
(root / "tests/test_digits.py").write_text("def test_wrong(): assert False")
try:
    examine(root, part, 3, "0", results)
except RuntimeError as error:
    print(json.dumps(str(error)))
"""


@pytest.mark.slow
def test_tests_run_on_the_changed_code(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "tiny").mkdir(parents=True)
    (project / "tests").mkdir()
    (project / "tiny" / "digits.py").write_text(DIGITS)
    (project / "tests" / "test_digits.py").write_text(TEST)
    (tmp_path / "work").mkdir()
    command = [sys.executable, "-c", RUN, str(SCRIPTS), str(project), str(tmp_path / "work")]
    options = {**os.environ, "PYTEST_ADDOPTS": "-k nothing"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=options)
    assert done.returncode == 0, done.stderr[-2000:]
    judged, examined, known, failing = map(json.loads, done.stdout.splitlines())
    named = "tests/test_digits.py::test_digits"
    assert judged[0][0] == "timed out"
    assert judged[1:] == [
        ["killed", named],
        ["survived", ""],
        ["killed", "exit code -6"],
        ["killed", "tests/test_digits.py"],
    ]
    assert len(examined) == 2
    assert known == examined
    assert "must pass before code is changed" in failing
    assert (project / "tiny" / "digits.py").read_text() == DIGITS
    assert "digits.py" in {path.name for path in (tmp_path / "work").rglob("*")}
