"""The finished parts of an interrupted build: a small file for each finished range of rows.

A record is written, whole, after the bytes of its range are on disk, so it can be trusted after a
crash of the process or of the machine, and by other machines that share the file system.
"""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cheblienet_graphs.store.durable import replace

Range = tuple[int, int]
Result = dict[str, Any]


class Records:
    """The finished ranges of the sweeps of a build, with their results.

    Args:
        folder: of the records; once it is deleted, with the build, nothing can be recorded.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def finished(self, sweep: str) -> dict[Range, Result]:
        """Disjoint finished ranges, ascending, with their results."""
        folder = self._folder / sweep
        ranges = sorted(map(_range, folder.glob("*.json"))) if folder.is_dir() else []
        chosen: dict[Range, Result] = {}
        end = 0
        for start, stop in ranges:
            if start >= end and (result := self.result(sweep, (start, stop))) is not None:
                chosen[start, stop], end = result, stop
        return chosen

    def result(self, sweep: str, rows: Range) -> Result | None:
        """The result of a range, None where it is not finished, or its record is not whole."""
        try:
            outcome: Result = json.loads(self._file(sweep, rows).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return outcome

    def keep(self, sweep: str, rows: Range, result: Result) -> None:
        """Record a range as finished; its results must be JSON types."""
        file = self._file(sweep, rows)
        file.parent.mkdir(exist_ok=True)
        replace(file, json.dumps(result).encode(), file.with_name(uuid.uuid4().hex))

    def __len__(self) -> int:
        return sum(1 for _ in self._folder.glob("*/*.json"))

    def _file(self, sweep: str, rows: Range) -> Path:
        return self._folder / sweep / f"{rows[0]}-{rows[1]}.json"


def gaps(finished: Iterator[Range] | list[Range], total: int) -> list[Range]:
    """The parts of 0..total that disjoint ascending ranges leave out."""
    missing, end = [], 0
    for start, stop in [*finished, (total, total)]:
        if start > end:
            missing.append((end, start))
        end = stop
    return missing


def cut(ranges: list[Range], step: int) -> list[Range]:
    """Ranges cut into pieces of at most `step`."""
    return [(lo, min(lo + step, stop)) for start, stop in ranges for lo in range(start, stop, step)]


def _range(file: Path) -> Range:
    start, stop = file.stem.split("-")
    return int(start), int(stop)
