"""One archive of a version, to import again.

An archive is compressed, for transfer; importing it makes files raw again and verifies them.
"""

import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from cheblienet_graphs.errors import StoreError, quoted
from cheblienet_graphs.store import catalog, documents, layout
from cheblienet_graphs.store.durable import save_whole, unreadable, write_errors
from cheblienet_graphs.store.facts import PublishedFacts
from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_graphs.store.map_facts import MapFacts, either_facts, read_either
from cheblienet_graphs.store.publishing import InStore, check_graph
from cheblienet_graphs.store.writer import Staging
from cheblienet_graphs.verification.versions import Remark, version_faults

CHUNK_BYTES = 2**20
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def export_zip(version: Folder, file: str | Path) -> None:
    """Write a published version to a zip archive: NAME/zarr.json, NAME/levels/...

    Args:
        version: its folder.
        file: the archive; replaced if it exists.

    Raises:
        StoreError: the version is not what was published, or the archive can't be written.
    """
    _refuse_faults(version)

    def save(target: Path) -> None:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, status in version.walk(lambda _: True):
                # No dates: equal graphs, equal archives.
                entry = zipfile.ZipInfo(f"{version.parent.name}/{path}")
                entry.compress_type, entry.file_size = zipfile.ZIP_DEFLATED, status.st_size
                with (version / path).opened_file() as (descriptor, _):
                    source = os.fdopen(descriptor, "rb", closefd=False)
                    with source, archive.open(entry, "w") as opened:
                        shutil.copyfileobj(source, opened, CHUNK_BYTES)

    save_whole(Path(file).expanduser(), "No archive was written", save)


def import_zip(
    file: str | Path, store: str | Path, name: str | None = None, *, remark: Remark | None = None
) -> InStore:
    """Publish the version in an archive as the next one of its graph, unless it is there already.

    Args:
        file: an archive that `export_zip` wrote.
        store: path of the store; made if it does not exist.
        name: of the graph; default the one it was exported from.
        remark: called with a path below the version and what is no fault there, but may be a
            mistake.

    Returns:
        The version, which is the earlier one if it was imported before.

    Raises:
        StoreError: the archive can't be read, holds anything but a version as it was published, or
            the store can't be written to.
    """
    file = Path(file).expanduser()
    store = layout.store_path(store)
    try:
        if file.exists() and not file.is_file():  # reading a pipe would wait
            raise StoreError(f"{file} is not a file; give what `clg export --to zip` wrote.")
        with zipfile.ZipFile(file) as archive:
            return _import(archive, file, store, name, remark)
    except OSError as error:
        raise unreadable(file, error) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        # zipfile raises RuntimeError for unknown encryption and compression.
        raise StoreError(f"{file} is not a whole zip archive: {error}.") from error


def _import(
    archive: zipfile.ZipFile, file: Path, store: Path, name: str | None, remark: Remark | None
) -> InStore:
    members = dict(_members(archive, file))
    folder, facts = _facts(archive, members, file)
    name = layout.check_name(folder if name is None else name)
    for path, entry in members.items():
        known = facts.files.get(layout.manifest_key(path))
        if path != DOCUMENT and (known is None or entry.file_size != known.nbytes):
            raise StoreError(f"{file} holds {quoted(path)}, which is not as its manifest says.")
    check_graph(store, name, is_map=isinstance(facts, MapFacts))
    total = sum(entry.file_size for entry in members.values())
    with Staging(store, name, total) as staging:
        for path, entry in members.items():
            with archive.open(entry) as source, write_errors(store):
                target = staging.path / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as opened:  # zipfile reads no more than is announced
                    shutil.copyfileobj(source, opened, CHUNK_BYTES)
        _refuse_faults(Folder(staging.path), str(file), remark)
        graph = Folder(store) / name
        looked_at = _versions(graph)
        whole = (version for version in _same(graph, facts) if not version_faults(graph / version))
        if earlier := next(whole, None):
            return InStore(store, name, earlier, built=False)
        version = staging.publish_as_is(lambda: next(_same(graph, facts, looked_at), None))
        return InStore(store, name, version, built=staging.published is not None)


def _versions(graph: Folder) -> list[str]:
    """Versions of a graph that need not be there, oldest first."""
    return catalog.versions(graph) if graph.status() else []


def _same(graph: Folder, facts: PublishedFacts, but: Sequence[str] = ()) -> Iterator[str]:
    """Versions with all of these attributes, oldest first, but for some."""
    among = (version for version in _versions(graph) if version not in but)
    known = catalog.readable(graph, read_either, among)
    return (version for version, published in known if published.sha256 == facts.sha256)


def _members(archive: zipfile.ZipFile, file: Path) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    """Path below the version, without NAME/, and entry of each file."""
    for entry in archive.infolist():
        segments = entry.filename.split("/")
        if len(segments) < 2 or not all(map(layout.NAME.fullmatch, segments)):
            raise StoreError(
                f"{file} holds {quoted(entry.filename)}, which is no file of a version."
            )
        if entry.compress_type not in COMPRESSIONS:
            raise StoreError(f"{file} is compressed otherwise than `clg export` does.")
        yield "/".join(segments[1:]), entry


def _facts(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], file: Path
) -> tuple[str, PublishedFacts]:
    """Name of the graph in the archive, and the version's facts."""
    folders = {entry.filename.partition("/")[0] for entry in members.values()}
    if len(folders) != 1 or DOCUMENT not in members:
        raise StoreError(f"{file} does not hold one version of a graph.")
    where = f"zarr.json in {file}"
    with archive.open(members[DOCUMENT]) as opened:
        document = documents.parsed_document(opened.read(documents.MAX_METADATA + 1), where)
    ours = layout.our_attributes(document)
    if ours is None:
        raise StoreError(f"{where} is not the metadata of a version.")
    return folders.pop(), either_facts(ours, where)


def _refuse_faults(
    version: Folder, called: str | None = None, remark: Remark | None = None
) -> None:
    """Check that a version is as it was published.

    Args:
        version: its folder.
        called: its name in the message; default its path.
        remark: as of `import_zip`.

    Raises:
        StoreError: it is not; the message has the first fault.
    """
    if faults := version_faults(version, remark):
        first = faults[0]
        more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
        what = f"{first.where} {first.what.rstrip('.')}"
        raise StoreError(f"{called or version}: {what}{more}.")
