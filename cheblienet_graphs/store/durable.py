"""Files that are whole or absent, whatever happens to the machine."""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cheblienet_graphs.errors import StoreError

FULL_DISK = {errno.ENOSPC, errno.EDQUOT}


def write(file: Path, contents: bytes) -> None:
    """Create a file with these contents; `sync` makes it durable."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        written = 0
        while written < len(contents):
            written += os.write(descriptor, contents[written:])
    finally:
        os.close(descriptor)


def reserve(file: Path, size: int) -> None:
    """Make a file of a size, its disk space taken: a full disk shows here, not later.

    One of that size that is there already keeps its contents.
    """
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        os.posix_fallocate(descriptor, 0, size)
        os.ftruncate(descriptor, size)
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
        write(temporary, contents)
        sync(temporary)
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync(file.parent)


@contextmanager
def locked_folder(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a folder, which ends with the process that holds it.

    Raises:
        BlockingIOError: another process holds it and `wait` is False.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(descriptor)


@contextmanager
def locked_common_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder that several processes work in: it is made where there is none.

    Whoever leaves it empty removes it. That happens under the lock, so nobody at work there loses
    it; who waited for the lock of a folder that is gone makes a new one.
    """
    while (descriptor := _locked(folder)) is None:
        _make(folder)
    try:
        yield
    finally:
        _leave(folder, descriptor)


def _make(folder: Path) -> None:
    """Make a folder, unless another process was first; that may remove it at once."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        with suppress(FileNotFoundError):
            if not stat.S_ISDIR(folder.lstat().st_mode):
                raise


def remove_common_folder(folder: Path) -> None:
    """Remove such a folder, unless something lies in it; whoever is at work there does it later."""
    descriptor = _locked(folder)
    if descriptor is not None:
        _leave(folder, descriptor)


def _locked(folder: Path) -> int | None:
    """A descriptor, with its lock, of a folder; None where it is gone by the time of the lock."""
    with suppress(FileNotFoundError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(descriptor), folder.stat()):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    return None


def _leave(folder: Path, descriptor: int) -> None:
    """Remove a folder whose lock is held if it is empty, then release the lock."""
    try:
        with suppress(OSError):  # others are at work there
            folder.rmdir()
    finally:
        os.close(descriptor)


@contextmanager
def write_errors(store: Path, outcome: str = "Nothing was published") -> Iterator[None]:
    """Turn what the operating system refuses into one clear line, which says the outcome.

    Raises:
        StoreError: instead of any OSError.
    """
    try:
        yield
    except OSError as error:
        free = "free some space or " if error.errno in FULL_DISK else ""
        raise StoreError(
            f"{store} can't be written: {error.strerror or error}. {outcome}; "
            f"{free}choose another place."
        ) from error
