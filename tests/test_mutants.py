"""Changes of code that tests must notice: tests run on the changed code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "benchmarks" / "robustness"
DIGITS = """
def digits(n):
    count = 0
    while n > 0:
        n //= 10
        count += 1
    return count
"""
TEST = "from tiny.digits import digits\n\ndef test_digits(): assert digits(1234) == 4\n"
CHANGES = {
    ("n //= 10", "pass"): "timed out",
    ("count += 1", "count -= 1"): "killed",
    ("n > 0", "n >= 1"): "survived",
    ("count = 0", "import os; os.abort()"): "killed",
    ("def digits", "def other"): "killed",
}
RUN = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from mutants import Part, Results, examine
import tested_copy
root, folder, changes = Path(sys.argv[2]), Path(sys.argv[3]), json.loads(sys.argv[4])
part = Part(("tiny/digits.py",), ("tests",))
copy = tested_copy.TestedCopy(root, folder, part.sources, part.tests)
tested_copy.MORE = 1
source, tests = (root / "tiny/digits.py").read_text(), copy.tests_of("tiny/digits.py", 2)
judged = [copy.judge("tiny/digits.py", source.replace(*change), tests)[0] for change in changes]
results = folder / "results.json"
twice = [examine(root, part, 2, "0", Results(results)) for _ in range(2)]
(root / "tests/test_digits.py").write_text("def test_wrong(): assert False")
try:
    examine(root, part, 3, "0", Results(results))
except RuntimeError as error:
    print(json.dumps([judged, *twice, str(error)]))
"""


@pytest.mark.slow
def test_tests_run_on_the_changed_code(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for folder in (project / "tiny", project / "tests", tmp_path / "work"):
        folder.mkdir(parents=True)
    (project / "tiny/digits.py").write_text(DIGITS)
    (project / "tests/test_digits.py").write_text(TEST)
    folders = map(str, (SCRIPTS, project, tmp_path / "work"))
    command = [sys.executable, "-c", RUN, *folders, json.dumps([*CHANGES])]
    options = {**os.environ, "PYTEST_ADDOPTS": "-k nothing"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=options)
    assert done.returncode == 0, done.stderr[-2000:]
    judged, examined, known, failing = json.loads(done.stdout)
    assert judged == [*CHANGES.values()]
    assert len(examined) == 2
    assert known == examined
    assert "must pass before code is changed" in failing
    assert (project / "tiny/digits.py").read_text() == DIGITS
