"""Maps between samplings as arrays: their matrix, its transpose, and the points of both sides."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.csr import CsrArrays, read_averages, read_csr
from cheblienet_models.store.files import Document, Folder, own_attributes
from cheblienet_models.store.verify import verify_digest, verify_files
from cheblienet_models.store.version import check_version_schema

MAP = "map"
"""Attribute of a version that is a map, and its matrix."""
MOST_AXES = 4
"""Of a signal: orientations, depth, height and width."""


@dataclass(frozen=True)
class StoredMap:
    """Everything that is stored of a map, mapped copy-on-write.

    Args:
        spec: what it was built from.
        spec_sha256: hexadecimal digest of that.
        matrix: (targets, sources) averages.
        transposed: the same by columns.
        coordinates: (sources, d) and (targets, d) float64.
        grids: shapes of signals of the source and the target, orientations first.
    """

    spec: Document
    spec_sha256: str
    matrix: CsrArrays
    transposed: CsrArrays
    coordinates: tuple[Tensor, Tensor]
    grids: tuple[tuple[int, ...], tuple[int, ...]]


def is_map(folder: Folder) -> bool:
    """Whether a version is a map.

    Raises:
        StoreError: it can't be read.
    """
    return MAP in own_attributes(folder)


def read_map(folder: Folder, label: str, *, verify: bool = False) -> StoredMap:
    """Map a map.

    Args:
        folder: of the version.
        label: name@version, for messages.
        verify: whether to hash every file and compare it with the manifest, and the transpose with
            the matrix, besides the checks that are always made.

    Raises:
        StoreError: it is missing or not valid, or of a format that this version can't read.
    """
    attributes = own_attributes(folder)
    if verify:
        verify_files(folder, attributes)
    check_version_schema(folder, attributes)
    spec, facts, digest = (attributes.get(key) for key in ("spec", MAP, "spec_sha256"))
    if not (isinstance(spec, dict) and isinstance(facts, dict) and isinstance(digest, str)):
        raise StoreError(f"{folder} is not a map: it lacks spec, spec_sha256 or map.")
    sources, targets = (_count(label, facts, side) for side in ("sources", "targets"))
    grids = tuple(_grid(label, facts, f"{side}_grid") for side in ("source", "target"))
    matrix = read_averages(folder / MAP, (targets, sources))
    transposed = read_csr(folder / "transposed", (sources, targets))
    sides = (("source", sources), ("target", targets))
    coordinates = tuple(_coordinates(folder / side, count) for side, count in sides)
    if verify:
        verify_digest(folder, attributes)
        _verify_entries(label, facts, matrix, transposed, coordinates)
    (source, target), (here, there) = coordinates, grids
    return StoredMap(spec, digest, matrix, transposed, (source, target), (here, there))


def _count(label: str, facts: Document, name: str) -> int:
    value = facts.get(name)
    if type(value) is not int or value < 1:
        raise StoreError(f"{label} must have a number of {name}. Got {quoted(value)}.")
    return value


def _grid(label: str, facts: Document, name: str) -> tuple[int, ...]:
    value: Any = facts.get(name)
    fits = isinstance(value, list) and len(value) <= MOST_AXES
    if not fits or not all(type(n) is int and n > 0 for n in value):
        raise StoreError(f"{label} must have the shape of a signal as {name}. Got {quoted(value)}.")
    return tuple(value)


def _coordinates(side: Folder, count: int) -> Tensor:
    array = (side / "coordinates").array(("float64",), 2)
    if len(array) != count:
        raise StoreError(f"{side} must have {count} vertices. Got {len(array)}.")
    return torch.from_numpy(array)


def _verify_entries(
    label: str,
    facts: Document,
    matrix: CsrArrays,
    transposed: CsrArrays,
    coordinates: tuple[Tensor, ...],
) -> None:
    """Check that weights sum to exactly 1, and that the transpose is the matrix by columns.

    Raises:
        StoreError: one of them does not, or coordinates are not finite.
    """
    if (np.add.reduceat(matrix.data.astype(np.float64), matrix.indptr[:-1]) != 1).any():
        raise StoreError(f"{label} must have weights that sum to exactly 1 for each target.")
    rows = _rows(matrix)
    order = np.lexsort((rows, matrix.indices))
    by_columns = matrix.indices[order], rows[order], matrix.data[order]
    stored = _rows(transposed), transposed.indices, transposed.data
    if not all(np.array_equal(one, other) for one, other in zip(by_columns, stored, strict=True)):
        raise StoreError(f"The transpose of {label} is not its matrix by columns.")
    if facts.get("nnz") != len(rows):
        found = quoted(facts.get("nnz"))
        raise StoreError(f"{label} must have nnz {len(rows)}, as its matrix says. Got {found}.")
    if not all(bool(side.isfinite().all()) for side in coordinates):
        raise StoreError(f"{label} has coordinates that are not finite.")
    farthest: Any = facts.get("farthest")
    if type(farthest) not in {int, float} or not 0 <= farthest < math.inf:
        raise StoreError(f"{label} must have a distance as farthest. Got {quoted(farthest)}.")


def _rows(matrix: CsrArrays) -> npt.NDArray[Any]:
    """(nnz,) the row of each entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
