"""Reading of untrusted files below a store: no link is followed.

The path of a store itself may be a link. Every folder below it is opened in the one above, by
descriptor; only regular files are read, and metadata documents only up to a size limit.
"""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from cheblienet_graphs.errors import StoreError, quoted
from cheblienet_graphs.store.documents import MAX_METADATA, parsed_document
from cheblienet_graphs.store.durable import unreadable

SEGMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Name of a folder or file that is read."""
DEEPEST = 16
"""Most folders below one another that are read."""
DOCUMENT = "zarr.json"
"""File of a zarr node's metadata."""
MOST_KEPT = 64
"""Number of folders kept open; some systems allow a process no more than 256 files."""


class _Descriptors(dict[tuple[str, ...], int]):
    """Descriptors of open folders by their segments; the lock guards them."""

    is_open = True

    def __init__(self) -> None:
        super().__init__()
        self.lock = Lock()

    def close(self, *, all_but: tuple[str, ...]) -> None:
        """Close all but the ones on the way to a folder."""
        for segments in [known for known in self if known != all_but[: len(known)]]:
            os.close(self.pop(segments))


class Folder(os.PathLike[str]):
    """A folder of a store, or a file in one; it need not exist.

    `folder / "a/b"` is a folder or file below it. Other libraries accept it as a path.

    Args:
        path: of the store, or of a staged version; links to it are followed.
        segments: names below it, of folders or of a file at the end.
        kept: descriptors of folders that stay open, by their segments; default none.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        segments: tuple[str, ...] = (),
        kept: _Descriptors | None = None,
    ) -> None:
        self._path = os.fspath(path)
        self._segments = segments
        self._kept = kept

    def __truediv__(self, path: str) -> "Folder":
        segments = path.split("/")
        known = len(self._segments) + len(segments) <= DEEPEST
        if not known or not all(map(SEGMENT.fullmatch, segments)):
            raise StoreError(f"{self} has no {quoted(path)}: that is no path below a graph.")
        return Folder(self._path, (*self._segments, *segments), self._kept)

    def entry(self, name: str) -> "Folder":
        """An entry of the folder, also by a name that only other programs would give.

        Raises:
            StoreError: it is the name of no entry.
        """
        if "/" in name or name in {"", ".", ".."} or len(self._segments) == DEEPEST:
            raise StoreError(f"{self} has no {quoted(name)}: that is no entry of a folder.")
        return Folder(self._path, (*self._segments, name), self._kept)

    def __str__(self) -> str:
        return "/".join((self._path, *self._segments))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __fspath__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Folder) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self._segments[-1] if self._segments else Path(self._path).name

    @property
    def parent(self) -> "Folder":
        """The folder above."""
        if self._segments:
            return Folder(self._path, self._segments[:-1], self._kept)
        return Folder(Path(self._path).parent)

    @contextmanager
    def kept_open(self) -> Iterator["Folder"]:
        """The same folder; read folders below it stay open, few at a time, until the end.

        Folders below it remain usable after the end, and in several threads.

        Raises:
            StoreError: there is no folder.
        """
        kept = _Descriptors()
        folder = Folder(self._path, self._segments, kept)
        try:
            with self.reading(), folder.descriptor():
                pass
            yield folder
        finally:
            with kept.lock:
                kept.is_open = False
                while kept:
                    os.close(kept.popitem()[1])

    def entries(self) -> list[tuple[str, os.stat_result]]:
        """Names and statuses of everything in the folder, sorted; links are not followed.

        Raises:
            StoreError: it can't be read.
        """
        found = []
        with self.reading(), self.descriptor() as descriptor:
            for name in sorted(os.listdir(descriptor)):
                with suppress(FileNotFoundError):  # somebody removed it since it was listed
                    found.append((name, os.stat(name, dir_fd=descriptor, follow_symlinks=False)))
        return found

    def walk(
        self, enters: Callable[[str], bool], above: str = ""
    ) -> Iterator[tuple[str, os.stat_result]]:
        """Everything below the folder but the folders that are entered, sorted.

        Args:
            enters: whether the folder at a path is entered; never called for links, nor for folders
                with names that are not read.
            above: what all paths begin with.

        Yields:
            Its path below the folder, and its status.

        Raises:
            StoreError: a folder can't be read.
        """
        for name, status in self.entries():
            path = above + name
            if stat.S_ISDIR(status.st_mode) and SEGMENT.fullmatch(name) and enters(path):
                yield from (self / name).walk(enters, f"{path}/")
            else:
                yield path, status

    def status(self) -> os.stat_result | None:
        """The status of what lies at this path, a link itself; None where there is nothing.

        Raises:
            StoreError: the folder above can't be read.
        """
        with self.reading():
            try:
                if not self._segments:
                    return Path(self._path).stat()
                with self.parent.descriptor() as above:
                    return os.stat(self.name, dir_fd=above, follow_symlinks=False)
            except FileNotFoundError:
                return None

    def document(self) -> dict[str, Any]:
        """The metadata of the zarr node that the folder is.

        Raises:
            StoreError: there is none, it is too large or too deep, or not a zarr v3 document.
        """
        path = Folder(self._path, (*self._segments, DOCUMENT), self._kept)
        return parsed_document(path.contents(), str(path))

    def contents(self) -> bytes:
        """The bytes of the metadata file at this path.

        Raises:
            StoreError: it can't be read, is not a regular file, or is too large.
        """
        descriptor, size = self.opened()
        try:
            if size > MAX_METADATA:
                raise StoreError(f"{self} has {size:,} bytes; {MAX_METADATA:,} are allowed.")
            return os.pread(descriptor, size, 0)
        except OSError as error:
            raise unreadable(self, error) from error
        finally:
            os.close(descriptor)

    def sha256(self) -> str:
        """Hex digest of the regular file at this path.

        Raises:
            StoreError: it can't be read.
        """
        with (
            self.reading(),
            self.opened_file() as (descriptor, _),
            os.fdopen(descriptor, "rb", buffering=0, closefd=False) as file,
        ):
            return hashlib.file_digest(file, "sha256").hexdigest()

    @contextmanager
    def opened_file(self) -> Iterator[tuple[int, int]]:
        """A descriptor of the regular file at this path, and its size.

        Raises:
            StoreError: it can't be read, or is no regular file.
        """
        descriptor, size = self.opened()
        try:
            yield descriptor, size
        finally:
            os.close(descriptor)

    def opened(self) -> tuple[int, int]:
        """A descriptor of the regular file at this path, and its size; the caller closes it.

        Raises:
            StoreError: it can't be read, or is no regular file.
        """
        try:
            descriptor = self._opened(os.O_NONBLOCK)  # a pipe would block
        except OSError as error:
            raise unreadable(self, error) from error
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise StoreError(f"{self} is not a regular file.")
        return descriptor, status.st_size

    @contextmanager
    def descriptor(self) -> Iterator[int]:
        """A descriptor of the folder.

        Raises:
            OSError: it can't be opened, or a link is there or above it.
        """
        descriptor = self._opened(os.O_DIRECTORY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _opened(self, flags: int) -> int:
        """A new descriptor of what is at this path, opened in the folder above."""
        if not self._segments:
            return os.open(self._path, os.O_RDONLY | flags)
        if self._kept is not None:
            with self._kept.lock:
                if self._kept.is_open:
                    above = self._descriptor_in(self._kept, self._segments[:-1])
                    return _opened_in(above, self.name, flags)
        opened = [os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)]
        try:
            for segment in self._segments[:-1]:
                opened.append(_opened_in(opened[-1], segment, os.O_DIRECTORY))
            return _opened_in(opened[-1], self._segments[-1], flags)
        finally:  # all at the end: a signal between two lines would have one closed again
            for descriptor in opened:
                os.close(descriptor)

    def _descriptor_in(self, kept: _Descriptors, segments: tuple[str, ...]) -> int:
        """A descriptor of a folder that stays open, of the segments below the path."""
        if segments not in kept:
            if len(kept) >= MOST_KEPT:
                kept.close(all_but=segments)
            if segments:
                above = self._descriptor_in(kept, segments[:-1])
                kept[segments] = _opened_in(above, segments[-1], os.O_DIRECTORY)
            else:
                kept[()] = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
        return kept[segments]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Report an error of the system as a StoreError: this can't be read.

        Raises:
            StoreError: instead of any OSError.
        """
        try:
            yield
        except OSError as error:
            raise unreadable(self, error) from error


def _opened_in(folder: int, name: str, flags: int) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | flags, dir_fd=folder)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR} and _is_link(name, folder):
            raise OSError(errno.ELOOP, "it is a link, which is not followed") from error
        raise


def _is_link(name: str, folder: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
