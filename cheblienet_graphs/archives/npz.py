"""A folder of all levels for other libraries: matrices as scipy writes them, arrays as numpy does.

What is written gets its name when it is whole: a failure leaves nothing, and what was there before.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.store import documents, layout
from cheblienet_graphs.store.durable import save_whole, sha256_of
from cheblienet_graphs.store.facts import LevelFacts, VersionFacts
from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_graphs.store.map_facts import read_facts
from cheblienet_graphs.store.reader import LevelFolder

OUTCOME = "Nothing was exported"
DEVICES = Path("/dev")
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
            f"{file} is a device or a pipe, which would be replaced by a file; "
            f"choose another `{parameter}`."
        )
    for folder in file.absolute().resolve().parents:
        if (folder / DOCUMENT).is_file() and layout.read_attributes(Folder(folder)) is not None:
            raise StoreError(f"{file} is in the store {folder}; choose another `{parameter}`.")


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
        arrays = LevelFolder.published(version, facts, level)
        for path in arrays.laplacians:
            kind, _, direction = path.partition("/")
            yield kind, level, f"{direction or kind}-{level}", arrays.rescaled(path)
        for direction, matrix in arrays.gradients.items():
            yield "gradient", level, f"gradient-{direction}-{level}", matrix
        for start, path in enumerate(arrays.maps, level):
            kind = path.partition("/")[0]
            yield kind, start, path.replace("/", "-"), arrays.averages(path).scipy()
        if facts.spec.cuts_pixels:
            yield "fraction", level, f"fraction-{level}", arrays.fraction
            yield "filling", level, f"filling-{level}", arrays.filling.scipy()
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
    """Facts of a level that a reader of its arrays needs."""
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
        raise StoreError(f"{folder} is no folder; choose another `output`.")
    if folder.exists() and folder.samefile("."):  # a program in it would be left in what is gone
        raise StoreError(
            f"{folder} is the working folder, which would be replaced; choose another `output`."
        )
    there = list(folder.iterdir()) if folder.exists() else []
    named = _exported_before(folder)
    if not all(path.name in named and _is_exported(path) for path in there):
        raise StoreError(
            f"{folder} holds something else than an earlier export; choose another `output`."
        )


def _is_exported(path: Path) -> bool:
    """Check whether an export can have written this: a file with one of its endings."""
    return path.suffix in {".npy", ".npz", ".json"} and path.is_file() and not path.is_symlink()


def _exported_before(folder: Path) -> set[str]:
    """Names of the files in a manifest; empty where there is no manifest."""
    try:
        with (folder / MANIFEST).open("rb") as opened:
            manifest = json.loads(opened.read(documents.MAX_METADATA))
    except (OSError, ValueError, RecursionError):
        return set()
    ours = isinstance(manifest, dict) and manifest.get("format") == FORMAT
    files = manifest.get("files") if ours else None
    return {MANIFEST, *files} if isinstance(files, dict) else set()
