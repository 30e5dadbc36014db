"""A version as one compressed file, for transfer; import makes it raw again and verifies it."""

import shutil
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cheblienet_graphs.errors import StoreError, quoted
from cheblienet_graphs.store import durable, layout
from cheblienet_graphs.store.durable import save_whole, unreadable, write_errors
from cheblienet_graphs.store.map_facts import either_facts, read_either
from cheblienet_graphs.store.published import PublishedFacts
from cheblienet_graphs.store.verify import Remark, version_faults
from cheblienet_graphs.store.writer import Staging

CHUNK_BYTES = 2**20
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Imported(NamedTuple):
    """A version that came from an archive: `new` is False where the store had it already."""

    name: str
    version: str
    new: bool


def export_zip(version: Path, file: str | Path) -> None:
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
            for path in sorted(path for path in version.rglob("*") if path.is_file()):
                inside = PurePosixPath(version.parent.name, *path.relative_to(version).parts)
                entry = zipfile.ZipInfo(str(inside))  # no dates: equal graphs, equal archives
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.file_size = path.stat().st_size
                with path.open("rb") as source, archive.open(entry, "w") as opened:
                    shutil.copyfileobj(source, opened, CHUNK_BYTES)

    save_whole(Path(file).expanduser(), "No archive was written", save)


def import_zip(
    file: str | Path, store: str | Path, name: str | None = None, *, remark: Remark | None = None
) -> Imported:
    """Publish the version in an archive as the next one of its graph, unless it is there already.

    Args:
        file: an archive that `export_zip` wrote.
        store: path of the store; made if it does not exist.
        name: of the graph; default the one it was exported from.
        remark: called with a path below the version and what is no fault there, but may be a
            mistake.

    Returns:
        The graph's name and the version, which is the earlier one if it was imported before.

    Raises:
        StoreError: the archive can't be read, holds anything but a version as it was published, or
            the store can't be written to.
    """
    file, store = Path(file).expanduser(), layout.store_path(store)
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
) -> Imported:
    members = dict(_members(archive, file))
    folder, facts = _facts(archive, members, file)
    name = layout.check_name(folder if name is None else name)
    for path, entry in members.items():
        known = facts.files.get(layout.manifest_key(path))
        if path != "zarr.json" and (known is None or entry.file_size != known.nbytes):
            raise StoreError(f"{file} holds {quoted(path)}, which is not as its manifest says.")
    total = sum(entry.file_size for entry in members.values())
    with Staging(store, name, total) as staging:
        for path, entry in members.items():
            with archive.open(entry) as source, write_errors(store):
                target = staging.path / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as opened:  # zipfile reads no more than is announced
                    shutil.copyfileobj(source, opened, CHUNK_BYTES)
        _refuse_faults(staging.path, str(file), remark)
        if earlier := _imported_before(store / name, facts):
            return Imported(name, earlier, new=False)
        return Imported(name, staging.publish_as_is(), new=True)


def _imported_before(graph: Path, facts: PublishedFacts) -> str | None:
    """The oldest version with all of these attributes that is as it was published."""
    oldest_first = layout.versions(graph) if graph.is_dir() else []
    for version, published in layout.readable(graph, read_either, oldest_first):
        if published.sha256 == facts.sha256 and not version_faults(graph / version):
            return version
    return None


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
    if len(folders) != 1 or "zarr.json" not in members:
        raise StoreError(f"{file} does not hold one version of a graph.")
    where = f"zarr.json in {file}"
    with archive.open(members["zarr.json"]) as opened:
        document = durable.parsed_document(opened.read(durable.MAX_METADATA + 1), where)
    ours = layout.our_attributes(document)
    if ours is None:
        raise StoreError(f"{where} is not the metadata of a version.")
    return folders.pop(), either_facts(ours, where)


def _refuse_faults(version: Path, called: str | None = None, remark: Remark | None = None) -> None:
    if faults := version_faults(version, remark):
        more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
        raise StoreError(f"{called or version}: {faults[0].where} {faults[0].what}{more}.")
