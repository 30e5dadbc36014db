"""Versions in files: a level or all of them for other libraries, or one archive to import again.

Nothing is pickled. What is written gets its name when it is whole: a failure leaves nothing, and
what was there before. An archive is compressed, for transfer; importing it makes files raw again
and verifies them.
"""

import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from cheblienet_graphs.errors import StoreError, another, quoted
from cheblienet_graphs.manifolds.moments import edge_components
from cheblienet_graphs.store import catalog, documents, layout
from cheblienet_graphs.store.durable import save_whole, sha256_of, unreadable, write_errors
from cheblienet_graphs.store.facts import LevelFacts, PublishedFacts, VersionFacts, read_facts
from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_graphs.store.map_arrays import MapArrays
from cheblienet_graphs.store.map_facts import MapFacts, either_facts, read_either, read_map_facts
from cheblienet_graphs.store.mapped import mapped_csr
from cheblienet_graphs.store.publishing import check_graph
from cheblienet_graphs.store.reader import LevelArrays, edge_weights
from cheblienet_graphs.store.verify import Remark, version_faults
from cheblienet_graphs.store.writer import Staging

OUTCOME = "Nothing was exported"
CHUNK_BYTES = 2**20
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
DEVICES = Path("/dev")
PYG_LINES = """\
arrays = {{name: torch.from_numpy(array) for name, array in numpy.load("{file}").items()}}
data = torch_geometric.data.Data(num_nodes=len(arrays["pos"]), **arrays)
data.validate()"""
FORMAT = "cheblienet-npz"
MANIFEST = "manifest.json"
MEANINGS = {
    "laplacian": "L = 2 Delta / `lambda_max` - I, so Delta = (L + I) `lambda_max` / 2",
    "directional": "L of one direction, by its own `lambda_max` in directional of its level",
    "gradient": "derivative along one direction of the frame, per unit of length or radian",
    "pooling": "times a signal of the finer level: its means, by area, on the coarser one",
    "unpooling": "times a signal of the coarser level: the same on the finer one",
    "coordinates": "of the vertices; their names are in columns",
    "degree": "sums of the weights of a vertex's edges",
    "area": "of a vertex's point, in units of the mean",
    "base_index": "place of each point of the base in the whole sampling",
    "fraction": "the part of each pixel in the domain",
    "filling": "times a signal on the points: what each pixel shows, none where its row is empty",
    "eigenvalues": "the smallest of Delta, ascending",
    "eigenvectors": "of Delta, a column for each eigenvalue",
}
DENSE = ("coordinates", "degree", "area", "base_index", "eigenvalues", "eigenvectors")


def to_scipy(version: Folder, level: int, file: Path) -> None:
    """The rescaled Laplacian for scipy.sparse.load_npz; no other matrices."""
    laplacian = LevelArrays(version, read_facts(version), level).laplacian
    save_whole(file, OUTCOME, lambda target: scipy.sparse.save_npz(target, laplacian))


def map_to_scipy(version: Folder, file: Path) -> None:
    """The (targets, sources) matrix of a map for scipy.sparse.load_npz."""
    matrix = MapArrays(version, read_map_facts(version)).matrix
    save_whole(file, OUTCOME, lambda target: scipy.sparse.save_npz(target, matrix))


def to_pyg(version: Folder, level: int, file: Path) -> None:
    """What `Graph.to_pyg` of cheblienet_models has, by the same names.

    edge_index (2, E) int64, sources and targets, both directions; edge_weight (E,) float32;
    edge_attr (E, dim) float32, `edge_components`; pos (V, d) float32. No directional Laplacians and
    no gradients.
    """
    level_arrays = LevelArrays(version, read_facts(version), level)
    points, sampling = level_arrays.coordinates, level_arrays.sampling
    weights = edge_weights(version, level).tocoo()
    target, source = weights.coords
    periods = sampling.extent if sampling.periodic else None
    ends = np.array(points[target]), np.array(points[source])
    arrays = {
        "edge_index": np.stack([source, target]).astype(np.int64),
        "edge_weight": weights.data.astype(np.float32),
        "edge_attr": edge_components(level_arrays.spec.geometry, *ends, periods).astype(np.float32),
        "pos": points.astype(np.float32),
    }
    save_whole(file, OUTCOME, lambda target: np.savez_compressed(target, **arrays))


def to_npz(version: Folder, folder: Path) -> None:
    """Write Laplacians and maps as .npz, other arrays as .npy, and what they are as JSON.

    An earlier export is replaced.

    Args:
        version: folder of a published version.
        folder: to be made; laplacian-0.npz, pooling-0to1.npz, unpooling-1to0.npz, coordinates-0.npy
            and so on, and manifest.json.

    Raises:
        StoreError: the version can't be read, the folder can't be written, or something else is
            there.
    """
    facts, folder = read_facts(version), folder.absolute()  # "." has no name of its own
    _refuse_other(folder)

    def save(target: Path) -> None:
        target.mkdir()
        files = dict(_saved(version, facts, target))
        described = json.dumps(_manifest(version, facts, files), indent=1)
        (target / MANIFEST).write_text(described + "\n", encoding="utf-8")

    save_whole(folder, OUTCOME, save)


def check_output(file: Path, parameter: str = "output") -> None:
    """Check that a file may be written, or replaced, where it was asked for.

    Files of a store belong to what was published. A device or pipe, such as /dev/null, would itself
    be replaced by a file.

    Args:
        file: to be written.
        parameter: by which it was given.

    Raises:
        StoreError: a folder above the file is a store, or there is no file but something else.
    """
    special = file.exists() and not file.is_file() and not file.is_dir()
    if special or file.absolute().parent == DEVICES:
        raise StoreError(
            f"{file} is a device or a pipe, which would be replaced by a file; ", another(parameter)
        )
    for folder in file.absolute().resolve().parents:
        if (folder / DOCUMENT).is_file() and layout.read_attributes(Folder(folder)) is not None:
            raise StoreError(f"{file} is in the store {folder}; ", another(parameter))


def _saved(version: Folder, facts: VersionFacts, folder: Path) -> Iterator[tuple[str, Any]]:
    """Write all arrays; names of their files, and entries in the manifest."""
    for kind, level, name, values in _arrays(version, facts):
        entry = {"meaning": MEANINGS[kind], "level": level}
        entry |= {"shape": list(values.shape), "dtype": values.dtype.name}
        if isinstance(values, np.ndarray):
            file = folder / f"{name}.npy"
            np.save(file, values)
        else:
            file = folder / f"{name}.npz"
            scipy.sparse.save_npz(file, values)
            entry["nnz"] = values.nnz
        yield file.name, entry | {"bytes": file.stat().st_size, "sha256": sha256_of(file)}


def _arrays(version: Folder, facts: VersionFacts) -> Iterator[tuple[str, int, str, Any]]:
    """Kind, level, name outside, and values of each array and matrix."""
    for level in range(facts.spec.levels):
        arrays = LevelArrays(version, facts, level)
        for path in arrays.laplacians:
            kind, _, direction = path.partition("/")
            yield kind, level, f"{direction or kind}-{level}", arrays.rescaled(path)
        for direction, matrix in arrays.gradients.items():
            yield "gradient", level, f"gradient-{direction}-{level}", matrix
        for start, (path, shape) in enumerate(arrays.maps.items(), level):
            kind = path.partition("/")[0]
            yield kind, start, path.replace("/", "-"), mapped_csr(version / path, shape)
        if facts.spec.cuts_pixels:
            yield "fraction", level, f"fraction-{level}", arrays.fraction
            yield "filling", level, f"filling-{level}", arrays.filling
        for kind in DENSE:
            if (values := getattr(arrays, kind)) is not None:
                yield kind, level, f"{kind}-{level}", values


def _manifest(version: Folder, facts: VersionFacts, files: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": 1,
        "name": version.parent.name,
        "version": version.name,
        "spec": facts.spec.to_dict(),
        "spec_sha256": facts.spec_sha256,
        "columns": list(facts.spec.geometry.columns),
        "levels": list(map(_level, facts.levels)),
        "files": files,
    }


def _level(facts: LevelFacts) -> dict[str, Any]:
    """What a reader of the arrays must know of a level."""
    of_level = {name: facts[name] for name in ("grid", "vertices", "lambda_max")}
    scales = {
        name: {"lambda_max": known.lambda_max} for name, known in (facts.directional or {}).items()
    }
    return of_level | ({"directional": scales} if scales else {})


def _refuse_other(folder: Path) -> None:
    """Refuse to replace anything but an earlier export, or an empty folder, or the working folder.

    Raises:
        StoreError: something else is there.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise StoreError(f"{folder} is no folder; ", another("output"))
    if folder.exists() and folder.samefile("."):  # a program in it would be left in what is gone
        raise StoreError(
            f"{folder} is the working folder, which would be replaced; ", another("output")
        )
    there = list(folder.iterdir()) if folder.exists() else []
    named = _exported_before(folder)
    if not all(path.name in named and _is_exported(path) for path in there):
        raise StoreError(
            f"{folder} holds something else than an earlier export; ", another("output")
        )


def _is_exported(path: Path) -> bool:
    """Check whether an export can have written this: a file with one of its endings."""
    return path.suffix in {".npy", ".npz", ".json"} and path.is_file() and not path.is_symlink()


def _exported_before(folder: Path) -> set[str]:
    """Names of the files that a manifest names, none where there is none."""
    try:
        with (folder / MANIFEST).open("rb") as opened:
            manifest = json.loads(opened.read(documents.MAX_METADATA))
    except (OSError, ValueError, RecursionError):
        return set()
    ours = isinstance(manifest, dict) and manifest.get("format") == FORMAT
    files = manifest.get("files") if ours else None
    return {MANIFEST, *files} if isinstance(files, dict) else set()


class Imported(NamedTuple):
    """A version that came from an archive: `new` is False where the store had it already."""

    name: str
    version: str
    new: bool


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
        if earlier := _imported_before(graph, facts):
            return Imported(name, earlier, new=False)
        version = staging.publish_as_is(lambda: _imported_since(graph, facts, looked_at))
        return Imported(name, version, new=staging.published is not None)


def _versions(graph: Folder) -> list[str]:
    """Versions of a graph that need not be there, oldest first."""
    return catalog.versions(graph) if graph.status() else []


def _imported_since(graph: Folder, facts: PublishedFacts, looked_at: list[str]) -> str | None:
    """The version with all of these attributes that another process published meanwhile."""
    added = (version for version in _versions(graph) if version not in looked_at)
    same = catalog.readable(graph, read_either, added)
    return next((version for version, known in same if known.sha256 == facts.sha256), None)


def _imported_before(graph: Folder, facts: PublishedFacts) -> str | None:
    """The oldest version with all of these attributes that is as it was published."""
    for version, published in catalog.readable(graph, read_either, _versions(graph)):
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
        first, more = faults[0], f" and {len(faults) - 1} more" if len(faults) > 1 else ""
        what = f"{first.where} {first.what.rstrip('.')}"
        raise StoreError(f"{called or version}: {what}{more}.")
