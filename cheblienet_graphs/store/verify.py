"""Verification that a store is as published: every byte, every matrix, every leftover."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.errors import SchemaError, StoreError, UnknownGraphError, UnreadableError
from cheblienet_graphs.quoting import quoted
from cheblienet_graphs.sparse import ENTRIES, Product, mapped_product, row_blocks, rows
from cheblienet_graphs.spectrum.bound import ritz_range
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.agreement import disagreements, map_disagreement
from cheblienet_graphs.store.durable import locked_folder, unreadable, write_errors
from cheblienet_graphs.store.facts import FileFacts, VersionFacts, checked_facts
from cheblienet_graphs.store.reader import SPECTRUM, LevelArrays, mapped_csr
from cheblienet_graphs.store.refs import locked
from cheblienet_graphs.store.sampled import misplaced, undigested, unlike_cells
from cheblienet_graphs.store.unfinished import discard
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.values import callback

EIGENPAIR = 1e-4
"""Largest |L v - lambda v| that a stored eigenpair may have, and |V'V - I|, in float32."""

FILES_AT_ONCE = 8
"""Files whose digests are computed at once."""
VECTORS_AT_ONCE = 4
"""Stored eigenvectors that are in memory together."""

Remark: TypeAlias = Callable[[str, str], None]
"""Called with a path and with what is no fault there, but may be a mistake."""


@dataclass(frozen=True)
class Fault:
    """A fault: `where` is a path below the store."""

    where: str
    what: str


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
            given areas that are far from those of the points' Voronoi cells.

    Returns:
        The faults; none where all is well.

    Raises:
        UnknownGraphError: there is no such store or graph.
        StoreError: the store itself can't be read.
        UnreadableError: the machine can't read a file, be it damaged or not.
    """
    callback("progress", progress)
    callback("remark", remark)
    store = layout.store_path(store)
    if name is None:
        if not layout.check_store(store):
            raise UnknownGraphError(f"There is no store at {store}; `clg build` makes one.")
        graphs = [store / graph for graph in layout.graph_names(store)]
        folders = [graph / version for graph in graphs for version in layout.versions(graph)]
        faults = [*_store_faults(store), *(f for graph in graphs for f in _graph_faults(graph))]
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
        facts = checked_facts(attributes, "it")
        document = layout.read_document(version)
    except SchemaError as error:
        return [Fault("zarr.json", f"can't be checked: {error}")]
    except StoreError as error:
        return [Fault("zarr.json", f"is not the metadata of a version: {error}")]
    faults = []
    sealed = layout.document_bytes(layout.group_document({"clg": attributes}))
    if layout.canonical_sha256(attributes) != facts.sha256:
        faults.append(Fault("zarr.json", "attributes differ from their digest"))
    elif document != layout.group_document({"clg": attributes}) or (
        (version / "zarr.json").read_bytes() != sealed
    ):
        faults.append(Fault("zarr.json", "holds more or other text than was published"))
    faults += _file_faults(version, facts.files)
    return faults or list(_array_faults(version, facts, remark))


def _file_faults(version: Path, files: Mapping[str, FileFacts]) -> Iterator[Fault]:
    missing = {layout.manifest_file(version, key): entry for key, entry in files.items()}
    folders = {parent for file in missing for parent in file.parents}
    entries = list(_entries(version, folders))
    read = [
        path
        for path, status in entries
        if path in missing
        and stat.S_ISREG(status.st_mode)
        and status.st_size == missing[path].nbytes
    ]
    with ThreadPoolExecutor(FILES_AT_ONCE) as pool:
        digests = dict(zip(read, pool.map(_sha256, read), strict=True))
    for path, status in entries:
        where = str(path.relative_to(version))
        if where == "zarr.json" or (stat.S_ISDIR(status.st_mode) and path in folders):
            continue
        entry = missing.pop(path, None)
        if entry is None:
            yield Fault(where, "is not in the manifest")
        elif not stat.S_ISREG(status.st_mode):
            yield Fault(where, "is not a regular file")
        elif status.st_size != entry.nbytes:
            yield Fault(where, f"has {status.st_size} bytes; published were {entry.nbytes}")
        elif digests[path] != entry.sha256:
            yield Fault(where, "has other contents than were published")
    for path in missing:
        yield Fault(str(path.relative_to(version)), "is missing")


def _entries(folder: Path, known: set[Path]) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything below a folder, sorted, links not followed; only known folders are entered.

    Foreign folders may be nested deeply; the walk goes no deeper than the manifest.
    """
    for path in sorted(folder.iterdir()):
        status = path.lstat()
        yield path, status
        if stat.S_ISDIR(status.st_mode) and path in known:
            yield from _entries(path, known)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        if isinstance(refused := unreadable(path, error), UnreadableError):
            raise refused from error
        return f"unreadable: {error.strerror}"


def _array_faults(version: Path, facts: VersionFacts, remark: Remark | None) -> Iterator[Fault]:
    """Faults of arrays whose files are as published.

    They were wrong when written, or somebody changed both files and digests.
    """
    levels = [LevelArrays(version, facts, level) for level in range(facts.spec.levels)]
    faults = [fault for arrays in levels for fault in _level_faults(version, arrays, remark)]
    if not faults and undigested(levels):
        faults = [Fault("levels/0/coordinates", "are not the points of the spec's digest")]
    yield from faults


def _level_faults(version: Path, arrays: LevelArrays, remark: Remark | None) -> Iterator[Fault]:
    level, facts = arrays.level, arrays.facts

    def placed() -> tuple[list[tuple[str, str]], str | None]:
        wrong = list(misplaced(arrays))
        return wrong, None if wrong or remark is None else unlike_cells(arrays)

    # Meanwhile on another core: Qhull, which makes Voronoi cells, lets other threads run.
    with ThreadPoolExecutor(1) as beside:
        places = beside.submit(placed)
        if faults := list(_laplacian_faults(arrays)):
            yield from faults
            return
        try:
            if contradictions := [Fault(*disagreement) for disagreement in disagreements(arrays)]:
                yield from contradictions
            else:
                wrong, unlike = places.result()
                yield from (Fault(f"levels/{level}/{name}", what) for name, what in wrong)
                if unlike and remark:
                    remark(f"levels/{level}/area", unlike)
                yield from _eigenpair_faults(arrays)
        except StoreError as error:
            yield Fault(f"levels/{level}", str(error))
    if level + 1 < facts.spec.levels:
        yield from _map_faults(version, facts, level)


def _map_faults(version: Path, facts: VersionFacts, fine: int) -> Iterator[Fault]:
    """Faults of the maps between a level and the next coarser one."""
    coarse = fine + 1
    many, few = (facts.levels[level].vertices for level in (fine, coarse))
    for where, shape in (
        (f"pooling/{fine}to{coarse}", (few, many)),
        (f"unpooling/{coarse}to{fine}", (many, few)),
    ):
        try:
            matrix = mapped_csr(version / where, shape)
        except StoreError as error:
            yield Fault(where, str(error))
            continue
        if fault := map_disagreement(matrix.data, matrix.indptr):
            yield Fault(where, fault)


def _laplacian_faults(arrays: LevelArrays) -> Iterator[Fault]:
    """Faults of a level's Laplacians, each by itself."""
    for name in arrays.laplacians:
        try:
            fault = _laplacian_fault(arrays.rescaled(name))
        except StoreError as error:
            fault = str(error)
        if fault:
            yield Fault(f"levels/{arrays.level}/{name}", fault)


def _laplacian_fault(matrix: scipy.sparse.csr_array, entries: int = ENTRIES) -> str | None:
    """The fault of a stored Laplacian, read in blocks of `entries` entries; None if it has none."""
    blocks = list(row_blocks(matrix.indptr, entries))
    if not _is_symmetric(matrix, blocks):
        return "is not symmetric"
    ends = ritz_range(mapped_product(matrix), matrix.shape[0], tolerance=1e-5)
    outside = [end for end in ends if abs(end) > SPECTRUM]
    return f"has an eigenvalue {outside[-1]:.7f} outside [-1, 1]" if outside else None


def _is_symmetric(matrix: scipy.sparse.csr_array, blocks: list[tuple[int, int]]) -> bool:
    """Whether each entry above the diagonal has an equal one below, and there are no others."""
    left_over = 0
    for start, stop in blocks:
        block = rows(matrix, start, stop)
        row = np.repeat(np.arange(start, stop), np.diff(block.indptr))
        above = np.flatnonzero(block.indices > row)
        left_over += int((block.indices < row).sum()) - len(above)
        place = _places(matrix, block.indices[above], row[above])
        if place is None or not np.array_equal(matrix.data[place], block.data[above]):
            return False
    return left_over == 0


def _places(matrix: scipy.sparse.csr_array, row: Indices, column: Indices) -> Indices | None:
    """Positions of entries, by bisection of their rows; None where one is not stored."""
    low: Indices = matrix.indptr[row].astype(np.int64)
    ends = matrix.indptr[row + 1].astype(np.int64)
    high = ends.copy()
    while (low < high).any():
        middle = (low + high) // 2
        before = matrix.indices[np.minimum(middle, len(matrix.indices) - 1)] < column
        searched = low < high
        low = np.where(searched & before, middle + 1, low)
        high = np.where(searched & ~before, middle, high)
    if (low >= ends).any() or not np.array_equal(matrix.indices[low], column):
        return None
    return low


def _eigenpair_faults(arrays: LevelArrays) -> Iterator[Fault]:
    """Faults of stored eigenpairs, which must be those of the stored Laplacian."""
    if arrays.eigenvalues is None or arrays.eigenvectors is None:
        return
    values = arrays.eigenvalues * (2 / arrays.of_level.lambda_max) - 1
    product, vectors = mapped_product(arrays.laplacian), arrays.eigenvectors
    if not (
        _is_bounded(vectors)
        and _residual(product, values, vectors) <= EIGENPAIR
        and _skewness(vectors) <= EIGENPAIR
    ):
        yield Fault(f"levels/{arrays.level}/eigenvectors", "are not the Laplacian's")


def _is_bounded(vectors: npt.NDArray[np.float32]) -> bool:
    """Whether no entry exceeds 1, as in unit vectors, or is NaN."""
    step = max(1, ENTRIES // vectors.shape[1])
    parts = (vectors[start : start + step] for start in range(0, len(vectors), step))
    return all(bool((abs(part) <= 1 + EIGENPAIR).all()) for part in parts)


def _residual(product: Product, values: Floats, vectors: npt.NDArray[np.float32]) -> float:
    """Max |L v - lambda v|, some vectors at a time."""
    residuals = []
    for start in range(0, len(values), VECTORS_AT_ONCE):
        some = slice(start, start + VECTORS_AT_ONCE)
        wide = vectors[:, some].astype(np.float64)
        image = product(wide)
        wide *= values[some]
        image -= wide
        residuals.append(np.abs(image, out=image).max())
    return float(np.max(residuals))


def _skewness(vectors: npt.NDArray[np.float32]) -> float:
    """Max |V'V - I|."""
    size, count = vectors.shape
    products = np.zeros((count, count))
    step = max(1, ENTRIES // count)
    for start in range(0, size, step):
        wide = vectors[start : start + step].astype(np.float64)
        products += wide.T @ wide
    return float(abs(products - np.eye(count)).max())


def _store_faults(store: Path) -> Iterator[Fault]:
    """Groups that can't be read or named, which no other check reports."""
    for folder in sorted(path for path in store.iterdir() if path.is_dir()):
        try:
            ours = layout.read_attributes(folder) is not None
        except StoreError as error:
            yield Fault(folder.name, str(error))
            continue
        if ours and not layout.NAME.fullmatch(folder.name):
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


def leftovers(store: str | Path) -> list[Path]:
    """Files that killed builds left beside a store, without those of running builds."""
    staging = layout.staging_folder(layout.store_path(store))
    try:
        entries = sorted(staging.iterdir())
    except (FileNotFoundError, NotADirectoryError):  # the last process at work removed it
        return []
    return [path for path in entries if not _in_use(path)]


def clean(store: str | Path) -> list[Path]:
    """Delete the leftovers of a store.

    Returns:
        What was deleted.

    Raises:
        StoreError: they can't be deleted.
    """
    store = layout.store_path(store)
    if not layout.staging_folder(store).is_dir():
        return []
    with write_errors(store, "Not everything was cleaned"), locked(store):
        paths = leftovers(store)
        for path in paths:
            if path.is_dir() and not path.is_symlink():
                discard(path)
            else:
                path.unlink()
    return paths


def _in_use(path: Path) -> bool:
    """Whether a living process holds the lock of a staged version, or has just left it."""
    if not path.is_dir() or path.is_symlink():
        return not path.exists() and not path.is_symlink()
    try:
        with locked_folder(path):
            return False
    except (BlockingIOError, FileNotFoundError):
        return True
