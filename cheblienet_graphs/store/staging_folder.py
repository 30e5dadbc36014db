"""The folder beside a store where versions are staged, and its lock, which is that of the store.

Processes find it by its name alone, so anything may lie there: a link that an archive unpacked, or
the folder of somebody else. It is therefore opened without following links, and has to belong to
the user or to somebody who shares the store.
"""

import logging
import os
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.machine.interrupts import interrupts_deferred
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import (
    check_writable,
    lock,
    locked_folder,
    opened_folder,
    remove_empty,
)
from cheblienet_graphs.store.sharing import group_rights, is_shared, share

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


def check(store: Path) -> None:
    """Make sure, without writing, that the staging folder is a folder or can become one.

    Raises:
        StoreError: something else is there.
    """
    folder = layout.staging_folder(store)
    if what := instead(folder):
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
def locked_alone(store: Path) -> Iterator[None]:
    """Hold the store's lock where there is no space for a staging folder.

    Who has a staging folder locks the folder of the store, too.

    Args:
        store: must exist.

    Raises:
        StoreError: another process holds the lock for too long.
        OSError: the folder can't be opened.
    """
    awaited = f"the lock of {store}, which another process holds"
    with (
        interrupts_deferred(),
        _waited_for(awaited, partial(_got_store, store), LOCK_TRIED_AGAIN, LONGEST_LOCK),
    ):
        yield


@contextmanager
def exclusively(store: Path, key: str) -> Iterator[None]:
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
    with interrupts_deferred(), suppress(OSError, StoreError), _opened(store) as staging:
        lock(staging, folder)
        folder.rmdir()


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
        owner = os.fstat(staging).st_uid
        if not is_known(staging, store) and owner != owner_of_new_files(staging):
            whose = f"a folder of user {owner}"
            raise _refusal(folder, whose, "Let them end their build, or remove what it left")
        yield staging


def instead(folder: Path) -> str | None:
    """Words for what is there instead of a folder; None where one is, or nothing."""
    if folder.is_symlink():
        return "a link, which is not followed"
    return "no folder" if folder.exists() and not folder.is_dir() else None


def _refusal(folder: Path, what: str, remedy: str = "Remove it") -> StoreError:
    return StoreError(
        f"{folder}, where versions are staged, must be a folder of yours. Got {what}. "
        f"{remedy}, or choose another `store`."
    )


def is_known(staging: int, store: Path) -> bool:
    """Check whether the staging folder belongs to this user, or to somebody who shares the store.

    These are the store's owner, the owner of the folder that it is in, and the group of that folder
    where it has setgid and is not writable for everybody: then only members can have made it.
    """
    staged = os.fstat(staging)
    place = layout.staging_folder(store).parent.stat()
    owners = {os.geteuid(), place.st_uid}
    with suppress(FileNotFoundError):  # before there is a store
        owners.add(store.stat().st_uid)
    return staged.st_uid in owners or (is_shared(place) and staged.st_gid == place.st_gid)


def owner_of_new_files(folder: int) -> int | None:
    """User to whom a file belongs that this process makes in a folder; None where it can't.

    This is the process' own user, but on file systems that give all files to another one.
    """
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

    Yields:
        The result of `take`: a descriptor of the locked folder.

    Raises:
        StoreError: another process holds it for longer.
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
    try:
        folder.mkdir()
    except FileExistsError:
        pass
    except PermissionError:
        check_writable(folder.parent)  # says where
        raise
    try:
        staging = held.enter_context(_opened(store))
        lock(staging, folder)
        _share(staging, folder.parent)
        if store.exists() and _got_store(store, held) is None:
            return None
    except (BlockingIOError, FileNotFoundError):
        return None
    held.callback(remove_empty, folder)
    return staging


def _got_store(store: Path, held: ExitStack) -> int | None:
    """Take the lock of the folder of a store; None if another process has it."""
    place = os.path.realpath(store)
    try:
        folder = held.enter_context(opened_folder(place))
        lock(folder, place)
    except BlockingIOError:
        return None
    return folder


def _share(staging: int, place: Path) -> None:
    """Let the group that a place is shared with stage versions there, too.

    Nobody can rename or delete what another one stages: workers find it by its path.
    """
    status = os.fstat(staging)
    if status.st_uid == os.geteuid() and group_rights(place.stat()) & stat.S_IWGRP:
        share(staging, place.stat())
        mode = stat.S_IMODE(os.fstat(staging).st_mode)
        if not mode & stat.S_ISVTX:
            os.fchmod(staging, mode | stat.S_ISVTX)


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
        except NotADirectoryError:
            place = layout.staging_folder(store) / key
            raise StoreError(f"{place} must be a folder. Got something else; remove it.") from None
        held.callback(remove_empty, layout.staging_folder(store) / key)
        return turn
