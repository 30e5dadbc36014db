"""A copy of the project, whose tests run in forks of a process that has imported what they need."""

import gc
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest


class Seen:
    """A plugin that looks at a run.

    Args:
        root: of the code whose calls are noted, with a separator; None for none.
        chosen: the only tests to run, in this order; None for all of them.

    Attributes:
        seconds: of each test, its own fixtures included.
        callers: tests by function, the latter as "file:line" of where it begins.
        failed: the first test or file that did, "" where none does.
    """

    def __init__(self, root: str | None = None, chosen: Sequence[str] | None = None) -> None:
        self._root, self._now = root, ""
        self._rank = None if chosen is None else {test: n for n, test in enumerate(chosen)}
        self.seconds: dict[str, float] = {}
        self.callers: dict[str, set[str]] = {}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep those that are chosen."""
        rank = self._rank
        if rank is not None:
            items[:] = sorted(
                (item for item in items if item.nodeid in rank), key=lambda item: rank[item.nodeid]
            )

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Begin to note calls."""
        self._now = nodeid
        if self._root:
            sys.settrace(self._called)
            threading.settrace(self._called)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up seconds, and keep the first failure."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep a file that can't be imported as a failure."""
        if report.failed:
            self.failed = self.failed or report.nodeid

    def as_document(self) -> dict[str, Any]:
        """All of it, and the files of what is imported, by name."""
        sys.settrace(None)
        loaded = list(sys.modules.items())
        files = {name: getattr(module, "__file__", None) for name, module in loaded}
        return {
            "seconds": self.seconds,
            "callers": {function: sorted(tests) for function, tests in self.callers.items()},
            "failed": self.failed,
            "modules": {name: file for name, file in files.items() if file},
        }

    def _called(self, frame: FrameType, event: str, argument: object) -> None:
        del event, argument
        code = frame.f_code
        if self._root and code.co_filename.startswith(self._root):
            place = f"{code.co_filename.removeprefix(self._root)}:{code.co_firstlineno}"
            self.callers.setdefault(place, set()).add(self._now)


MEMORY = 8 * 2**30
"""Bytes that a run may allocate."""
TIMES, MORE = 2, 5
"""Times the CPU time of the clean run, which imports all and notes calls, and seconds besides."""
ASLEEP = 600
"""Seconds of the clock after which a run is taken to wait for something."""
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "docs")
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Plugins of pytest are imported already, which it warns of."""


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
        sources: files or folders of it that will be changed.
        tests: files or folders with their tests.

    Raises:
        RuntimeError: a test fails, or they do not import one of the sources.
    """

    __test__ = False  # for pytest, which would collect it

    def __init__(
        self, project: Path, folder: Path, sources: Sequence[str], tests: Sequence[str]
    ) -> None:
        self._folder, self.root = folder, folder / "project"
        shutil.copytree(project, self.root, ignore=NOT_COPIED)
        if (project / "cli").exists():
            (self.root / "cheblienet_cli").symlink_to("cli")
        self._tests = files(self.root, tests, "test_*.py")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        seen = self._clean_run(files(self.root, sources, "*.py"))
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self._seconds: dict[str, float] = seen["seconds"]
        self._order = _quick_first(self._seconds)
        self._callers: dict[str, list[str]] = seen["callers"]
        self._cpu_share = (after - before) / sum(seen["seconds"].values())

    def tests_of(self, file: str, function: int | None) -> list[str]:
        """The tests that call a function themselves, quick ones first.

        Args:
            file: that it is in.
            function: the line that it begins on; None for what runs when the file is imported.
        """
        callers = None if function is None else set(self._callers.get(f"{file}:{function}", ()))
        return [test for test in self._order if callers is None or test in callers]

    def judge(self, file: str, source: str, tests: Sequence[str] | None = None) -> list[str]:
        """Run tests, by default all of them, with another source of a file.

        Returns:
            "killed", "timed out" or "survived", and by what.
        """
        path, tests = self.root / file, self._order if tests is None else tests
        if not tests:
            return ["survived", "no test calls it"]
        limit = MORE + round(TIMES * self._cpu_share * sum(self._seconds[test] for test in tests))
        original, times = path.read_bytes(), path.stat()
        try:
            path.write_text(source)
            code, seen = self._run(tests, limit)
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # its bytecode is still valid
        if code is None:
            return ["timed out", f"after {limit} s"]
        if code in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            return ["survived", ""]
        return ["killed", (seen or {}).get("failed") or f"exit code {code}"]

    def _clean_run(self, sources: Sequence[str]) -> Any:
        """Run the tests on the code as it is, and import here what they import; what was seen."""
        code, seen = self._run(None)
        if code != 0 or not seen:
            log = (self._folder / "log").read_text()[-2000:]
            raise RuntimeError(f"The tests must pass before code is changed.\n{log}")
        missing = {str(self.root / file) for file in sources} - set(seen["modules"].values())
        if missing:
            raise RuntimeError(f"The tests must import what is changed; not so {missing}.")
        for name, file in seen["modules"].items():
            if self.root not in Path(file).parents:
                with suppress(Exception):  # then runs import it themselves
                    importlib.import_module(name)
        gc.freeze()  # or each fork would go through, and so copy, all that is imported
        return seen

    def _run(self, tests: Sequence[str] | None, limit: int | None = None) -> tuple[int | None, Any]:
        """Run tests in a fork of this process.

        Args:
            tests: the only ones to run, in this order; None for all, whose calls are noted.
            limit: seconds of CPU time; None for as many as it takes, and for the code as it is.

        Returns:
            pytest's exit code, negative for a signal, None past the limit; and what was seen, None
            where the process did not get to telling it.
        """
        file = self._folder / "seen.json"
        file.unlink(missing_ok=True)
        process = os.fork()
        if process == 0:
            self._tell(tests, file, limit)
        try:
            code = _exit_code(process)
        finally:
            with suppress(ProcessLookupError):  # its tests may have left processes
                os.killpg(process, signal.SIGKILL)
        return code, json.loads(file.read_text()) if file.exists() else None

    def _tell(self, tests: Sequence[str] | None, file: Path, limit: int | None) -> None:
        """Run tests, write down what was seen, and end the process."""
        code, seen = 1, Seen(f"{self.root}/") if tests is None else Seen(chosen=tests)
        try:
            self._enter(limit)
            places = [f"--rootdir={self.root}", f"--basetemp={self._folder / 'tests'}"]
            needed = {test.partition("::")[0] for test in tests or self._tests}
            code = pytest.main([*OPTIONS, *places, *sorted(needed)], plugins=[seen])
            file.write_text(json.dumps(seen.as_document()))
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _enter(self, limit: int | None) -> None:
        """Make the copy the place that code is imported from, also by processes of the tests."""
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        os.chdir(self.root)
        sys.path.insert(0, str(self.root))
        os.environ["PYTHONPATH"] = str(self.root)
        os.environ.pop("PYTEST_ADDOPTS", None)  # of those who started this, such as several workers
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
            # The copy keeps the bytecode of the code as it is.
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            sys.dont_write_bytecode = True
        log = os.open(self._folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)


def _quick_first(seconds: dict[str, float]) -> list[str]:
    """Tests in order, file by file: the first one of a file may make what all others take."""
    slowest: dict[str, float] = {}
    for test, taken in seconds.items():
        file = test.partition("::")[0]
        slowest[file] = max(taken, slowest.get(file, 0.0))
    return sorted(seconds, key=lambda test: (slowest[test.partition("::")[0]], seconds[test]))


def _exit_code(process: int) -> int | None:
    """Wait for a process; None where it has hung, and is ended."""
    until = time.monotonic() + ASLEEP
    while time.monotonic() < until:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return None if code == -signal.SIGXCPU else code
        time.sleep(0.02)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None
