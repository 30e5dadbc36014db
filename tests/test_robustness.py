"""The long robustness runs, in short; and what a process with many graphs holds."""

import subprocess
import sys
from pathlib import Path

import pytest

from cheblienet_models import open_store

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


def test_fifty_open_graphs_hold_no_descriptor(store: Path) -> None:
    def held() -> list[Path]:
        """Files of the store that are open; what else is open here is not ours to count."""
        descriptors = map(Path.resolve, Path("/proc/self/fd").iterdir())
        return [file for file in descriptors if store in file.parents]

    before = held()  # of maps that other tests have not let go of
    opened = open_store(store)
    with (store / "zarr.json").open():
        assert set(held()) - set(before) == {store / "zarr.json"}  # the test can tell
    kept = [opened["torus"] for _ in range(50)]
    assert len(held()) <= len(before)
    assert len({pyramid.levels[0].values.data_ptr() for pyramid in kept}) == 50
