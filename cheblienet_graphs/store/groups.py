"""Documents of the groups of a store: the store itself, and its graphs.

Other programs may add consolidated metadata to them: copies of the documents of all nodes below,
which zarr then believes in place of these.
"""

import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce

from cheblienet_graphs.errors import SkippedDamage, StoreError, quoted
from cheblienet_graphs.store import catalog, layout
from cheblienet_graphs.store.durable import replace
from cheblienet_graphs.store.folder import DOCUMENT, Folder

_INLINE = {"kind": "inline", "must_understand": False}
_NOTHING = _INLINE | {"metadata": {}}
"""Copies in the copy of a group: copies below it are beside that one."""


@dataclass(frozen=True)
class Fault:
    """A fault: `where` is a path below the store, or below a version."""

    where: str
    what: str


def group_fault(group: Folder) -> str | None:
    """Fault of the document of the store, or of a graph; None where there is none.

    Raises:
        UnreadableError: the machine refuses to read something.
    """
    with SkippedDamage() as damage:
        document = group.document()
    if damage.error:
        return f"can't be read: {damage.error}"
    if not layout.is_group(document):
        return "is not that of a group of zarr format 3"
    copied = document.get(layout.COPIES)
    return None if copied is None else next(_copy_faults(group, copied), None)


def graph_faults(graph: Folder) -> Iterator[Fault]:
    """Faults of a graph, without its versions, with paths below the store.

    They are of its document, of refs that name nothing, and of what does not belong in its folder.

    Raises:
        UnreadableError: the machine refuses to read something.
    """
    document = f"{graph.name}/{DOCUMENT}"
    if what := group_fault(graph):
        yield Fault(document, what)
    with SkippedDamage() as damage:
        refs, existing = catalog.refs_and_versions(graph)
    if damage.error:
        yield Fault(document, f"can't be read: {damage.error}")
        return
    for ref, version in refs.items():
        if version not in existing:
            yield Fault(document, f"has a ref {quoted(ref)} of {version}, which is not there")
    for name, status in graph.entries():
        if name != DOCUMENT and not catalog.is_version(name, status):
            yield Fault(f"{graph.name}/{name}", "does not belong in a graph")


def _copy_faults(group: Folder, copied: object) -> Iterator[str]:
    """Faults of the consolidated metadata of a group."""
    copies = copied.get("metadata") if isinstance(copied, dict) else None
    if not isinstance(copies, dict) or not layout.same(copied, _INLINE | {"metadata": copies}):
        yield f"has {layout.COPIES} of another form than zarr's"
        return
    remedy = "Consolidate it again, or remove them from the document"
    for path, document in copies.items():
        if not _is_copy(group, path, document):
            yield f"has {layout.COPIES} that disagree with {quoted(path)}. {remedy}"
    if missing := _nodes(group) - copies.keys():
        yield f"has {layout.COPIES} that lack {quoted(min(missing))}. {remedy}"


def _is_copy(group: Folder, path: str, document: object) -> bool:
    """Check whether a document is that of the node at a path, as zarr copies it."""
    if not isinstance(document, dict) or document.get(layout.COPIES) not in (None, _NOTHING):
        return False
    nothing: layout.Attributes = {"attributes": {}}
    with SkippedDamage():
        own = reduce(Folder.entry, path.split("/"), group).document()
        return layout.same(
            nothing | layout.without_copies(own), nothing | layout.without_copies(document)
        )
    return False


def _nodes(group: Folder) -> set[str]:
    """Paths of the nodes that zarr has to find below the store, or below a graph."""
    with SkippedDamage():
        is_graph = "refs" in (layout.read_attributes(group) or {})
        graphs = {"": group} if is_graph else {n: group / n for n in catalog.graph_names(group)}
        nodes = {name for name in graphs if name}
        for name, graph in graphs.items():
            for version in catalog.versions(graph):
                path = f"{name}/{version}".lstrip("/")
                nodes |= {path, *(f"{path}/{node}" for node in _of_version(graph / version))}
        return nodes
    return set()


def _of_version(version: Folder) -> Iterator[str]:
    """Paths of the nodes below a version, by its manifest."""
    manifest = layout.check_version(version).get("manifest")
    for key in manifest if isinstance(manifest, dict) else ():
        folder, _, file = key.rpartition("/")
        if file == DOCUMENT and folder:
            yield folder


def drop_copies(store: Folder, staging: int) -> None:
    """Drop consolidated metadata of a store, which a change makes wrong.

    Args:
        store: the store.
        staging: descriptor of its staging folder, which the caller must have locked.

    Raises:
        OSError: as `replace`.
    """
    document = store.document()
    plain = layout.without_copies(document)
    if plain != document:
        _replace_document(store, plain, staging)


def set_refs(graph: Folder, refs: dict[str, str], staging: int) -> None:
    """Give a graph other refs.

    Args:
        graph: the graph.
        refs: all of them, name -> version.
        staging: as of `drop_copies`.

    Raises:
        OSError: as `replace`.
    """
    attributes = layout.read_attributes(graph) or {}
    replace_attributes(graph, attributes | {"refs": refs}, staging)
    with suppress(OSError, StoreError):  # then `clg verify` names them
        drop_copies(graph.parent, staging)


def replace_attributes(group: Folder, attributes: layout.Attributes, staging: int) -> None:
    """Give the store, or a graph, other attributes of ours, and nothing else.

    Args:
        group: the store, or a graph.
        attributes: of ours.
        staging: as of `drop_copies`.

    Raises:
        OSError: as `replace`.
    """
    _replace_document(group, layout.group_document({"clg": attributes}), staging)


def _replace_document(group: Folder, document: layout.Attributes, staging: int) -> None:
    contents = layout.document_bytes(document)
    temporary = f"{uuid.uuid4().hex}.json"
    with group.descriptor() as folder:
        replace(folder, DOCUMENT, contents, temporary, staging)


def document_of(attributes: layout.Attributes) -> bytes:
    """The contents of the document of a group with these attributes of ours."""
    return layout.document_bytes(layout.group_document({"clg": attributes}))
