"""Whether a store is what was published: every byte, every matrix, every leftover."""

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.errors import StoreError, UnknownGraphError
from cheblienet_graphs.neighbours import Floats, Indices
from cheblienet_graphs.spectrum.bound import ritz_range
from cheblienet_graphs.spectrum.products import Product, mapped_product
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import locked_folder, write_errors
from cheblienet_graphs.store.reader import mapped_array, mapped_csr
from cheblienet_graphs.store.refs import locked
from cheblienet_graphs.store.rows import ENTRIES, row_blocks, rows

SPECTRUM = 1 + 1e-6
"""Largest absolute eigenvalue that a rescaled Laplacian may have, in float32."""
EIGENPAIR = 1e-4
"""Largest |L v - lambda v| that a stored eigenpair may have, and |V'V - I|, in float32."""

FILES_AT_ONCE = 8
"""Files whose digests are computed together."""
VECTORS_AT_ONCE = 4
"""Stored eigenvectors that are in memory together."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: `where` is a path below the store."""

    where: str
    what: str


def verify(
    store: str | Path, name: str | None = None, *, progress: Callable[[str], None] | None = None
) -> list[Fault]:
    """Compare versions with their manifests, and their matrices with what they must be.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; default every version of every graph.
        progress: called with each version's path before it is read.

    Returns:
        What is wrong; nothing where all is well.

    Raises:
        UnknownGraphError: there is no such store or graph.
        StoreError: the store itself can't be read.
    """
    store = Path(store).expanduser().absolute()
    if name is None:
        if not layout.check_store(store):
            raise UnknownGraphError(f"There is no store at {store}; `clg build` makes one.")
        graphs = [store / graph for graph in layout.graph_names(store)]
        found = [graph / version for graph in graphs for version in layout.versions(graph)]
        faults = [*_store_faults(store), *(f for graph in graphs for f in _graph_faults(graph))]
    else:
        found, faults = [layout.resolve(store, name)], []
    for version in found:
        where = str(version.relative_to(store))
        if progress:
            progress(where)
        faults += [Fault(f"{where}/{fault.where}", fault.what) for fault in version_faults(version)]
    return faults


def version_faults(version: Path) -> list[Fault]:
    """What is wrong with one version, paths below it; files first, then matrices."""
    try:
        attributes = layout.check_version(version)
        document = layout.read_document(version)
        manifest = {str(k): dict(v) for k, v in attributes["manifest"].items()}
    except (StoreError, KeyError, TypeError, ValueError, AttributeError) as error:
        return [Fault("zarr.json", f"is not the metadata of a version: {error}")]
    faults = []
    sealed = layout.document_bytes(layout.group_document({"clg": attributes}))
    if layout.canonical_sha256(attributes) != attributes.get("attributes_sha256"):
        faults.append(Fault("zarr.json", "attributes differ from their digest"))
    elif document != layout.group_document({"clg": attributes}) or (
        (version / "zarr.json").read_bytes() != sealed
    ):
        faults.append(Fault("zarr.json", "holds more or other text than was published"))
    faults += _file_faults(version, manifest)
    faults = faults or list(_matrix_faults(version, manifest))
    return faults or list(_eigenpair_faults(version, attributes))


def _file_faults(version: Path, manifest: dict[str, dict[str, object]]) -> Iterator[Fault]:
    missing = {layout.manifest_file(version, key): entry for key, entry in manifest.items()}
    folders = {parent for file in missing for parent in file.parents}
    entries = list(_entries(version))
    read = [
        path
        for path, status in entries
        if path in missing
        and stat.S_ISREG(status.st_mode)
        and status.st_size == missing[path].get("nbytes")
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
        elif status.st_size != entry.get("nbytes"):
            yield Fault(where, f"has {status.st_size} bytes; published were {entry.get('nbytes')}")
        elif digests[path] != entry.get("sha256"):
            yield Fault(where, "has other contents than were published")
    for path in missing:
        yield Fault(str(path.relative_to(version)), "is missing")


def _entries(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything below a folder, links not followed, sorted."""
    for path in sorted(folder.iterdir()):
        status = path.lstat()
        yield path, status
        if stat.S_ISDIR(status.st_mode):
            yield from _entries(path)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _matrix_faults(version: Path, manifest: dict[str, dict[str, object]]) -> Iterator[Fault]:
    """What is wrong with matrices whose files are as published: then the writer was."""
    for key in manifest:
        where, _, last = key.rpartition("/")
        if last != "indptr":
            continue
        try:
            matrix = mapped_csr(version / where)
        except StoreError as error:
            yield Fault(where, str(error))
            continue
        if where.endswith("laplacian") and (fault := _laplacian_fault(matrix)):
            yield Fault(where, fault)


def _laplacian_fault(matrix: scipy.sparse.csr_array, entries: int = ENTRIES) -> str | None:
    """What is wrong with a stored Laplacian, read in blocks of so many entries."""
    if matrix.shape[0] != matrix.shape[1]:
        return "is not square"
    blocks = list(row_blocks(matrix.indptr, entries))
    if not all(np.isfinite(rows(matrix, *block).data).all() for block in blocks):
        return "has values that are not finite"
    if not _is_symmetric(matrix, blocks):
        return "is not symmetric"
    ends = ritz_range(mapped_product(matrix), matrix.shape[0], tolerance=1e-5)
    outside = [end for end in ends if abs(end) > SPECTRUM]
    return f"has an eigenvalue {outside[-1]:.7f} outside [-1, 1]" if outside else None


def _is_symmetric(matrix: scipy.sparse.csr_array, blocks: list[tuple[int, int]]) -> bool:
    """Whether each entry above the diagonal has its equal below, and none below is left over."""
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
    """Where entries are stored, found by bisection of their rows; None where one is not."""
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


def _eigenpair_faults(version: Path, attributes: layout.Attributes) -> Iterator[Fault]:
    """What is wrong with stored eigenpairs: they must be those of the stored Laplacian."""
    if attributes["spec"].get("eigenpairs") is None:
        return
    for level, facts in enumerate(attributes["levels"]):
        folder = version / f"levels/{level}"
        try:
            values = mapped_array(folder / "eigenvalues") * (2 / facts["lambda_max"]) - 1
            vectors = mapped_array(folder / "eigenvectors")
        except StoreError as error:
            yield Fault(f"levels/{level}", str(error))
            continue
        product = mapped_product(mapped_csr(folder / "laplacian"))
        if not max(_residual(product, values, vectors), _skewness(vectors)) <= EIGENPAIR:
            yield Fault(f"levels/{level}/eigenvectors", "are not the Laplacian's")


def _residual(product: Product, values: Floats, vectors: npt.NDArray[np.float32]) -> float:
    """Max |L v - lambda v|, some vectors at a time; nan where one is not finite."""
    found = []
    for start in range(0, len(values), VECTORS_AT_ONCE):
        some = slice(start, start + VECTORS_AT_ONCE)
        wide = vectors[:, some].astype(np.float64)
        image = product(wide)
        wide *= values[some]
        image -= wide
        found.append(np.abs(image, out=image).max())
    return float(np.max(found))


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
    """Groups whose metadata can't be read, so that nothing else would mention them."""
    for folder in sorted(path for path in store.iterdir() if path.is_dir()):
        try:
            layout.read_attributes(folder)
        except StoreError as error:
            yield Fault(folder.name, str(error))


def _graph_faults(graph: Path) -> Iterator[Fault]:
    """Refs that name nothing, and things that do not belong in a graph's folder."""
    existing = layout.versions(graph)
    for ref, version in layout.refs(graph).items():
        if version not in existing:
            yield Fault(graph.name, f"ref {ref!r} names {version}, not there")
    for path in sorted(graph.iterdir()):
        if path.name not in {"zarr.json", *existing}:
            yield Fault(f"{graph.name}/{path.name}", "does not belong in a graph")


def leftovers(store: str | Path) -> list[Path]:
    """What builds that were killed left beside a store; builds at work are left out."""
    staging = layout.staging_folder(Path(store).expanduser().absolute())
    if not staging.is_dir():
        return []
    return [path for path in sorted(staging.iterdir()) if not _in_use(path)]


def clean(store: str | Path) -> list[Path]:
    """Delete the leftovers of a store.

    Returns:
        What was deleted.

    Raises:
        StoreError: the system refused.
    """
    store = Path(store).expanduser().absolute()
    if not leftovers(store):
        return []
    with write_errors(store, "Not everything was cleaned"), locked(store):
        found = leftovers(store)
        for path in found:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    return found


def _in_use(path: Path) -> bool:
    """Whether a living process holds the lock of a staged version."""
    if path.is_dir() and not path.is_symlink():
        with suppress(FileNotFoundError):
            try:
                with locked_folder(path, wait=False):
                    return False
            except BlockingIOError:
                return True
    return False
