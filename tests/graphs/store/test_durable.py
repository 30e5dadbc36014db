"""Files that are whole or absent, on file systems of any kind."""

import errno
import fcntl
import os
import stat
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


@pytest.mark.parametrize("failing", ["write", "fsync", "replace"])
def test_a_spare_file_stays_what_it_was_where_it_replaces_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    (tmp_path / "spare").write_bytes(b"y" * 90)
    (tmp_path / "spare").chmod(0o444)
    (tmp_path / "file").write_bytes(b"old")
    real, calls = getattr(os, failing), []

    def fails(*given: object, **how: object) -> object:
        calls.append(given)
        if len(calls) > 1:
            return real(*given, **how)
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, failing, fails)
    with durable.opened_folder(tmp_path) as folder, pytest.raises(OSError, match="quota"):
        durable.replace_by(folder, "file", b"new", "spare", folder)
    assert (tmp_path / "file").read_bytes() == b"old"
    assert (tmp_path / "spare").read_bytes() == b"y" * 90
    assert stat.S_IMODE((tmp_path / "spare").stat().st_mode) == 0o444
