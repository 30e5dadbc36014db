"""Files that are whole or absent, whatever happens, and documents of which nothing is trusted."""

import errno
import fcntl
import hashlib
import os
import shutil
import stat
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from cheblienet_graphs.errors import StoreError, UnreadableError
from cheblienet_graphs.store.sharing import missing_right, share

F = TypeVar("F")
T = TypeVar("T")

FULL_DISK = {errno.ENOSPC, errno.EDQUOT}
_SHORT = {
    errno.EMFILE: "close some files, or allow more with `ulimit -n`",
    errno.ENFILE: "end programs that have many files open",
    errno.ENOMEM: "free some memory",
}
"""Remedies for resources that a machine can run out of, by errno."""
_REFUSALS = _SHORT | {
    errno.EIO: "look at the disk; the system's log says more",
    errno.EACCES: "ask its owner for the right to read it",
    errno.EPERM: "ask its owner for the right to read it",
}
"""Errors of reading that are faults of the machine -> what to do."""


class NotDurableError(OSError):
    """A change was made, but the system can't say that it outlives a crash of the machine."""


def half_done(place: object, error: OSError) -> StoreError:
    """Error to raise where a change was neither finished nor undone."""
    return StoreError(
        f"{place} was changed, but not wholly, and that could not be undone: "
        f"{error.strerror or error}. Look at the disk, then at what `clg verify` says."
    )


def write(file: str | Path, contents: bytes, within: int | None = None) -> None:
    """Create a file with these contents; `sync` makes it durable.

    Args:
        file: its path, or its name in another folder.
        contents: of the file.
        within: descriptor of that folder; the file is shared with its group.
    """
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=within)
    try:
        if within is not None:
            share(descriptor, os.fstat(within))
        _write_all(descriptor, contents)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, contents: bytes) -> None:
    written = 0
    while written < len(contents):
        written += os.write(descriptor, contents[written:])


def reserve(file: Path, size: int) -> None:
    """Make a file of a size and allocate its disk space, so that a full disk is noticed at once.

    An existing file of that size keeps its contents. Not opened to append: where a file system
    allocates no space itself, as NFS before 4.2, the C library then refuses to.
    """
    with os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT, 0o666), "r+b") as opened:
        os.posix_fallocate(opened.fileno(), 0, size)
        opened.truncate(size)


def sha256_of(file: Path) -> str:
    """Hex digest of a file's contents."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def sync(path: str | Path, within: int | None = None) -> None:
    """Make a file's or folder's contents durable.

    Args:
        path: of the file, or its name in another folder.
        within: descriptor of that folder.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe would block
    descriptor = os.open(path, flags, dir_fd=within)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def in_threads(function: Callable[[F], T], files: Sequence[F], threads: int) -> list[T]:
    """The results of a function for each file, by threads.

    As tasks of their own, most files would take less time than the pool does. After an error or a
    signal no other file is begun.

    Args:
        function: called with each.
        files: in their order.
        threads: that each go on with the next file.
    """
    results, waiting = {}, iter(files)

    def work(_: int) -> None:
        try:
            for file in waiting:
                results[file] = function(file)
        finally:
            deque(waiting, 0)

    with ThreadPoolExecutor(threads) as pool:
        try:
            list(pool.map(work, range(threads)))  # raises what one of them raised
        finally:
            deque(waiting, 0)
    return [results[file] for file in files]


def replace(folder: int, name: str, contents: bytes, temporary: str, staging: int) -> None:
    """Give a file new contents so that a reader sees the old ones or the new ones, whole.

    Args:
        folder: descriptor of the folder of the file.
        name: of the file.
        contents: the new ones.
        temporary: name of a file that does not exist yet, in `staging`.
        staging: descriptor of a folder on the same file system.

    Raises:
        NotDurableError: the file has its new contents, but it is not known for how long.
        OSError: it has its old ones.
    """
    try:
        write(temporary, contents, staging)
        sync(temporary, staging)
        os.replace(temporary, name, src_dir_fd=staging, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=staging)
        raise
    sync_change(folder)


def replace_by(folder: int, name: str, contents: bytes, spare: str, within: int) -> None:
    """Give a file new contents as `replace` does, but without new space: over another file's.

    Args:
        folder: descriptor of the folder of the file.
        name: of the file.
        contents: the new ones.
        spare: name of a regular file that nobody needs any more.
        within: descriptor of its folder, on the same file system.

    Raises:
        NotDurableError: as `replace`.
        OSError: both files have their old contents.
    """
    status = os.stat(spare, dir_fd=within, follow_symlinks=False)
    is_own = stat.S_ISREG(status.st_mode) and status.st_nlink == 1  # else one of a backup, too
    if not is_own or status.st_size < len(contents):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    read_only = os.open(spare, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=within)
    try:
        os.fchmod(read_only, 0o644)
    finally:
        os.close(read_only)
    descriptor = os.open(spare, os.O_RDWR | os.O_NOFOLLOW, dir_fd=within)
    try:
        earlier = os.pread(descriptor, status.st_size, 0)
        try:
            _write_all(descriptor, contents)
            os.ftruncate(descriptor, len(contents))
            os.fsync(descriptor)
            os.replace(spare, name, src_dir_fd=within, dst_dir_fd=folder)
        except BaseException:  # who gave the spare file up may want it back
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
            os.lseek(descriptor, 0, os.SEEK_SET)
            _write_all(descriptor, earlier)
            raise
    finally:
        os.close(descriptor)
    sync_change(folder)


def sync_change(folder: int) -> None:
    """Make a change of an open folder durable.

    Raises:
        NotDurableError: the system can't.
    """
    try:
        os.fsync(folder)
    except OSError as error:
        raise NotDurableError(error.errno, error.strerror) from error


def save_whole(target: Path, outcome: str, save: Callable[[Path], object]) -> None:
    """Save a file or a folder under another name first; an earlier folder makes room at the end.

    Args:
        target: the file, or the folder. A folder that is there is replaced by a folder only.
        outcome: of a failure, which leaves what was there before, and nothing else.
        save: writes it at a path, which ends so that numpy adds no suffix of its own.

    Raises:
        StoreError: instead of any OSError.
    """
    with write_errors(target, outcome):
        replace_whole(target, save)


def replace_whole(target: Path, save: Callable[[Path], object]) -> None:
    """Do what `save_whole` does, for callers that say themselves what failed.

    Raises:
        OSError: it can't be written.
    """
    temporary = target.parent / f".{uuid.uuid4().hex}.npz"
    aside = temporary.with_suffix(".old")
    try:
        save(temporary)
        sync(temporary)
        if temporary.is_dir() and target.exists():
            target.rename(aside)
        temporary.replace(target)
    except BaseException:
        if aside.exists():
            aside.rename(target)
        raise
    finally:
        for rest in (temporary, aside):
            shutil.rmtree(rest, ignore_errors=True)
        temporary.unlink(missing_ok=True)


def check_writable(folder: Path) -> Path:
    """The folder, or the nearest above it that is there, if entries can be made in it.

    Raises:
        OSError: they can't.
    """
    try:
        folder.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return check_writable(folder.parent)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(folder, os.W_OK | os.X_OK):
        is_mounted_so = os.statvfs(folder).f_flag & os.ST_RDONLY
        code = errno.EROFS if is_mounted_so else errno.EACCES
        raise OSError(code, os.strerror(code), str(folder))
    return folder


@contextmanager
def opened_folder(folder: str | Path, within: int | None = None) -> Iterator[int]:
    """A descriptor of a folder.

    Args:
        folder: its path, or its name in another folder. Its last part is no link that is followed.
        within: descriptor of that other folder.

    Raises:
        NotADirectoryError: a link is there, or something else that is no folder.
        OSError: it can't be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=within)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def lock(descriptor: int, folder: str | Path, within: int | None = None) -> None:
    """Take the lock of an open folder; it is released when its descriptor is closed.

    Args:
        descriptor: of the folder.
        folder: where it was opened, as of `opened_folder`.
        within: likewise.

    Raises:
        BlockingIOError: another process holds it, or another folder has come to its place.
        FileNotFoundError: it is not there any more.
    """
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    there = os.stat(folder, dir_fd=within, follow_symlinks=False)
    if not os.path.samestat(os.fstat(descriptor), there):
        raise BlockingIOError


@contextmanager
def locked_folder(folder: str | Path, within: int | None = None) -> Iterator[int]:
    """Hold the lock of a folder; it is released when the process ends, too.

    Args:
        folder: as of `opened_folder`.
        within: likewise.

    Yields:
        A descriptor of the folder.

    Raises:
        OSError: as `opened_folder` and `lock`.
    """
    with opened_folder(folder, within) as descriptor:
        lock(descriptor, folder, within)
        yield descriptor


@contextmanager
def undone() -> Iterator[None]:
    """Say no more than that a change failed: it was undone, or no store has it yet.

    Raises:
        OSError: instead of a NotDurableError.
    """
    try:
        yield
    except NotDurableError as error:
        raise OSError(error.errno, error.strerror) from error


def remove_empty(folder: Path) -> None:
    """Remove a folder that is there and empty."""
    with suppress(OSError):
        folder.rmdir()


def unreadable(path: object, error: OSError) -> StoreError:
    """The error of a failed reading: an UnreadableError where the machine is at fault."""
    message = f"{path} can't be read: {error.strerror or error}"
    if remedy := _REFUSALS.get(error.errno or 0):
        return UnreadableError(f"{message}. That is no fault of the store: {remedy}.")
    return StoreError(f"{message}.")


@contextmanager
def write_errors(store: object, outcome: str = "Nothing was published") -> Iterator[None]:
    """Turn errors of the operating system into one clear line, which states the outcome.

    Raises:
        StoreError: instead of any OSError.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, NotDurableError):
            raise StoreError(
                f"{store} was changed, but whether that outlives a crash of the machine is not "
                f"known: {error.strerror}. Look at the disk; the system's log says more."
            ) from error
        free = "free some space or " if error.errno in FULL_DISK else ""
        remedy = _SHORT.get(error.errno or 0, f"{free}choose another place")
        place = Path(str(error.filename))
        # A name alone is one in an open folder: in the working folder it may be something else.
        if isinstance(error, PermissionError) and place.is_absolute():
            remedy = missing_right(place) or remedy
        raise StoreError(
            f"{store} can't be written: {error.strerror or error}. {outcome}; {remedy}."
        ) from error
