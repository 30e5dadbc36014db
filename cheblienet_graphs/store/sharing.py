"""Stores that a group shares: in a folder with setgid, its group gets rights to new files, too."""

import grp
import os
import pwd
import stat
from collections.abc import Callable, Sequence
from pathlib import Path


def group_rights(folder: os.stat_result) -> int:
    """Bits of a mode that give new folders the rights of the group; 0 where it shares nothing."""
    return folder.st_mode & stat.S_IRWXG if folder.st_mode & stat.S_ISGID else 0


def share(made: int, within: os.stat_result) -> None:
    """Give the group the rights to a new file or folder that it has to the folder around it.

    Files can only be read: they are replaced, never written.

    Args:
        made: descriptor of the file or folder.
        within: status of the folder around it; without setgid nothing is done.
    """
    status = os.fstat(made)
    rights = group_rights(within)
    if not stat.S_ISDIR(status.st_mode):
        rights &= stat.S_IRGRP
    mode = stat.S_IMODE(status.st_mode)
    if mode | rights != mode:
        os.fchmod(made, mode | rights)


def is_shared(folder: os.stat_result) -> bool:
    """Check whether only members of its group, and its owner, can make entries in a folder."""
    return folder.st_mode & (stat.S_ISGID | stat.S_IWOTH) == stat.S_ISGID


def is_kept_from_user(entry: os.stat_result, folder: os.stat_result) -> bool:
    """Check whether an entry of a folder is another user's, and only that user's to delete."""
    user = os.geteuid()
    return bool(folder.st_mode & stat.S_ISVTX) and user not in {0, entry.st_uid, folder.st_uid}


def missing_right(folder: Path) -> str | None:
    """Words for what a user needs who may not write in a folder; None where it is unknown."""
    try:
        status = folder.stat()
    except OSError:
        return None
    if status.st_uid == os.geteuid():  # whom the rights of the group do not help
        lacks = ~status.st_mode & (stat.S_IWUSR | stat.S_IXUSR)
        return f"{folder} is yours: chmod u+wx {folder}" if lacks else None
    owner, group = _name(pwd.getpwuid, status.st_uid), _name(grp.getgrgid, status.st_gid)
    if status.st_gid not in {os.getegid(), *os.getgroups()} or status.st_mode & stat.S_IWGRP:
        return f"{folder} belongs to {owner}: ask for the right to write there, or choose another"
    return f"group {group} may not write in {folder}, which {owner} can change: chmod g+ws {folder}"


def _name(entry: Callable[[int], Sequence[object]], number: int) -> object:
    """Name of a user or a group; the number without a known name."""
    try:
        return entry(number)[0]
    except KeyError:
        return number
