"""Which versions of a graph there are and what they are called, changed under a lock."""

import errno
import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import replace, sync


def check_graph(store: Path, name: str) -> None:
    """Make sure that a graph of that name could be published.

    Raises:
        StoreError: the store or the name belongs to something else.
    """
    graph = store / layout.check_name(name)
    if not layout.check_store(store):
        return
    if (graph / "zarr.json").exists():
        ours = layout.read_attributes(graph) is not None
    else:
        ours = not graph.exists() or (graph.is_dir() and not any(graph.iterdir()))
    if not ours:
        raise StoreError(f"{graph} exists and is not a graph of ours; choose another --name.")


def publish(store: Path, name: str, staged: Path) -> str:
    """Move a sealed version into the store as the next one of its graph, and as the latest.

    Returns:
        The version's name.

    Raises:
        StoreError: the store or the graph's name belongs to something else.
        OSError: the file system refused.
    """
    with locked(store):
        check_graph(store, name)
        graph = store / name
        if not layout.check_store(store):
            store.mkdir(exist_ok=True)
            _replace_attributes(store, store, {"store_schema": layout.STORE_SCHEMA})
        if not (graph / "zarr.json").exists():
            graph.mkdir(exist_ok=True)
            _replace_attributes(store, graph, {"refs": {}})
        version = _rename_to_next(graph, staged)
        _replace_attributes(store, graph, {"refs": layout.refs(graph) | {"latest": version}})
    return version


@contextmanager
def locked(store: Path) -> Iterator[None]:
    """Hold the store's lock, which lies in its staging folder."""
    lock = layout.staging_folder(store) / "lock"
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace_attributes(store: Path, group: Path, attributes: layout.Attributes) -> None:
    contents = layout.document_bytes(layout.group_document({"clg": attributes}))
    temporary = layout.staging_folder(store) / f"{uuid.uuid4().hex}.json"
    replace(group / "zarr.json", contents, temporary)


def _rename_to_next(graph: Path, staged: Path) -> str:
    existing = layout.versions(graph)
    number = layout.version_number(existing[-1]) + 1 if existing else 1
    while True:
        version = f"v{number:03d}"
        try:
            staged.rename(graph / version)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
            number += 1
        else:
            sync(graph)
            return version
