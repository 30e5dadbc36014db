"""The folder beside a store where versions are staged: its lock, and what killed processes left.

Processes find it by its name alone, so anything may lie there: a link that an archive unpacked, or
the folder of somebody else. It is therefore opened without following links, and has to belong to
the user or to the store. Of its entries only those are deleted that have names the package gives.
"""

import logging
import os
import re
import shutil
import stat
import time
import uuid
from collections.abc import Callable, Container, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from cheblienet_graphs.errors import StoreError, another
from cheblienet_graphs.machine.interrupts import interrupts_deferred
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import (
    lock,
    locked_folder,
    opened_folder,
    remove_empty,
    write_errors,
)

IDENTITY = "build.json"
"""File that is written after everything else of a staged version, and deleted first."""
LOCK_TRIED_AGAIN = 0.01
"""Seconds between two attempts to take the lock of a store."""
LONGEST_LOCK = 600.0
"""Seconds after which a process gives up waiting for that lock, which is held for moments."""
TURN_TRIED_AGAIN = 0.1
"""Seconds between two attempts while another process builds."""
LONGEST_TURN = 86_400.0
"""Seconds after which a process gives up waiting for such a build."""
SILENT = 10.0
"""Seconds of waiting before a line says what a process waits for."""
_RANDOM = r"[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}"
_BUILD = re.compile(_RANDOM)
"""Name of the folder of a staged version, or of a version that is being deleted."""
_FOLDER = re.compile(rf"{_RANDOM}|opening-[0-9a-f]{{32}}")
"""Name of a folder that the package makes; those of turns are called opening-."""
_FILE = re.compile(rf"{_RANDOM}\.json")
"""Name of a document before it is renamed to its place."""


def check(store: Path) -> None:
    """Make sure, without writing, that the staging folder is a folder or can become one.

    Raises:
        StoreError: something else is there.
    """
    folder = layout.staging_folder(store)
    if what := _instead(folder):
        raise _refusal(folder, what)


@contextmanager
def locked(store: Path) -> Iterator[int]:
    """Hold the store's lock, which is that of its staging folder; signals are deferred.

    The folder is made if it does not exist, and removed if it is empty at the end.

    Yields:
        A descriptor of the folder.

    Raises:
        StoreError: something else is in its place, it belongs to somebody else, or another process
            holds the lock for too long.
        OSError: it can't be made.
    """
    awaited = f"the lock of {layout.staging_folder(store)}, which another process holds"
    with _waited_for(awaited, partial(_got_lock, store), LOCK_TRIED_AGAIN, LONGEST_LOCK) as staging:
        yield staging


@contextmanager
def alone(store: Path, key: str) -> Iterator[None]:
    """Be the only one of the processes that ask with this key; the others wait.

    It is the lock of a folder beside staged versions, which ends with the process.

    Args:
        store: need not exist yet.
        key: name of the folder.

    Raises:
        StoreError: as `locked`.
        OSError: the folder can't be made.
    """
    awaited = f"another process, which builds the same graph in {store}"
    with _waited_for(awaited, partial(_got_turn, store, key), TURN_TRIED_AGAIN, LONGEST_TURN):
        yield


def tidy(store: Path) -> None:
    """Remove the staging folder if it is empty, unless a holder of its lock will do so."""
    folder = layout.staging_folder(store)
    with (
        interrupts_deferred(),
        suppress(OSError, StoreError),
        _opened(store) as staging,
    ):
        lock(staging, folder)
        folder.rmdir()


def builds(staging: int) -> list[str]:
    """Names of the entries that can be staged versions, sorted.

    Args:
        staging: descriptor of the staging folder.
    """
    return sorted(name for name in os.listdir(staging) if _BUILD.fullmatch(name))


def leftovers(store: str | Path) -> list[Path]:
    """Files that killed builds left beside a store, without those of running builds."""
    folder = layout.staging_folder(layout.store_path(store))
    try:
        with opened_folder(folder) as staging:
            return [folder / name for name in _left(staging)]
    except (FileNotFoundError, NotADirectoryError):  # the last process at work removed it
        return []


def foreign(store: Path) -> Iterator[tuple[str, str]]:
    """What lies in the place of the staging folder, or in it, and is nothing of a build.

    Yields:
        Its path from the folder that the store is in, and what is said of it.
    """
    folder = layout.staging_folder(store)
    if what := _instead(folder):
        yield folder.name, f"is {what}: nothing can be built or changed before it is removed"
        return
    with suppress(OSError), opened_folder(folder) as staging:  # there is none, or it is private
        for name in sorted(os.listdir(staging)):
            if not (_FOLDER.fullmatch(name) or _FILE.fullmatch(name)):
                yield f"{folder.name}/{name}", "was not left by a build and is never deleted"


def clean(store: str | Path) -> list[Path]:
    """Delete the leftovers of a store.

    Returns:
        What was deleted.

    Raises:
        StoreError: they can't be deleted.
    """
    store = layout.store_path(store)
    folder = layout.staging_folder(store)
    if not os.path.lexists(folder):
        return []
    with write_errors(store, "Not everything was cleaned"), locked(store) as staging:
        names = _left(staging)
        for name in names:
            if _FILE.fullmatch(name):
                os.unlink(name, dir_fd=staging)
            else:
                discard(name, staging)
    return [folder / name for name in names]


def is_plain(folder: int, owners: Container[int]) -> bool:
    """Whether there are only folders and files below a folder, no links, and all of some owners.

    Nothing outside of it is then changed through what is in it; a file that has another name, too,
    may be outside.

    Args:
        folder: its descriptor.
        owners: users to whom all has to belong.

    Raises:
        OSError: it can't be read.
    """

    def fail(error: OSError) -> NoReturn:
        raise error

    for _, folders, files, above in os.fwalk(".", dir_fd=folder, onerror=fail):
        for name in (".", *folders, *files):
            status = os.stat(name, dir_fd=above, follow_symlinks=False)
            is_file = stat.S_ISREG(status.st_mode) and status.st_nlink <= 1
            if not (is_file or stat.S_ISDIR(status.st_mode)) or status.st_uid not in owners:
                return False
    return True


def discard(name: str, staging: int) -> None:
    """Delete a staged version; links are deleted, not followed.

    Args:
        name: of its folder.
        staging: descriptor of the staging folder.

    Raises:
        OSError: it can't be deleted.
    """
    try:
        with opened_folder(name, staging) as folder:
            os.unlink(IDENTITY, dir_fd=folder)
    except FileNotFoundError:
        pass
    shutil.rmtree(name, dir_fd=staging, ignore_errors=True)
    if name in os.listdir(staging):  # a running block made a file during this; renamed, none can
        renamed = uuid.uuid4().hex
        os.rename(name, renamed, src_dir_fd=staging, dst_dir_fd=staging)
        shutil.rmtree(renamed, dir_fd=staging)


@contextmanager
def _opened(store: Path) -> Iterator[int]:
    """A descriptor of the staging folder.

    Raises:
        StoreError: something else is in its place, or it belongs to somebody else.
        OSError: it can't be opened; a FileNotFoundError where there is none.
    """
    folder = layout.staging_folder(store)
    with ExitStack() as held:
        try:
            staging = held.enter_context(opened_folder(folder))
        except NotADirectoryError:
            check(store)
            raise
        if not _is_trusted(staging, store):
            raise _refusal(folder, f"a folder of user {os.fstat(staging).st_uid}")
        yield staging


def _instead(folder: Path) -> str | None:
    """What is there instead of a folder; None where one is, or nothing."""
    if folder.is_symlink():
        return "a link, which is not followed"
    return "no folder" if folder.exists() and not folder.is_dir() else None


def _refusal(folder: Path, what: str) -> StoreError:
    return StoreError(
        f"{folder}, where versions are staged, must be a folder of yours. Got {what}. Remove it, "
        "or ",
        another("store"),
    )


def _is_trusted(staging: int, store: Path) -> bool:
    """Whether the staging folder belongs to the user, to the store's owner, or to its group.

    The group counts where the store has setgid, which says that members share it, and others can't
    write to it. Before there is a store, the folder that it will be in counts instead. Some file
    systems give all files to one owner, whoever makes them, so what is made here tells, too.
    """
    folder = os.fstat(staging)
    if folder.st_uid == os.geteuid():
        return True
    place = (store if store.exists() else layout.staging_folder(store).parent).stat()
    is_shared = place.st_mode & (stat.S_ISGID | stat.S_IWOTH) == stat.S_ISGID
    if folder.st_uid == place.st_uid or (is_shared and folder.st_gid == place.st_gid):
        return True
    return folder.st_uid == _owner_of_new_files(staging)


def _owner_of_new_files(folder: int) -> int | None:
    """User to whom a file belongs that this process makes in a folder; None where it can't."""
    name = f"{uuid.uuid4().hex}.json"
    try:
        made = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
    except OSError:
        return None
    try:
        return os.fstat(made).st_uid
    finally:
        os.close(made)
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)


def _left(staging: int) -> list[str]:
    """Names of what killed processes left in the staging folder, sorted."""
    return sorted(name for name in os.listdir(staging) if _is_left(staging, name))


def _is_left(staging: int, name: str) -> bool:
    """Whether an entry is one that the package makes, and no living process holds its lock."""
    try:
        mode = os.stat(name, dir_fd=staging, follow_symlinks=False).st_mode
        if _FILE.fullmatch(name):
            return stat.S_ISREG(mode)
        if not _FOLDER.fullmatch(name) or not stat.S_ISDIR(mode):
            return False
        with locked_folder(name, staging):
            return True
    except (BlockingIOError, FileNotFoundError):
        return False


@contextmanager
def _waited_for(
    awaited: str, take: Callable[[ExitStack], int | None], step: float, longest: float
) -> Iterator[int]:
    """Hold a lock as soon as it can be taken.

    Args:
        awaited: what is waited for, in messages.
        take: tries to take it; None where another process has it.
        step: seconds between two attempts.
        longest: seconds of waiting after which that is an error.
    """
    began, is_told = time.monotonic(), False
    while True:
        with ExitStack() as held:
            if (taken := take(held)) is not None:
                yield taken
                return
        waited = time.monotonic() - began
        if waited > longest:
            raise StoreError(
                f"Waited {waited:.0f} s for {awaited}. End that process, or try again later."
            )
        if waited > SILENT and not is_told:
            logging.getLogger(__name__).warning("Waiting for %s.", awaited)
            is_told = True
        time.sleep(step)


def _got_lock(store: Path, held: ExitStack) -> int | None:
    """Take the store's lock; None if it is held, or the folder went meanwhile."""
    folder = layout.staging_folder(store)
    held.enter_context(interrupts_deferred())
    if not folder.parent.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir()
    try:
        staging = held.enter_context(_opened(store))
        lock(staging, folder)
    except (BlockingIOError, FileNotFoundError):
        return None
    held.callback(remove_empty, folder)
    return staging


def _got_turn(store: Path, key: str, held: ExitStack) -> int | None:
    """Take the lock of a folder within the staging folder; None if another process has it."""
    with locked(store) as staging:
        held.callback(tidy, store)
        with suppress(FileExistsError):
            os.mkdir(key, dir_fd=staging)
        try:
            turn = held.enter_context(locked_folder(key, staging))
        except (BlockingIOError, FileNotFoundError):
            return None
        held.callback(remove_empty, layout.staging_folder(store) / key)
        return turn
