"""Whether a store is what was published: every byte, every matrix, every leftover."""

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse

from cheblienet_graphs.errors import StoreError, UnknownGraphError
from cheblienet_graphs.neighbours import Floats
from cheblienet_graphs.spectrum.bound import largest_ritz_value
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import locked_folder, write_errors
from cheblienet_graphs.store.reader import mapped_array, mapped_csr
from cheblienet_graphs.store.refs import locked

SPECTRUM = 1 + 1e-6
"""Largest absolute eigenvalue that a rescaled Laplacian may have, in float32."""
EIGENPAIR = 1e-4
"""Largest |L v - lambda v| that a stored eigenpair may have, and |V'V - I|, in float32."""


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
    for path, status in _entries(version):
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
        elif _sha256(path) != entry.get("sha256"):
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


def _laplacian_fault(matrix: scipy.sparse.csr_array) -> str | None:
    if not np.isfinite(matrix.data).all():
        return "has values that are not finite"
    if (matrix != matrix.T).nnz:
        return "is not symmetric"
    wide = matrix.astype(np.float64)
    for sign in (1.0, -1.0):

        def product(x: Floats, sign: float = sign) -> Floats:
            image: Floats = sign * (wide @ x)
            return image

        extreme, _ = largest_ritz_value(product, matrix.shape[0], tolerance=1e-5)
        if extreme > SPECTRUM:
            return f"has an eigenvalue {sign * extreme:.7f} outside [-1, 1]"
    return None


def _eigenpair_faults(version: Path, attributes: layout.Attributes) -> Iterator[Fault]:
    """What is wrong with stored eigenpairs: they must be those of the stored Laplacian."""
    if attributes["spec"].get("eigenpairs") is None:
        return
    for level, facts in enumerate(attributes["levels"]):
        folder = version / f"levels/{level}"
        try:
            values = mapped_array(folder / "eigenvalues") * (2 / facts["lambda_max"]) - 1
            vectors = mapped_array(folder / "eigenvectors").astype(np.float64)
        except StoreError as error:
            yield Fault(f"levels/{level}", str(error))
            continue
        matrix = mapped_csr(folder / "laplacian").astype(np.float64)
        residual = abs(matrix @ vectors - vectors * values).max()
        if not max(residual, abs(vectors.T @ vectors - np.eye(len(values))).max()) <= EIGENPAIR:
            yield Fault(f"levels/{level}/eigenvectors", "are not the Laplacian's")


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
