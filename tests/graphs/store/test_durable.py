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
