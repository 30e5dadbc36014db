"""Deleting a version of a graph: it is taken out with one rename, and takes no space for that."""

import os
import stat
import uuid
from contextlib import ExitStack, suppress
from pathlib import Path

from cheblienet_graphs.store import catalog, layout
from cheblienet_graphs.store.durable import (
    FULL_DISK,
    NotDurableError,
    half_done,
    opened_folder,
    replace_by,
    undone,
)
from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_graphs.store.groups import document_of, replace_attributes
from cheblienet_graphs.store.leftovers import discard
from cheblienet_graphs.store.sharing import is_kept_from_user

DEEPEST = 8
"""Folders below one another in a version are no more than these."""


def size_of(version: Folder) -> int:
    """Size of the files of a version, metadata included.

    Raises:
        StoreError: it can't be read.
    """
    entries = version.walk(lambda path: path.count("/") < DEEPEST)
    return sum(status.st_size for _, status in entries if stat.S_ISREG(status.st_mode))


def delete(graph: Folder, version: str, staging: int | None) -> int:
    """Take a version out of its graph, with the refs that name it, then delete it.

    Args:
        graph: the graph.
        version: name of the version.
        staging: descriptor of the staging folder, which the caller must have locked; None where
            there is no space for one. Then the version takes its place.

    Returns:
        The size of its files.

    Raises:
        StoreError: it can't be read.
        OSError: of the file system; then nothing was changed.
    """
    nbytes = size_of(graph / version)
    after = _without(layout.read_attributes(graph) or {}, version)
    with ExitStack() as held:
        folder = held.enter_context(graph.descriptor())
        if staging is None:
            place = layout.staging_folder(Path(graph.parent))
            within = held.enter_context(opened_folder(place.parent))
            doomed = place.name
            _take_out_without_space(folder, version, after, doomed, within)
        else:
            within, doomed = staging, _doomed(graph / version, staging)
            _take_out(graph, version, after, doomed, staging)
        with suppress(OSError):  # it stays among leftovers
            discard(doomed.partition("/")[0], within)
    return nbytes


def _doomed(version: Folder, staging: int) -> str:
    """A path in the staging folder for a version that goes.

    That of another user goes into a folder of one's own: who shares a store can't delete what is
    another's there.
    """
    status = version.status()
    name = uuid.uuid4().hex
    if status is None or not is_kept_from_user(status, os.fstat(staging)):
        return name
    try:
        os.mkdir(name, dir_fd=staging)
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise
        return name  # its empty folder stays among leftovers of that user
    return f"{name}/version"


def _take_out(
    graph: Folder, version: str, after: layout.Attributes, doomed: str, staging: int
) -> None:
    """Give a graph the attributes that it has without a version, and move that away."""
    before = layout.read_attributes(graph) or {}
    with undone(), graph.descriptor() as folder:
        try:
            replace_attributes(graph, after, staging)
            os.rename(version, doomed, src_dir_fd=folder, dst_dir_fd=staging)
        except BaseException as error:
            with suppress(OSError):
                replace_attributes(graph, before, staging)
            if isinstance(error, OSError) and layout.read_attributes(graph) != before:
                raise half_done(graph, error) from error
            if not isinstance(error, OSError) or error.errno not in FULL_DISK:
                raise
            _take_out_without_space(folder, version, after, doomed, staging)


def _take_out_without_space(
    graph: int, version: str, after: layout.Attributes, doomed: str, within: int
) -> None:
    """Move a version away; the graph's attributes are written over its own document."""
    os.rename(version, doomed, src_dir_fd=graph, dst_dir_fd=within)
    try:
        # Whether it is durable is not said of versions that are deleted with space, either.
        with opened_folder(doomed, within) as folder, suppress(NotDurableError):
            replace_by(graph, DOCUMENT, document_of(after), DOCUMENT, folder)
    except BaseException:
        os.rename(doomed, version, src_dir_fd=within, dst_dir_fd=graph)
        raise


def _without(attributes: layout.Attributes, version: str) -> layout.Attributes:
    """A graph's attributes after a version's removal; they keep the highest number removed."""
    refs = {ref: v for ref, v in attributes.get("refs", {}).items() if v != version}
    past = [*catalog.newest_removed(attributes), version]
    return attributes | {"refs": refs, "removed": max(past, key=layout.version_number)}
