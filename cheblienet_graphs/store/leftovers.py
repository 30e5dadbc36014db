"""Leftovers of killed processes in the staging folder: recognized among other files, and deleted.

Only entries are deleted that have the names which the package gives; links are never followed.
"""

import errno
import os
import re
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from cheblienet_graphs.store import layout, staging_folder
from cheblienet_graphs.store.durable import locked_folder, opened_folder, write_errors
from cheblienet_graphs.store.sharing import is_kept_from_user

IDENTITY = "build.json"
"""File that is written after everything else of a staged version, and deleted first."""
_RANDOM = r"[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}"
_BUILD = re.compile(_RANDOM)
"""Name of the folder of a staged version, or of a version that is being deleted."""
_FOLDER = re.compile(rf"{_RANDOM}|opening-[0-9a-f]{{32}}")
"""Name of a folder that the package makes; folders of turns are called opening-."""
_FILE = re.compile(rf"{_RANDOM}\.json")
"""Name of a document before it is renamed to its place."""
_DEEPEST = 16
"""Folders below one another in that of a build are fewer than these."""
_ABSENT = (FileNotFoundError, NotADirectoryError, PermissionError)
"""Errors of opening the staging folder where there is none that this user may see."""


def leftovers(store: str | Path) -> list[Path]:
    """Files that killed builds left beside a store, without files of running builds.

    A folder of somebody else has none: its files are not this user's to delete.

    Raises:
        StoreError: another process holds the store's lock for too long.
    """
    store = layout.store_path(store)
    folder = layout.staging_folder(store)
    with suppress(*_ABSENT), opened_folder(folder) as staging:
        may_delete = os.access(".", os.W_OK, dir_fd=staging)
        if may_delete and staging_folder.is_known(staging, store):
            with staging_folder.locked(store) as held:  # else a build finds its own folder locked
                return [folder / name for name in _left(held)]
    return []


def foreign(store: Path) -> Iterator[tuple[str, str]]:
    """Entries that no build left: in the staging folder, or in its place.

    Yields:
        Its path from the folder that the store is in, and what is said of it.
    """
    folder = layout.staging_folder(store)
    if what := staging_folder.instead(folder):
        yield folder.name, f"is {what}: nothing can be built or changed before it is removed"
        return
    with suppress(*_ABSENT), opened_folder(folder) as staging:
        if not staging_folder.is_known(staging, store):
            yield folder.name, f"belongs to user {os.fstat(staging).st_uid}, who may be building"
            return
        for name in sorted(os.listdir(staging)):
            with suppress(FileNotFoundError):
                if not _is_ours(staging, name):
                    yield f"{folder.name}/{name}", "was not left by a build and is never deleted"


def clean(store: str | Path) -> list[Path]:
    """Delete the leftovers of a store.

    Returns:
        What was deleted.

    Raises:
        StoreError: some of them can't be deleted; all others are.
    """
    store = layout.store_path(store)
    folder = layout.staging_folder(store)
    if not os.path.lexists(folder):
        return []
    refused: list[OSError] = []
    with write_errors(store, "Not everything was cleaned"), staging_folder.locked(store) as staging:
        names = _left(staging)
        for name in names:
            try:
                if _FILE.fullmatch(name):
                    os.unlink(name, dir_fd=staging)
                else:
                    discard(name, staging)
            except OSError as error:
                refused.append(error)
        if refused:
            raise refused[0]
    return [folder / name for name in names]


def builds(staging: int) -> list[str]:
    """Names of the folders that can belong to staged versions, sorted.

    Args:
        staging: descriptor of the staging folder.
    """
    return sorted(name for name in os.listdir(staging) if _BUILD.fullmatch(name))


def is_plain(folder: int, owner: int | None) -> bool:
    """Check whether there are only folders and files below a folder, no links, and all of one user.

    Nothing outside of it is then changed through what is in it; a file that has another name, too,
    may be outside.

    Args:
        folder: its descriptor.
        owner: the user, as `owner_of_new_files` has it.

    Raises:
        OSError: it can't be read.
    """

    def fail(error: OSError) -> NoReturn:
        raise error

    for path, folders, files, above in os.fwalk(".", dir_fd=folder, onerror=fail):
        if path.count("/") > _DEEPEST:
            return False
        for name in (".", *folders, *files):
            status = os.stat(name, dir_fd=above, follow_symlinks=False)
            is_file = stat.S_ISREG(status.st_mode) and status.st_nlink <= 1
            if not (is_file or stat.S_ISDIR(status.st_mode)) or status.st_uid != owner:
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
    with suppress(FileNotFoundError, IsADirectoryError), opened_folder(name, staging) as folder:
        os.unlink(IDENTITY, dir_fd=folder)
    try:
        shutil.rmtree(name, dir_fd=staging, ignore_errors=True)
        if name in os.listdir(staging):  # a running block made a file; renamed, none can
            renamed = uuid.uuid4().hex
            os.rename(name, renamed, src_dir_fd=staging, dst_dir_fd=staging)
            shutil.rmtree(renamed, dir_fd=staging)
    except RecursionError:
        raise OSError(errno.ELOOP, f"folders in {name} are nested too deep") from None


def _left(staging: int) -> list[str]:
    """Names of what killed processes left in the staging folder, sorted."""
    return sorted(name for name in os.listdir(staging) if _is_left(staging, name))


def _is_left(staging: int, name: str) -> bool:
    """Check whether an entry is one that the package makes, and no living process holds its lock.

    One that is another user's is not this user's to delete.
    """
    try:
        status = os.stat(name, dir_fd=staging, follow_symlinks=False)
        if not _is_ours(staging, name) or is_kept_from_user(status, os.fstat(staging)):
            return False
        if _FILE.fullmatch(name):
            return True
        with locked_folder(name, staging):
            return True
    except (BlockingIOError, FileNotFoundError, PermissionError):
        return False


def _is_ours(staging: int, name: str) -> bool:
    """Check whether an entry is a folder or a file with a name that the package gives to such."""
    mode = os.stat(name, dir_fd=staging, follow_symlinks=False).st_mode
    if _FILE.fullmatch(name):
        return stat.S_ISREG(mode)
    return bool(_FOLDER.fullmatch(name)) and stat.S_ISDIR(mode)
