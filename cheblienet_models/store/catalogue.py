"""The graphs that a store holds, their versions, and the refs that name versions."""

import re
import stat
from pathlib import Path

from cheblienet_models.errors import StoreError, UnreadableError, quoted
from cheblienet_models.store.files import SEGMENT, Folder, own_attributes

STORE_SCHEMA = 1
VERSION = re.compile(r"v[0-9]{3,9}")


class UnknownGraphError(StoreError, KeyError):
    """No graph, version or ref of that name."""

    __str__ = Exception.__str__  # KeyError's would print the message's repr


def check_schema(root: Folder) -> None:
    """Check that a folder is a store of the format that is read here.

    Raises:
        StoreError: it is not.
    """
    if "zarr.json" not in root.names():
        raise StoreError(f"{root} is no store: it has no zarr.json. Give the folder of one.")
    attributes = own_attributes(root)
    schema = attributes.get("store_schema")
    if schema is None and isinstance(attributes.get("refs"), dict):
        store = Path(str(root)).parent
        raise StoreError(f"{root} is a graph within a store: open the store, {store}.")
    if schema != STORE_SCHEMA:
        raise StoreError(
            f"{root} has store schema {quoted(schema)}; this version reads {STORE_SCHEMA}. "
            "Install the version of cheblienet that wrote it."
        )


def graph_names(root: Folder) -> list[str]:
    """Sorted names of a store's graphs."""
    return [name for name in root.names() if name != "zarr.json" and is_graph(root, name)]


def is_graph(root: Folder, name: str) -> bool:
    """Whether a store has a graph of that name with at least one version.

    A crash can leave one without.
    """
    if not SEGMENT.fullmatch(name):
        return False
    graph = root / name
    try:
        return isinstance(own_attributes(graph).get("refs"), dict) and bool(_versions(graph))
    except UnreadableError:
        raise
    except StoreError:
        return False


def resolved(graph: Folder, ref: str) -> str:
    """The version of a graph that a ref, `latest` or its own name stands for.

    Raises:
        UnknownGraphError: there is none.
    """
    versions = _versions(graph)
    found = own_attributes(graph).get("refs")
    refs = {**found, "latest": versions[-1]} if isinstance(found, dict) and versions else {}
    version = refs.get(ref, ref)
    if version in versions:
        return str(version)
    known = ", ".join([*versions, *refs])
    raise UnknownGraphError(f"No version {quoted(ref)} of {graph}. There: {known:.999}.")


def _versions(graph: Folder) -> list[str]:
    """Oldest first; the newest is what `latest` means, whatever a crash left in the refs."""
    entries = graph.entries()
    found = (n for n, mode in entries if VERSION.fullmatch(n) and stat.S_ISDIR(mode))
    return sorted(found, key=lambda version: int(version[1:]))
