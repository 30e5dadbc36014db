"""Publishing a staged version: one rename, which is undone where what follows it fails."""

import errno
import os
import shutil
import stat
import uuid
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.store import catalog, layout
from cheblienet_graphs.store.durable import (
    half_done,
    locked_folder,
    sync,
    sync_change,
    undone,
    write,
)
from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_graphs.store.groups import document_of, replace_attributes, set_refs
from cheblienet_graphs.store.removal import size_of
from cheblienet_graphs.store.sharing import share


@dataclass(frozen=True)
class InStore:
    """A version in a store, of a graph or of a map.

    Args:
        store, name, version: where it is.
        built: False where it was there already.
        difference: a sentence on how its specification differs from that of the version that the
            name stood for before, or stands for where nothing was built; "" where it does not.
    """

    store: Path
    name: str
    version: str
    built: bool
    difference: str = field(default="", kw_only=True)

    @property
    def nbytes(self) -> int:
        """Size of its files, metadata included."""
        return size_of(Folder(self.store) / self.name / self.version)


def check_graph(store: str | os.PathLike[str], name: str, *, is_map: bool) -> None:
    """Make sure that a graph, or a map, of that name could be published.

    Raises:
        StoreError: the store or the name belongs to something else, the newest version that can be
            read is of the other kind, or the store can't be read.
    """
    place = Folder(store)
    if not catalog.check_store(place):
        return
    graph = place / name
    if (status := graph.status()) is None:
        return
    if stat.S_ISLNK(status.st_mode):
        raise StoreError(f"{graph} is a link, which is not followed; choose another `name`.")
    entries = dict(graph.entries()) if stat.S_ISDIR(status.st_mode) else None
    has_document = entries and DOCUMENT in entries
    if entries != {} and not (has_document and layout.read_attributes(graph) is not None):
        raise StoreError(f"{graph} exists and is not a graph of ours; choose another `name`.")
    for _, attributes in catalog.readable(graph, layout.check_version):
        if (layout.MAP in attributes) == is_map:
            return
        held = "graph" if is_map else "map between samplings"
        raise StoreError(f"{name} in {place} is a {held}; choose another `name`.")


def publish(store: str | os.PathLike[str], name: str, staged: Folder, staging: int) -> str:
    """Move a sealed version into the store as the next one of its graph, and as the latest.

    Args:
        store: path of the store.
        name: of the graph.
        staged: the sealed version.
        staging: descriptor of the staging folder; the caller must hold its lock.

    Returns:
        The version's name.

    Raises:
        StoreError: the store or the graph's name belongs to something else.
        OSError: of the file system; then nothing was published.
    """
    check_graph(store, name, is_map=layout.MAP in (layout.read_attributes(staged) or {}))
    place = Folder(os.path.realpath(store))  # a link to where it is to be made
    graph = place / name
    with undone(), ExitStack() as undo:
        if not catalog.check_store(place):
            _make_group(place, {"store_schema": layout.STORE_SCHEMA}, staging, undo)
        if (graph / DOCUMENT).status() is None:
            _make_group(graph, {"refs": {}}, staging, undo)
        before = layout.read_attributes(graph) or {}
        published = _rename_to_next(graph, staged)
        undo.callback(_take_back, graph / published, staged, before, staging)
        with graph.descriptor() as folder:
            sync_change(folder)
        set_refs(graph, catalog.refs(graph) | {"latest": published}, staging)
        undo.pop_all()
    return published


def _make_group(
    group: Folder, attributes: layout.Attributes, staging: int, undo: ExitStack
) -> None:
    """Make a group: a folder that is there becomes one, another appears with its attributes."""
    if group.status() is not None:
        undo.callback(_unmake_group, group)
        replace_attributes(group, attributes, staging)
        return
    made, contents = uuid.uuid4().hex, document_of(attributes)
    with group.parent.descriptor() as above:
        try:
            os.mkdir(made, dir_fd=staging)
            with locked_folder(made, staging) as folder:
                share(folder, os.fstat(above))
                write(DOCUMENT, contents, folder)
                sync(DOCUMENT, folder)
                os.rename(made, group.name, src_dir_fd=staging, dst_dir_fd=above)
        finally:
            shutil.rmtree(made, ignore_errors=True, dir_fd=staging)
        undo.callback(_remove_group, group)
        sync_change(above)


def _unmake_group(group: Folder) -> None:
    with group.descriptor() as folder, suppress(FileNotFoundError):
        os.unlink(DOCUMENT, dir_fd=folder)


def _remove_group(group: Folder) -> None:
    """Remove a group that holds nothing but its document."""
    with group.parent.descriptor() as above, suppress(OSError):
        _unmake_group(group)
        os.rmdir(group.name, dir_fd=above)


def _take_back(published: Folder, staged: Folder, before: layout.Attributes, staging: int) -> None:
    """Undo a publication that could not be finished."""
    try:
        _move(published, staged)
    except OSError as error:
        raise half_done(published, error) from error
    with suppress(OSError):
        replace_attributes(published.parent, before, staging)


def _rename_to_next(graph: Folder, staged: Folder) -> str:
    """Give a staged version the next number, or a later one where something has that name."""
    used = [*catalog.versions(graph), *catalog.newest_removed(layout.read_attributes(graph) or {})]
    first = 1 + max(map(layout.version_number, used), default=0)
    for number in range(first, layout.LAST_VERSION + 1):
        name = f"v{number:03d}"
        try:
            _move(staged, graph / name)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
                raise
        else:
            return name
    raise OSError(errno.EOVERFLOW, f"{graph.name} has no version numbers left")


def _move(folder: Folder, target: Folder) -> None:
    with folder.parent.descriptor() as source, target.parent.descriptor() as above:
        os.rename(folder.name, target.name, src_dir_fd=source, dst_dir_fd=above)
