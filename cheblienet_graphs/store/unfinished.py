"""What builds leave in the staging folder: whole, so that another can go on, or not at all."""

import json
import shutil
import uuid
from pathlib import Path
from typing import Any

IDENTITY = "build.json"
"""Written when everything else of a staged version is there, and deleted before it."""
VERSION, FINISHED = "version", "finished"

Identity = dict[str, Any]


def identity_of(folder: Path) -> Identity | None:
    """What is built in a folder; None where nobody can go on with it.

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
        OSError: the system refused.
    """
    (folder / IDENTITY).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():  # a block at work there made something new, which it can't elsewhere
        shutil.rmtree(folder.rename(folder.with_name(uuid.uuid4().hex)))
