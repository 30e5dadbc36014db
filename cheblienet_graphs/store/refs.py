"""Which versions of a graph there are and what they are called, changed under a lock."""

import errno
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cheblienet_graphs.errors import StoreError, UnknownGraphError
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import locked_folder, replace, sync, write_errors

LIKE_VERSION = re.compile(r"v[0-9]+")


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
        raise StoreError(f"{graph} exists and is not a graph of ours; choose another `name`.")


def publish(store: Path, name: str, staged: Path) -> str:
    """Move a sealed version into the store as the next one of its graph, and as the latest.

    Returns:
        The version's name.

    Raises:
        StoreError: the store or the graph's name belongs to something else.
        OSError: the file system refused; then nothing was published.
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
        before = layout.read_attributes(graph) or {}
        published = _rename_to_next(graph, staged)
        try:
            sync(graph)
            _change_refs(store, graph, lambda refs: refs | {"latest": published.name})
        except BaseException:
            published.rename(staged)
            with suppress(OSError):
                _replace_attributes(store, graph, before)
            raise
    return published.name


def tag(store: Path, name: str, ref: str) -> Path:
    """Give a version a further name, or move that name to it.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF.
        ref: the name to give.

    Returns:
        The version's folder.

    Raises:
        UnknownGraphError: there is no such version, or `ref` can't be a name.
        StoreError: the store can't be written to.
    """
    _check_ref(ref)
    with _changing(store):
        version = layout.resolve(store, name)
        _change_refs(store, version.parent, lambda refs: refs | {ref: version.name})
    return version


def untag(store: Path, name: str, ref: str) -> None:
    """Take a name from the versions of a graph.

    Raises:
        UnknownGraphError: there is no such graph or ref.
        StoreError: the store can't be written to.
    """
    _check_ref(ref)
    with _changing(store):
        graph = layout.resolve(store, name).parent
        if ref not in layout.refs(graph):
            raise UnknownGraphError(f"{graph.name} has no ref {ref!r}.")
        _change_refs(store, graph, lambda refs: {k: v for k, v in refs.items() if k != ref})


def remove(store: Path, name: str, *, force: bool = False) -> Path:
    """Delete a version. Maps of it live on; its number is not given again.

    Args:
        store: path of the store.
        name: NAME@v001 or NAME@REF.
        force: even if refs other than `latest` name it; they go too.

    Returns:
        Where the version was.

    Raises:
        UnknownGraphError: there is no such version, or `name` names none.
        StoreError: refs name it, or the store can't be written to.
    """
    if "@" not in name:
        raise UnknownGraphError(f"Say which version: {name}@v001, or {name}@latest.")
    with _changing(store):
        version = layout.resolve(store, name)
        graph, refs = version.parent, layout.refs(version.parent)
        naming = sorted(r for r, v in refs.items() if v == version.name and r != "latest")
        if naming and not force:
            raise StoreError(
                f"{graph.name}@{version.name} is named {', '.join(naming)}; `force=True` removes "
                "it all the same."
            )
        doomed = layout.staging_folder(store) / uuid.uuid4().hex
        before = layout.read_attributes(graph) or {}
        try:
            _replace_attributes(store, graph, _without(before, version.name))
            version.rename(doomed)
        except BaseException:
            with suppress(OSError):
                _replace_attributes(store, graph, before)
            raise
        shutil.rmtree(doomed, ignore_errors=True)
    return version


@contextmanager
def locked(store: Path) -> Iterator[None]:
    """Hold the store's lock, which is that of its staging folder."""
    with locked_folder(layout.staging_folder(store)):
        yield


@contextmanager
def _changing(store: Path) -> Iterator[None]:
    """Hold the lock of a store that must exist; what the system refuses is a StoreError."""
    if not layout.check_store(store):
        raise UnknownGraphError(f"There is no store at {store}; `clg build` makes one.")
    with write_errors(store, "Nothing was changed"):
        layout.staging_folder(store).mkdir(exist_ok=True)
        with locked(store):
            yield


def _check_ref(ref: str) -> None:
    if not layout.NAME.fullmatch(ref) or LIKE_VERSION.fullmatch(ref) or ref == "latest":
        raise UnknownGraphError(
            "A ref must be 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or "
            f"digit, not look like a version and not be 'latest'. Got {ref!r}."
        )


def _change_refs(
    store: Path, graph: Path, change: Callable[[dict[str, str]], dict[str, str]]
) -> None:
    attributes = layout.read_attributes(graph) or {}
    _replace_attributes(store, graph, attributes | {"refs": change(layout.refs(graph))})


def _without(attributes: layout.Attributes, version: str) -> layout.Attributes:
    """A graph's attributes after a version's removal, whose number they keep in mind."""
    refs = {ref: v for ref, v in attributes.get("refs", {}).items() if v != version}
    past = [*_removed(attributes), version]
    return attributes | {"refs": refs, "removed": max(past, key=layout.version_number)}


def _removed(attributes: layout.Attributes) -> list[str]:
    """The newest version that was removed, if any."""
    found = attributes.get("removed")
    return [found] if isinstance(found, str) and layout.VERSION.fullmatch(found) else []


def _replace_attributes(store: Path, group: Path, attributes: layout.Attributes) -> None:
    contents = layout.document_bytes(layout.group_document({"clg": attributes}))
    temporary = layout.staging_folder(store) / f"{uuid.uuid4().hex}.json"
    replace(group / "zarr.json", contents, temporary)


def _rename_to_next(graph: Path, staged: Path) -> Path:
    used = [*layout.versions(graph), *_removed(layout.read_attributes(graph) or {})]
    number = 1 + max(map(layout.version_number, used), default=0)
    while True:
        version = graph / f"v{number:03d}"
        try:
            staged.rename(version)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
            number += 1
        else:
            return version
