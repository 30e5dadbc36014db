"""A copy of the project, whose tests run on code that is changed there."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

MEMORY = 8 * 2**30
"""Bytes that a run may allocate."""
TIMES, MORE = 2, 5
"""Times the CPU time of the clean run, and seconds besides."""
ASLEEP = 600
"""Seconds of the clock after which a run is taken to wait for something."""
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "docs")
LIMITED = """
import resource, sys, pytest
memory, seconds = map(int, sys.argv[1:3])
resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
sys.exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *sys.argv[3:]]))
"""


def files(root: Path, places: Sequence[str], pattern: str) -> list[str]:
    """Paths below a root of the files that some files and folders are."""
    paths = [
        path
        for place in places
        for path in ([root / place] if (root / place).is_file() else (root / place).rglob(pattern))
    ]
    return sorted(str(path.relative_to(root)) for path in paths)


class TestedCopy:
    """A copy of the project, made and tested once as it is.

    Args:
        project: its root, which is not touched.
        folder: for the copy and what its tests write.
        tests: files or folders of it with tests.

    Raises:
        RuntimeError: a test fails.
    """

    __test__ = False  # for pytest, which would collect it

    def __init__(self, project: Path, folder: Path, tests: Sequence[str]) -> None:
        self._project, self._folder, self.root = project, folder, folder / "project"
        shutil.copytree(project, self.root, ignore=NOT_COPIED)
        if (project / "cli").exists():
            (self.root / "cheblienet_cli").symlink_to("cli")
        self._tests = files(self.root, tests, "test_*.py")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        if self._run(resource.RLIM_INFINITY) != 0:
            log = (self._folder / "log").read_text()[-2000:]
            raise RuntimeError(f"The tests must pass before code is changed.\n{log}")
        clean = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        self._limit = MORE + round(TIMES * clean)

    def judge(self, file: str, source: str) -> str:
        """Run the tests with another source of a file: "killed", "timed out" or "survived"."""
        path = self.root / file
        path.write_text(source)
        code = self._run(self._limit)
        shutil.copy2(self._project / file, path)  # with its time, so that its bytecode is valid
        if code is None:
            return "timed out"
        unnoticed = {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
        return "survived" if code in unnoticed else "killed"

    def _run(self, limit: int) -> int | None:
        """The exit code of the tests until one fails; None past as many seconds of CPU time."""
        places = [f"--rootdir={self.root}", f"--basetemp={self._folder / 'tests'}"]
        words = [sys.executable, "-c", LIMITED, str(MEMORY), str(limit), *places, *self._tests]
        # Without plugins, which take seconds to import, and options that they would know. The copy
        # keeps the bytecode of the code as it is.
        given = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
        given |= {"PYTHONPATH": str(self.root)}
        given |= {"PYTHONDONTWRITEBYTECODE": "1"} if limit > 0 else {}
        with (self._folder / "log").open("w") as log:
            process = subprocess.Popen(
                words,
                cwd=self.root,
                env=os.environ | given,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            code = process.wait(ASLEEP)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):  # its tests may have left processes
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return None if code in {-signal.SIGXCPU, -signal.SIGKILL} else code
