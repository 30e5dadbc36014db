"""Verification that a store is as published: every byte, every matrix, every leftover."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from cheblienet_graphs.errors import SchemaError, StoreError, UnreadableError, quoted
from cheblienet_graphs.limits import callback
from cheblienet_graphs.store import durable, layout, leftovers
from cheblienet_graphs.store.agreement import (
    Fault,
    level_fault,
    stiffness,
    undigested,
    unlike_cells,
)
from cheblienet_graphs.store.facts import FileFacts, VersionFacts
from cheblienet_graphs.store.map_arrays import MapArrays, map_faults
from cheblienet_graphs.store.map_facts import MapFacts, either_facts
from cheblienet_graphs.store.reader import LevelArrays

FILES_AT_ONCE = 8
"""Files whose digests are computed at once."""
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
            given areas that are far from those of the points' Voronoi cells, eigenvalues that
            float32 loses, or something in the staging folder, beside the store, that no build left.

    Returns:
        The faults; none where all is well.

    Raises:
        UnknownGraphError: there is no such store or graph.
        StoreError: the store itself can't be read.
        UnreadableError: the machine can't read a file, be it damaged or not.
    """
    callback("progress", progress)
    callback("remark", remark)
    store = layout.existing_store(store)
    if name is None:
        graphs = [store / graph for graph in layout.graph_names(store)]
        folders = [graph / version for graph in graphs for version in layout.versions(graph)]
        faults = [*_store_faults(store), *(f for graph in graphs for f in _graph_faults(graph))]
        if remark:
            for beside, what in leftovers.foreign(store):
                remark(beside, what)
    else:
        folders, faults = [layout.resolve(store, name)], []
    for version in folders:
        where = str(version.relative_to(store))
        if progress:
            progress(where)
        of_version = version_faults(version, _below(where, remark))
        faults += [Fault(f"{where}/{fault.where}", fault.what) for fault in of_version]
    return faults


def _below(folder: str, remark: Remark | None) -> Remark | None:
    """The same for paths below a folder."""
    return remark and (lambda where, what: remark(f"{folder}/{where}", what))


def version_faults(version: Path, remark: Remark | None = None) -> list[Fault]:
    """Faults of a version, with paths below it: of its facts, then files, then arrays."""
    try:
        attributes = layout.check_version(version)
        facts = either_facts(attributes, "it")
    except SchemaError as error:
        return [Fault("zarr.json", f"can't be checked: {error}")]
    except StoreError as error:
        return [Fault("zarr.json", f"is not the metadata of a version: {error}")]
    faults = []
    published = layout.group_document({"clg": attributes})
    if layout.canonical_sha256(attributes) != facts.sha256:
        faults.append(Fault("zarr.json", "attributes differ from their digest"))
    elif (version / "zarr.json").read_bytes() != layout.document_bytes(published):
        faults.append(Fault("zarr.json", "holds more or other text than was published"))
    faults += _file_faults(version, facts.files)
    if faults:
        return faults
    if isinstance(facts, MapFacts):
        return map_faults(MapArrays(version, facts))
    return _array_faults(version, facts, remark)


def _file_faults(version: Path, files: Mapping[str, FileFacts]) -> Iterator[Fault]:
    """What is wrong with files and folders: those of the manifest are there, and nothing else."""
    keys = {file: key for key in files for file in manifest_files(version / key)}
    folders = {parent for file in keys for parent in file.parents}
    entries = dict(_entries(version, folders))
    del entries[version / "zarr.json"]
    published = {path: files[keys[path]] for path in entries if path in keys}
    fault = lambda path: _file_fault(path, entries[path], published.get(path))  # noqa: E731
    wrong = durable.in_threads(fault, list(entries), FILES_AT_ONCE)
    for path, what in zip(entries, wrong, strict=True):
        if what:
            yield Fault(str(path.relative_to(version)), what)
    for key in sorted(files.keys() - {keys[path] for path in published}):
        yield Fault(key, "is missing")


def manifest_files(path: Path) -> list[Path]:
    """The files that a key of a manifest may stand for, by the dimensions of an array."""
    dimensions = range(1, layout.MAX_DIMENSIONS + 1)
    return [path] if path.name == "zarr.json" else [layout.chunk_file(path, n) for n in dimensions]


def _entries(folder: Path, known: set[Path]) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything below a folder but known folders, sorted, links not followed.

    Only known folders are entered: foreign ones may be nested deeply.
    """
    for path in sorted(folder.iterdir()):
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode) and path in known:
            yield from _entries(path, known)
        else:
            yield path, status


def _file_fault(path: Path, status: os.stat_result, entry: FileFacts | None) -> str | None:
    """What is wrong with a file by its entry in the manifest; None if nothing is."""
    if entry is None:
        return "is not in the manifest"
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    if status.st_size != entry.nbytes:
        return f"has {status.st_size} bytes; published were {entry.nbytes}"
    try:
        digest = durable.sha256_of(path)
    except OSError as error:
        if isinstance(refused := durable.unreadable(path, error), UnreadableError):
            raise refused from error
        return f"is unreadable: {error.strerror}"
    return None if digest == entry.sha256 else "has other contents than were published"


def _array_faults(version: Path, facts: VersionFacts, remark: Remark | None) -> list[Fault]:
    """Faults of arrays whose files are as published.

    They were wrong when written, or somebody changed both files and digests.
    """
    levels = [LevelArrays(version, facts, level) for level in range(facts.spec.levels)]
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


def _store_faults(store: Path) -> Iterator[Fault]:
    """Groups that can't be read or named, or are none, which no other check reports."""
    below = sorted(store.iterdir())
    for link in (path for path in below if path.is_symlink()):
        yield Fault(link.name, "is a link, which is not followed")
    folders = (path for path in below if path.is_dir() and not path.is_symlink())
    for folder in [store, *folders]:
        where = str(folder.relative_to(store) / "zarr.json")
        try:
            document = durable.read_document(folder)
        except StoreError as error:
            yield Fault(folder.name, str(error))
            continue
        if layout.our_attributes(document) is None:
            if any(layout.readable(folder, layout.check_version)):
                yield Fault(where, "is not that of a graph, and there are versions beside it")
        elif (document.get("zarr_format"), document.get("node_type")) != (3, "group"):
            yield Fault(where, "is not that of a group of zarr format 3")
        elif folder != store and not layout.NAME.fullmatch(folder.name):
            yield Fault(folder.name, "is no name of a graph")


def _graph_faults(graph: Path) -> Iterator[Fault]:
    """Refs that name nothing, and things that do not belong in a graph's folder."""
    existing = layout.versions(graph)
    try:
        for ref, version in layout.refs(graph).items():
            if version not in existing:
                yield Fault(graph.name, f"ref {quoted(ref)} names {version}, not there")
    except StoreError as error:
        yield Fault(graph.name, str(error))
    for path in sorted(graph.iterdir()):
        if path.name not in {"zarr.json", *existing}:
            yield Fault(f"{graph.name}/{path.name}", "does not belong in a graph")
