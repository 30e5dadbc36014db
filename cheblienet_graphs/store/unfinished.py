"""Unfinished builds in the staging folder: complete enough to be resumed, or deleted."""

import json
import shutil
import uuid
from pathlib import Path
from typing import Any

IDENTITY = "build.json"
"""File that is written after everything else of a staged version, and deleted first."""
VERSION, FINISHED = "version", "finished"

Identity = dict[str, Any]


def identity_of(folder: Path) -> Identity | None:
    """The identity of the build in a folder; None where it can't be resumed.

    Raises:
        OSError: the folder can't be read.
    """
    try:
        identity = json.loads((folder / IDENTITY).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):  # not a build's, or not whole
        return None
    whole = all((folder / part).is_dir() for part in (VERSION, FINISHED))
    return identity if whole and isinstance(identity, dict) else None


def discard(folder: Path) -> None:
    """Delete a staged version.

    Raises:
        OSError: it can't be deleted.
    """
    (folder / IDENTITY).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():  # a running block made a file during this; renamed, none can
        shutil.rmtree(folder.rename(folder.with_name(uuid.uuid4().hex)))
