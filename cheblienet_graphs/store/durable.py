"""Files that are whole or absent, whatever happens to the machine."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cheblienet_graphs.errors import StoreError

FULL_DISK = {errno.ENOSPC, errno.EDQUOT}


def reserve(file: Path, size: int) -> None:
    """Create a file of a size, its disk space taken: a full disk shows here, not once mapped."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        os.posix_fallocate(descriptor, 0, size)
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """Make a file's or folder's contents durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace(file: Path, contents: bytes, temporary: Path) -> None:
    """Give a file new contents so that a reader sees the old ones or the new ones, whole.

    Args:
        file: which.
        contents: the new ones.
        temporary: a file that does not exist yet, on the same file system.
    """
    try:
        with temporary.open("xb") as opened:
            opened.write(contents)
            opened.flush()
            os.fsync(opened.fileno())
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync(file.parent)


@contextmanager
def write_errors(store: Path) -> Iterator[None]:
    """Turn what the operating system refuses into one clear line.

    Raises:
        StoreError: instead of any OSError.
    """
    try:
        yield
    except OSError as error:
        free = "free some space or " if error.errno in FULL_DISK else ""
        raise StoreError(
            f"{store} can't be written: {error.strerror or error}. Nothing was published; "
            f"{free}choose another --store."
        ) from error
