"""The versions of a graph and their names, changed under a lock."""

import errno
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from cheblienet_graphs.errors import Remedy, StoreError, UnknownGraphError, another, listed, quoted
from cheblienet_graphs.limits import Number, integer
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import locked_folder, remove_empty, replace, sync, write_errors
from cheblienet_graphs.store.staging_folder import locked

LIKE_VERSION = re.compile(r"v[0-9]+")
UNCHANGED = "Nothing was changed"


@dataclass(frozen=True)
class Removed:
    """Versions of a graph that were deleted.

    Args:
        graph: its name.
        versions: their names, oldest first.
        nbytes: size of their files; processes that have them mapped still use that disk space.
        spared: version -> refs, for versions that stay only because refs name them.
    """

    graph: str
    versions: tuple[str, ...]
    nbytes: int
    spared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def check_graph(store: Path, name: str, *, is_map: bool) -> None:
    """Make sure that a graph, or a map, of that name could be published.

    Raises:
        StoreError: the store or the name belongs to something else, the newest version that can be
            read is of the other kind, or the store can't be read.
    """
    graph = store / name
    if not layout.check_store(store) or not os.path.lexists(graph):
        return
    if graph.is_symlink():
        raise StoreError(f"{graph} is a link, which is not followed; ", another("name"))
    if (graph / "zarr.json").exists():
        ours = layout.read_attributes(graph) is not None
    else:
        ours = graph.is_dir() and not any(graph.iterdir())
    if not ours:
        raise StoreError(f"{graph} exists and is not a graph of ours; ", another("name"))
    for _, attributes in layout.readable(graph, layout.check_version):
        if (layout.MAP in attributes) == is_map:
            return
        held = "graph" if is_map else "map between samplings"
        raise StoreError(f"{name} in {store} is a {held}; ", another("name"))


def publish(store: Path, name: str, staged: Path) -> str:
    """Move a sealed version into the store as the next one of its graph, and as the latest.

    The caller must hold the store's lock.

    Returns:
        The version's name.

    Raises:
        StoreError: the store or the graph's name belongs to something else.
        OSError: of the file system; then nothing was published.
    """
    check_graph(store, name, is_map=layout.MAP in (layout.read_attributes(staged) or {}))
    graph = store / name
    with ExitStack() as undo:
        if not layout.check_store(store):
            _make_group(store, store, {"store_schema": layout.STORE_SCHEMA}, undo)
        if not (graph / "zarr.json").exists():
            _make_group(store, graph, {"refs": {}}, undo)
        before = layout.read_attributes(graph) or {}
        published = _rename_to_next(graph, staged)
        undo.callback(_take_back, store, published, staged, before)
        sync(graph)
        _set_refs(store, graph, layout.refs(graph) | {"latest": published.name})
        undo.pop_all()
    return published.name


def tag(store: str | Path, name: str, ref: str) -> Path:
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
    with _changing(store) as store:
        version = layout.resolve(store, name)
        _set_refs(store, version.parent, layout.refs(version.parent) | {ref: version.name})
    return version


def untag(store: str | Path, name: str, ref: str) -> None:
    """Remove a ref of a graph.

    Raises:
        UnknownGraphError: there is no such graph or ref.
        StoreError: the store can't be written to.
    """
    _check_ref(ref)
    with _changing(store) as store:
        graph = layout.resolve(store, name).parent
        refs = layout.refs(graph)
        if refs.pop(ref, None) is None:
            raise UnknownGraphError(f"{graph.name} has no ref {quoted(ref)}.")
        _set_refs(store, graph, refs)


def remove(store: str | Path, name: str, *, force: bool = False) -> Removed:
    """Delete a version. Processes that have mapped it keep it; its number is never used again.

    Args:
        store: path of the store.
        name: NAME@v001 or NAME@REF.
        force: delete it even if refs other than `latest` name it, and these with it.

    Returns:
        What was deleted.

    Raises:
        UnknownGraphError: there is no such version, or `name` names none.
        StoreError: refs name it, or the store can't be written to.
    """
    with _changing(store) as store:
        version = layout.resolve(store, name)
        graph = version.parent.name
        if "@" not in (name or ""):
            raise UnknownGraphError(
                f"Say which version: {graph}@v001, or {graph}@latest; or how many to ",
                Remedy("keep"),
                ".",
            )
        removed = _deleted(store, version.parent, [version], force=force)
        if removed.spared:
            named = f"{graph}@{version.name} is named {listed(removed.spared[version.name])}"
            raise StoreError(named, "; ", Remedy("force", value=True), " removes it anyway.")
        return removed


def prune(store: str | Path, name: str, keep: Number, *, force: bool = False) -> Removed:
    """Delete all versions of a graph but the newest.

    Args:
        store: path of the store.
        name: of the graph.
        keep: number of the newest versions that stay, at least 1. Older ones that refs other than
            `latest` name stay too.
        force: delete these as well, with the refs.

    Returns:
        What was deleted, possibly nothing.

    Raises:
        SpecError: `keep` is less than 1.
        UnknownGraphError: there is no such graph, or `name` names a version.
        StoreError: the store can't be written to; some versions may be deleted by then.
    """
    keep = integer("keep", keep, 1, layout.LAST_VERSION, "an integer from 1")
    if not isinstance(name, str) or "@" in name:
        raise UnknownGraphError(f"Name the graph alone, not a version of it. Got {quoted(name)}.")
    with _changing(store) as store:
        graph = layout.resolve(store, name).parent
        older = [graph / version for version in layout.versions(graph)[:-keep]]
        return _deleted(store, graph, older, force=force)


def _deleted(store: Path, graph: Path, versions: list[Path], *, force: bool) -> Removed:
    """Delete versions of a graph, but those that refs name, unless these are deleted, too."""
    refs, nbytes = layout.refs(graph), 0
    removed: list[str] = []
    spared: dict[str, tuple[str, ...]] = {}
    for version in versions:
        naming = sorted(ref for ref, v in refs.items() if v == version.name and ref != "latest")
        if naming and not force:
            spared[version.name] = tuple(naming)
            continue
        verb = "was" if len(removed) == 1 else "were"
        outcome = f"{listed(removed)} {verb} removed before that" if removed else UNCHANGED
        with write_errors(store, outcome):
            nbytes += _delete(store, version)
        removed.append(version.name)
    return Removed(graph.name, tuple(removed), nbytes, spared)


def _delete(store: Path, version: Path) -> int:
    """Take a version out of its graph, then delete it; returns the size of its files."""
    graph, doomed = version.parent, layout.staging_folder(store) / uuid.uuid4().hex
    nbytes = sum(path.lstat().st_size for path in version.rglob("*") if path.is_file())
    before = layout.read_attributes(graph) or {}
    try:
        _replace_attributes(store, graph, _without(before, version.name))
        version.rename(doomed)
    except BaseException:
        with suppress(OSError):
            _replace_attributes(store, graph, before)
        raise
    shutil.rmtree(doomed, ignore_errors=True)
    return nbytes


@contextmanager
def _changing(store: str | Path) -> Iterator[Path]:
    """Hold the lock of a store that must exist; errors of the system become a StoreError."""
    path = layout.existing_store(store)
    with write_errors(path, UNCHANGED), locked(path):
        yield path


def _check_ref(ref: str) -> None:
    named = isinstance(ref, str) and layout.NAME.fullmatch(ref)
    if not named or LIKE_VERSION.fullmatch(ref) or ref == "latest":
        raise UnknownGraphError(
            "A ref must be 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or "
            f"digit, not look like a version and not be 'latest'. Got {quoted(ref)}."
        )


def _set_refs(store: Path, graph: Path, refs: dict[str, str]) -> None:
    attributes = layout.read_attributes(graph) or {}
    _replace_attributes(store, graph, attributes | {"refs": refs})


def _without(attributes: layout.Attributes, version: str) -> layout.Attributes:
    """A graph's attributes after a version's removal; they keep the highest number removed."""
    refs = {ref: v for ref, v in attributes.get("refs", {}).items() if v != version}
    past = [*_removed(attributes), version]
    return attributes | {"refs": refs, "removed": max(past, key=layout.version_number)}


def _removed(attributes: layout.Attributes) -> list[str]:
    """The newest version that was removed, if any."""
    version = attributes.get("removed")
    return [version] if isinstance(version, str) and layout.VERSION.fullmatch(version) else []


def _replace_attributes(store: Path, group: Path, attributes: layout.Attributes) -> None:
    contents = layout.document_bytes(layout.group_document({"clg": attributes}))
    temporary = layout.staging_folder(store) / f"{uuid.uuid4().hex}.json"
    replace(group / "zarr.json", contents, temporary)


def _make_group(store: Path, group: Path, attributes: layout.Attributes, undo: ExitStack) -> None:
    """Make a group: a folder that is there becomes one, another appears with its attributes."""
    unlink = partial((group / "zarr.json").unlink, missing_ok=True)
    if group.exists():
        undo.callback(unlink)
        _replace_attributes(store, group, attributes)
        return
    made = layout.staging_folder(store) / uuid.uuid4().hex
    try:
        made.mkdir()
        with locked_folder(made):
            _replace_attributes(store, made, attributes)
            made.rename(group)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    undo.callback(remove_empty, group)
    undo.callback(unlink)
    sync(group.parent)


def _take_back(store: Path, published: Path, staged: Path, before: layout.Attributes) -> None:
    """Undo a publication that could not be finished."""
    published.rename(staged)
    with suppress(OSError):
        _replace_attributes(store, published.parent, before)


def _rename_to_next(graph: Path, staged: Path) -> Path:
    """Give a staged version the next number, or a later one where something has that name."""
    used = [*layout.versions(graph), *_removed(layout.read_attributes(graph) or {})]
    first = 1 + max(map(layout.version_number, used), default=0)
    for number in range(first, layout.LAST_VERSION + 1):
        try:
            return staged.rename(graph / f"v{number:03d}")
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
                raise
    raise OSError(errno.EOVERFLOW, f"{graph.name} has no version numbers left")
