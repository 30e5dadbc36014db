"""The long robustness runs, in short; and what a process with many graphs holds."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "benchmarks" / "robustness"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "arguments", "expected"),
    [
        ("kill.py", ["--kills", "4", "--processes", "2"], "killed: 4"),
        ("fuzz.py", ["--mutants", "15", "--seed", "1"], "refused: "),
    ],
)
def test_short_run(script: str, arguments: list[str], expected: str) -> None:
    command = [sys.executable, str(SCRIPTS / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert expected in done.stdout
