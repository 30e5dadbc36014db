"""All levels of a graph as a folder of files that scipy and numpy read, with a manifest."""

import hashlib
import json
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.errors import StoreError, another
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.facts import LevelFacts, VersionFacts, read_facts
from cheblienet_graphs.store.reader import LevelArrays, mapped_array, mapped_csr

FORMAT = "cheblienet-npz"
MANIFEST = "manifest.json"
MEANINGS = {
    "laplacian": "L = 2 Delta / `lambda_max` - I, so Delta = (L + I) `lambda_max` / 2",
    "directional": "L of one direction, by its own `lambda_max` in directional of its level",
    "pooling": "times a signal of the finer level: its means, by area, on the coarser one",
    "unpooling": "times a signal of the coarser level: the same on the finer one",
    "coordinates": "of the vertices; their names are in columns",
    "degree": "sums of the weights of a vertex's edges",
    "area": "of a vertex's point, in units of the mean",
    "base_index": "place of each point of the base in the whole sampling",
    "eigenvalues": "the smallest of Delta, ascending",
    "eigenvectors": "of Delta, a column for each eigenvalue",
}


@dataclass(frozen=True)
class Exported:
    """An array or a matrix of a version, and what it is called outside.

    Args:
        kind: key of MEANINGS.
        level: which level it is of, of maps the one that they start from.
        name: file in the export.
        values: what goes into it.
    """

    kind: str
    level: int
    name: str
    values: "npt.NDArray[Any] | scipy.sparse.csr_array"

    def save(self, folder: Path) -> dict[str, Any]:
        """Write the file and return its entry in the manifest."""
        file = folder / self.name
        entry = {"meaning": MEANINGS[self.kind], "level": self.level}
        entry |= {"shape": list(self.values.shape), "dtype": self.values.dtype.name}
        if isinstance(self.values, np.ndarray):
            np.save(file, self.values)
        else:
            scipy.sparse.save_npz(file, self.values)
            entry["nnz"] = self.values.nnz
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        return entry | {"bytes": file.stat().st_size, "sha256": digest}


def to_npz(version: Path, folder: Path) -> None:
    """Write Laplacians and maps as .npz, other arrays as .npy, and what they are as JSON.

    They are written under another name first, so that the folder is whole or not there. An earlier
    export is replaced.

    Args:
        version: folder of a published version.
        folder: to be made; laplacian-0.npz, pooling-0to1.npz, unpooling-1to0.npz, coordinates-0.npy
            and so on, and manifest.json.

    Raises:
        StoreError: the version can't be read, the folder can't be written, or something else is
            there.
    """
    facts = read_facts(version)
    folder = folder.absolute()  # "." has no name of its own
    _refuse_other(folder)
    temporary = folder.parent / f".{uuid.uuid4().hex}.npz"
    with write_errors(folder, "Nothing was exported"):
        temporary.mkdir()
        try:
            files = {item.name: item.save(temporary) for item in _items(version, facts)}
            described = json.dumps(_manifest(version, facts, files), indent=1)
            (temporary / MANIFEST).write_text(described + "\n", encoding="utf-8")
            _rename(temporary, folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _items(version: Path, facts: VersionFacts) -> Iterator[Exported]:
    for level in range(facts.spec.levels):
        arrays = LevelArrays(version, facts, level)
        yield Exported("laplacian", level, f"laplacian-{level}.npz", arrays.laplacian)
        for direction, matrix in arrays.directional.items():
            yield Exported("directional", level, f"{direction}-{level}.npz", matrix)
        yield from _maps(version, facts, level)
        of_level: dict[str, npt.NDArray[Any] | None] = {
            "coordinates": arrays.coordinates,
            "degree": arrays.degree,
            "area": arrays.area,
            "base_index": _base_index(arrays),
            "eigenvalues": arrays.eigenvalues,
            "eigenvectors": arrays.eigenvectors,
        }
        for kind, values in of_level.items():
            if values is not None:
                yield Exported(kind, level, f"{kind}-{level}.npy", values)


def _maps(version: Path, facts: VersionFacts, fine: int) -> Iterator[Exported]:
    coarse = fine + 1
    if coarse < facts.spec.levels:
        many, few = (facts.levels[level].vertices for level in (fine, coarse))
        down, up = f"{fine}to{coarse}", f"{coarse}to{fine}"
        pooling = mapped_csr(version / "pooling" / down, (few, many))
        yield Exported("pooling", fine, f"pooling-{down}.npz", pooling)
        unpooling = mapped_csr(version / "unpooling" / up, (many, few))
        yield Exported("unpooling", coarse, f"unpooling-{up}.npz", unpooling)


def _base_index(arrays: LevelArrays) -> npt.NDArray[Any] | None:
    array = arrays.folder / "base_index"
    points = arrays.of_level.vertices // arrays.facts.spec.orientations
    return mapped_array(array, (points,), ("int32", "int64")) if array.is_dir() else None


def _manifest(version: Path, facts: VersionFacts, files: dict[str, Any]) -> dict[str, Any]:
    levels = [
        {"grid": list(level.grid), "vertices": level.vertices, "lambda_max": level.lambda_max}
        | _directional(level)
        for level in facts.levels
    ]
    return {
        "format": FORMAT,
        "format_version": 1,
        "name": version.parent.name,
        "version": version.name,
        "spec": facts.spec.to_dict(),
        "spec_sha256": facts.spec_sha256,
        "columns": list(facts.spec.geometry.columns),
        "levels": levels,
        "files": files,
    }


def _directional(level: LevelFacts) -> dict[str, Any]:
    """The scales of directional Laplacians, where there are some."""
    known = level.directional or {}
    scales = {name: {"lambda_max": facts.lambda_max} for name, facts in known.items()}
    return {"directional": scales} if scales else {}


def _refuse_other(folder: Path) -> None:
    """Refuse to replace anything but an earlier export, or an empty folder.

    Raises:
        StoreError: something else is there.
    """
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_symlink() or not folder.is_dir():
        raise StoreError(f"{folder} is no folder; ", another("output"))
    found = {path.name for path in folder.iterdir()}
    if found and not found <= _exported_before(folder):
        raise StoreError(
            f"{folder} holds something else than an earlier export; ", another("output")
        )


def _exported_before(folder: Path) -> set[str]:
    """Names of the files of an export, none where the folder is none."""
    try:
        with (folder / MANIFEST).open("rb") as opened:
            manifest = json.loads(opened.read(layout.MAX_METADATA))
    except (OSError, ValueError, RecursionError):
        return set()
    ours = isinstance(manifest, dict) and manifest.get("format") == FORMAT
    files = manifest.get("files") if ours else None
    return {MANIFEST, *files} if isinstance(files, dict) else set()


def _rename(temporary: Path, folder: Path) -> None:
    """Give the finished export its name; an earlier one makes room only now."""
    if not folder.exists():
        temporary.rename(folder)
        return
    aside = temporary.with_suffix(".old")
    folder.rename(aside)
    try:
        temporary.rename(folder)
    except BaseException:
        aside.rename(folder)
        raise
    shutil.rmtree(aside)
