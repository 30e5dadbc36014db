"""Contents of a store: its graphs, their versions, and the refs that name these."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from cheblienet_graphs.errors import (
    VALUE,
    SkippedDamage,
    StoreError,
    UnknownGraphError,
    UnreadableError,
    listed,
    one_line,
    quoted,
)
from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_graphs.store.layout import (
    NAME,
    STORE_SCHEMA,
    VERSION,
    Attributes,
    read_attributes,
    store_path,
    version_number,
)

F = TypeVar("F")


def check_store(store: Folder) -> bool:
    """Check whether a store of ours exists at a path; False where nothing does, or an empty folder.

    Raises:
        StoreError: something else is there.
    """
    status = store.status()
    if status is None:
        return False
    if not stat.S_ISDIR(status.st_mode):
        raise StoreError(f"{store} is a file, not a store; choose another `store`.")
    if not (entries := store.entries()):
        return False
    if DOCUMENT not in dict(entries):
        raise StoreError(f"{store} is a folder of other files; choose another `store`.")
    attributes = read_attributes(store)
    if attributes is None:
        raise StoreError(f"{store} is a zarr group of another program; choose another `store`.")
    schema = attributes.get("store_schema")
    if schema is None and isinstance(attributes.get("refs"), dict):
        within = f"{store} is a graph within a store: give the store, {store.parent}, as "
        raise StoreError(f"{within}`store`.")
    if type(schema) is not int or schema != STORE_SCHEMA:
        raise StoreError(
            f"{store} has store schema {quoted(schema)}; this version reads {STORE_SCHEMA}. "
            "Install the version of cheblienet that wrote it."
        )
    return True


def existing_store(store: str | os.PathLike[str]) -> Folder:
    """A store of ours at a path, which need not be absolute.

    Raises:
        UnknownGraphError: nothing is there.
        StoreError: something else is.
    """
    folder = Folder(store_path(store))
    if not check_store(folder):
        raise UnknownGraphError(f"There is no store at {folder}; `clg build` makes one.")
    return folder


def graph_names(store: Folder) -> list[str]:
    """Names of the graphs of an existing store, sorted, without links, foreign and empty groups."""
    return [name for name, _ in store.entries() if is_graph(store, name)]


def is_graph(store: Folder, name: str) -> bool:
    """Check whether a store has a graph with at least one version; a crash can leave one without.

    A folder that the machine refuses to read is taken for one.
    """
    try:
        graph = NAME.fullmatch(name) and (store / name)
        return bool(graph and read_attributes(graph) is not None and versions(graph))
    except UnreadableError:
        return True
    except StoreError:
        return False


def is_version(name: str, status: os.stat_result) -> bool:
    """Check whether an entry of a graph's folder is in the place of a version, and no link."""
    return bool(VERSION.fullmatch(name)) and stat.S_ISDIR(status.st_mode)


def versions(graph: Folder) -> list[str]:
    """Published versions of a graph, oldest first; links are none.

    Raises:
        StoreError: its folder can't be read.
    """
    names = [name for name, status in graph.entries() if is_version(name, status)]
    return sorted(names, key=version_number)


def readable(
    graph: Folder, read: Callable[[Folder], F], among: Iterable[str] | None = None
) -> Iterator[tuple[str, F]]:
    """Versions of a graph, the newest first, with what is read of their folders.

    Unreadable ones are left out: `clg verify` says what is wrong with them.

    Args:
        graph: its folder.
        read: reads the folder of a version, once its turn has come.
        among: the only versions to read, in this order; default all.

    Raises:
        UnreadableError: the machine refuses to read one.
    """
    for version in reversed(versions(graph)) if among is None else among:
        with SkippedDamage():
            yield version, read(graph / version)


def refs(graph: Folder) -> dict[str, str]:
    """Refs of a graph: name -> version. `latest` is always the newest version, even after a crash.

    Raises:
        StoreError: they can't be read, or are of another form than ours.
    """
    stored = _stored_refs(graph, read_attributes(graph))
    existing = versions(graph)
    return stored | ({"latest": existing[-1]} if existing else {})


def _stored_refs(graph: Folder, attributes: Attributes | None) -> dict[str, str]:
    stored = (attributes or {}).get("refs")
    if not isinstance(stored, dict) or not all(map(_is_ref, stored.items())):
        raise StoreError(f"{graph / DOCUMENT} has refs of another form than ours.")
    return stored


def refs_and_versions(graph: Folder) -> tuple[dict[str, str], list[str]]:
    """Refs and versions of a graph as they are at one moment: others may be changing them.

    Raises:
        StoreError: as `refs` and `versions`.
    """
    known = refs(graph)
    while True:
        existing = versions(graph)
        before = known
        if (known := refs(graph)) == before:
            return known, existing


def _is_ref(named: tuple[str, Any]) -> bool:
    ref, version = named
    return bool(NAME.fullmatch(ref) and isinstance(version, str) and VERSION.fullmatch(version))


def resolve(store: str | os.PathLike[str], name: str | None) -> Folder:
    """The folder of a version: NAME, NAME@v001, NAME@REF, or the store's only graph.

    Raises:
        UnknownGraphError: there is none of that name, or no name was given and there are several.
        StoreError: the store can't be read.
    """
    place = existing_store(store)
    if name is None:
        names = graph_names(place)
        if len(names) > 1:
            raise UnknownGraphError(f"Name one of the graphs in {place}: {listed(names)}.")
        name = names[0] if names else ""
    return version_of(place, name)


def version_of(place: Folder, name: str, kind: str = "graph") -> Folder:
    """The folder of a version in an existing store: NAME, NAME@v001 or NAME@REF.

    Args:
        place: the store.
        name: of a graph or a map.
        kind: which of the two, for messages.

    Raises:
        UnknownGraphError: there is none of that name.
        StoreError: the store can't be read.
    """
    if not isinstance(name, str):
        raise UnknownGraphError(f"A {kind}'s name is text. Got {quoted(name)}.")
    called, at, ref = name.partition("@")
    if at and not ref:
        raise UnknownGraphError(
            f"Nothing follows the @ of {one_line(called, VALUE)}@; give a version, such as @v001, "
            "or a ref."
        )
    graph, attributes, existing = place, None, list[str]()
    if NAME.fullmatch(called):
        graph = place / called
        with SkippedDamage():
            attributes, existing = read_attributes(graph), versions(graph)
    if attributes is None or not existing:
        names = graph_names(place)
        if not names:
            raise UnknownGraphError(f"{place} holds no graph; `clg build` makes one.")
        raise UnknownGraphError(f"No {kind} {quoted(called)} in {place}. There: {listed(names)}.")
    stored = _stored_refs(graph, attributes)
    version = existing[-1] if ref in {"", "latest"} else stored.get(ref, ref)
    if version not in existing:
        asked, there = quoted(ref), listed([*existing, *(stored | {"latest": existing[-1]})])
        raise UnknownGraphError(f"No version {asked} of {called}. There: {there}.")
    return graph / version


def newest_removed(attributes: Attributes) -> list[str]:
    """The newest version of a graph that was removed, if any; its number is not used again."""
    version = attributes.get("removed")
    return [version] if isinstance(version, str) and VERSION.fullmatch(version) else []
