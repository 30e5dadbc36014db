"""What a run of pytest shows: the tests' times, which functions they call, and what fails."""

import sys
import threading
from collections.abc import Sequence
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
