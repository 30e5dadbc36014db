"""Files that are whole or absent, on file systems of any kind."""

import fcntl
import os
import time
from pathlib import Path

import pytest

from cheblienet_graphs.store import durable


def test_space_is_reserved_where_the_system_can_not_allocate_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The C library then writes zeros itself, and refuses files that are opened to append."""

    def emulated(descriptor: int, start: int, size: int) -> None:
        assert not fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND
        end = os.fstat(descriptor).st_size
        os.pwrite(descriptor, bytes(max(0, start + size - end)), end)

    monkeypatch.setattr(os, "posix_fallocate", emulated)
    durable.reserve(tmp_path / "new", 100)
    assert (tmp_path / "new").read_bytes() == bytes(100)
    for size in (100, 60):
        (tmp_path / "old").write_bytes(b"x" * 80)
        durable.reserve(tmp_path / "old", size)
        assert (tmp_path / "old").read_bytes() == (b"x" * 80 + bytes(20))[:size]


def test_files_by_threads() -> None:
    """In the order of the files; after an error no other is begun."""
    files, done = [Path(str(number)) for number in range(200)], []

    def name_of(file: Path) -> str:
        time.sleep(0.02 if refused else 0)
        done.append(file)
        return file.read_text() if file.name == refused else file.name

    refused = ""
    assert durable.in_threads(name_of, files, 3) == [file.name for file in files]
    done.clear()
    refused = "7"
    with pytest.raises(FileNotFoundError):
        durable.in_threads(name_of, files, 3)
    assert len(done) < len(files) - 1
