"""Verification that a store is as published: every byte, every matrix, every leftover."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from cheblienet_graphs.errors import SchemaError, SkippedDamage, StoreError, UnreadableError
from cheblienet_graphs.limits import callback
from cheblienet_graphs.store import catalog, durable, layout, leftovers
from cheblienet_graphs.store.facts import FileFacts, VersionFacts
from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_graphs.store.groups import Fault, graph_faults, group_fault
from cheblienet_graphs.store.map_facts import MapFacts, either_facts
from cheblienet_graphs.store.map_reader import MapArrays
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_graphs.verification.levels import (
    level_fault,
    stiffness,
    undigested,
    unlike_cells,
)
from cheblienet_graphs.verification.maps import map_faults

FILES_AT_ONCE = 8
"""Number of files to compute digests of at once."""
Remark: TypeAlias = Callable[[str, str], None]
"""Called with a path and with what is no fault there, but may be a mistake."""


def verify(
    store: str | Path,
    name: str | None = None,
    *,
    progress: Callable[[str], None] | None = None,
    remark: Remark | None = None,
) -> list[Fault]:
    """Compare versions with their manifests, and their matrices with what they must be.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; default every version of every graph.
        progress: called with each version's path before it is read.
        remark: called with a path below the store and what is no fault there, but may be a mistake:
            given areas that are far from the points' Voronoi cells, eigenvalues that float32 loses,
            or something in the staging folder, beside the store, that no build left.

    Returns:
        The faults; empty where all is well.

    Raises:
        UnknownGraphError: there is no such store or graph.
        StoreError: the store itself can't be read.
        UnreadableError: the machine can't read a file, be it damaged or not.

    Example:
        >>> build(GraphSpec("r2", 8, levels=1), "graphs.zarr").name
        'r2-8x8'
        >>> verify("graphs.zarr")
        []
    """
    callback("progress", progress)
    callback("remark", remark)
    place = catalog.existing_store(store)
    if name is None:
        graphs = [place / graph for graph in catalog.graph_names(place)]
        folders = [graph / version for graph in graphs for version in catalog.versions(graph)]
        faults = [*_store_faults(place)]
        if remark:
            for beside, what in leftovers.foreign(Path(place)):
                remark(beside, what)
    else:
        folders, faults = [catalog.resolve(place, name)], []
    for version in folders:
        where = f"{version.parent.name}/{version.name}"
        if progress:
            progress(where)
        try:
            of_version = version_faults(version, _below(where, remark))
        except StoreError:
            if name is None and _is_gone(version):
                continue
            raise
        if of_version and name is None and _is_gone(version):
            continue
        faults += [Fault(f"{where}/{fault.where}", fault.what) for fault in of_version]
    return faults


def _is_gone(version: Folder) -> bool:
    return version.status() is None


def _below(folder: str, remark: Remark | None) -> Remark | None:
    """The same for paths below a folder."""
    return remark and (lambda where, what: remark(f"{folder}/{where}", what))


def faults_around(version: Folder) -> Iterator[Fault]:
    """Faults of a version, of its graph's and the store's documents, with paths below the store.

    Raises:
        UnreadableError: the machine refuses to read something.
    """
    graph = version.parent
    if what := group_fault(graph.parent):
        yield Fault(DOCUMENT, what)
    yield from graph_faults(graph)
    for fault in version_faults(version):
        yield Fault(f"{graph.name}/{version.name}/{fault.where}", fault.what)


def version_faults(version: Folder, remark: Remark | None = None) -> list[Fault]:
    """Faults of a version, with paths below it: of its facts, then files, then arrays.

    Raises:
        UnreadableError: the machine refuses to read it.
    """
    try:
        attributes = layout.check_version(version)
        facts = either_facts(attributes, "it")
    except UnreadableError:
        raise
    except SchemaError as error:
        return [Fault(DOCUMENT, f"can't be checked: {error}")]
    except StoreError as error:
        return [Fault(DOCUMENT, f"is not the metadata of a version: {error}")]
    faults = []
    published = layout.group_document({"clg": attributes})
    if layout.canonical_sha256(attributes) != facts.sha256:
        faults.append(Fault(DOCUMENT, "attributes differ from their digest"))
    elif (version / DOCUMENT).contents() != layout.document_bytes(published):
        faults.append(Fault(DOCUMENT, "holds more or other text than was published"))
    with version.kept_open() as opened:
        faults += _file_faults(opened, facts.files)
    if faults:
        return faults
    if isinstance(facts, MapFacts):
        return map_faults(MapArrays(version, facts))
    return _array_faults(version, facts, remark)


def _file_faults(version: Folder, files: Mapping[str, FileFacts]) -> Iterator[Fault]:
    """The faults of files and folders: the manifest's have to be there, and nothing else."""
    keys = {file: key for key in files for file in manifest_files(key)}
    folders = _above(keys)
    entries = dict(version.walk(folders.__contains__))  # foreign ones may be nested deeply
    del entries[DOCUMENT]
    published = {path: files[keys[path]] for path in entries if path in keys}
    fault = lambda path: _file_fault(version, path, entries[path], published.get(path))  # noqa: E731
    wrong = durable.in_threads(fault, list(entries), FILES_AT_ONCE)
    for path, what in zip(entries, wrong, strict=True):
        if what:
            yield Fault(path, what)
    for key in sorted(files.keys() - {keys[path] for path in published}):
        yield Fault(key, "is missing")


def _above(files: Iterable[str]) -> set[str]:
    """Paths of the folders above some files."""
    folders: set[str] = set()
    for file in files:
        folder = file.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def manifest_files(key: str) -> list[str]:
    """The files that a key of a manifest may stand for, by the dimensions of an array."""
    if key.rpartition("/")[2] == DOCUMENT:
        return [key]
    return [f"{key}/{layout.chunk_path(n)}" for n in range(1, layout.MAX_DIMENSIONS + 1)]


def _file_fault(
    version: Folder, path: str, status: os.stat_result, entry: FileFacts | None
) -> str | None:
    """The fault of a file by its entry in the manifest; None without one."""
    if entry is None:
        return "is not in the manifest"
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    if status.st_size != entry.nbytes:
        return f"has {status.st_size} bytes; published were {entry.nbytes}"
    with SkippedDamage() as damage:
        digest = (version / path).sha256()
    if damage.error:
        return f"is unreadable: {damage.error}"
    return None if digest == entry.sha256 else "has other contents than were published"


def _array_faults(version: Folder, facts: VersionFacts, remark: Remark | None) -> list[Fault]:
    """Faults of arrays, given that their files are as published.

    They were wrong when written, or somebody changed both files and digests.
    """
    levels = [LevelFolder.published(version, facts, level) for level in range(facts.spec.levels)]
    faults = [fault for arrays in levels if (fault := level_fault(arrays))]
    if not faults and undigested(facts.spec, (of.coordinates for of in levels)):
        faults = [Fault("levels/0/coordinates", "are not the points of the spec's digest")]
    if not faults and remark:
        for arrays in levels:
            if what := unlike_cells(arrays):
                remark(f"levels/{arrays.level}/area", what)
            if what := stiffness(arrays):
                remark(f"levels/{arrays.level}/laplacian", what)
    return faults


def _store_faults(store: Folder) -> Iterator[Fault]:
    """Faults of the store's document, of its graphs besides their versions, and of its links."""
    if (what := group_fault(store)) is not None:
        yield Fault(DOCUMENT, what)
    for name, status in store.entries():
        if stat.S_ISLNK(status.st_mode):
            yield Fault(name, "is a link, which is not followed")
        elif stat.S_ISDIR(status.st_mode):
            yield from _folder_faults(store, name)


def _folder_faults(store: Folder, name: str) -> Iterator[Fault]:
    """Faults of a folder in a store, by its name and its document alone."""
    folder = store.entry(name)
    with SkippedDamage() as damage:
        is_ours = layout.read_attributes(folder) is not None
    if damage.error:
        yield Fault(name, str(damage.error))
        return
    if is_ours and not layout.NAME.fullmatch(name):
        yield Fault(name, "is no name of a graph")
    elif is_ours:
        yield from graph_faults(folder)
    elif any(_may_be_ours(folder / version) for version in catalog.versions(folder)):
        yield Fault(
            f"{name}/{DOCUMENT}", "is not that of a graph, and there are versions beside it"
        )


def _may_be_ours(version: Folder) -> bool:
    """Check whether a folder in the place of a version is one of ours, or can't be read."""
    with SkippedDamage():
        return layout.read_attributes(version) is not None
    return True
