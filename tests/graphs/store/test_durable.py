"""Files that are whole or absent, on file systems of any kind."""

import fcntl
import os
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


def test_files_by_several_threads(tmp_path: Path) -> None:
    """In the order of the files; an error of one is raised."""
    files = [tmp_path / str(number) for number in range(20)]
    for file in files:
        file.write_text(file.name)
    assert durable.in_threads(Path.read_text, files, 3) == [file.name for file in files]
    files[7].unlink()
    with pytest.raises(FileNotFoundError):
        durable.in_threads(Path.read_text, files, 3)


def test_what_takes_long_is_made_durable_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it, whether the first was quick or not."""
    paths = [tmp_path / str(number) for number in range(20)]
    for long in (0.0, 1e9):
        done: list[Path] = []
        monkeypatch.setattr(durable, "LONG", long)
        monkeypatch.setattr(durable, "sync", done.append)
        durable.sync_all(paths)
        assert sorted(done) == sorted(paths)
